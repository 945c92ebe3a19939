"""One lock per name in the home folder; taken over only when the process that held it is gone."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from vault_tools.errors import LockHeld, VaultToolsError
from vault_tools.home.durable import private_folder

_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class LockOwner:
    """The process that wrote its name into a lock file."""

    pid: int
    host: str
    started: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.started}"


@contextmanager
def locked(path: Path, *, started: str, wait_seconds: float = 0.0) -> Iterator[LockOwner | None]:
    """Hold the lock at `path`, and yield the owner of a lock that its dead process left behind.

    The operating system drops the lock when a process dies, so holding it proves that the former
    owner is gone. Waits up to `wait_seconds`, then raises LockHeld with the owner's name.
    """
    with _opened(path) as handle:
        try:
            _acquire(handle, path, wait_seconds)
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            left_behind = _read_owner(handle)
            me = {"pid": os.getpid(), "host": platform.node(), "started": started}
            _write(handle, path, json.dumps(me).encode())
            yield left_behind
            # The work is done, and the system drops the lock: a name that stays does no harm.
            with contextlib.suppress(VaultToolsError):
                _write(handle, path, b"")
        finally:
            # Closing drops the lock as well.
            with contextlib.suppress(OSError):
                _release(handle)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        private_folder(path.parent)
        handle = path.open("a+b")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield handle
    finally:
        # The descriptor is gone even when this fails, and what the file says matters to nobody.
        with contextlib.suppress(OSError):
            handle.close()


def _unwritable(path: Path, error: OSError) -> VaultToolsError:
    return VaultToolsError(
        f"the lock {path.name} cannot be written: {error.strerror}; nothing was changed",
        "Free some space or check the disk, then run the command again.",
    )


def _acquire(handle: IO[bytes], path: Path, wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while not _try_lock(handle):
        if time.monotonic() >= deadline:
            owner = _read_owner(handle)
            raise LockHeld(
                f"another vault-tools command is at work ({owner or 'owner unknown'})",
                f"Wait until it has finished, then try again. The lock is {path.name}.",
            )
        time.sleep(_POLL_SECONDS)


def _read_owner(handle: IO[bytes]) -> LockOwner | None:
    try:
        handle.seek(0)
        known = json.loads(handle.read().decode())
        return LockOwner(int(known["pid"]), str(known["host"]), str(known["started"]))
    except (ValueError, KeyError, TypeError, UnicodeDecodeError, OSError):
        # An empty or half-written line names nobody; the lock itself is the operating system's.
        return None


def _write(handle: IO[bytes], path: Path, data: bytes) -> None:
    # Past the buffer, which would try once more when the file is closed.
    descriptor = handle.fileno()
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, data)
    except OSError as error:
        raise _unwritable(path, error) from error


if sys.platform == "win32":
    import msvcrt

    _LOCK_BYTE = 1 << 30

    def _try_lock(handle: IO[bytes]) -> bool:
        handle.seek(_LOCK_BYTE)
        try:
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(handle: IO[bytes]) -> None:
        handle.seek(_LOCK_BYTE)
        msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: IO[bytes]) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(handle: IO[bytes]) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
