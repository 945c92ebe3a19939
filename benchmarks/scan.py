"""What a scan costs: with nothing changed against `os.walk` + `stat`, the first against a read.

Run `python benchmarks/scan.py [--quick] [--json FILE] [VAULT]`. Without a vault the first folder in
VAULT_TOOLS_VAULTS is taken; `--quick` makes a vault of 2,000 notes. Every figure is CPU time of a
process of its own, the median of several, taken in turns. Bars: unchanged ≤ 3 with no note opened
(the list of known notes is loaded in that time), first ≤ 4, less than 400 MB of memory.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vault_tools.vault.manifest import Manifest, scan
from vault_tools.vault.names import is_note

UNCHANGED_BAR, FIRST_BAR, MEMORY_BAR_MB = 3.0, 4.0, 400
QUICK_NOTES = 2000
_LATER_MS = 10_000


def walk_and_stat(root: Path, _known: Path) -> dict[str, int]:
    """Do the least a program can that wants to know what changed."""
    count = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if is_note(name):
                # A path object for each note would make the floor look slower than it is.
                os.stat(f"{folder}/{name}", follow_symlinks=False)  # noqa: PTH116
                count += 1
    return {"notes": count}


def read_and_hash(root: Path, _known: Path) -> dict[str, int]:
    """Do the least a program can that wants to know what every note says."""
    count = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if is_note(name):
                hashlib.sha256(Path(folder, name).read_bytes()).hexdigest()
                count += 1
    return {"notes": count}


def unchanged(root: Path, known: Path) -> dict[str, int]:
    """Load what was known and scan."""
    found = scan(root, Manifest.load(known.read_bytes()), now=now())
    changes = len(found.new) + len(found.changed) + len(found.removed)
    return {"notes": len(found.manifest.entries), "changes": changes}


def first(root: Path, known: Path) -> dict[str, int]:
    """Scan a vault of which nothing is known, and keep what is found."""
    found = scan(root, Manifest(), now=now())
    known.write_bytes(found.manifest.dump())
    return {"notes": len(found.manifest.entries), "changes": 0}


def now() -> int:
    """Give a moment at which every note is older than a tick of the file system's clock."""
    return time.time_ns() // 1_000_000 + _LATER_MS


STEPS: dict[str, Callable[[Path, Path], dict[str, int]]] = {
    step.__name__: step for step in (walk_and_stat, read_and_hash, unchanged, first)
}


def child(step: str, root: Path, known: Path) -> None:
    """Run one step in this process and print what it took; notes opened are counted."""
    opened = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal opened
        if event == "open" and isinstance(arguments[0], str) and is_note(arguments[0]):
            opened += 1

    if step == "unchanged":
        sys.addaudithook(watch)
    begin = time.process_time()
    said = STEPS[step](root, known)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({**said, "seconds": seconds, "opened": opened, "megabytes": peak}))


def run(step: str, root: Path, known: Path) -> dict[str, Any]:
    """Run one step in a process of its own."""
    command = [sys.executable, __file__, "--step", step, "--known", str(known), str(root)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def made_vault(root: Path) -> Path:
    """Lay out a vault of small notes in folders of fifty."""
    for number in range(QUICK_NOTES):
        folder = root / f"folder {number // 50}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"---\nnumber: {number}\n---\n# Note {number}\n\n" + "Words of a note.\n" * 60
        (folder / f"Note {number}.md").write_text(text, "utf-8")
    return root


def measure(root: Path, runs: int) -> dict[str, Any]:
    """Take the steps in turns, so that a busy machine is busy for all of them."""
    with tempfile.TemporaryDirectory() as place:
        known = Path(place) / "manifest.json"
        run("first", root, known)
        rounds = [{step: run(step, root, known) for step in STEPS} for _ in range(runs)]
    seconds = {step: statistics.median(one[step]["seconds"] for one in rounds) for step in STEPS}
    ours = [one[step] for one in rounds for step in ("unchanged", "first")]
    still, whole = (
        seconds["unchanged"] / seconds["walk_and_stat"],
        seconds["first"] / seconds["read_and_hash"],
    )
    opened = max(one["unchanged"]["opened"] for one in rounds)
    changes = max(one["unchanged"]["changes"] for one in rounds)
    peak = max(one["megabytes"] for one in ours)
    return {
        "benchmark": "scan",
        "notes": ours[0]["notes"],
        "runs": runs,
        "seconds": {step: round(value, 4) for step, value in seconds.items()},
        "unchangedRatio": round(still, 2),
        "firstRatio": round(whole, 2),
        "notesOpened": opened,
        "changesFound": changes,
        "peakMegabytes": peak,
        "ok": still <= UNCHANGED_BAR
        and whole <= FIRST_BAR
        and peak < MEMORY_BAR_MB
        and not opened
        and not changes,
    }


def table(found: dict[str, Any]) -> str:
    """Lay the figures out for a reader."""
    seconds, lines = found["seconds"], [f"{'step':<26}{'CPU s (median)':>16}{'ratio':>8}"]
    for floor, step, ratio, bar in (
        ("walk_and_stat", "unchanged", found["unchangedRatio"], UNCHANGED_BAR),
        ("read_and_hash", "first", found["firstRatio"], FIRST_BAR),
    ):
        lines.append(f"{floor:<26}{seconds[floor]:>16.3f}{1:>8.2f}")
        lines.append(f"{step + ' scan':<26}{seconds[step]:>16.3f}{ratio:>8.2f}  (bar {bar})")
    lines.append(
        f"{found['notes']:,} notes; {found['notesOpened']} opened when nothing changed; "
        f"{found['peakMegabytes']} MB at most (bar {MEMORY_BAR_MB})"
    )
    return "\n".join(lines)


def main() -> int:
    """Print the table and the JSON; exit 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("vault", nargs="?", type=Path)
    parser.add_argument("--quick", action="store_true", help="a made vault of 2,000 notes")
    parser.add_argument("--json", type=Path, help="also write the JSON to this file")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--known", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        child(options.step, options.vault, options.known)
        return 0
    named = os.environ.get("VAULT_TOOLS_VAULTS", "").split(os.pathsep)[0]
    vault = options.vault or (Path(named) if named else None)
    if vault is None and not options.quick:
        print("skipped: name a vault, or use --quick for a made one")
        return 0
    with tempfile.TemporaryDirectory() as place:
        root = vault or made_vault(Path(place) / "vault")
        found = measure(root, 3 if options.quick else 5)
    print(table(found))
    print(json.dumps(found))
    if options.json:
        options.json.write_text(json.dumps(found) + "\n", "utf-8")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
