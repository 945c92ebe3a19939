"""Remember for a moment which texts we wrote ourselves, so that nobody waits for them to settle."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from vault_tools.home.durable import private_folder


class RecentWrites:
    """The hashes of what vault-tools wrote in the last seconds, whichever process it was.

    Only a hint that saves a pause: what is lost of it costs that pause, so no disk fault is told.
    The caller holds the lock of the vault.
    """

    def __init__(self, path: Path, *, seconds: float) -> None:
        self._path = path
        self._seconds = seconds

    def remember(self, sha256: str) -> None:
        """Note a text just written; forgets all when nothing was written for a while."""
        with suppress(OSError):
            private_folder(self._path.parent)
            with self._path.open("ab" if self._fresh() else "wb") as handle:
                handle.write(f"{sha256}\n".encode())

    def knows(self, sha256: str) -> bool:
        """Tell whether we wrote this text a moment ago."""
        with suppress(OSError):
            return self._fresh() and sha256.encode() in self._path.read_bytes().split(b"\n")
        return False

    def _fresh(self) -> bool:
        if not self._path.exists():
            return False
        return time.time() - self._path.stat().st_mtime < self._seconds
