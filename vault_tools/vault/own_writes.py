"""Recognise our own writes by what they leave on the disk, never by the time they happened at."""

from __future__ import annotations

from collections.abc import Callable

from vault_tools.core.block import MARKER, BlockState, ManagedBlock, find_blocks, verify
from vault_tools.core.digest import sha256_hex
from vault_tools.core.note import decode
from vault_tools.core.ports import BlockOwnership
from vault_tools.errors import BlockMalformed, LockHeld, PathRefused
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.markdown import opaque_lines


class OwnWrites:
    """Compare a changed note with its former bytes in the undo store and with the ledger's blocks.

    The ledger is opened when the first note with a marker changes.
    """

    def __init__(self, files: VaultFiles, open_ledger: Callable[[], BlockOwnership]) -> None:
        self._files = files
        self._open_ledger = open_ledger

    def made(self, path: str, before: str, after: str) -> bool:
        """Tell whether only our blocks changed; hashes are SHA-256, `before` empty for a new note.

        A new note is ours when an apply had put its bytes into the undo store.
        """
        if not before:
            return after in self._files.undo and bool(self._open_ledger().owned_blocks(path))
        if before not in self._files.undo:
            return False
        try:
            # Whoever writes blocks remembers them as ours before letting go of the lock.
            with self._files.hold():
                return self._only_blocks(path, self._files.undo.get(before), after)
        except (BlockMalformed, PathRefused, LockHeld):
            # Markers in disorder, or a link or another vault by now: nothing we would write.
            return False

    def _only_blocks(self, path: str, former: bytes, after: str) -> bool:
        content = self._files.read(path)
        if content is None or sha256_hex(content) != after:
            return False
        marked = MARKER.encode() in content + former
        return marked and self._is_ours(path, decode(former), decode(content))

    def _is_ours(self, path: str, former: str, text: str) -> bool:
        blocks = find_blocks(text, opaque_lines(text))
        owned = self._open_ledger().owned_blocks(path)
        # A block that the ledger knows and the note lacks was taken out by a person.
        return (
            {block.block_id for block in blocks} == set(owned)
            and all(verify(b, owned[b.block_id]) is BlockState.OURS for b in blocks)
            and _words(text, blocks) == _words(former, find_blocks(former, opaque_lines(former)))
        )


def _words(text: str, blocks: tuple[ManagedBlock, ...]) -> list[str]:
    """Give the lines outside the blocks, blank ones left out: those come and go with a block."""
    for block in reversed(blocks):
        text = text[: block.start] + "\n" + text[block.end :]
    return [line for line in text.splitlines() if line.strip()]
