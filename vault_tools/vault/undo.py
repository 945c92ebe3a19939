"""Keep what a write replaces, outside the vault, by its hash, within a bound."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from vault_tools.core.digest import sha256_hex
from vault_tools.errors import VaultToolsError
from vault_tools.home.durable import sync_folder, write_private

DEFAULT_MAX_BYTES = 256 * 1024 * 1024
_SHA = re.compile(r"[0-9a-f]{64}")


class UndoStore:
    """Hold bytes under their SHA-256 in a private folder.

    Over `max_bytes` the entries untouched for longest go first; the newest one always stays.
    """

    def __init__(self, folder: Path, *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._size: int | None = None

    def put(self, content: bytes) -> str:
        """Keep bytes durably and give their hash; what is there already is only marked as used."""
        sha = sha256_hex(content)
        path = self._path(sha)
        if path.is_file() and path.read_bytes() == content:
            os.utime(path)
            return sha
        write_private(path, content)
        self._grow(len(content), keep=sha)
        return sha

    def get(self, sha: str) -> bytes:
        """Give the bytes of a hash; raises VaultToolsError when they are gone or damaged."""
        try:
            content = self._path(sha).read_bytes()
        except FileNotFoundError:
            raise VaultToolsError(
                f"the undo store no longer holds {sha[:8]}",
                "It keeps a bounded amount; look for the text in your backups.",
            ) from None
        except OSError as error:
            raise VaultToolsError(
                f"the undo store's copy of {sha[:8]} cannot be read: {error.strerror}",
                "Check the disk, then run the command again.",
            ) from error
        if sha256_hex(content) != sha:
            raise VaultToolsError(
                f"the undo store's copy of {sha[:8]} is damaged", "Look for it in your backups."
            )
        return content

    def __contains__(self, sha: str) -> bool:
        return self._path(sha).is_file()

    def hashes(self) -> Iterator[str]:
        """List what is kept, in no order."""
        for path in self._entries():
            yield path.name

    def discard(self, sha: str) -> None:
        """Erase one entry (a purge); absent already is a no-op."""
        path = self._path(sha)
        if path.is_file():
            path.unlink()
            sync_folder(path.parent)
        self._size = None

    def _path(self, sha: str) -> Path:
        if not _SHA.fullmatch(sha):
            raise VaultToolsError(f"{sha!r} is no SHA-256", "Use 64 lower-case hex characters.")
        return self._folder / sha[:2] / sha

    def _entries(self) -> Iterator[Path]:
        for path in self._folder.glob("[0-9a-f][0-9a-f]/*"):
            if _SHA.fullmatch(path.name):
                yield path

    def _grow(self, size: int, *, keep: str) -> None:
        if self._size is None:
            self._size = sum(path.stat().st_size for path in self._entries())
        else:
            self._size += size
        if self._size > self._max_bytes:
            self._size = self._prune(self._size, keep)

    def _prune(self, size: int, keep: str) -> int:
        oldest = sorted((path.stat().st_mtime_ns, path) for path in self._entries())
        for _, path in oldest:
            if size <= self._max_bytes:
                break
            if path.name != keep:
                size -= path.stat().st_size
                path.unlink(missing_ok=True)
        return size
