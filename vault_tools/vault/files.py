"""The one writer of vault files (spec 07 rule 1).

A write checks the path, walks to it without following links, takes a lock outside the vault, reads
again, keeps the old bytes in the undo store, and exchanges a synced temporary file for the old one;
a file that somebody changed in between goes back to its place. Renames give a file a new inode and
birth time; mode, owner and extended attributes stay. Hard-linked files are refused, unless the
operator wants files written in place. A note saved a moment ago by somebody else is waited for.

What this cannot see: a program that opened the old file before the exchange and writes into it
after the second look at it. Windows has no exchange and no folder descriptors; there the weaker
hash-and-replace is taken, and each such Change carries the signal `weaker_write`.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vault_tools.core.digest import sha256_hex
from vault_tools.core.note import check_note_path, check_readable_path
from vault_tools.errors import FileConflict, InvalidInput, PathRefused, VaultToolsError
from vault_tools.home.lock import locked
from vault_tools.home.recent import RecentWrites
from vault_tools.vault import swap
from vault_tools.vault.bounds import Bounds, not_ours
from vault_tools.vault.in_place import link_target, linked_root, overwrite
from vault_tools.vault.paths import Folder, folder_at, pinned, refuse_twin
from vault_tools.vault.settling import settled
from vault_tools.vault.undo import UndoStore

_WAYS_OUT = {
    errno.ENOSPC: "Free some space on that disk, then try again.",
    errno.EDQUOT: "Your quota is used up: free some space, then try again.",
    errno.EROFS: "The vault is mounted read-only: make it writable, then try again.",
    errno.EACCES: "Give yourself the right to write there, then try again.",
    errno.EPERM: "The system forbids it: check the rights of the file and its folder.",
    errno.EIO: "The disk reports an error: check it before you write again.",
}


@dataclass(frozen=True, slots=True)
class Change:
    """What a write did: SHA-256 before and after, None where there is no file.

    `signals` name weaker forms that were used: `weaker_write`, `attributes_lost`, `in_place`.
    """

    path: str
    before: str | None
    after: str | None
    signals: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Tell whether anything was written."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Leftover:
    """A temporary file of an interrupted write, now kept in the undo store under `sha256`.

    `known` is false when its text was nowhere else: perhaps an edit that the write displaced.
    """

    path: str
    sha256: str
    known: bool

    def replaces(self, path: str) -> bool:
        """Tell whether it is the temporary file of a write to this path."""
        folder, _, name = path.rpartition("/")
        mine, _, temporary = self.path.rpartition("/")
        return mine == folder and temporary.startswith(f".{name}.")


@dataclass(slots=True)
class _Progress:
    done: bool = False


class VaultFiles:
    """Read anywhere in a vault; write inside its review root and in allow-listed files only.

    `review_root` is a vault path, or empty for a folder where only `extra_files` may be written.
    `extra_files` are exact paths, or patterns with `*` inside a name (`.learning/*.jsonl`).
    `in_place` writes into existing files instead of replacing them: hard links stay, the review
    root may lie behind a link, and a note may be a link to another one of the review root.
    A note that somebody else saved less than `quiet_seconds` ago is waited for, 0 waits for none.
    """

    def __init__(
        self,
        root: Path,
        review_root: str,
        *,
        undo: UndoStore,
        lock_dir: Path,
        extra_files: Collection[str] = (),
        started: str = "",
        wait_seconds: float = 10.0,
        in_place: bool = False,
        quiet_seconds: float = 0.0,
    ) -> None:
        self._root = root.resolve()
        try:
            found = self._root.stat()
        except OSError as error:
            raise VaultToolsError(
                f"the vault {root} cannot be opened: {_reason(error)}",
                "Check that it is mounted and that the configured path is right.",
            ) from error
        self._identity = (found.st_dev, found.st_ino)
        self._bounds = Bounds(review_root, extra_files)
        self._review_root = self._bounds.review_root
        self._undo = undo
        self._lock = lock_dir / f"vault-{found.st_dev:x}-{found.st_ino:x}.lock"
        self._started = started
        self._wait_seconds = wait_seconds
        self._in_place = in_place
        self._linked = linked_root(self._root, self._review_root) if in_place else None
        self._linked_identity = _identity(self._linked) if self._linked else (0, 0)
        self._quiet_seconds = quiet_seconds
        self._recent = RecentWrites(self._lock.with_suffix(".recent"), seconds=quiet_seconds)
        self._turn = threading.RLock()
        self._depth = 0

    @property
    def root(self) -> Path:
        """Give the vault's real path."""
        return self._root

    @property
    def review_root(self) -> str:
        """Give the vault path of the folder that is ours."""
        return self._review_root

    @property
    def undo(self) -> UndoStore:
        """Give the store of replaced bytes."""
        return self._undo

    def review_path(self, name: str) -> str:
        """Give the vault path of a file of the review root."""
        return f"{self._review_root}/{name}" if self._review_root else name

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep every other vault-tools process from writing here; may be nested."""
        with self._turn:
            if self._depth:
                yield
                return
            with locked(self._lock, started=self._started, wait_seconds=self._wait_seconds):
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0

    def read(self, path: str) -> bytes | None:
        """Give the bytes of a vault file, None when there is none; PathRefused for a link."""
        found = self._standing(self._readable(path))
        return None if found is None else found.content

    def sha256(self, path: str) -> str | None:
        """Hash a vault file to 64 hex characters, None when there is none."""
        content = self.read(path)
        return None if content is None else sha256_hex(content)

    def entries(self, path: str) -> list[tuple[str, os.stat_result]]:
        """List a vault folder by name, each entry as it is itself; empty for a missing one."""
        with self._told(path):
            try:
                with self._folder((*check_readable_path(path).split("/"), "")) as folder:
                    found = [(name, folder.stat(name)) for name in sorted(folder.names())]
            except FileNotFoundError:
                return []
        return [(name, one) for name, one in found if one is not None]

    def write(self, path: str, new: bytes, *, expected: str | None) -> Change:
        """Write a file whose bytes have the hash `expected` (None: that must not exist yet).

        A file that holds `new` already is not touched. Raises FileConflict when the file is not
        as expected, PathRefused for a place that is not ours, VaultToolsError for a disk fault;
        in every case nothing was changed.
        """
        parts = self._writable(path)
        unchanged = self._unchanged(path, parts, new)
        if unchanged is not None:
            return unchanged
        with (
            self._told(path) as progress,
            self.hold(),
            self._folder(parts, create=expected is None, exact=True) as folder,
        ):
            found = swap.standing(folder, parts[-1])
            before = None if found is None else found.sha256
            if before != expected:
                raise swap.changed_meanwhile(path)
            if found is None:
                signals = self._create(folder, path, parts[-1], new)
            else:
                signals = self._replace(folder, path, parts[-1], found, new)
            progress.done = True
            if self._quiet_seconds:
                self._recent.remember(sha256_hex(new))
        return Change(path, before, sha256_hex(new), signals)

    def _replace(
        self, folder: Folder, path: str, name: str, found: swap.Standing, new: bytes
    ) -> tuple[str, ...]:
        refuse_twin(folder, name)
        self._refuse_hard_link(path, found)
        if self._quiet_seconds and not self._recent.knows(found.sha256):
            found = settled(
                path,
                found,
                lambda: swap.standing(folder, name),
                quiet_seconds=self._quiet_seconds,
                wait_seconds=self._wait_seconds,
            )
        self._undo.put(found.content)
        change = overwrite if self._in_place else swap.replace
        return change(folder, name, found, new, self._undo)

    def _refuse_hard_link(self, path: str, found: swap.Standing) -> None:
        if not self._in_place:
            swap.refuse_hard_link(path, found)

    def keep(self, path: str, content: bytes) -> str:
        """Keep bytes for a change of a file that is being staged, and give their hash.

        Raises VaultToolsError for a disk fault.
        """
        with self._told(path):
            return self._undo.put(content)

    def restore(self, path: str, sha: str, *, expected: str | None) -> Change:
        """Put bytes from the undo store back in place of those with the hash `expected`."""
        return self.write(path, self._undo.get(sha), expected=expected)

    def remove(self, path: str, *, expected: str) -> Change:
        """Take away a file that we created and that nobody changed since; its bytes are kept."""
        parts = self._writable(path)
        with self._told(path) as progress, self.hold(), self._folder(parts, exact=True) as folder:
            found = swap.standing(folder, parts[-1])
            if found is None or found.sha256 != expected:
                raise swap.changed_meanwhile(path)
            refuse_twin(folder, parts[-1])
            self._refuse_hard_link(path, found)
            self._undo.put(found.content)
            swap.remove(folder, parts[-1], found, self._undo)
            progress.done = True
        return Change(path, expected, None)

    def append_line(self, path: str, line: str) -> None:
        """Add one line to a log, whole or not at all; a torn last line is closed first."""
        if "\n" in line or "\r" in line:
            raise InvalidInput("a log entry holds a line end", "Write it as one line of JSON.")
        parts = self._writable(path)
        with (
            self._told(path) as progress,
            self.hold(),
            self._folder(parts, create=True) as folder,
        ):
            refuse_twin(folder, parts[-1])
            swap.append(folder, parts[-1], line.encode("utf-8") + b"\n", hard_links=self._in_place)
            progress.done = True

    def make_folder(self, path: str) -> None:
        """Create a folder of the review root, with its parents."""
        if not self._bounds.is_ours(check_note_path(path)):
            raise not_ours(path)
        with self._told(path), self.hold(), self._folder((*path.split("/"), ""), create=True):
            pass

    def sweep(self) -> tuple[Leftover, ...]:
        """Clear temporary files of interrupted writes; their bytes go to the undo store first."""
        with (
            self._told(self._review_root),
            self.hold(),
            pinned(self._root, self._identity) as root,
        ):
            found = list(self._swept(root, self._review_root)) if self._review_root else []
            for path in {path.rpartition("/")[0] for path in self._bounds.extra_files}:
                found += self._swept(root, path, deep=False)
        return tuple(found)

    def _swept(self, root: Folder, path: str, *, deep: bool = True) -> Iterator[Leftover]:
        try:
            with folder_at(root, path.split("/") if path else ()) as folder:
                for name in folder.names():
                    if swap.TEMPORARY.fullmatch(name):
                        yield self._rescued(folder, name, f"{path}/{name}".lstrip("/"))
                    elif deep:
                        yield from self._swept(root, f"{path}/{name}")
        except (FileNotFoundError, PathRefused):
            return

    def _rescued(self, folder: Folder, name: str, path: str) -> Leftover:
        found = swap.standing(folder, name)
        content = found.content if found else b""
        known = sha256_hex(content) in self._undo
        sha = self._undo.put(content)
        folder.unlink(name)
        return Leftover(path, sha, known)

    def _create(self, folder: Folder, path: str, name: str, new: bytes) -> tuple[str, ...]:
        try:
            return swap.create(folder, name, new)
        except FileExistsError:
            raise FileConflict(
                f"{path} appeared in the meantime; it is left as it is",
                "Look at that file, then run the command again.",
            ) from None

    def _unchanged(self, path: str, parts: Sequence[str], new: bytes) -> Change | None:
        found = self._standing(parts)
        if found is None or found.content != new:
            return None
        self._refuse_hard_link(path, found)
        return Change(path, found.sha256, found.sha256)

    def _standing(self, parts: Sequence[str]) -> swap.Standing | None:
        try:
            with self._folder(parts) as folder:
                return swap.standing(folder, parts[-1])
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultToolsError(
                f"{'/'.join(parts)} could not be read: {_reason(error)}",
                "Check the file and its folder, then try again.",
            ) from error

    @contextmanager
    def _folder(
        self, parts: Sequence[str], *, create: bool = False, exact: bool = False
    ) -> Iterator[Folder]:
        root, identity, names = self._root, self._identity, parts[:-1]
        if self._linked and self._bounds.is_ours("/".join(parts)):
            root, identity = self._linked, self._linked_identity
            names = names[self._review_root.count("/") + 1 :]
        with (
            pinned(root, identity) as top,
            folder_at(top, names, create=create, exact=exact) as folder,
        ):
            yield folder

    @contextmanager
    def _told(self, path: str) -> Iterator[_Progress]:
        progress = _Progress()
        try:
            yield progress
        except FileNotFoundError:
            raise swap.changed_meanwhile(path) from None
        except OSError as error:
            state = "the change itself was made" if progress.done else "nothing was changed"
            raise VaultToolsError(
                f"{path} could not be written: {_reason(error)}; {state}",
                _WAYS_OUT.get(error.errno or 0, "Check the file and its folder, then try again."),
            ) from error

    def _readable(self, path: str) -> Sequence[str]:
        return self._followed(self._bounds.readable(path)).split("/")

    def _writable(self, path: str) -> Sequence[str]:
        return self._followed(self._bounds.writable(path)).split("/")

    def _followed(self, path: str) -> str:
        """Give the note that a linked note of the review root stands for, when written in place."""
        if not self._in_place or not self._bounds.is_ours(path):
            return path
        try:
            with self._folder(path.split("/")) as folder:
                target = link_target(folder, path)
        except FileNotFoundError:
            return path
        if target is None:
            return path
        if not self._bounds.is_ours(target):
            raise not_ours(path)
        return check_note_path(target)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def _identity(folder: Path) -> tuple[int, int]:
    found = folder.stat()
    return found.st_dev, found.st_ino
