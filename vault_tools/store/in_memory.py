"""A MemoryStore that forgets everything with its process; same contract as LanceMemories."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from vault_tools.core.memory import Memory, Status, is_memory_id
from vault_tools.core.ports import (
    Clock,
    HistoryEntry,
    Indexer,
    Matching,
    Near,
    Operation,
    Pair,
    Vector,
)
from vault_tools.core.scope import Viewer
from vault_tools.errors import StoreError
from vault_tools.store.checks import check_new, check_standing, unknown
from vault_tools.store.history import HistoryHead, change, numbered

_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class _Row:
    memory: Memory
    vector: Vector
    words: Counter[str]


@dataclass(slots=True)
class _Agent:
    rows: dict[str, _Row] = field(default_factory=dict)
    history: list[HistoryEntry] = field(default_factory=list)
    version: int = 0


class InMemoryMemories:
    """Hold the rows of all agents in dictionaries; `damaged` is always 0."""

    def __init__(self, *, indexer: Indexer, clock: Clock) -> None:
        self._indexer = indexer
        self._clock = clock
        self._agents: dict[str, _Agent] = {}
        self.damaged = 0
        self.compaction_failures = 0

    def find(self, viewer: Viewer, memory_id: str) -> Memory | None:
        """Give a visible row of any status, or None."""
        for row in self._visible(viewer):
            if row.memory.id == memory_id:
                return row.memory
        return None

    def rows(
        self,
        viewer: Viewer,
        *,
        statuses: Collection[Status] = (Status.ACTIVE,),
        own_only: bool = False,
    ) -> Iterator[Memory]:
        """Stream visible rows ordered by created_at, then id; expired ones included."""
        memories = [row.memory for row in self._visible(viewer) if row.memory.status in statuses]
        kept = [m for m in memories if not own_only or m.stored_by == viewer.agent_id]
        yield from sorted(kept, key=lambda m: (m.created_at, m.id))

    def count(self, viewer: Viewer) -> int:
        """Count the agent's own active rows."""
        rows = self._agents.get(viewer.agent_id, _Agent()).rows.values()
        return sum(row.memory.status is Status.ACTIVE for row in rows)

    def nearest(self, viewer: Viewer, vector: Vector, *, limit: int, now: int) -> list[Near]:
        """Give the nearest active, unexpired, visible rows, best first, ties by id."""
        near = [
            Near(row.memory, _cosine(row.vector, vector))
            for row in self._alive(viewer, now)
            if any(row.vector)
        ]
        return sorted(near, key=lambda found: (-found.cosine, found.memory.id))[:limit]

    def matching(
        self, viewer: Viewer, tokens: Sequence[str], *, limit: int, now: int
    ) -> list[Matching]:
        """Give the active, unexpired, visible rows that hold some of the tokens, best first."""
        alive = self._alive(viewer, now)
        found = [Matching(row.memory, _bm25(row, set(tokens), alive)) for row in alive]
        held = [match for match in found if match.bm25 > 0]
        return sorted(held, key=lambda match: (-match.bm25, match.memory.id))[:limit]

    def same_content(self, viewer: Viewer, content_hash: str) -> list[Memory]:
        """Give the visible rows of any status with this content hash, by id."""
        memories = [row.memory for row in self._visible(viewer)]
        return sorted((m for m in memories if m.content_hash == content_hash), key=lambda m: m.id)

    def pairs(self, viewer: Viewer, *, minimum: float, limit: int, now: int) -> Iterator[Pair]:
        """Give each near pair of active, unexpired, visible rows once, best first."""
        found: dict[tuple[str, str], Pair] = {}
        for row in self._alive(viewer, now):
            near = self.nearest(viewer, row.vector, limit=limit + 1, now=now)
            partners = [n for n in near if n.memory.id != row.memory.id][:limit]
            for partner in partners:
                if partner.cosine >= minimum:
                    one, other = sorted((row.memory, partner.memory), key=lambda m: m.id)
                    found[one.id, other.id] = Pair(one, other, partner.cosine)
        yield from sorted(found.values(), key=lambda p: (-p.cosine, p.first.id, p.second.id))

    def insert(self, viewer: Viewer, memory: Memory, vector: Vector, *, reason: str) -> Memory:
        """Store a new row and give it back."""
        check_new(viewer, memory)
        agent = self._agents.setdefault(viewer.agent_id, _Agent())
        standing = agent.rows.get(memory.id)
        if standing is None:
            self._keep(agent, memory, vector)
            self._record(agent, Operation.STORED, memory, reason, "")
        elif standing.memory != memory:
            raise StoreError(
                f"another memory is already stored under the id {memory.id}",
                "Store it under a new id, or change the standing row.",
            )
        return memory

    def replace(
        self,
        viewer: Viewer,
        before_hash: str,
        memory: Memory,
        *,
        reason: str,
        vector: Vector | None = None,
    ) -> Memory:
        """Change a row if it still has `before_hash`."""
        agent = self._agents.get(viewer.agent_id, _Agent())
        standing = agent.rows.get(memory.id)
        if standing is None:
            raise unknown(memory.id)
        if standing.memory != memory:
            check_standing(viewer, standing.memory, before_hash, memory)
            self._keep(agent, memory, standing.vector if vector is None else vector)
            self._record(agent, Operation.CHANGED, memory, reason, before_hash)
        return memory

    def remove(self, viewer: Viewer, before_hash: str, memory_id: str, *, reason: str) -> None:
        """Take a row out; absent already is a no-op."""
        agent = self._agents.get(viewer.agent_id, _Agent())
        standing = agent.rows.get(memory_id)
        if standing is None:
            return
        check_standing(viewer, standing.memory, before_hash, standing.memory)
        del agent.rows[memory_id]
        self._record(agent, Operation.REMOVED, standing.memory, reason, before_hash)

    def history(self, viewer: Viewer, memory_id: str) -> list[HistoryEntry]:
        """Give every change of one of the agent's own rows, oldest first."""
        agent = self._agents.get(viewer.agent_id, _Agent())
        return [entry for entry in agent.history if entry.memory_id == memory_id]

    def agents(self) -> list[str]:
        """List the agents that have stored something."""
        return sorted(self._agents)

    def version(self, agent_id: str) -> int:
        """Count an agent's commits."""
        return self._agents.get(agent_id, _Agent()).version

    def _visible(self, viewer: Viewer) -> list[_Row]:
        everything = (row for agent in self._agents.values() for row in agent.rows.values())
        own_first = sorted(everything, key=lambda row: row.memory.stored_by != viewer.agent_id)
        visible = {row.memory.id: row for row in reversed(own_first) if self._shown(viewer, row)}
        return list(visible.values())

    def _shown(self, viewer: Viewer, row: _Row) -> bool:
        return is_memory_id(row.memory.id) and row.memory.is_visible_to(viewer)

    def _alive(self, viewer: Viewer, now: int) -> list[_Row]:
        return [
            row
            for row in self._visible(viewer)
            if row.memory.status is Status.ACTIVE and not row.memory.is_expired(now)
        ]

    def _keep(self, agent: _Agent, memory: Memory, vector: Vector) -> None:
        words = Counter(self._indexer(memory))
        agent.rows[memory.id] = _Row(memory, [float(x) for x in vector], words)

    def _record(
        self, agent: _Agent, operation: Operation, memory: Memory, reason: str, before_hash: str
    ) -> None:
        made = change(
            operation, memory, at=self._clock.now(), reason=reason, before_hash=before_hash
        )
        agent.history.extend(numbered([made], HistoryHead(len(agent.history))))
        agent.version += 1


def _cosine(one: Vector, other: Vector) -> float:
    norms = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / norms if norms else 0.0


def _bm25(row: _Row, tokens: set[str], rows: Sequence[_Row]) -> float:
    average = sum(other.words.total() for other in rows) / len(rows) or 1.0
    score = 0.0
    for token in sorted(tokens & row.words.keys()):
        holding = sum(token in other.words for other in rows)
        rarity = math.log(1 + (len(rows) - holding + 0.5) / (holding + 0.5))
        times = row.words[token]
        length = 1 - _B + _B * row.words.total() / average
        score += rarity * times * (_K1 + 1) / (times + _K1 * length)
    return score
