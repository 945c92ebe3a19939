"""What a review works on: the opened stores of one workspace, and the moment it happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vault_tools.core.ports import Clock, Embedder, Ledger, MemoryStore, Redactor
from vault_tools.core.scope import Viewer
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.undo import UndoStore


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The opened parts of one workspace; engine and model are opened when first asked for."""

    vault_id: str
    workspace_key: str
    owner_id: str
    open_store: Callable[[], MemoryStore]
    ledger: Ledger
    files: VaultFiles
    undo: UndoStore
    embedder: Callable[[], Embedder]
    redact: Redactor
    clock: Clock
    new_nonce: Callable[[], str]
    review_root: str

    @property
    def store(self) -> MemoryStore:
        """Give the engine; the first call opens it."""
        return self.open_store()

    def viewer(self, agent_id: str) -> Viewer:
        """Act as an agent of this workspace."""
        return Viewer(agent_id, self.workspace_key, self.owner_id)
