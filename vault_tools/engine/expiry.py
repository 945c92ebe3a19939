"""Memories whose lifetime is over, or soon will be."""

from __future__ import annotations

from vault_tools.core.memory import DAY_MS, Memory
from vault_tools.core.ports import MemoryStore
from vault_tools.core.scope import Viewer


def expired(store: MemoryStore, *, viewer: Viewer, now: int) -> list[Memory]:
    """List the agent's own active rows whose lifetime is over, longest ago first."""
    rows = store.rows(viewer, own_only=True)
    return sorted((m for m in rows if m.is_expired(now)), key=_by_expiry)


def expiring(store: MemoryStore, *, viewer: Viewer, now: int, days: int) -> list[Memory]:
    """List the agent's own active rows that expire within some days from now, soonest first."""
    until = now + days * DAY_MS
    rows = store.rows(viewer, own_only=True)
    return sorted((m for m in rows if now < m.expires_at <= until), key=_by_expiry)


def _by_expiry(memory: Memory) -> tuple[int, str]:
    return memory.expires_at, memory.id
