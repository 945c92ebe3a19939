"""A small world for engine tests: an in-memory store, a fixed clock, agents of one workspace."""

from __future__ import annotations

import uuid
from dataclasses import replace

from vault_tools.core.memory import Memory
from vault_tools.core.ports import Embedder
from vault_tools.core.scope import Viewer
from vault_tools.engine.tokens import index_tokens
from vault_tools.store.in_memory import InMemoryMemories

NOW = 1_780_000_000_000
MAIN = Viewer("main", "studio", "owner-1")
SCOUT = Viewer("scout", "studio", "owner-1")


class FixedClock:
    def __init__(self, now: int = NOW) -> None:
        self.time = now

    def now(self) -> int:
        return self.time


def uid(number: int) -> str:
    return str(uuid.UUID(int=number))


def row(number: int, text: str, **changes: object) -> Memory:
    memory = Memory(
        id=uid(number),
        text=text,
        created_at=NOW - number,
        stored_by="main",
        workspace_key="studio",
        owner_id="owner-1",
    )
    return replace(memory, **changes)  # type: ignore[arg-type]


def filled(embedder: Embedder, *rows: Memory) -> InMemoryMemories:
    store = InMemoryMemories(indexer=index_tokens, clock=FixedClock())
    for memory in rows:
        viewer = Viewer(memory.stored_by, memory.workspace_key, memory.owner_id)
        vector = embedder.embed_documents([memory.text])[0]
        store.insert(viewer, memory, vector, reason="test")
    return store
