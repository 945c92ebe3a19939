"""Try vault-tools on real vaults: does every link lead where Obsidian would lead it?

Run `python benchmarks/public_vaults.py [--quick] [--part links] [VAULT …]`. A vault is a folder or
a bare git directory (its newest commit is read); `PATH@FOLDER` is a vault inside it. Without
arguments the paths in VAULT_TOOLS_VAULTS are taken, separated like PATH. `--quick` looks at 1,000
notes of each. Nothing is written. Exits 1 when a note makes the reader raise.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from vault_tools.core.links import Found
from vault_tools.vault.link_index import FoundLink, LinkIndex, visible_paths
from vault_tools.vault.manifest import Entry, Manifest
from vault_tools.vault.names import is_note

QUICK_NOTES = 1000
COLUMNS = ("notes", "links", "resolved", "ambiguous", "respelt", "no file", "alias", "no note")


class FolderVault:
    """A vault on the disk."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.paths = sorted(visible_paths(root))

    def read(self, path: str) -> bytes | None:
        return (self._root / path).read_bytes()


class GitVault:
    """A vault in a bare git directory; files that a partial clone lacks exist but are not read."""

    def __init__(self, git: Path, folder: str) -> None:
        self._git = ["git", f"--git-dir={git}"]
        self._prefix = f"{folder}/" if folder else ""
        listing = subprocess.run(
            [*self._git, "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True
        ).stdout
        self._objects = dict(self._visible(listing.decode("utf-8", "surrogateescape")))
        self.paths = sorted(self._objects)
        self._reader = subprocess.Popen(
            [*self._git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def _visible(self, listing: str) -> Iterator[tuple[str, str]]:
        for row in filter(None, listing.split("\0")):
            about, _, path = row.partition("\t")
            mode, _, name = about.split()
            inside = path.removeprefix(self._prefix)
            hidden = any(part.startswith(".") for part in inside.split("/"))
            if path.startswith(self._prefix) and mode != "120000" and not hidden:
                yield inside, name

    def read(self, path: str) -> bytes | None:
        into, out = self._reader.stdin, self._reader.stdout
        if into is None or out is None:
            raise RuntimeError("git cat-file runs without pipes")
        into.write(f"{self._objects[path]}\n".encode())
        into.flush()
        head = out.readline().split()
        return None if head[-1] == b"missing" else out.read(int(head[2]) + 1)[:-1]


def opened(place: str) -> FolderVault | GitVault:
    """Open what an argument names."""
    path, folder = Path(place), ""
    if not path.exists():
        before, _, folder = place.rpartition("@")
        path = Path(before)
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        return GitVault(path, folder)
    return FolderVault(path / folder)


def kind(found: FoundLink) -> str:
    """Name the column of a link."""
    resolution, target = found.resolution, found.link.target
    if resolution.path is not None:
        return "ambiguous" if resolution.ambiguous else "resolved"
    suffix = target.rpartition("/")[2].rpartition(".")[2] if "." in target else ""
    if suffix.isalnum() and 1 < len(suffix) < 6 and suffix.lower() != "md" and found.link.embed:
        return "no file"
    return "alias" if resolution.suggestions else "no note"


def links(place: str, quick: bool, show: int) -> bool:
    """Resolve all links of a vault and report how many are found."""
    vault = opened(place)
    notes = [path for path in vault.paths if is_note(path)]
    chosen = notes[:: max(1, len(notes) // QUICK_NOTES)] if quick else notes
    manifest = Manifest({path: Entry(0, 0, 0, "") for path in notes})
    index = LinkIndex(manifest, vault.read, vault.paths)
    counts: Counter[str] = Counter(notes=len(chosen))
    failed: list[str] = []
    shown: Counter[str] = Counter()
    begin = time.process_time()
    for path in chosen:
        try:
            for found in index.links(path):
                if found.resolution.found is Found.EXTERNAL:
                    counts["web"] += 1
                    continue
                counts["links"] += 1
                counts[kind(found)] += 1
                counts["respelt"] += found.resolution.respelt
                if found.resolution.path is None:
                    shown[f"{kind(found)}: {found.link.target}  (e.g. {path}:{found.line})"] += 1
        # Any error at all is what is looked for here.
        except Exception:
            failed.append(f"{path}\n{traceback.format_exc()}")
    line = "  ".join(f"{name} {counts[name]:>7,}" for name in COLUMNS)
    good = counts["resolved"] + counts["ambiguous"]
    total = max(1, counts["links"] - counts["no file"])
    seconds = time.process_time() - begin
    print(f"{place}\n  {line}  web {counts['web']:,}")
    print(f"  {100 * good / total:.2f} % of links to notes lead somewhere, {seconds:.1f} s CPU")
    for text, count in shown.most_common(show):
        print(f"    {count:>5}  {text}")
    print("".join(f"  RAISED {text}\n" for text in failed), end="")
    return not failed


PARTS: dict[str, Callable[[str, bool, int], bool]] = {"links": links}


def main() -> int:
    """Run the parts asked for on every vault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("vaults", nargs="*")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--show", type=int, default=0, help="list so many unresolved targets")
    options = parser.parse_args()
    places = options.vaults or list(
        filter(None, os.environ.get("VAULT_TOOLS_VAULTS", "").split(os.pathsep))
    )
    if not places:
        print("skipped: name vaults as arguments or in VAULT_TOOLS_VAULTS")
        return 0
    parts = [PARTS[name] for name in options.part or PARTS]
    return int(
        not all([part(place, options.quick, options.show) for place in places for part in parts])
    )


if __name__ == "__main__":
    sys.exit(main())
