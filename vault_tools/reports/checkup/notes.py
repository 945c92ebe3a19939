"""The person's notes: reachable, readable, told apart by every file system."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from vault_tools.core.note import fold
from vault_tools.errors import VaultToolsError
from vault_tools.reports.checkup.finding import MOST_SHOWN, Sheet
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.manifest import NOT_DOWNLOADED, ScanResult
from vault_tools.vault.names import is_conflict_copy, is_note
from vault_tools.vault.notes import NoteFinding, Problem, read_note

_FIXES = {
    Problem.NOT_UTF8: "Open it in an editor that can convert it, and save it as UTF-8.",
    Problem.HOLDS_NUL: "Look for a damaged or binary file under this name; restore or rename it.",
    Problem.TOO_LARGE: "Split the note; what follows is not read.",
    Problem.UNCLOSED_FRONT_MATTER: "Close the properties with a line that holds only ---.",
    Problem.SECOND_FRONT_MATTER: "Join the two blocks of properties into the first one.",
    Problem.BROKEN_YAML: "Correct the marked properties in Obsidian's source mode.",
    Problem.NOT_A_MAP: "Write the properties as `name: value` lines, or leave the block out.",
    Problem.REPEATED_KEY: "Keep one of the two properties of the same name.",
    Problem.HUGE_FRONT_MATTER: "Move the text out of the properties into the note.",
}
_ANY_FIX = "Open the note in Obsidian's source mode and correct it."


def check_scan(sheet: Sheet, root: Path, found: ScanResult) -> None:
    """Look at what a scan saw: nothing at all, twins, conflict copies, placeholders, trash."""
    paths = [*found.manifest.entries, *(skipped.path for skipped in found.skipped)]
    copies = [p for p in paths if is_note(p) and is_conflict_copy(p.rpartition("/")[2])]
    waiting = [one.path for one in found.skipped if one.reason == NOT_DOWNLOADED]
    sheet.checks["notes"] = {
        "read": len(found.manifest.entries),
        "leftOut": dict(Counter(one.reason for one in found.skipped)),
        "conflictCopies": len(copies),
        "notDownloaded": len(waiting),
        "inTrash": _in_trash(sheet, root),
    }
    if found.vault_missing:
        sheet.error(
            "vault_empty",
            "the vault holds no note, but the last review knew some; nothing counts as deleted",
            "Mount its drive or finish its download; nothing is written until then.",
            str(root),
        )
    elif not paths:
        sheet.inform("vault_empty", "the vault holds no note yet", "Write one.", str(root))
    sheet.warn_each(
        "conflict_copy",
        "a sync client left a copy of a note; it is never read",
        "Compare the two in Obsidian, then delete the copy.",
        copies,
    )
    if waiting:
        sheet.inform(
            "not_downloaded",
            f"{len(waiting)} notes wait in the cloud and are not read",
            "Let the sync client download them, for instance by opening them.",
            sorted(waiting)[0],
        )
    _check_twins(sheet, paths)


def _check_twins(sheet: Sheet, paths: Iterable[str]) -> None:
    spelt: defaultdict[str, set[str]] = defaultdict(set)
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            place = "/".join(parts[:depth])
            spelt[fold(place)].add(place)
    twins = [sorted(each) for each in spelt.values() if len(each) > 1]
    # Notes in twin folders are twins only because their folders are.
    own = [each for each in twins if len({place.rpartition("/")[0] for place in each}) == 1]
    sheet.warn_each(
        "name_twin",
        "another name differs in case or Unicode form only; some systems take the two for one",
        "Rename one of them in Obsidian, so that its links follow.",
        [each[0] for each in own],
    )


def _in_trash(sheet: Sheet, root: Path) -> int:
    count = sum(is_note(name) for _, _, names in os.walk(root / ".trash") for name in names)
    if count:
        sheet.inform(
            "trash",
            f"{count} notes lie in the vault's .trash and are not read",
            "Delete them there when you no longer need them.",
            ".trash",
        )
    return count


def check_notes(sheet: Sheet, files: VaultFiles, paths: Iterable[str]) -> None:
    """Read every note and name what is broken in it."""
    broken: list[NoteFinding] = []
    unreadable: list[str] = []
    for path in paths:
        try:
            content = files.read(path)
        except VaultToolsError:
            unreadable.append(path)
            continue
        broken += read_note(path, content or b"").findings
    sheet.checks["notes"]["broken"] = dict(Counter(one.problem.value for one in broken))
    sheet.warn_each(
        "note_unreadable",
        "the note cannot be read",
        "Check its name and its rights; a note that cannot be read is not reviewed.",
        unreadable,
    )
    for one in broken[:MOST_SHOWN]:
        fix = _FIXES.get(one.problem, _ANY_FIX)
        sheet.warn(f"note_{one.problem.value}", one.detail, fix, one.path)
    if rest := len(broken[MOST_SHOWN:]):
        sheet.warn("note_broken", f"{rest} more faults in notes are not shown", _ANY_FIX)
