"""Propose what two memories call for: a choice where they disagree, one where they repeat."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from vault_tools.core.item import Evidence, Item, ItemType, Needs, Precondition, gist
from vault_tools.core.memory import Memory
from vault_tools.core.ports import EmbedderIdentity, MemoryStore
from vault_tools.core.risk import Risk
from vault_tools.core.scope import Viewer
from vault_tools.engine.contradictions import Opposition, contradictions
from vault_tools.engine.duplicates import near_duplicates
from vault_tools.review.proposers.frame import Frame

_DISAGREE = {
    Opposition.NEGATION: "one denies what the other states",
    Opposition.NUMBER: "they name different numbers",
    Opposition.DATE: "they name different dates",
    Opposition.OPPOSITE: "they state the opposite",
    Opposition.VALUE: "they name different things",
}
_CONFLICT_RANK = 600
_MERGE_RANK = 150


def pair_items(
    store: MemoryStore, viewer: Viewer, frame: Frame, identity: EmbedderIdentity
) -> Iterator[Item]:
    """Propose one item per pair of memories that the agent can see, contradictions first."""
    taken: set[frozenset[str]] = set()
    for found in contradictions(store, viewer=viewer, identity=identity, now=frame.now):
        taken.add(frozenset((found.first.id, found.second.id)))
        yield _pair(
            ItemType.CONFLICT_RESOLUTION,
            found.first,
            found.second,
            frame,
            title=f"Contradiction: {_both(found.first, found.second, frame)}",
            reason=f"Both are recalled, but {_DISAGREE[found.opposition]}.",
            if_rejected="Both stay, and agents may recall either.",
            rank=_CONFLICT_RANK + round(found.score * 100),
        )
    for near in near_duplicates(store, viewer=viewer, identity=identity, now=frame.now):
        if frozenset((near.first.id, near.second.id)) not in taken:
            yield _pair(
                ItemType.MEMORY_MERGE,
                near.first,
                near.second,
                frame,
                title=f"Said twice: {gist(frame.redact(near.first.text))}",
                reason="One of them would do; together they crowd out other answers.",
                if_rejected="Both stay.",
                rank=_MERGE_RANK + round(near.score * 10),
            )


def _pair(
    kind: ItemType,
    first: Memory,
    second: Memory,
    frame: Frame,
    *,
    title: str,
    reason: str,
    if_rejected: str,
    rank: int,
) -> Item:
    older, newer = sorted((first, second), key=lambda memory: (memory.created_at, memory.id))
    ids = sorted((first.id, second.id))
    return Item(
        type=kind,
        agent_id=newer.stored_by,
        workspace_key=frame.workspace_key,
        vault_id=frame.vault_id,
        target=f"memories:{','.join(ids)}",
        title=title,
        shown=f"{_told(older, frame)}\n\n{_told(newer, frame)}",
        reason=reason,
        if_rejected=if_rejected,
        proposed_by=frame.proposed_by,
        profile=frame.profile,
        created_at=frame.now,
        evidence=tuple(
            Evidence(frame.redact(memory.evidence), memory.source, memory.source_role)
            for memory in (older, newer)
            if memory.evidence or memory.source
        ),
        preconditions=tuple(
            Precondition(Needs.ROW_HASH, memory.id, memory.row_hash) for memory in (older, newer)
        ),
        labelled=Risk.LOW,
        template_digest=frame.template_digest,
        rank=rank,
    )


def _told(memory: Memory, frame: Frame) -> str:
    day = datetime.fromtimestamp(memory.created_at / 1000, UTC).date().isoformat()
    head = f"{memory.id[:8]} · {day} · agent {memory.stored_by} · {memory.trust.value}"
    return f"{head}\n{frame.redact(memory.text)}"


def _both(first: Memory, second: Memory, frame: Frame) -> str:
    older, newer = sorted((first, second), key=lambda memory: (memory.created_at, memory.id))
    return " / ".join(gist(frame.redact(memory.text), 60) for memory in (older, newer))
