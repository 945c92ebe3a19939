"""Follow a vault while it changes: an event is only a hint to look at what is on the disk now.

The only module that imports watchfiles. A touched path is described, hashed and compared through
`manifest.rescan`, and looked at once more a moment later: polling tells times apart by whole
seconds, and a save may still be going on. The whole vault is compared at the start and on a timer,
because network mounts, WSL and Docker lose events. No note is ever written.

Two lists of known notes live side by side in the state folder, and neither reads the other's:
`manifest.json` moves only when the morning review has written its bundle, so a change that was
watched is still news to the next review; `watched.json` is what this watcher saw last, and moves
with every change.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Event

from vault_tools.errors import VaultToolsError
from vault_tools.vault.exclusion import Excluded
from vault_tools.vault.manifest import Entry, Manifest, ScanResult, rescan, scan
from vault_tools.vault.names import is_note, is_skipped_folder, placeholder_for

WATCHED_NAME = "watched.json"
DEBOUNCE_MS = 400
RESCAN_SECONDS = 15 * 60.0

_SETTINGS = ".obsidian/app.json"
_AGAIN_SECONDS = 1.5
_TICK_MS = 500
_POLL_MS = 500
_LONGEST_BATCH = 5


class Kind(StrEnum):
    """What became of a note; `withdrawn` is one that the person keeps out from now on."""

    NEW = "new"
    CHANGED = "changed"
    REMOVED = "removed"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class NoteChange:
    """One note that changed; `sha256` is that of its bytes now, empty when it is gone."""

    kind: Kind
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes seen together; `missing` when the vault is empty or cannot be reached."""

    changes: tuple[NoteChange, ...] = ()
    missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A vault to be followed.

    `excluded` is asked anew at every full look; `now` gives UTC milliseconds; `is_own_write` tells
    from path, former and present hash whether vault-tools itself made a change.
    """

    root: Path
    now: Callable[[], int]
    review_root: str = ""
    excluded: Callable[[], Excluded] = lambda: lambda path: ""
    is_own_write: Callable[[str, str, str], bool] = lambda path, before, after: False


class Watcher:
    """Keep a manifest in step with a vault; `held` are emptied notes that wait for a second look.

    With an unused manifest the first look tells nothing: there is nothing to compare with.
    """

    def __init__(self, vault: Watched, manifest: Manifest) -> None:
        self.vault = vault
        self.manifest = manifest
        self.held: frozenset[str] = frozenset()
        self._excluded = vault.excluded()

    def look_over(self) -> Batch:
        """Compare the whole vault; unchanged notes are not opened."""
        # While Obsidian is saving its settings they cannot be read; the former ones hold then.
        with suppress(VaultToolsError):
            self._excluded = self.vault.excluded()
        first = self.manifest == Manifest()
        found = scan(
            self.vault.root,
            self.manifest,
            now=self.vault.now(),
            review_root=self.vault.review_root,
            excluded=self._excluded,
        )
        batch = self._taken(found, settled=())
        return Batch(missing=batch.missing) if first else batch

    def look_at(self, paths: Collection[str], *, settled: Collection[str] = ()) -> Batch:
        """Compare some paths; an emptied note counts only under a path that is `settled`."""
        if not paths:
            return Batch()
        found = rescan(
            self.vault.root,
            self.manifest,
            paths,
            now=self.vault.now(),
            review_root=self.vault.review_root,
            excluded=self._excluded,
        )
        return self._taken(found, settled)

    def _taken(self, found: ScanResult, settled: Collection[str]) -> Batch:
        known, entries = self.manifest.entries, dict(found.manifest.entries)
        held = {
            path
            for path in (*found.new, *found.changed)
            if not entries[path].size and not _is_at_or_below(path, settled)
        }
        for path in held:
            del entries[path]
            if path in known:
                entries[path] = known[path]
        self.held = frozenset(held)
        self.manifest = replace(found.manifest, entries=entries)
        told = [change for change in _changes(found, entries) if change.path not in held]
        return Batch(tuple(c for c in told if not self._is_own(c, known)), found.vault_missing)

    def _is_own(self, change: NoteChange, known: Mapping[str, Entry]) -> bool:
        if not change.sha256:
            return False
        before = known[change.path].sha256 if change.path in known else ""
        return self.vault.is_own_write(change.path, before, change.sha256)


def look_once(watcher: Watcher) -> Batch:
    """Compare the whole vault once, with a second look at notes that were just emptied."""
    batch = watcher.look_over()
    if not watcher.held:
        return batch
    time.sleep(_AGAIN_SECONDS)
    later = watcher.look_at(watcher.held, settled=watcher.held)
    return Batch((*batch.changes, *later.changes), later.missing)


def watch(
    watcher: Watcher,
    *,
    poll: bool = False,
    debounce_ms: int = DEBOUNCE_MS,
    rescan_seconds: float = RESCAN_SECONDS,
    stop: Event | None = None,
) -> Iterator[Batch]:
    """Yield what changes, batch by batch, the first full look first, until `stop` is set.

    A batch is yielded when the vault was quiet for `debounce_ms` or something is due. Raises
    VaultToolsError when the system refuses to watch.
    """
    stop = stop or Event()
    while not stop.is_set():
        identity = _identity(watcher.vault.root)
        if identity is None:
            yield watcher.look_over()
            stop.wait(_AGAIN_SECONDS)
            continue
        # A vault that was unmounted and came back is another folder for the system's watch.
        rounds = _Rounds(watcher, rescan_seconds)
        for hints in _hints(watcher.vault.root, poll, debounce_ms, stop):
            yield rounds.look(hints)
            if _identity(watcher.vault.root) != identity:
                break


class _Rounds:
    """Decide at every hint or tick what to look at: all, the touched, the touched before."""

    def __init__(self, watcher: Watcher, rescan_seconds: float) -> None:
        self._watcher = watcher
        self._rescan_seconds = rescan_seconds
        self._due = time.monotonic()
        self._again: dict[str, float] = {}

    def look(self, hints: set[str]) -> Batch:
        now = time.monotonic()
        ripe = {path for path, due in self._again.items() if due <= now and path not in hints}
        for path in ripe:
            del self._again[path]
        if now >= self._due or not {"", _SETTINGS}.isdisjoint(hints | ripe):
            self._due = now + self._rescan_seconds
            batch = self._watcher.look_over()
        else:
            batch = self._watcher.look_at(hints | ripe, settled=ripe)
        for path in {*hints, *self._watcher.held} - {""}:
            self._again[path] = now + _AGAIN_SECONDS
        return batch


def _hints(root: Path, poll: bool, debounce_ms: int, stop: Event) -> Iterator[set[str]]:
    """Yield touched vault paths, an empty set at least every half second."""
    from watchfiles import Change
    from watchfiles import watch as events

    seen = events(
        root,
        # Filtered here and not there, where a stream of ignored events would yield nothing at all.
        watch_filter=None,
        step=debounce_ms,
        debounce=debounce_ms * _LONGEST_BATCH,
        rust_timeout=_TICK_MS,
        yield_on_timeout=True,
        stop_event=stop,
        force_polling=True if poll else None,
        poll_delay_ms=_POLL_MS,
        ignore_permission_denied=True,
    )
    try:
        for changes in seen:
            yield set(_places(root, ((kind is Change.modified, path) for kind, path in changes)))
    except FileNotFoundError:
        # The vault went away just now; whoever asked looks again.
        return
    # watchfiles passes on what its Rust part says as a bare RuntimeError.
    except (OSError, RuntimeError) as error:
        raise VaultToolsError(
            f"the system refuses to watch {root}: {error}",
            "Run `vault-tools watch --poll`, or allow more watches (fs.inotify.max_user_watches).",
        ) from error


def _places(root: Path, events: Iterable[tuple[bool, str]]) -> Iterator[str]:
    """Give the vault paths that events may concern, "" for the vault itself."""
    for is_modification, path in events:
        place = os.path.relpath(path, root).replace(os.sep, "/")
        if place == ".":
            if not is_modification:
                yield ""
        elif place == _SETTINGS or _may_concern_notes(path, place):
            # What is not UTF-8 arrives mangled: its folder is looked at instead.
            yield place.rpartition("/")[0] if "\N{REPLACEMENT CHARACTER}" in place else place


def _may_concern_notes(path: str, place: str) -> bool:
    *folders, name = place.split("/")
    if any(is_skipped_folder(folder) for folder in folders):
        return False
    if name.startswith("."):
        return is_note(placeholder_for(name) or "")
    # A name that is gone may have been a folder.
    return is_note(name) or not os.path.isfile(path)


def _changes(found: ScanResult, entries: Mapping[str, Entry]) -> Iterator[NoteChange]:
    for kind, paths in (
        (Kind.NEW, found.new),
        (Kind.CHANGED, found.changed),
        (Kind.REMOVED, found.removed),
        (Kind.WITHDRAWN, found.withdrawn),
    ):
        for path in paths:
            yield NoteChange(kind, path, entries[path].sha256 if path in entries else "")


def _is_at_or_below(path: str, places: Collection[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        found = root.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
