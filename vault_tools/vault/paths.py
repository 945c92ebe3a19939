"""Walk into a vault folder by folder without ever following a link (spec 07 rule 1).

Where the system has descriptors for folders (Linux, macOS) every step is relative to the one
before it, so exchanging a parent for a link in between gains nothing. Windows has none: there each
step is checked by path first, which is weaker, and `WALKS_BY_DESCRIPTOR` says so to `doctor`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vault_tools.core.note import fold
from vault_tools.errors import PathRefused

WALKS_BY_DESCRIPTOR = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_SAFE = _NO_FOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _SAFE
READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
_LINKED = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder: a descriptor, or only a path where the system knows no such descriptors."""

    path: str
    fd: int | None

    def at(self, name: str) -> str:
        """Name an entry the way the calls below need it."""
        return name if self.fd is not None else os.path.join(self.path, name)

    def stat(self, name: str) -> os.stat_result | None:
        """Describe an entry itself, not what it points to; None when there is none."""
        try:
            return os.stat(self.at(name), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open an entry, refusing a link in its place."""
        return os.open(self.at(name), flags | _SAFE, mode, dir_fd=self.fd)

    def unlink(self, name: str) -> None:
        """Remove an entry."""
        os.unlink(self.at(name), dir_fd=self.fd)

    def replace(self, old: str, new: str) -> None:
        """Put one entry in the place of another."""
        os.replace(self.at(old), self.at(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def link(self, old: str, new: str) -> None:
        """Give a file a second name; fails where the name is taken."""
        os.link(self.at(old), self.at(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def make(self, name: str) -> None:
        """Create a folder inside this one."""
        os.mkdir(self.at(name), 0o777, dir_fd=self.fd)

    def names(self) -> list[str]:
        """List the entries."""
        return os.listdir(self.path if self.fd is None else self.fd)

    def sync(self) -> None:
        """Make the names in it durable, where the system lets a folder be synced."""
        if self.fd is not None:
            os.fsync(self.fd)


@contextmanager
def pinned(root: Path, identity: tuple[int, int]) -> Iterator[Folder]:
    """Open the vault itself, and refuse one that is not the folder we started with."""
    if not WALKS_BY_DESCRIPTOR:
        _check_identity(root, root.stat(), identity)
        yield Folder(str(root), None)
        return
    fd = os.open(root, _FOLDER)
    try:
        _check_identity(root, os.fstat(fd), identity)
        yield Folder(str(root), fd)
    finally:
        close_read_only(fd)


def close_read_only(fd: int) -> None:
    """Close a descriptor that was only read; failing loses nothing and must hide no other error."""
    with suppress(OSError):
        os.close(fd)


def _check_identity(root: Path, found: os.stat_result, identity: tuple[int, int]) -> None:
    if (found.st_dev, found.st_ino) != identity:
        raise PathRefused(
            f"the vault {root} is not the folder it was a moment ago",
            "It may have been unmounted or replaced. Check it, then start again.",
        )


@contextmanager
def folder_at(
    root: Folder, parts: Sequence[str], *, create: bool = False, exact: bool = False
) -> Iterator[Folder]:
    """Open the folder `parts` below `root`, making missing ones on request.

    Raises PathRefused for a link, a file or another device in between, and with `create` or `exact`
    for a name spelt otherwise; FileNotFoundError when a folder is missing and `create` is false.
    """
    opened: list[int] = []
    here = root
    try:
        for name in parts:
            here = _step(here, name, create=create, exact=exact)
            if here.fd is not None:
                opened.append(here.fd)
        yield here
    finally:
        for fd in reversed(opened):
            close_read_only(fd)


def _step(here: Folder, name: str, *, create: bool, exact: bool) -> Folder:
    path = os.path.join(here.path, name)
    if create or exact:
        refuse_twin(here, name)
    if create and here.stat(name) is None:
        _make(here, name)
    if here.fd is None:
        return _checked_by_path(path)
    try:
        return Folder(path, here.open(name, _FOLDER))
    except OSError as error:
        if error.errno in _LINKED:
            raise linked(path) from None
        raise


def _make(here: Folder, name: str) -> None:
    try:
        here.make(name)
    except FileExistsError:
        return
    here.sync()


def _checked_by_path(path: str) -> Folder:
    found = os.lstat(path)
    reparse = getattr(found, "st_file_attributes", 0) & getattr(
        stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0
    )
    if not stat.S_ISDIR(found.st_mode) or reparse or os.path.realpath(path) != path:
        raise linked(path)
    return Folder(path, None)


def linked(path: str) -> PathRefused:
    """Say that a link or a file stands where a folder or a note should."""
    return PathRefused(
        f"{path} is a link or no plain folder or file", "vault-tools follows no links in the vault."
    )


def refuse_twin(here: Folder, name: str) -> None:
    """Raise PathRefused for a name that only its twin in case or Unicode form bears here.

    Where the system takes the two for one, the twin would be the file that is opened.
    """
    twins = [other for other in here.names() if fold(other) == fold(name)]
    if twins and name not in twins:
        raise PathRefused(
            f"{name!r} would stand beside {twins[0]!r} in {here.path}",
            "Some systems take the two for one. Rename one of them.",
        )


def open_regular(here: Folder, name: str, flags: int = READ) -> int | None:
    """Open a plain file; None when there is none, PathRefused for a link, folder or device."""
    try:
        fd = here.open(name, flags, 0o666)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (*_LINKED, errno.ENXIO, errno.EISDIR):
            raise linked(os.path.join(here.path, name)) from None
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        close_read_only(fd)
        raise linked(os.path.join(here.path, name))
    return fd


def read_all(fd: int) -> bytes:
    """Read an open file from where it stands to its end, and close it."""
    with os.fdopen(fd, "rb") as handle:
        return handle.read()
