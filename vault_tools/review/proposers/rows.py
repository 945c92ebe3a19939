"""Propose what single memories call for: promotion, tombstone, a look before they expire."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime

from vault_tools.core.item import (
    Effects,
    Evidence,
    FieldChange,
    Item,
    ItemType,
    Needs,
    Precondition,
    RowChange,
    gist,
)
from vault_tools.core.memory import DAY_MS, Category, Memory, Status
from vault_tools.core.risk import Risk
from vault_tools.core.scope import Scope
from vault_tools.core.trust import SourceRole, Trust
from vault_tools.core.visible import hidden_characters
from vault_tools.review.proposers.frame import Frame

EXPIRING_DAYS = 7
_WORTH = (Category.PREFERENCE, Category.FACT, Category.DECISION)
_HUMAN = (SourceRole.USER, SourceRole.NOTE)
_IMPORTANT = 700


def row_items(
    rows: Iterable[Memory],
    frame: Frame,
    *,
    unsettled: Collection[str],
    secrets_in: Callable[[str], tuple[str, ...]],
    gives_orders: Callable[[str], bool],
) -> Iterator[Item]:
    """Propose at most one item per active, unexpired memory; `unsettled` ids are not promoted."""
    for memory in rows:
        if memory.is_expired(frame.now):
            continue
        secrets = secrets_in(memory.text)
        if secrets:
            yield tombstone(memory, frame, _secret_reason(secrets))
        elif memory.trust is Trust.UNTRUSTED and gives_orders(memory.text):
            yield tombstone(memory, frame, "It gives orders to an agent and nobody vouches for it.")
        elif memory.trust is Trust.UNTRUSTED and hidden_characters(memory.text):
            yield tombstone(
                memory, frame, "It holds characters that cannot be seen, and nobody vouches for it."
            )
        elif _expires_soon(memory, frame.now):
            yield _stale_review(memory, frame)
        elif memory.id not in unsettled and _deserves_promotion(memory):
            yield promotion(memory, frame)


def _secret_reason(kinds: tuple[str, ...]) -> str:
    return (
        f"It holds what looks like a secret ({', '.join(kinds)}). Burying it stops the recall; "
        "change the secret itself as well."
    )


def _deserves_promotion(memory: Memory) -> bool:
    if memory.trust is Trust.CANDIDATE:
        return memory.category in _WORTH
    spoken = memory.source_role in _HUMAN and bool(memory.evidence)
    worth = memory.category in _WORTH and memory.importance >= _IMPORTANT
    return memory.trust is Trust.UNTRUSTED and spoken and worth


def _expires_soon(memory: Memory, now: int) -> bool:
    return 0 < memory.expires_at <= now + EXPIRING_DAYS * DAY_MS


def promotion(
    memory: Memory, frame: Frame, *, scope: Scope | None = None, reason: str = ""
) -> Item:
    """Propose to believe a memory more, or, with `scope`, to let more agents recall it."""
    wider = scope is not None and scope is not memory.scope
    trust = memory.trust if wider else _next(memory.trust)
    fields = []
    if trust is not memory.trust:
        fields.append(FieldChange("trust", memory.trust.value, trust.value))
    if wider and scope is not None:
        fields.append(FieldChange("scope", memory.scope.value, scope.value))
    return _about(
        ItemType.MEMORY_PROMOTION,
        memory,
        frame,
        title=_promotion_title(frame.redact(memory.text), trust, scope if wider else None),
        reason=reason or _why_promote(memory),
        if_rejected=f"It stays {memory.trust.value}, {_SCOPES[memory.scope]}, still recalled. "
        f"To be rid of it: vault-tools memory forget {memory.id} --agent {memory.stored_by}",
        fields=tuple(fields),
        scope_after=scope or memory.scope,
        trust_after=trust,
        rank=200 + memory.importance // 10,
    )


def tombstone(memory: Memory, frame: Frame, reason: str) -> Item:
    """Propose that a memory is never recalled again."""
    return _about(
        ItemType.TOMBSTONE,
        memory,
        frame,
        title=f"Never recall again: {gist(frame.redact(memory.text))}",
        reason=reason,
        if_rejected="Agents go on recalling it.",
        fields=(FieldChange("status", memory.status.value, Status.TOMBSTONED.value),),
        rank=500,
    )


def _stale_review(memory: Memory, frame: Frame) -> Item:
    day = datetime.fromtimestamp(memory.expires_at / 1000, UTC).date().isoformat()
    return _about(
        ItemType.STALE_REVIEW,
        memory,
        frame,
        title=f"Expires on {day}: {gist(frame.redact(memory.text))}",
        reason=f"Its lifetime ends on {day}; after that no agent recalls it.",
        if_rejected="It expires on that day.",
        fields=(),
        rank=100,
    )


_READERS = {
    Scope.AGENT_PRIVATE: "nobody else",
    Scope.WORKSPACE_SHARED: "every agent of this workspace",
    Scope.GLOBAL_USER: "every agent of yours, in every workspace",
}
_SCOPES = {
    Scope.AGENT_PRIVATE: "private to its agent",
    Scope.WORKSPACE_SHARED: "shared in the workspace",
    Scope.GLOBAL_USER: "shared with all your agents",
}


def _promotion_title(text: str, trust: Trust, scope: Scope | None) -> str:
    if scope is not None:
        return f"Share with {_READERS[scope]}: {gist(text)}"
    return f"{'Trust' if trust is Trust.TRUSTED else 'Take seriously'}: {gist(text)}"


def _next(trust: Trust) -> Trust:
    return Trust.CANDIDATE if trust is Trust.UNTRUSTED else Trust.TRUSTED


def _why_promote(memory: Memory) -> str:
    basis = {
        SourceRole.USER: "rests on your own words",
        SourceRole.NOTE: "rests on a note of yours",
        SourceRole.ASSISTANT: "is an assistant's conclusion",
        SourceRole.TOOL: "comes from a tool",
        SourceRole.NONE: "comes from nobody on record",
    }[memory.source_role]
    day = datetime.fromtimestamp(memory.created_at / 1000, UTC).date().isoformat()
    return (
        f"{memory.stored_by} stored this {memory.category.value} on {day} ({memory.origin.value}); "
        f"it {basis}. Compare the text with the quote."
    )


def _about(
    kind: ItemType,
    memory: Memory,
    frame: Frame,
    *,
    title: str,
    reason: str,
    if_rejected: str,
    fields: tuple[FieldChange, ...],
    rank: int,
    scope_after: Scope | None = None,
    trust_after: Trust | None = None,
) -> Item:
    change = RowChange(memory.id, memory.row_hash, fields)
    return Item(
        type=kind,
        agent_id=memory.stored_by,
        workspace_key=frame.workspace_key,
        vault_id=frame.vault_id,
        target=f"memory:{memory.id}",
        title=title,
        shown=frame.redact(memory.text),
        reason=reason,
        if_rejected=if_rejected,
        proposed_by=frame.proposed_by,
        profile=frame.profile,
        created_at=frame.now,
        effects=Effects(changes=(change,) if fields else ()),
        evidence=_evidence(memory, frame),
        preconditions=(Precondition(Needs.ROW_HASH, memory.id, memory.row_hash),),
        labelled=Risk.LOW,
        scope_before=memory.scope,
        scope_after=scope_after or memory.scope,
        trust_before=memory.trust,
        trust_after=trust_after or memory.trust,
        template_digest=frame.template_digest,
        rank=rank,
    )


def _evidence(memory: Memory, frame: Frame) -> tuple[Evidence, ...]:
    if not (memory.evidence or memory.source or memory.source_role):
        return ()
    return (Evidence(frame.redact(memory.evidence), memory.source, memory.source_role),)
