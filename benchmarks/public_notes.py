"""Read and edit every note of real vaults: does nothing raise, and does nothing else change?

Run `python benchmarks/public_notes.py [--quick] [--json FILE] [VAULT …]`. Without arguments the
folders in VAULT_TOOLS_VAULTS are taken, separated like PATH. `--quick` looks at 1,000 notes of
each. Nothing is written in a vault. Bars: nothing raises; where there are properties, one added
property changes exactly one line in 99.5 % of the notes and the rest is refused; setting what is
there changes no byte.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vault_tools.core.block import append_block, find_blocks, splice, take_out
from vault_tools.core.note import encode, lines_of, split_front_matter, text_start
from vault_tools.errors import VaultToolsError
from vault_tools.vault.markdown import opaque_lines
from vault_tools.vault.names import is_note
from vault_tools.vault.notes import Note, read_note
from vault_tools.vault.properties import set_property

BAR = 99.5
QUICK_NOTES = 1000
# Block structure is parsed as Markdown, which costs twenty times a look at the properties.
BLOCK_NOTES = 2000
KEY, BODY = "vault_tools_benchmark", "A line.\n"
COLUMNS = ("notes", "crlf", "bom", "not utf-8", "properties", "added", "changed", "raised")


def notes_of(root: Path) -> list[Path]:
    """List the notes of a vault, hidden folders left out."""
    return sorted(
        path
        for path in root.rglob("*")
        if is_note(path.name)
        and not any(part.startswith(".") for part in path.relative_to(root).parts)
        and path.is_file()
        and not path.is_symlink()
    )


class Trial:
    """One vault's notes under test."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        self.wrong: list[str] = []

    def note(self, path: str, data: bytes, *, blocks: bool) -> None:
        """Read one note and try the edits on it."""
        note = read_note(path, data)
        self._describe(note, data)
        self._add(note)
        self._change(note)
        self._repeat(note)
        if blocks:
            self._splice(note)

    def _describe(self, note: Note, data: bytes) -> None:
        self.counts["notes"] += 1
        self.counts["crlf"] += b"\r\n" in data
        self.counts["bom"] += data.startswith(b"\xef\xbb\xbf")
        self.counts["not utf-8"] += any(f.problem == "not_utf8" for f in note.findings)
        self.counts["properties"] += split_front_matter(note.text) is not None
        self.findings.update(finding.problem.value for finding in note.findings)
        if encode(note.text) != data and len(data) <= len(encode(note.text)):
            self.wrong.append(f"{note.path}: reading changed its bytes")

    def _set(self, note: Note, key: str, value: Any) -> str | None:
        try:
            return set_property(note.text, key, value)
        except VaultToolsError as refused:
            if key == KEY:
                self.refusals[reason(refused)] += 1
                self.counts["refused"] += split_front_matter(note.text) is not None
            return None

    def _add(self, note: Note) -> None:
        new = self._set(note, KEY, "x")
        if new is None:
            return
        gone, come = difference(note.text, new)
        kind = "added" if split_front_matter(note.text) else "block made"
        if (len(gone), len(come)) == (0, 1 if kind == "added" else 3):
            self.counts[kind] += 1
        else:
            self.wrong.append(f"{note.path}: an added property changed {gone!r} to {come!r}")

    def _change(self, note: Note) -> None:
        key = next((k for k, v in note.properties.items() if isinstance(v, str) and v), None)
        if key is None:
            return
        new = self._set(note, key, "changed: by a benchmark")
        if new is None:
            self.counts["change refused"] += 1
            return
        gone, come = difference(note.text, new)
        after = read_note(note.path, encode(new))
        same = {**note.properties, key: "changed: by a benchmark"} == dict(after.properties)
        if len(come) == 1 and gone and same and new[after.body :] == note.text[note.body :]:
            self.counts["changed" if len(gone) == 1 else "changed, several lines before"] += 1
        else:
            self.wrong.append(f"{note.path}: changing {key} changed {gone!r} to {come!r}")

    def _repeat(self, note: Note) -> None:
        for key, value in note.properties.items():
            texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
            if not (isinstance(value, str) or texts):
                continue
            new = self._set(note, key, value)
            self.counts["set again"] += new is not None
            if new is not None and new != note.text:
                self.wrong.append(f"{note.path}: setting {key} to what it is changed the note")

    def _splice(self, note: Note) -> None:
        try:
            text = append_block(note.text, "benchmark", "main", "", BODY)
            found = [b for b in find_blocks(text, opaque_lines(text)) if b.block_id == "benchmark"]
        except VaultToolsError:
            found = []
        if not found:
            self.counts["block refused"] += 1
            return
        self.counts["spliced"] += 1
        if splice(text, found[0], BODY) != text:
            self.wrong.append(f"{note.path}: splicing the same body changed the note")
        if not take_out(text, found[0]).startswith(note.text.rstrip("\r\n")):
            self.wrong.append(f"{note.path}: taking the block out changed the note")


def reason(refused: VaultToolsError) -> str:
    """Shorten a refusal to its kind."""
    what = refused.message.removeprefix("the note's properties cannot be edited: ")
    return re.sub(r"the property .* (stands|does)", r"a property \1", what)


def difference(old: str, new: str) -> tuple[list[str], list[str]]:
    """Give the lines between the common beginning and end, of both texts."""
    before, after = (
        [text[line.start : line.next] for line in lines_of(text, text_start(text))]
        for text in (old, new)
    )
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return before[head : len(before) - tail], after[head : len(after) - tail]


def as_windows(data: bytes) -> bytes:
    """Give a note with CRLF line ends and a byte order mark."""
    lines = re.sub(rb"\r\n|\r|\n", b"\r\n", data.removeprefix(b"\xef\xbb\xbf"))
    return b"\xef\xbb\xbf" + lines


def measure(root: Path, quick: bool) -> dict[str, Any]:
    """Try every note of a vault."""
    paths = notes_of(root)
    chosen = paths[:: max(1, len(paths) // QUICK_NOTES)] if quick else paths
    stride = max(1, len(chosen) // BLOCK_NOTES)
    trial, converted, begin = Trial(), Trial(), time.process_time()
    for number, path in enumerate(chosen):
        try:
            place = path.relative_to(root).as_posix()
            data, sampled = path.read_bytes(), number % stride == 0
            trial.note(place, data, blocks=sampled)
            if sampled:
                converted.note(f"{place}, as Windows saves it", as_windows(data), blocks=False)
        # Any error at all is what is looked for here.
        except Exception:
            trial.counts["raised"] += 1
            trial.wrong.append(f"{path}\n{traceback.format_exc()}")
    with_block = max(1, trial.counts["properties"])
    share = 100 * trial.counts["added"] / with_block
    accounted = trial.counts["added"] + trial.counts["refused"] == trial.counts["properties"]
    return {
        "vault": root.name,
        "counts": dict(trial.counts),
        "addedPercent": round(share, 2),
        "refusals": dict(trial.refusals.most_common()),
        "asWindows": dict(converted.counts),
        "findings": dict(trial.findings.most_common()),
        "wrong": trial.wrong + converted.wrong,
        "cpuSeconds": round(time.process_time() - begin, 1),
        "ok": not trial.wrong and not converted.wrong and accounted,
    }


def rows(found: list[dict[str, Any]]) -> Iterator[str]:
    """Lay the figures out for a reader."""
    yield f"{'vault':<22}" + "".join(f"{name:>11}" for name in COLUMNS) + f"{'%':>8}"
    for one in found:
        counts = "".join(f"{one['counts'].get(name, 0):>11,}" for name in COLUMNS)
        yield f"{one['vault']:<22}{counts}{one['addedPercent']:>8}"
        yield from (f"  refused {count:>6,}  {why}" for why, count in one["refusals"].items())
        yield from (f"  WRONG {text}" for text in one["wrong"][:20])


def main() -> int:
    """Print the table and the JSON; exit 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("vaults", nargs="*", type=Path)
    parser.add_argument("--quick", action="store_true", help="1,000 notes of each vault")
    parser.add_argument("--json", type=Path, help="also write the JSON to this file")
    options = parser.parse_args()
    named = os.environ.get("VAULT_TOOLS_VAULTS", "").split(os.pathsep)
    vaults = options.vaults or [Path(place) for place in named if Path(place).is_dir() and place]
    if not vaults:
        print("skipped: name vault folders as arguments or in VAULT_TOOLS_VAULTS")
        return 0
    found = [measure(vault, options.quick) for vault in vaults]
    counts = sum((Counter(one["counts"]) for one in found), Counter())
    share = 100 * counts["added"] / max(1, counts["properties"])
    summary = {
        "benchmark": "public_notes",
        "vaults": found,
        "total": dict(counts),
        "addedPercent": round(share, 2),
        "bar": BAR,
        "ok": all(one["ok"] for one in found) and share >= BAR,
    }
    print(*rows(found), f"all: {share:.2f} % with exactly one line (bar {BAR})", sep="\n")
    print(json.dumps(summary))
    if options.json:
        options.json.write_text(json.dumps(summary) + "\n", "utf-8")
    return 0 if summary["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
