"""What follows a commit: projection, history, sync, read-back, compaction; and catching up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from vault_tools.core.memory import Memory
from vault_tools.core.ports import RECOVERED, Clock, HistoryEntry, Operation
from vault_tools.errors import RowDamaged, StoreUnavailable
from vault_tools.store.database import Database, indexed_again
from vault_tools.store.history import History, change, numbered
from vault_tools.store.lance import LanceTable
from vault_tools.store.projections import Projections
from vault_tools.store.rows import ROW_HASH, IndexedRow, memory_of
from vault_tools.store.sync import sync_tree

_COMPACT_EVERY = 50


class Writer:
    """Finish the commits of one store; every method wants the writer lock of the database.

    A crash after the table's commit leaves a row that the history lacks; the next writer sees the
    newer table version, brings projections and history up to it, and only then writes.
    """

    def __init__(self, projections: Projections, clock: Clock) -> None:
        self._projections = projections
        self._clock = clock
        self._due: set[Path] = set()
        self.compaction_failures = 0
        self.damaged = 0

    def commit(
        self,
        database: Database,
        table: LanceTable,
        made: HistoryEntry,
        row: IndexedRow | None,
        former: Iterable[Memory] = (),
    ) -> None:
        """Follow up a commit: `row` is what now stands, None after a removal."""
        self._read_back(database, table, made)
        if row is None:
            self._projections.withdraw(made.memory_id, former)
        else:
            self._projections.place(row, former)
        history = History(database.folder)
        history.append(numbered([made], history.head()), table.version)
        sync_tree(database.folder)
        self._care(database, table, history)

    def heal(self, database: Database, row: IndexedRow) -> None:
        """Finish for a row that stands already what an interrupted write may have left undone."""
        self._projections.place(row, self._former(database, row.memory.id))
        sync_tree(database.folder)

    def heal_removed(self, database: Database, memory_id: str) -> None:
        """Finish the removal of a row that is gone already."""
        self._projections.withdraw(memory_id, self._former(database, memory_id))
        sync_tree(database.folder)

    def catch_up(self, database: Database) -> None:
        """Record what the table holds and the history lacks.

        Raises StoreUnavailable when the history is ahead: then the table lost commits.
        """
        history = History(database.folder)
        noted = history.head().table_version
        table = database.table()
        version = 0 if table is None else table.version
        if version < noted:
            raise StoreUnavailable(
                f"the database {database.folder} is at version {version}, older than its "
                f"history, which knows version {noted}",
                "Run `vault-tools doctor --repair`; storing now would hide what was lost.",
            )
        if table is None or version == noted:
            return
        missed = list(self._missed(database, table, history))
        if missed:
            history.append(numbered(missed, history.head()), version)
        else:
            history.note_version(version)
        sync_tree(database.folder)

    def _missed(
        self, database: Database, table: LanceTable, history: History
    ) -> Iterator[HistoryEntry]:
        known = history.latest()
        standing = table.seals()
        for memory_id, _, row_hash in standing:
            before = known.get(memory_id)
            if before is None or before.row_hash != row_hash:
                yield from self._missed_row(database, table, memory_id, before)
        gone = set(known) - {memory_id for memory_id, _, _ in standing}
        for memory_id in sorted(gone):
            before = known[memory_id]
            if before is not None:
                self._projections.withdraw(memory_id, self._former(database, memory_id))
                yield self._recovered(Operation.REMOVED, before, before)

    def _missed_row(
        self, database: Database, table: LanceTable, memory_id: str, before: Memory | None
    ) -> Iterator[HistoryEntry]:
        standing = table.by_id(memory_id, with_vector=True)
        if standing is None:
            return
        try:
            memory = memory_of(standing, database.name)
        except RowDamaged:
            # One damaged row must not stop the agent from storing; reading it still raises.
            self.damaged += 1
            return
        self._projections.place(indexed_again(standing, memory), self._former(database, memory_id))
        operation = Operation.STORED if before is None else Operation.CHANGED
        yield self._recovered(operation, memory, before)

    def _recovered(
        self, operation: Operation, memory: Memory, before: Memory | None
    ) -> HistoryEntry:
        return change(
            operation,
            memory,
            at=self._clock.now(),
            reason=RECOVERED,
            before_hash=before.row_hash if before else "",
        )

    def _former(self, database: Database, memory_id: str) -> list[Memory]:
        entries = History(database.folder).entries(memory_id)
        return [entry.after for entry in entries if entry.after is not None]

    def _read_back(self, database: Database, table: LanceTable, made: HistoryEntry) -> None:
        row = table.read_back(made.memory_id)
        if (row is None) != (made.after is None):
            raise StoreUnavailable(
                f"memory {made.memory_id} did not read back from {database.folder} as written",
                "Try again; if it stays so, run `vault-tools doctor`.",
            )
        if row is not None and made.after is not None:
            read = memory_of(row, database.name)
            if read != made.after or not row[ROW_HASH]:
                raise RowDamaged(
                    f"memory {made.memory_id} was read back differently from how it was written",
                    "Run `vault-tools doctor` to check the disk and the database.",
                )

    def _care(self, database: Database, table: LanceTable, history: History) -> None:
        if history.head().sequence % _COMPACT_EVERY == 0:
            self._due.add(database.folder)
        if database.folder not in self._due:
            return
        try:
            table.compact()
            history.note_version(table.version)
            sync_tree(database.folder)
            self._due.discard(database.folder)
        except StoreUnavailable:
            # The row is stored and durable; only the tidying waits for the next commit.
            self.compaction_failures += 1
