"""One folder with a memory table: opened once, created with its identity, upgraded in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vault_tools.core.memory import Memory
from vault_tools.core.ports import Clock, EmbedderIdentity, Indexer, Vector
from vault_tools.errors import ModelMismatch, StoreUnavailable
from vault_tools.home.durable import private_folder
from vault_tools.home.lock import locked
from vault_tools.store.identity import check_identity, write_identity
from vault_tools.store.lance import (
    LanceTable,
    create_table,
    holds_table,
    open_table,
    table_identity,
)
from vault_tools.store.rows import DATED, NEAR, VECTOR, IndexedRow, memory_of

_LOCK = "writer.lock"
_LOCK_WAIT_SECONDS = 60.0
_SESSION_REACH = 2


class Database:
    """The table of one agent, or a projection of shared rows.

    `name` stands in for a missing storedBy in rows of an older form. With `identity` None the
    table can be read but takes no new vectors.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        identity: EmbedderIdentity | None,
        indexer: Indexer,
        clock: Clock,
    ) -> None:
        self.folder = folder
        self.name = name
        self._identity = identity
        self._indexer = indexer
        self._clock = clock
        self._open: tuple[tuple[int, int], LanceTable] | None = None

    @property
    def exists(self) -> bool:
        """Tell whether the folder holds a table."""
        return holds_table(self.folder)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder's writer lock, creating the folder; raises LockHeld after a minute."""
        private_folder(self.folder)
        started = datetime.fromtimestamp(self._clock.now() / 1000, UTC).isoformat()
        lock = self.folder / _LOCK
        with locked(lock, started=started, wait_seconds=_LOCK_WAIT_SECONDS):
            yield

    def table(self) -> LanceTable | None:
        """Give the table, or None when there is none; raises ModelMismatch, StoreUnavailable."""
        if not self.exists:
            return None
        place = table_identity(self.folder)
        if self._open is None or self._open[0] != place:
            self._open = (place, self._opened())
        return self._open[1]

    def created(self) -> LanceTable:
        """Give the table, creating it first where needed; wants the writer lock."""
        table = self.table()
        if table is None:
            identity = self._writable_identity()
            write_identity(self.folder, identity)
            create_table(self.folder, identity.dimensions)
            table = self.table()
        if table is None:
            raise StoreUnavailable(f"{self.folder} holds no table", "Check the folder and retry.")
        return table

    def indexed(self, memory: Memory, vector: Vector) -> IndexedRow:
        """Give a memory with its search words, those of its session's last rows among them."""
        dated = list(self._indexer(memory))
        return IndexedRow(
            memory, [float(x) for x in vector], dated, [*dated, *self._words_before(memory)]
        )

    def check_vector(self, vector: Vector) -> None:
        """Refuse a vector of another length than the table's with ModelMismatch."""
        expected = self._writable_identity().dimensions
        if len(vector) != expected:
            raise ModelMismatch(
                f"a vector of {len(vector)} dimensions does not fit a table of {expected}",
                "Check which embedding provider is configured.",
            )

    def _writable_identity(self) -> EmbedderIdentity:
        if self._identity is None:
            raise StoreUnavailable(
                "no embedding model is available, so nothing can be stored",
                "Run `vault-tools doctor` to see why the embedding provider does not load.",
            )
        return self._identity

    def _opened(self) -> LanceTable:
        if self._identity is not None:
            check_identity(self.folder, self._identity)
        table = open_table(self.folder)
        if not table.is_complete():
            with self.writing():
                table.complete()
                self._seal(table)
        return table

    def _seal(self, table: LanceTable) -> None:
        """Give rows of an older form their defaults, hashes and search words."""
        records = []
        for row in table.unsealed():
            memory = memory_of(row, self.name)
            words = list(self._indexer(memory))
            records.append(IndexedRow(memory, row[VECTOR], words, words).record())
        if records:
            table.upsert(records)

    def _words_before(self, memory: Memory) -> list[str]:
        table = self.table()
        if table is None or not memory.session_id:
            return []
        rows = table.before_in_session(memory.session_id, memory.sequence, reach=_SESSION_REACH)
        return [word for row in rows for word in str(row[DATED] or "").split()]


def indexed_again(row: Mapping[str, Any], memory: Memory) -> IndexedRow:
    """Give a row that was read with its vector and words, under its verified memory."""
    dated, near = str(row[DATED] or "").split(), str(row[NEAR] or "").split()
    return IndexedRow(memory, row[VECTOR], dated, near)
