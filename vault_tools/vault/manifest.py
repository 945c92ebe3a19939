"""What notes a vault holds and what changed since the last look; unchanged ones are not read."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from vault_tools.core.note import fold
from vault_tools.errors import PathRefused, VaultToolsError
from vault_tools.vault.exclusion import Excluded
from vault_tools.vault.names import (
    is_conflict_copy,
    is_note,
    is_skipped_folder,
    placeholder_for,
)
from vault_tools.vault.paths import Folder, folder_at, open_regular, pinned

NOT_DOWNLOADED = "not downloaded yet"

_VERSION = 1
_BLOCK = 1 << 20
# A file saved twice within one tick of the file system's clock keeps its time and size.
_TICK_NS = 2_000_000_000

Progress = Callable[[int], None]


class Entry(NamedTuple):
    """One note: size in bytes, time of change in ns, inode, SHA-256 of its bytes.

    A tuple, as each look at a vault loads tens of thousands of them.
    """

    size: int
    mtime_ns: int
    inode: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The notes of a vault by path, as they were at `scanned_at` (UTC milliseconds)."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    scanned_at: int = 0

    def dump(self) -> bytes:
        """Serialise to compact JSON, one list per column."""
        entries = self.entries.values()
        columns = {
            "version": _VERSION,
            "scannedAt": self.scanned_at,
            "paths": list(self.entries),
            "sizes": [entry.size for entry in entries],
            "times": [entry.mtime_ns for entry in entries],
            "inodes": [entry.inode for entry in entries],
            "hashes": [entry.sha256 for entry in entries],
        }
        # ASCII only: a file name that is not UTF-8 is a lone surrogate here.
        return json.dumps(columns, separators=(",", ":")).encode("ascii")

    @staticmethod
    def load(data: bytes) -> Manifest:
        """Read what `dump` wrote; raises VaultToolsError for anything else."""
        try:
            columns: Any = json.loads(data)
            if columns["version"] != _VERSION:
                raise ValueError(f"version {columns['version']} is not known here")
            rows = zip(
                columns["sizes"],
                columns["times"],
                columns["inodes"],
                columns["hashes"],
                strict=True,
            )
            entries = dict(zip(columns["paths"], map(Entry._make, rows), strict=True))
            return Manifest(entries, int(columns["scannedAt"]))
        except (ValueError, KeyError, TypeError) as error:
            raise VaultToolsError(
                f"the list of known notes cannot be read: {error}",
                "Delete it: the next scan reads every note once and writes it anew.",
            ) from error


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """A scan: paths that are new, changed, gone from the disk, or now left out on purpose.

    `vault_missing`: not one note was found where there were some, so nothing counts as removed
    and the manifest is the former one.
    """

    manifest: Manifest
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    vault_missing: bool = False


def scan(
    root: Path,
    previous: Manifest,
    *,
    now: int,
    review_root: str = "",
    excluded: Excluded = lambda path: "",
    progress: Progress = lambda count: None,
) -> ScanResult:
    """Compare a vault with what was known of it; an unchanged note is not opened.

    `now` is UTC milliseconds; a note saved in the two seconds before the former scan is hashed
    again. Hidden folders, templates, `node_modules`, links, conflict copies, placeholders and the
    review root are skipped with their reason. `progress` gets the count of notes seen.
    """
    walk = _Walk(previous, review_root, excluded, progress)
    try:
        found = root.stat()
        with pinned(root, (found.st_dev, found.st_ino)) as folder:
            walk.enter(folder, "")
    except OSError as error:
        walk.skip("", _why(error), keep=True)
    if previous.entries and not walk.seen:
        return ScanResult(previous, skipped=tuple(walk.skipped), vault_missing=True)
    return walk.result(now)


def rescan(
    root: Path,
    previous: Manifest,
    paths: Collection[str],
    *,
    now: int,
    review_root: str = "",
    excluded: Excluded = lambda path: "",
) -> ScanResult:
    """Look at some vault paths only, files or folders, and give the entries a full scan would.

    A path that is gone takes everything below it along; "" stands for the whole vault. Where the
    vault seems empty, unreachable or without notes, a full scan decides. `scanned_at` stays, as
    the rest of the vault was not looked at since.
    """

    def whole() -> ScanResult:
        return scan(root, previous, now=now, review_root=review_root, excluded=excluded)

    if "" in paths:
        return whole()
    walk = _Walk(previous, review_root, excluded, lambda count: None)
    try:
        found = root.stat()
        with pinned(root, (found.st_dev, found.st_ino)) as folder:
            if not folder.names():
                return whole()
            looked_at = {walk.visit(folder, "", place.split("/")) for place in _outermost(paths)}
    except OSError:
        return whole()
    result = walk.result(previous.scanned_at, looked_at)
    return whole() if previous.entries and not result.manifest.entries else result


class _Walk:
    def __init__(
        self, previous: Manifest, review_root: str, excluded: Excluded, progress: Progress
    ) -> None:
        self._known = previous.entries
        self._racy = previous.scanned_at * 1_000_000 - _TICK_NS
        self._review_root = fold(review_root)
        self._excluded = excluded
        self._progress = progress
        self._entries: dict[str, Entry] = {}
        self._changed: list[str] = []
        self._unseen: set[str] = set()
        self._out: set[str] = set()
        self.skipped: list[Skipped] = []
        self.seen = 0

    def skip(self, path: str, reason: str, *, keep: bool = False) -> None:
        """Note what is left out; `keep` when its notes are only out of sight for now."""
        self.skipped.append(Skipped(path, reason))
        (self._unseen if keep else self._out).add(path)

    def enter(self, folder: Folder, path: str) -> None:
        """Look at every entry of a folder, in the order of their names."""
        try:
            with os.scandir(folder.path if folder.fd is None else folder.fd) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self.skip(path, _why(error), keep=True)
            return
        for entry in entries:
            self._entry(folder, entry, _inner(path, entry.name))

    def visit(self, folder: Folder, path: str, rest: Sequence[str]) -> str:
        """Walk down to one place, look at it, and give the path of what was looked at."""
        inner = _inner(path, rest[0])
        try:
            if len(rest) > 1 and _is_folder(folder.stat(rest[0])):
                if reason := self._folder_reason(rest[0], inner):
                    self.skip(inner, reason)
                    return inner
                with folder_at(folder, [rest[0]]) as inside:
                    return self.visit(inside, inner, rest[1:])
            with os.scandir(folder.path if folder.fd is None else folder.fd) as listing:
                for entry in listing:
                    # A note and the placeholder that stands for it are looked at together.
                    if rest[0] in (entry.name, placeholder_for(entry.name)):
                        self._entry(folder, entry, _inner(path, entry.name))
        except (OSError, PathRefused) as error:
            self.skip(inner, _why(error), keep=True)
        return inner

    def _entry(self, folder: Folder, entry: os.DirEntry[str], path: str) -> None:
        if entry.is_dir(follow_symlinks=False):
            self._folder(folder, entry.name, path)
        else:
            self._file(folder, entry, path)

    def _folder(self, folder: Folder, name: str, path: str) -> None:
        reason = self._folder_reason(name, path)
        if reason:
            self.skip(path, reason)
            return
        try:
            with folder_at(folder, [name]) as inside:
                self.enter(inside, path)
        except (OSError, PathRefused) as error:
            self.skip(path, _why(error), keep=True)

    def _folder_reason(self, name: str, path: str) -> str:
        if is_skipped_folder(name):
            return "a hidden, template or package folder"
        if self._review_root and fold(path) == self._review_root:
            return "the review root"
        return self._excluded(path)

    def _file(self, folder: Folder, entry: os.DirEntry[str], path: str) -> None:
        waiting = placeholder_for(entry.name)
        if waiting is not None and is_note(waiting):
            self.seen += 1
            self.skip(path.removesuffix(entry.name) + waiting, NOT_DOWNLOADED, keep=True)
            return
        if not is_note(entry.name):
            if entry.is_symlink() and entry.is_dir():
                self.skip(path, "a link to a folder")
            return
        self.seen += 1
        self._progress(self.seen)
        reason = self._file_reason(entry.name, path)
        if reason:
            self.skip(path, reason)
            return
        try:
            self._note(folder, entry, path)
        except (OSError, PathRefused) as error:
            self.skip(path, _why(error), keep=True)

    def _file_reason(self, name: str, path: str) -> str:
        if name.startswith("."):
            return "hidden"
        if is_conflict_copy(name):
            return "a conflict copy of a sync client"
        return self._excluded(path)

    def _note(self, folder: Folder, entry: os.DirEntry[str], path: str) -> None:
        found = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            self.skip(path, "a link or no plain file")
            return
        known = self._known.get(path)
        if known is not None and self._unchanged(known, found):
            self._entries[path] = known
            return
        sha = _hash(folder, entry.name)
        if sha is None:
            return
        self._entries[path] = Entry(found.st_size, found.st_mtime_ns, found.st_ino, sha)
        if known is not None and known.sha256 != sha:
            self._changed.append(path)

    def _unchanged(self, known: Entry, found: os.stat_result) -> bool:
        changed_at = found.st_mtime_ns
        seen = (found.st_size, changed_at, found.st_ino, known.sha256)
        return known == seen and changed_at < self._racy

    def result(self, now: int, looked_at: Collection[str] = ("",)) -> ScanResult:
        """Sum up the walk of what was looked at; everything else is as it was known."""
        gone = [path for path in self._known if path not in self._entries]
        kept = [p for p in gone if _under(p, self._unseen) or not _under(p, looked_at)]
        for path in kept:
            self._entries[path] = self._known[path]
        rest = [path for path in gone if path not in self._entries]
        withdrawn = [path for path in rest if _under(path, self._out)]
        left_out = set(withdrawn)
        return ScanResult(
            manifest=Manifest(self._entries, now),
            new=tuple(path for path in self._entries if path not in self._known),
            changed=tuple(self._changed),
            removed=tuple(path for path in rest if path not in left_out),
            withdrawn=tuple(withdrawn),
            skipped=tuple(self.skipped),
        )


def _under(path: str, places: Collection[str]) -> bool:
    return "" in places or any(part in places for part in _ancestry(path))


def _outermost(paths: Collection[str]) -> list[str]:
    places = set(paths)
    return [path for path in places if places.isdisjoint(_parents(path))]


def _parents(path: str) -> list[str]:
    return list(_ancestry(path))[1:]


def _inner(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _is_folder(found: os.stat_result | None) -> bool:
    return found is not None and stat.S_ISDIR(found.st_mode)


def _ancestry(path: str) -> Iterator[str]:
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _hash(folder: Folder, name: str) -> str | None:
    fd = open_regular(folder, name)
    if fd is None:
        return None
    digest = hashlib.sha256()
    with os.fdopen(fd, "rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _why(error: OSError | PathRefused) -> str:
    if isinstance(error, OSError):
        return os.strerror(error.errno) if error.errno else str(error)
    return error.message
