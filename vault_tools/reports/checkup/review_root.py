"""The review root: a plain folder that only we write, and whose blocks are as we left them."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from vault_tools.core.block import BlockState
from vault_tools.core.ports import BlockOwnership
from vault_tools.errors import BlockMalformed, VaultToolsError
from vault_tools.reports.checkup.finding import Sheet
from vault_tools.vault.blocks import read_blocks
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.names import is_conflict_copy, is_note
from vault_tools.vault.swap import TEMPORARY


def check_review_root(
    sheet: Sheet, root: Path, review_root: str, *, may_write: bool, may_be_link: bool = False
) -> bool:
    """Look at the folder itself; tells whether its files can be looked at."""
    sheet.checks["reviewRoot"] = {"path": review_root}
    here = root
    for name in review_root.split("/"):
        here = here / name
        is_link = here.is_symlink() and not may_be_link
        if is_link or (here.exists() and not here.is_dir()):
            sheet.error(
                "review_root_link",
                "the review root is a link or no folder; nothing is written through it",
                "Put a plain folder in its place, or name another in obsidian_bridge.review_root.",
                str(here),
            )
            return False
    if not here.is_dir():
        sheet.warn(
            "review_root_missing",
            "there is no review root; no memory is lost",
            "Run `vault-tools init`, then `vault-tools review refresh` for each open bundle.",
            review_root,
        )
        return False
    if here.stat().st_mode & stat.S_IWOTH and os.name != "nt":
        sheet.warn(
            "review_root_open",
            "every user of this computer may write in the review root",
            f"Run `chmod -R o-w` on {here}.",
            review_root,
        )
    if may_write and not _is_writable(here):
        sheet.error(
            "review_root_unwritable",
            "nothing can be written in the review root",
            "Give yourself the right to write there, or mount the vault writable.",
            review_root,
        )
    return True


def _is_writable(folder: Path) -> bool:
    read_only = hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY
    return not read_only and os.access(folder, os.W_OK | os.X_OK)


def check_files(sheet: Sheet, root: Path, review_root: str) -> list[str]:
    """Name what does not belong there, and give the paths of the notes that do."""
    notes, left, copies = [], [], []
    for path in files_below(root, review_root):
        name = path.rpartition("/")[2]
        if TEMPORARY.fullmatch(name):
            left.append(path)
        elif is_conflict_copy(name):
            copies.append(path)
        elif is_note(name):
            notes.append(path)
    sheet.checks["reviewRoot"] |= {"notes": len(notes), "leftovers": len(left)}
    sheet.warn_each(
        "leftover",
        "an interrupted write left this file behind",
        "Run `vault-tools doctor --repair`: its bytes go to the undo store first.",
        left,
    )
    sheet.warn_each(
        "conflict_copy_of_ours",
        "a sync client left a copy of one of our files; it is never read as a bundle",
        "Delete it; the ledger has the truth.",
        copies,
    )
    return notes


def files_below(root: Path, folder: str) -> Iterator[str]:
    """Give the vault paths of all files below a folder, following no link."""
    for here, _, found in os.walk(root / folder):
        for name in sorted(found):
            yield (Path(here) / name).relative_to(root).as_posix()


def check_blocks(
    sheet: Sheet, files: VaultFiles, ownership: BlockOwnership, paths: Iterable[str]
) -> None:
    """Look at every managed block of some notes."""
    counts: Counter[str] = Counter()
    for path in paths:
        try:
            readings = read_blocks(files, ownership, path)
        except BlockMalformed as error:
            counts["malformed"] += 1
            sheet.refused("block_malformed", error, path)
            continue
        except VaultToolsError as error:
            sheet.refused("file_refused", error, path)
            continue
        for reading in readings:
            counts[_STATES[reading.state]] += 1
            _tell(sheet, path, reading.block.block_id, reading.state)
    sheet.checks["blocks"] = dict(counts)


def _tell(sheet: Sheet, path: str, block_id: str, state: BlockState) -> None:
    if state is BlockState.TAMPERED:
        sheet.warn(
            "block_edited",
            f"block {block_id!r} was edited since it was written; nothing is written to this file",
            "Decide about it with `vault-tools review`, or take ours with `review refresh`.",
            path,
        )
    elif state is BlockState.FOREIGN:
        sheet.warn(
            "block_foreign",
            f"block {block_id!r} was not written from here",
            "Take it over with `vault-tools blocks adopt`, or delete it.",
            path,
        )


_STATES = {
    BlockState.OURS: "ours",
    BlockState.TAMPERED: "edited",
    BlockState.FOREIGN: "foreign",
}
