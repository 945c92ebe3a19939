"""Find the memories that answer a question (spec 01 §Recall)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vault_tools.core.memory import MAX_TEXT, Memory, Status, is_memory_id
from vault_tools.core.ports import Embedder, EmbedderIdentity, MemoryStore
from vault_tools.core.scope import Viewer
from vault_tools.core.visible import storable
from vault_tools.engine.duplicates import same_fact
from vault_tools.engine.scoring import Score, fused, lexical_score
from vault_tools.engine.tokens import (
    QueryWord,
    query_tokens,
    query_words,
    searchable_text,
    text_forms,
)
from vault_tools.errors import InvalidInput

DEGRADED = "degraded"
ROWS_DAMAGED = "rows_damaged"
CANDIDATES = 100
_EXACT = Score(1.0, 1.0, 1.0, 1.0, None, 0.0)


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers; `score` is its relevance 0–1, `parts` what it is made of."""

    memory: Memory
    parts: Score

    @property
    def score(self) -> float:
        """Give the relevance, 0–1."""
        return self.parts.relevance


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The hits, best first, and what the caller has to know about how they were found.

    Signals: `degraded` (no embedding model, words only), `rows_damaged`. `explanations` has one
    line per hit when asked for.
    """

    hits: tuple[Hit, ...]
    signals: tuple[str, ...] = ()
    explanations: tuple[str, ...] = ()


@dataclass(slots=True)
class _Candidate:
    memory: Memory
    cosine: float | None = None


def recall(
    query: str,
    *,
    viewer: Viewer,
    store: MemoryStore,
    embedder: Embedder | None,
    now: int,
    limit: int = 5,
    min_score: float = 0.15,
    explain: bool = False,
) -> RecallResult:
    """Give the active, unexpired, visible memories that answer a query, best first.

    A query that is a memory's id gives that memory. Equal facts under several ids are shown once;
    ties go by id. Raises InvalidInput for an empty query, one above 32,768 characters, a limit
    below 1.
    """
    asked = _checked(query, limit)
    damaged = store.damaged
    exact = _by_id(asked, viewer, store, now)
    hits = [Hit(exact, _EXACT)] if exact else _search(asked, viewer, store, embedder, now)
    shown = _distinct((hit for hit in hits if hit.score >= min_score), limit)
    signals = ([] if embedder else [DEGRADED]) + ([ROWS_DAMAGED] if store.damaged > damaged else [])
    lines = tuple(_explained(hit) for hit in shown) if explain else ()
    return RecallResult(tuple(shown), tuple(signals), lines)


def _checked(query: str, limit: int) -> str:
    asked = storable(query)[0].strip()
    if not asked:
        raise InvalidInput("the query is empty", "Ask with at least one word.")
    if len(asked) > MAX_TEXT:
        raise InvalidInput(
            f"the query has {len(asked)} characters, the limit is {MAX_TEXT}", "Shorten it."
        )
    if limit < 1:
        raise InvalidInput(f"the limit is {limit}", "Ask for at least one memory.")
    return asked


def _by_id(asked: str, viewer: Viewer, store: MemoryStore, now: int) -> Memory | None:
    memory = store.find(viewer, asked.lower()) if is_memory_id(asked.lower()) else None
    if memory is None or memory.status is not Status.ACTIVE or memory.is_expired(now):
        return None
    return memory


def _search(
    asked: str, viewer: Viewer, store: MemoryStore, embedder: Embedder | None, now: int
) -> list[Hit]:
    words = query_words(asked)
    found: dict[str, _Candidate] = {}
    if embedder is not None:
        vector = embedder.embed_query(asked)
        for near in store.nearest(viewer, vector, limit=CANDIDATES, now=now):
            found[near.memory.id] = _Candidate(near.memory, near.cosine)
    for match in store.matching(viewer, query_tokens(words), limit=CANDIDATES, now=now):
        found.setdefault(match.memory.id, _Candidate(match.memory))
    identity = embedder.identity if embedder is not None else None
    hits = [_scored(candidate, words, identity) for candidate in found.values()]
    return sorted(hits, key=lambda hit: (-hit.parts.ranking, hit.memory.id))


def _scored(
    candidate: _Candidate, words: Sequence[QueryWord], identity: EmbedderIdentity | None
) -> Hit:
    lexical = lexical_score(words, text_forms(searchable_text(candidate.memory)))
    return Hit(
        candidate.memory,
        fused(lexical, candidate.cosine, identity, candidate.memory.importance),
    )


def _distinct(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Keep the first of hits that state the same fact, up to a limit."""
    kept: list[Hit] = []
    for hit in hits:
        if len(kept) == limit:
            break
        if not any(same_fact(hit.memory.text, other.memory.text) for other in kept):
            kept.append(hit)
    return kept


def _explained(hit: Hit) -> str:
    parts = hit.parts
    cosine = "none" if parts.cosine is None else f"{parts.cosine:.3f}"
    return (
        f"{hit.memory.id}: score {parts.relevance:.3f} = lexical {parts.lexical:.3f}, "
        f"calibrated {parts.dense:.3f} (cosine {cosine}), importance {parts.importance:+.3f}"
    )
