"""Take a new memory in (spec 01 §Store): always agent_private and untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vault_tools.core.memory import (
    MAX_EVIDENCE,
    MAX_SOURCE,
    MAX_TEXT,
    Category,
    Memory,
    Origin,
    Status,
    Ttl,
)
from vault_tools.core.ports import Embedder, MemoryStore, Near, Redactor, Vector
from vault_tools.core.scope import Scope, Viewer
from vault_tools.core.trust import SourceRole, Trust
from vault_tools.core.visible import storable
from vault_tools.engine.categories import category_of
from vault_tools.engine.duplicates import MERGE_MINIMUM, same_fact
from vault_tools.engine.scoring import calibrated
from vault_tools.engine.summaries import summary_of
from vault_tools.errors import InvalidInput, StoreError

_NEIGHBOURS = 10


class StoreAction(StrEnum):
    """What became of a store."""

    STORED = "stored"
    REJECTED_DUPLICATE = "rejected_duplicate"
    TOMBSTONED = "tombstoned"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequest:
    """What an agent asks to remember; `importance` in thousandths, no `ttl` means for good."""

    text: str
    category: Category | None = None
    importance: int = 500
    origin: Origin = Origin.DM
    ttl: Ttl | None = None
    scope: Scope = Scope.AGENT_PRIVATE
    evidence: str = ""
    source: str = ""
    source_role: SourceRole = SourceRole.NONE
    turn_id: str = ""
    session_id: str = ""
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class NearMemory:
    """A standing memory near a new one; `score` is the calibrated cosine, 0–1."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOutcome:
    """What became of a store.

    `memory` is the stored row, or the one that stands in its way. `wanted_scope` is set when a
    wider scope was asked for, for the caller to propose; `near` lists rows in the merge band, for
    a merge or conflict proposal. `removed_characters` counts control characters taken out,
    `redacted` tells whether a secret was masked.
    """

    action: StoreAction
    memory: Memory
    wanted_scope: Scope | None = None
    near: tuple[NearMemory, ...] = ()
    removed_characters: int = 0
    redacted: bool = False


def store(
    request: StoreRequest,
    *,
    viewer: Viewer,
    store: MemoryStore,
    embedder: Embedder,
    redact: Redactor,
    now: int,
    memory_id: str,
    summary_max_words: int = 40,
    dry_run: bool = False,
) -> StoreOutcome:
    """Store a memory unless it is known or was forgotten for good.

    `memory_id` (a UUID) makes the call repeatable: the same text under the same id is stored once.
    With `dry_run` everything is looked up and nothing written; `memory` is then the would-be row.
    Raises InvalidInput for an empty or over-long text, StoreError for an id with another text.
    """
    _check_form(request)
    clean, removed = storable(request.text)
    masked = redact(clean)
    text = masked.strip()
    _check_text(text)
    draft = _drafted(request, text, viewer, redact, now, memory_id, summary_max_words)
    known = _standing(draft, viewer, store)
    near: tuple[NearMemory, ...] = ()
    action = StoreAction.STORED
    if known is None:
        vector = embedder.embed_documents([text])[0]
        neighbours = _neighbours(vector, viewer, store, embedder, now)
        known, action = _obstacle(draft, neighbours, viewer, store, now)
        if known is None:
            known = draft if dry_run else store.insert(viewer, draft, vector, reason="stored")
            near = tuple(n for n in neighbours if n.score >= MERGE_MINIMUM)
    return StoreOutcome(
        action=action,
        memory=known,
        wanted_scope=request.scope if Scope.AGENT_PRIVATE.widens_to(request.scope) else None,
        near=near,
        removed_characters=removed,
        redacted=masked != clean,
    )


def _check_form(request: StoreRequest) -> None:
    if len(request.text) > MAX_TEXT:
        raise InvalidInput(
            f"the text has {len(request.text)} characters, the limit is {MAX_TEXT}",
            "Store the parts that matter as memories of their own.",
        )
    if not 0 <= request.importance <= 1000:
        raise InvalidInput("the importance is not between 0 and 1", "Use a value from 0 to 1.")
    for name, value, limit in (
        ("evidence", request.evidence, MAX_EVIDENCE),
        ("source", request.source, MAX_SOURCE),
    ):
        if len(value) > limit:
            raise InvalidInput(
                f"the {name} has {len(value)} characters, the limit is {limit}", "Shorten it."
            )


def _check_text(text: str) -> None:
    if not text:
        raise InvalidInput("the text to remember is empty", "Give at least one word.")
    if len(text) > MAX_TEXT:
        raise InvalidInput(
            f"the text has {len(text)} characters once secrets are masked, the limit is {MAX_TEXT}",
            "Shorten it.",
        )


def _drafted(
    request: StoreRequest,
    text: str,
    viewer: Viewer,
    redact: Redactor,
    now: int,
    memory_id: str,
    summary_max_words: int,
) -> Memory:
    return Memory(
        id=memory_id,
        text=text,
        summary=summary_of(text, max_words=summary_max_words),
        origin=request.origin,
        importance=request.importance,
        category=request.category or category_of(text),
        created_at=now,
        expires_at=now + request.ttl.milliseconds if request.ttl else 0,
        stored_by=viewer.agent_id,
        scope=Scope.AGENT_PRIVATE,
        trust=Trust.UNTRUSTED,
        workspace_key=viewer.workspace_key,
        owner_id=viewer.owner_id,
        evidence=redact(storable(request.evidence)[0])[:MAX_EVIDENCE],
        source=redact(storable(request.source)[0])[:MAX_SOURCE],
        source_role=request.source_role,
        turn_id=storable(request.turn_id)[0],
        session_id=storable(request.session_id)[0],
        sequence=request.sequence,
        updated_at=now,
    )


def _standing(draft: Memory, viewer: Viewer, store: MemoryStore) -> Memory | None:
    """Give the row an earlier attempt under this id stored."""
    standing = store.find(viewer, draft.id)
    if standing is None:
        return None
    if standing.content_hash != draft.content_hash or standing.stored_by != viewer.agent_id:
        raise StoreError(
            f"another memory is already stored under the id {draft.id}", "Use a new id."
        )
    return standing


def _neighbours(
    vector: Vector, viewer: Viewer, store: MemoryStore, embedder: Embedder, now: int
) -> list[NearMemory]:
    found: list[Near] = store.nearest(viewer, vector, limit=_NEIGHBOURS, now=now)
    return [NearMemory(n.memory, calibrated(n.cosine, embedder.identity)) for n in found]


def _obstacle(
    draft: Memory,
    neighbours: list[NearMemory],
    viewer: Viewer,
    store: MemoryStore,
    now: int,
) -> tuple[Memory | None, StoreAction]:
    """Find what stands in the way: the same fact, or a tombstone of the same text."""
    alike = store.same_content(viewer, draft.content_hash)
    alive = [m for m in alike if m.status is Status.ACTIVE and not m.is_expired(now)]
    if alive:
        return alive[0], StoreAction.REJECTED_DUPLICATE
    for near in neighbours:
        # No threshold: a full stop alone takes the cosine of a short text below any useful one,
        # and equal terms, numbers, dates and negations in equal order say more than nearness.
        if same_fact(near.memory.text, draft.text):
            return near.memory, StoreAction.REJECTED_DUPLICATE
    buried = [m for m in alike if m.status is Status.TOMBSTONED]
    if buried:
        return buried[0], StoreAction.TOMBSTONED
    return None, StoreAction.STORED
