"""Write into a file itself instead of replacing it (`obsidian_bridge.in_place_writes`).

Every name of the file, its inode and its attributes stay, which hard links, a linked review root
and some sync clients want. The price: a crash in the middle leaves a torn note, whose old text is
in the undo store. Used by `vault/files.py` only, which keeps that text and holds the lock.
"""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from vault_tools.errors import FileConflict, VaultToolsError
from vault_tools.vault import swap
from vault_tools.vault.paths import READ, Folder, open_regular
from vault_tools.vault.undo import UndoStore

IN_PLACE = "in_place"

_UPDATE = (READ & ~os.O_RDONLY) | os.O_RDWR


def overwrite(
    folder: Folder, name: str, old: swap.Standing, content: bytes, undo: UndoStore
) -> tuple[str, ...]:
    """Write new bytes over those of `old`, sync them and read them back.

    Raises FileConflict when the file is no longer `old`, before or after; a disk fault puts the
    old bytes back.
    """
    fd = open_regular(folder, name, _UPDATE)
    if fd is None:
        raise swap.changed_meanwhile(name)
    with os.fdopen(fd, "r+b", buffering=0) as handle:
        if handle.read() != old.content:
            raise swap.changed_meanwhile(name)
        try:
            _fill(fd, len(old.content), content)
        except OSError:
            _put_back(fd, folder, name, old)
            raise
        handle.seek(0)
        found = handle.read()
    if found != content:
        kept = undo.put(found)
        raise FileConflict(
            f"{name} was written by another program at the same moment",
            f"Look at it: its text is kept as {kept[:8]}, the one before as {old.sha256[:8]}.",
        )
    return (IN_PLACE,)


def _fill(fd: int, size: int, content: bytes) -> None:
    # What is longer is written first: a full disk then shows before any old byte is gone.
    _write_at(fd, content[size:], size)
    _write_at(fd, content[:size], 0)
    os.ftruncate(fd, len(content))
    os.fsync(fd)


def _write_at(fd: int, content: bytes, at: int) -> None:
    left = memoryview(content)
    os.lseek(fd, at, os.SEEK_SET)
    while left:
        left = left[os.write(fd, left) :]


def _put_back(fd: int, folder: Folder, name: str, old: swap.Standing) -> None:
    try:
        _write_at(fd, old.content, 0)
        os.ftruncate(fd, len(old.content))
        os.fsync(fd)
    except OSError as error:
        raise VaultToolsError(
            f"{os.path.join(folder.path, name)} is half written ({error.strerror}); its old text "
            f"is in the undo store as {old.sha256[:8]}",
            "Check the disk, then run `vault-tools doctor`.",
        ) from error


def linked_root(root: Path, review_root: str) -> Path | None:
    """Give the real folder of a review root that lies behind a link, None for a plain one."""
    plain = root / review_root
    real = plain.resolve()
    return real if review_root and real != plain and real.is_dir() else None


def link_target(folder: Folder, path: str) -> str | None:
    """Give the vault path that a linked note names, None for a note that is no link.

    The path is only spelt out; whoever walks to it follows no further link.
    """
    name = posixpath.basename(path)
    try:
        target = os.readlink(folder.at(name), dir_fd=folder.fd)
    except OSError:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target.replace(os.sep, "/")))
