"""Put bytes under a name of an open folder: all or nothing, and never over somebody else's text.

Used by `vault/files.py` only, which decides what may be written and holds the lock.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from vault_tools.core.digest import sha256_hex
from vault_tools.errors import FileConflict, PathRefused, VaultToolsError
from vault_tools.vault.exchange import UNKNOWN_HERE, exchange, rename_new
from vault_tools.vault.paths import (
    APPEND,
    Folder,
    close_read_only,
    open_regular,
    read_all,
    refuse_twin,
)
from vault_tools.vault.undo import UndoStore

WEAKER_WRITE = "weaker_write"
ATTRIBUTES_LOST = "attributes_lost"
TEMPORARY = re.compile(r"\..+\.vault-tools-[0-9a-f]{12}\.tmp")

_NO_LINKS = UNKNOWN_HERE | {errno.EPERM, errno.EACCES, errno.EMLINK}
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Standing:
    """A plain file as it stood when it was read."""

    content: bytes
    stat: os.stat_result
    attributes: dict[str, bytes] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """Hash the bytes."""
        return sha256_hex(self.content)


def standing(folder: Folder, name: str) -> Standing | None:
    """Read a plain file; None when there is none, PathRefused for a link or a device."""
    fd = open_regular(folder, name)
    if fd is None:
        return None
    keep = os.dup(fd)
    try:
        return Standing(read_all(fd), os.fstat(keep), _attributes(keep))
    finally:
        close_read_only(keep)


def _attributes(fd: int) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = [name for name in os.listxattr(fd) if not name.startswith("security.")]
        return {name: os.getxattr(fd, name) for name in names}
    except OSError as error:
        if error.errno in UNKNOWN_HERE:
            return {}
        raise


def refuse_hard_link(path: str, found: Standing) -> None:
    """Raise PathRefused for a file with a second name, which a replacement would cut off."""
    # No name at all: somebody renamed another file over it just now, which the exchange finds out.
    if found.stat.st_nlink > 1:
        raise PathRefused(
            f"{path} has more than one name (a hard link)",
            "Copy the file, so that this name is the only one, then try again.",
        )


def create(folder: Folder, name: str, content: bytes) -> tuple[str, ...]:
    """Write a new file under a free name; raises FileExistsError when it is taken."""
    refuse_twin(folder, name)
    signals: list[str] = []
    temporary = _temporary(folder, name, content, None, signals)
    try:
        signals += _publish(folder, temporary, name)
    except BaseException:
        _drop(folder, temporary)
        raise
    try:
        folder.sync()
    except OSError:
        _drop(folder, name)
        raise
    return tuple(signals)


def _publish(folder: Folder, temporary: str, name: str) -> list[str]:
    try:
        rename_new(folder, temporary, name)
        return []
    except OSError as error:
        if error.errno not in UNKNOWN_HERE:
            raise
    try:
        folder.link(temporary, name)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _publish_over_placeholder(folder, temporary, name)
    folder.unlink(temporary)
    return []


def _publish_over_placeholder(folder: Folder, temporary: str, name: str) -> list[str]:
    os.close(folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        folder.replace(temporary, name)
    except OSError:
        _drop(folder, name)
        raise
    return [WEAKER_WRITE]


def replace(
    folder: Folder, name: str, old: Standing, content: bytes, undo: UndoStore
) -> tuple[str, ...]:
    """Put new bytes in the place of `old`, keeping mode, owner and extended attributes.

    The two names are exchanged and the displaced file is hashed: when it is not `old`, it goes back
    and FileConflict is raised. Where nothing can be exchanged, hash and replace (`weaker_write`).
    """
    signals: list[str] = []
    temporary = _temporary(folder, name, content, old, signals)
    try:
        exchange(folder, temporary, name)
    except OSError as error:
        if error.errno in UNKNOWN_HERE:
            return (*signals, *_replace_weaker(folder, name, temporary, old.sha256))
        _drop(folder, temporary)
        raise
    except BaseException:
        _drop(folder, temporary)
        raise
    try:
        kept = _still(folder, temporary, old.sha256)
        if kept:
            # Syncing takes long enough for a half-finished save into the displaced file to show.
            folder.sync()
            kept = _still(folder, temporary, old.sha256)
        if kept:
            folder.unlink(temporary)
            return tuple(signals)
    except BaseException:
        _give_back(folder, name, temporary, sha256_hex(content), undo)
        raise
    _give_back(folder, name, temporary, sha256_hex(content), undo)
    raise changed_meanwhile(name)


def _replace_weaker(folder: Folder, name: str, temporary: str, expected: str) -> tuple[str, ...]:
    try:
        if not _still(folder, name, expected):
            raise changed_meanwhile(name)
        folder.replace(temporary, name)
    except BaseException:
        _drop(folder, temporary)
        raise
    try:
        folder.sync()
    except OSError as error:
        raise _half_done(folder, name, error) from error
    return (WEAKER_WRITE,)


def remove(folder: Folder, name: str, old: Standing, undo: UndoStore) -> None:
    """Take a file away if it still is `old`; else put it back and raise FileConflict."""
    aside = _temporary_name(name)
    try:
        rename_new(folder, name, aside)
    except OSError as error:
        if error.errno not in UNKNOWN_HERE:
            raise
        folder.replace(name, aside)
    try:
        kept = _still(folder, aside, old.sha256)
    except OSError:
        _put_back(folder, aside, name, undo)
        raise
    if not kept:
        _put_back(folder, aside, name, undo)
        raise changed_meanwhile(name)
    try:
        folder.sync()
        folder.unlink(aside)
    except OSError:
        _put_back(folder, aside, name, undo)
        raise


def _put_back(folder: Folder, aside: str, name: str, undo: UndoStore) -> None:
    try:
        rename_new(folder, aside, name)
    except FileExistsError:
        # Somebody saved a newer file under the name; the older text is kept in the undo store.
        _keep(folder, aside, undo)
        folder.unlink(aside)
    except OSError as error:
        if error.errno not in UNKNOWN_HERE:
            raise _half_done(folder, aside, error) from error
        folder.link(aside, name)
        folder.unlink(aside)


def _give_back(folder: Folder, name: str, temporary: str, ours: str, undo: UndoStore) -> None:
    """Exchange back until the newest text of others stands under the name; keep every older one."""
    try:
        last_put = ours
        for _ in range(_ROUNDS):
            returned = _keep(folder, temporary, undo)
            exchange(folder, temporary, name)
            if last_put and _still(folder, temporary, last_put):
                folder.unlink(temporary)
                return
            last_put = returned
    except OSError as error:
        raise _half_done(folder, name, error) from error
    raise VaultToolsError(
        f"{name} changes faster than it can be read; one version was left in {temporary}",
        "Close the program that writes it, then compare the two files.",
    )


def _keep(folder: Folder, name: str, undo: UndoStore) -> str:
    try:
        found = standing(folder, name)
    except PathRefused:
        return ""
    return undo.put(found.content) if found else ""


def _still(folder: Folder, name: str, sha: str) -> bool:
    try:
        found = standing(folder, name)
    except PathRefused:
        return False
    return found is not None and found.sha256 == sha


def append(folder: Folder, name: str, line: bytes, *, hard_links: bool) -> None:
    """Add a line to a file, whole or not at all; a torn last line is closed first."""
    fd = open_regular(folder, name, APPEND)
    if fd is None:
        raise changed_meanwhile(name)
    with os.fdopen(fd, "r+b", buffering=0) as handle:
        found = Standing(b"", os.fstat(fd))
        if not hard_links:
            refuse_hard_link(name, found)
        size = found.stat.st_size
        if size:
            handle.seek(size - 1)
            line = line if handle.read(1) == b"\n" else b"\n" + line
        try:
            if handle.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(fd)
        except OSError:
            handle.truncate(size)
            raise
    if not size:
        folder.sync()


def changed_meanwhile(name: str) -> FileConflict:
    """Say that a file is not what it was when the change to it was made."""
    return FileConflict(
        f"{name} changed since it was read; it is left as it is",
        "Look at the change, then run the command again.",
    )


def _half_done(folder: Folder, name: str, error: OSError) -> VaultToolsError:
    return VaultToolsError(
        f"{os.path.join(folder.path, name)} was written but not finished "
        f"({os.strerror(error.errno or errno.EIO)}); the text before it is in the undo store",
        "Check the disk, then run `vault-tools doctor`.",
    )


def _temporary_name(name: str) -> str:
    return f".{name}.vault-tools-{secrets.token_hex(6)}.tmp"


def _temporary(
    folder: Folder, name: str, content: bytes, like: Standing | None, signals: list[str]
) -> str:
    temporary = _temporary_name(name)
    mode = 0o600 if like else 0o666
    fd = folder.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(fd, "wb") as handle:
            handle.write(content)
            handle.flush()
            if like is not None and not _liken(handle.fileno(), like):
                signals.append(ATTRIBUTES_LOST)
            os.fsync(handle.fileno())
    except BaseException:
        _drop(folder, temporary)
        raise
    return temporary


def _liken(fd: int, like: Standing) -> bool:
    """Give a file the owner, mode and attributes of another; False when the system refuses some."""
    complete = True
    mine = os.fstat(fd)
    if hasattr(os, "fchown") and (mine.st_uid, mine.st_gid) != (like.stat.st_uid, like.stat.st_gid):
        complete = _allowed(os.fchown, fd, like.stat.st_uid, like.stat.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(fd, like.stat.st_mode & 0o7777)
    for name, value in like.attributes.items():
        complete &= _allowed(os.setxattr, fd, name, value)
    return complete


def _allowed(call: Callable[..., None], *arguments: object) -> bool:
    try:
        call(*arguments)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, *UNKNOWN_HERE):
            return False
        raise
    return True


def _drop(folder: Folder, name: str) -> None:
    # One more try: a fault that passes must not leave a temporary file in somebody's vault.
    for _ in range(2):
        with contextlib.suppress(OSError):
            folder.unlink(name)
            return
