"""The memory tables of all agents in LanceDB, one database per agent (spec 01)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vault_tools.core.memory import Memory, Status, is_agent_id, is_memory_id
from vault_tools.core.ports import (
    Clock,
    EmbedderIdentity,
    HistoryEntry,
    Indexer,
    Matching,
    Near,
    Operation,
    Pair,
    Vector,
)
from vault_tools.core.scope import Viewer
from vault_tools.errors import InvalidInput, RowDamaged, StoreError
from vault_tools.store.checks import check_new, check_standing, unknown
from vault_tools.store.database import Database, indexed_again
from vault_tools.store.history import History, change
from vault_tools.store.lance import LanceTable, holds_table, newest_version
from vault_tools.store.neighbours import near_pairs
from vault_tools.store.projections import Projections
from vault_tools.store.rows import VECTOR, memory_of
from vault_tools.store.writer import Writer

Found = tuple[dict[str, Any], float]


class LanceMemories:
    """MemoryStore over `{base}/{agent_id}/`, each agent's folder with its table and history.

    `damaged` and `compaction_failures` count since this object was made. With `identity` None the
    tables can be read by words but not written. Raises ModelMismatch where a table was
    embedded with another model, StoreUnavailable for everything LanceDB or the disk refuses.
    """

    def __init__(
        self, base: Path, *, identity: EmbedderIdentity | None, indexer: Indexer, clock: Clock
    ) -> None:
        self._base = base
        self._identity = identity
        self._indexer = indexer
        self._clock = clock
        self._databases: dict[Path, Database] = {}
        self._projections = Projections(base, self._database)
        self._writer = Writer(self._projections, clock)
        self._skipped = 0

    @property
    def damaged(self) -> int:
        """Count the rows skipped because they no longer match their hash."""
        return self._skipped + self._writer.damaged

    @property
    def compaction_failures(self) -> int:
        """Count the compactions that had to be put off."""
        return self._writer.compaction_failures

    def find(self, viewer: Viewer, memory_id: str) -> Memory | None:
        """Give a visible row of any status, or None; raises RowDamaged."""
        if not is_memory_id(memory_id):
            return None
        for database, table in self._sources(viewer):
            row = table.by_id(memory_id)
            if row is not None and self._belongs(viewer, database, row):
                memory = memory_of(row, database.name)
                if memory.is_visible_to(viewer):
                    return memory
        return None

    def rows(
        self,
        viewer: Viewer,
        *,
        statuses: Collection[Status] = (Status.ACTIVE,),
        own_only: bool = False,
    ) -> Iterator[Memory]:
        """Stream visible rows ordered by created_at, then id; expired ones included."""
        if not statuses:
            return
        found = self._visible(
            viewer, lambda table: [(row, 0.0) for row in table.with_statuses(statuses)], own_only
        )
        yield from sorted((m for m, _ in found), key=lambda m: (m.created_at, m.id))

    def count(self, viewer: Viewer) -> int:
        """Count the agent's own active rows."""
        table = self._own(viewer.agent_id).table()
        return table.count_active() if table else 0

    def nearest(self, viewer: Viewer, vector: Vector, *, limit: int, now: int) -> list[Near]:
        """Give the nearest active, unexpired, visible rows, best first, ties by id."""
        found = self._visible(viewer, lambda table: table.nearest(vector, limit=limit, now=now))
        best = sorted(found, key=lambda pair: (-pair[1], pair[0].id))[:limit]
        return [Near(memory, cosine) for memory, cosine in best]

    def matching(
        self, viewer: Viewer, tokens: Sequence[str], *, limit: int, now: int
    ) -> list[Matching]:
        """Give the active, unexpired, visible rows that hold some of the tokens, best first."""
        if not tokens:
            return []
        found = self._visible(viewer, lambda table: table.matching(tokens, limit=limit, now=now))
        best = sorted(found, key=lambda pair: (-pair[1], pair[0].id))[:limit]
        return [Matching(memory, bm25) for memory, bm25 in best]

    def same_content(self, viewer: Viewer, content_hash: str) -> list[Memory]:
        """Give the visible rows of any status with this content hash, by id."""
        found = self._visible(
            viewer, lambda table: [(row, 0.0) for row in table.with_content(content_hash)]
        )
        return sorted((memory for memory, _ in found), key=lambda m: m.id)

    def pairs(self, viewer: Viewer, *, minimum: float, limit: int, now: int) -> Iterator[Pair]:
        """Give each near pair of active, unexpired, visible rows once, best first."""
        vectors: dict[str, Vector] = {}

        def alive(table: LanceTable) -> list[Found]:
            rows = table.with_statuses([Status.ACTIVE], with_vector=True)
            vectors.update((row["id"], row[VECTOR]) for row in rows if row[VECTOR] is not None)
            return [(row, 0.0) for row in rows]

        found = [m for m, _ in self._visible(viewer, alive) if not m.is_expired(now)]
        yield from near_pairs([m for m in found if m.id in vectors], vectors, minimum, limit)

    def insert(self, viewer: Viewer, memory: Memory, vector: Vector, *, reason: str) -> Memory:
        """Store a new row durably and give it back as read back."""
        check_new(viewer, memory)
        with self._writing(viewer) as database:
            database.check_vector(vector)
            table = database.created()
            if table.by_id(memory.id) is not None:
                return self._standing(database, table, memory)
            row = database.indexed(memory, vector)
            table.add(row.record())
            made = change(Operation.STORED, memory, at=self._clock.now(), reason=reason)
            self._writer.commit(database, table, made, row)
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
        """Change a row durably if it still has `before_hash`."""
        with self._writing(viewer, memory.id) as database:
            table, standing, before = self._held(database, viewer, memory.id)
            if before == memory:
                self._writer.heal(database, indexed_again(standing, memory))
                return memory
            check_standing(viewer, before, before_hash, memory)
            if vector is not None:
                database.check_vector(vector)
            row = database.indexed(memory, standing[VECTOR] if vector is None else vector)
            table.upsert([row.record()])
            made = change(
                Operation.CHANGED,
                memory,
                at=self._clock.now(),
                reason=reason,
                before_hash=before_hash,
            )
            self._writer.commit(database, table, made, row, former=[before])
            return memory

    def remove(self, viewer: Viewer, before_hash: str, memory_id: str, *, reason: str) -> None:
        """Take a row out durably; absent already is a no-op."""
        if not is_memory_id(memory_id) or not self._own(viewer.agent_id).exists:
            return
        with self._writing(viewer) as database:
            table = database.created()
            standing = table.by_id(memory_id)
            if standing is None:
                self._writer.heal_removed(database, memory_id)
                return
            before = memory_of(standing, database.name)
            check_standing(viewer, before, before_hash, before)
            table.delete(memory_id)
            made = change(
                Operation.REMOVED,
                before,
                at=self._clock.now(),
                reason=reason,
                before_hash=before_hash,
            )
            self._writer.commit(database, table, made, None, former=[before])

    def history(self, viewer: Viewer, memory_id: str) -> list[HistoryEntry]:
        """Give every committed change of one of the agent's own rows, oldest first."""
        if not is_memory_id(memory_id):
            return []
        return list(History(self._own(viewer.agent_id).folder).entries(memory_id))

    def agents(self) -> list[str]:
        """List the agents that have a database here."""
        if not self._base.is_dir():
            return []
        names = [path.name for path in self._base.iterdir() if holds_table(path)]
        return sorted(name for name in names if is_agent_id(name))

    def version(self, agent_id: str) -> int:
        """Give the table version of an agent's database, 0 when it has none."""
        return newest_version(self._own(agent_id).folder)

    def _own(self, agent_id: str) -> Database:
        if not is_agent_id(agent_id):
            raise InvalidInput(
                f"{agent_id!r} cannot name an agent",
                "Use lower-case letters, digits, dots, dashes and underscores.",
            )
        return self._database(self._base / agent_id)

    def _database(self, folder: Path) -> Database:
        if folder not in self._databases:
            self._databases[folder] = Database(
                folder, folder.name, self._identity, self._indexer, self._clock
            )
        return self._databases[folder]

    def _sources(
        self, viewer: Viewer, own_only: bool = False
    ) -> Iterator[tuple[Database, LanceTable]]:
        shared = [] if own_only else self._projections.of(viewer)
        for database in (self._own(viewer.agent_id), *shared):
            table = database.table()
            if table is not None:
                yield database, table

    def _belongs(self, viewer: Viewer, database: Database, row: Mapping[str, Any]) -> bool:
        """Tell whether a row is read here: an agent's own rows come from its own table only."""
        own = database.folder == self._base / viewer.agent_id
        return own or row["storedBy"] != viewer.agent_id

    def _visible(
        self,
        viewer: Viewer,
        read: Callable[[LanceTable], Sequence[Found]],
        own_only: bool = False,
    ) -> list[tuple[Memory, float]]:
        visible: dict[str, tuple[Memory, float]] = {}
        for database, table in self._sources(viewer, own_only):
            for row, score in read(table):
                if self._belongs(viewer, database, row):
                    memory = self._intact(row, database)
                    if memory is not None and memory.is_visible_to(viewer):
                        visible.setdefault(memory.id, (memory, score))
        return list(visible.values())

    def _intact(self, row: Mapping[str, Any], database: Database) -> Memory | None:
        try:
            return memory_of(row, database.name)
        except RowDamaged:
            self._skipped += 1
            return None

    @contextmanager
    def _writing(self, viewer: Viewer, memory_id: str = "") -> Iterator[Database]:
        database = self._own(viewer.agent_id)
        if memory_id and not (is_memory_id(memory_id) and database.exists):
            raise unknown(memory_id)
        database.table()
        with database.writing():
            self._writer.catch_up(database)
            yield database

    def _held(
        self, database: Database, viewer: Viewer, memory_id: str
    ) -> tuple[LanceTable, dict[str, Any], Memory]:
        table = database.created()
        standing = table.by_id(memory_id, with_vector=True)
        if standing is None:
            raise unknown(memory_id)
        return table, standing, memory_of(standing, database.name)

    def _standing(self, database: Database, table: LanceTable, memory: Memory) -> Memory:
        row = table.by_id(memory.id, with_vector=True) or {}
        standing = memory_of(row, database.name)
        if standing != memory:
            raise StoreError(
                f"another memory is already stored under the id {memory.id}",
                "Store it under a new id, or change the standing row.",
            )
        self._writer.heal(database, indexed_again(row, standing))
        return standing
