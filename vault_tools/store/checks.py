"""What both stores ask before they write a row."""

from __future__ import annotations

from vault_tools.core.memory import Memory, is_memory_id
from vault_tools.core.scope import Viewer
from vault_tools.errors import (
    InvalidInput,
    MemoryNotFound,
    StalePrecondition,
    StoreError,
)


def unknown(memory_id: str) -> MemoryNotFound:
    """Describe an id that names no row of the acting agent; foreign and unknown look the same."""
    return MemoryNotFound(
        f"no memory {memory_id!r} of this agent",
        "List the memories with `vault-tools memory list`.",
    )


def check_new(viewer: Viewer, memory: Memory) -> None:
    """Refuse a row with a malformed id, or one stored in another agent's name."""
    if not is_memory_id(memory.id):
        raise InvalidInput(f"{memory.id!r} is no memory id", "Use a UUID in lower case.")
    if memory.stored_by != viewer.agent_id:
        raise StoreError(
            f"agent {viewer.agent_id} cannot store a memory of {memory.stored_by}",
            "Each agent stores its own memories.",
        )


def check_standing(viewer: Viewer, standing: Memory, before_hash: str, after: Memory) -> None:
    """Refuse to change a foreign row, one that has changed since, or its owner."""
    if standing.stored_by != viewer.agent_id or after.id != standing.id:
        raise unknown(after.id)
    if after.stored_by != standing.stored_by:
        raise StoreError("a change cannot move a memory to another agent", "Store it there anew.")
    if standing.row_hash != before_hash:
        raise StalePrecondition(
            f"memory {standing.id} has changed since it was looked at",
            "Look at it again and decide anew.",
        )
