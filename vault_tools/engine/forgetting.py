"""Forget a memory: archive it, when the agent may, else say that a person has to approve it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from vault_tools.core.memory import Memory, Status, is_memory_id
from vault_tools.core.ports import Embedder, MemoryStore
from vault_tools.core.scope import Scope, Viewer
from vault_tools.core.trust import Trust
from vault_tools.engine.recall import Hit, recall

FORGET_THRESHOLD = 0.3
FORGET_MARGIN = 0.1
_LISTED = 5


class ForgetAction(StrEnum):
    """What became of a request to forget."""

    FORGOTTEN = "forgotten"
    AMBIGUOUS = "ambiguous"
    NOT_FOUND = "not_found"
    NEEDS_APPROVAL = "needs_approval"


@dataclass(frozen=True, slots=True)
class ForgetOutcome:
    """What became of a request to forget.

    `memory` is the archived row, or the one that needs an approval; `candidates` what a query
    could have meant, best first.
    """

    action: ForgetAction
    memory: Memory | None = None
    candidates: tuple[Hit, ...] = ()


def forget(
    target: str,
    *,
    viewer: Viewer,
    store: MemoryStore,
    embedder: Embedder | None,
    now: int,
    threshold: float = FORGET_THRESHOLD,
    margin: float = FORGET_MARGIN,
    dry_run: bool = False,
) -> ForgetOutcome:
    """Archive the memory with an id, or the only one that a query clearly means.

    A query means a memory when no other clears `threshold` and it leads the next by `margin`.
    Where the agent may not decide alone nothing is archived. Raises InvalidInput for an empty
    query. With `dry_run` the outcome is the same and nothing is archived.
    """
    wanted = target.strip().lower()
    if is_memory_id(wanted):
        memory = store.find(viewer, wanted)
        if memory is None or memory.status is not Status.ACTIVE:
            return ForgetOutcome(ForgetAction.NOT_FOUND)
        return _archive(memory, viewer, store, now, dry_run=dry_run)
    found = recall(
        target, viewer=viewer, store=store, embedder=embedder, now=now, limit=_LISTED, min_score=0.0
    )
    hits = found.hits
    return _by_query(hits, viewer, store, now, threshold, margin, dry_run=dry_run)


def _by_query(
    hits: tuple[Hit, ...],
    viewer: Viewer,
    store: MemoryStore,
    now: int,
    threshold: float,
    margin: float,
    *,
    dry_run: bool,
) -> ForgetOutcome:
    clear = tuple(hit for hit in hits if hit.score >= threshold)
    if not clear:
        return ForgetOutcome(ForgetAction.NOT_FOUND)
    best, *others = sorted(hits, key=lambda hit: (-hit.score, hit.memory.id))
    if len(clear) > 1 or any(best.score - other.score < margin for other in others):
        return ForgetOutcome(ForgetAction.AMBIGUOUS, candidates=clear)
    return _archive(best.memory, viewer, store, now, dry_run=dry_run)


def _archive(
    memory: Memory, viewer: Viewer, store: MemoryStore, now: int, *, dry_run: bool
) -> ForgetOutcome:
    if not may_forget(memory, viewer):
        return ForgetOutcome(ForgetAction.NEEDS_APPROVAL, memory)
    if dry_run:
        return ForgetOutcome(ForgetAction.FORGOTTEN, memory)
    archived = replace(memory, status=Status.ARCHIVED, updated_at=now, version=memory.version + 1)
    stored = store.replace(viewer, memory.row_hash, archived, reason="forgotten")
    return ForgetOutcome(ForgetAction.FORGOTTEN, stored)


def may_forget(memory: Memory, viewer: Viewer) -> bool:
    """Tell whether an agent may archive a row without a person: its own, private, not trusted."""
    return (
        memory.stored_by == viewer.agent_id
        and memory.scope is Scope.AGENT_PRIVATE
        and memory.trust is not Trust.TRUSTED
    )
