"""The only opener of LanceDB; its errors leave here as StoreUnavailable."""

from __future__ import annotations

import importlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from vault_tools.core.memory import Status
from vault_tools.core.ports import Vector
from vault_tools.errors import StoreError, StoreUnavailable
from vault_tools.store.rows import (
    ADDED_COLUMNS,
    CONTENT_HASH,
    DATED,
    NEAR,
    READ_COLUMNS,
    ROW_HASH,
    TABLE,
    VECTOR,
)

_KEPT_VERSIONS = timedelta(minutes=5)
_INVERTED = (1 << 64) - 1
_HALF = 1 << 63


def _lancedb() -> Any:
    # The library reads this once, at import; without it every full-text search warns on stderr.
    os.environ.setdefault("LANCEDB_LOG", "error")
    import lancedb

    return lancedb


def _pyarrow() -> Any:
    return importlib.import_module("pyarrow")


@contextmanager
def _translated(folder: Path, doing: str) -> Iterator[None]:
    try:
        yield
    except StoreError:
        raise
    # LanceDB raises bare RuntimeError, ValueError and OSError for everything that fails inside it.
    except (RuntimeError, ValueError, OSError, TypeError, KeyError, ImportError) as error:
        raise StoreUnavailable(
            f"cannot {doing} the memory database {folder}: {error}",
            "Run `vault-tools doctor` to see what is wrong with it.",
        ) from error


def holds_table(folder: Path) -> bool:
    """Tell whether a folder holds a memory table, without importing LanceDB."""
    return _table_folder(folder).is_dir()


def newest_version(folder: Path) -> int:
    """Give the number of the newest commit from the manifests' names, 0 without a table.

    Does not import LanceDB: its manifests are named by 2⁶⁴ - 1 - version (or the bare version in
    tables of its first format).
    """
    numbers = [int(name) for name in _versions(folder) if name.isdecimal()]
    return max((n if n < _HALF else _INVERTED - n for n in numbers), default=0)


def kept_versions(folder: Path) -> int:
    """Count the commits that compaction has not dropped yet; does not import LanceDB."""
    return len(_versions(folder))


def _versions(folder: Path) -> list[str]:
    return [path.stem for path in (_table_folder(folder) / "_versions").glob("*.manifest")]


def table_identity(folder: Path) -> tuple[int, int]:
    """Tell one table folder from another that took its place (device, inode)."""
    status = _table_folder(folder).stat()
    return status.st_dev, status.st_ino


def _table_folder(folder: Path) -> Path:
    return folder / f"{TABLE}.lance"


class LanceTable:
    """One open `memories` table; rows go in and come out as plain records.

    Every method raises StoreUnavailable.
    """

    def __init__(self, folder: Path, table: Any) -> None:
        self.folder = folder
        self._table = table

    @property
    def version(self) -> int:
        """Give the number of the newest commit."""
        with _translated(self.folder, "read"):
            return int(self._table.version)

    @property
    def dimensions(self) -> int:
        """Give the length of the stored vectors."""
        with _translated(self.folder, "read"):
            return int(self._table.schema.field(VECTOR).type.list_size)

    def count_active(self) -> int:
        """Count the active rows."""
        with _translated(self.folder, "count"):
            return int(self._table.count_rows(filter=f"status = '{Status.ACTIVE.value}'"))

    def by_id(self, memory_id: str, *, with_vector: bool = False) -> dict[str, Any] | None:
        """Give one row, or None."""
        found = self._scan(_equals("id", memory_id), with_vector=with_vector)
        return found[0] if found else None

    def read_back(self, memory_id: str) -> dict[str, Any] | None:
        """Give a row as the newest commit holds it; wants the writer lock.

        Raises StoreUnavailable after taking that commit back when it cannot be read: LanceDB loses
        the error of a data file's last write, and commits the torn file.
        """
        try:
            return self.by_id(memory_id)
        except StoreUnavailable as error:
            with _translated(self.folder, "restore"):
                self._table.restore(self._table.version - 1)
            raise StoreUnavailable(
                f"cannot write the memory database {self.folder}: what was written does not read "
                "back; nothing was changed",
                "Free some space or check the disk, then try again.",
            ) from error

    def with_content(self, content_hash: str) -> list[dict[str, Any]]:
        """Give the rows whose normalised text has this hash."""
        return self._scan(_equals(CONTENT_HASH, content_hash))

    def before_in_session(
        self, session_id: str, sequence: int, *, reach: int
    ) -> list[dict[str, Any]]:
        """Give the rows of a session said at most `reach` places before, with their words."""
        return self._scan(_just_before(session_id, sequence, reach), with_vector=True)

    def with_statuses(
        self, statuses: Collection[Status], *, with_vector: bool = False
    ) -> list[dict[str, Any]]:
        """Give the rows of some statuses, in no order."""
        return self._scan(_one_of("status", [s.value for s in statuses]), with_vector=with_vector)

    def seals(self) -> list[tuple[str, int, str]]:
        """List (id, version, row hash) of all rows."""
        with _translated(self.folder, "read"):
            query = self._table.search().select(["id", "version", ROW_HASH])
            return [tuple(row.values()) for row in query.to_arrow().to_pylist()]

    def nearest(
        self, vector: Vector, *, limit: int, now: int
    ) -> list[tuple[dict[str, Any], float]]:
        """Give the nearest active, unexpired rows with their raw cosine."""
        with _translated(self.folder, "search"):
            query = self._table.search(list(vector)).distance_type("cosine")
            rows = self._limited(query.where(_alive(now), prefilter=True), limit, "_distance")
        return [(row, 1.0 - row.pop("_distance")) for row in rows]

    def matching(
        self, tokens: Sequence[str], *, limit: int, now: int
    ) -> list[tuple[dict[str, Any], float]]:
        """Give the active, unexpired rows that hold some tokens, with half of each leg's BM25."""
        best: dict[str, tuple[dict[str, Any], float]] = {}
        for column in (DATED, NEAR):
            for row, score in self._matching(column, tokens, limit, now):
                known = best.get(row["id"], (row, 0.0))
                best[row["id"]] = (known[0], known[1] + score / 2)
        return list(best.values())

    def _matching(
        self, column: str, tokens: Sequence[str], limit: int, now: int
    ) -> list[tuple[dict[str, Any], float]]:
        from lancedb import query as lancedb_query

        # Never a bare string: in double quotes it would become a phrase query, which fails here.
        match_query: Any = lancedb_query.MatchQuery
        with _translated(self.folder, "search"):
            query = self._table.search(match_query(" ".join(tokens), column), query_type="fts")
            rows = self._limited(query.where(_alive(now), prefilter=True), limit, "_score")
        return [(row, row.pop("_score")) for row in rows]

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a row in one commit."""
        with _translated(self.folder, "write"):
            self._table.add(self._arrow([record]))

    def upsert(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Replace or add rows by id in one commit."""
        with _translated(self.folder, "write"):
            merge = self._table.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(self._arrow(records))

    def delete(self, memory_id: str) -> None:
        """Take a row out in one commit."""
        with _translated(self.folder, "write"):
            self._table.delete(_equals("id", memory_id))

    def compact(self) -> None:
        """Merge small files and indexes and drop versions older than five minutes."""
        with _translated(self.folder, "compact"):
            self._table.optimize(cleanup_older_than=_KEPT_VERSIONS)

    def unsealed(self) -> list[dict[str, Any]]:
        """Give the rows written before the hash column existed, with their vectors."""
        with _translated(self.folder, "read"):
            if not self._table.count_rows(filter=f"{ROW_HASH} IS NULL"):
                return []
            query = self._table.search().where(f"{ROW_HASH} IS NULL")
            return list(query.select([*READ_COLUMNS, VECTOR]).to_arrow().to_pylist())

    def is_complete(self) -> bool:
        """Tell whether the table has all columns and indexes of today's form."""
        with _translated(self.folder, "read"):
            return not (_missing_columns(self._table) or _missing_indexes(self._table))

    def complete(self) -> None:
        """Add what an older or half-made table lacks; new columns are empty."""
        with _translated(self.folder, "upgrade"):
            _complete(self._table)

    def _scan(self, condition: Any, *, with_vector: bool = False) -> list[dict[str, Any]]:
        columns = [*READ_COLUMNS, *([VECTOR, DATED, NEAR] if with_vector else [])]
        with _translated(self.folder, "read"):
            query = self._table.search().where(condition).select(columns)
            return list(query.to_arrow().to_pylist())

    def _limited(self, query: Any, limit: int, score: str) -> list[dict[str, Any]]:
        return list(query.select([*READ_COLUMNS, score]).limit(limit).to_arrow().to_pylist())

    def _arrow(self, records: Sequence[Mapping[str, Any]]) -> Any:
        return _pyarrow().Table.from_pylist(list(records), schema=self._table.schema)


def open_table(folder: Path) -> LanceTable:
    """Open the memory table of a folder; each read sees the newest commit of any process."""
    with _translated(folder, "open"):
        database = _lancedb().connect(str(folder), read_consistency_interval=timedelta(0))
        return LanceTable(folder, database.open_table(TABLE))


def create_table(folder: Path, dimensions: int) -> LanceTable:
    """Create an empty memory table with its indexes; `dimensions` is the length of a vector."""
    with _translated(folder, "create"):
        database = _lancedb().connect(str(folder), read_consistency_interval=timedelta(0))
        table = (
            database.open_table(TABLE)
            if holds_table(folder)
            else database.create_table(TABLE, schema=_schema(dimensions))
        )
        _complete(table)
        return LanceTable(folder, table)


def _complete(table: Any) -> None:
    for name in _missing_columns(table):
        # One by one and nullable: a "not null" column would break writers of the old form.
        table.add_columns([_field(name, ADDED_COLUMNS[name])])
    if hasattr(table, "set_unenforced_primary_key") and not _has_key(table):
        # Without a key, concurrent upserts of one new id each insert a copy of it.
        table.set_unenforced_primary_key("id")
    for column in _missing_indexes(table):
        table.create_index(column, config=_index_of(column))


def _missing_columns(table: Any) -> list[str]:
    known = set(table.schema.names)
    return [name for name in ADDED_COLUMNS if name not in known]


def _missing_indexes(table: Any) -> list[str]:
    known = {column for index in table.list_indices() for column in index.columns}
    return [column for column in ("id", DATED, NEAR) if column not in known]


def _has_key(table: Any) -> bool:
    field = table.schema.field("id")
    # Only a column that is never null can be the key; the seed's tables allow null.
    return field.nullable or any(b"primary-key" in name for name in field.metadata or {})


def _schema(dimensions: int) -> Any:
    pa = _pyarrow()
    fields = [_field(name, kind) for name, kind in ADDED_COLUMNS.items()]
    return pa.schema([*fields, pa.field(VECTOR, pa.list_(pa.float32(), dimensions))])


def _field(name: str, kind: str) -> Any:
    pa = _pyarrow()
    return pa.field(name, getattr(pa, kind)(), nullable=name != "id")


def _index_of(column: str) -> Any:
    from lancedb.index import FTS, BTree

    if column == "id":
        return BTree()
    return FTS(
        base_tokenizer="whitespace",
        with_position=False,
        stem=False,
        remove_stop_words=False,
        lower_case=False,
        ascii_folding=False,
        max_token_length=None,
    )


def _equals(column: str, value: str | int) -> Any:
    from lancedb.expr import col, lit

    return col(column) == lit(value)


def _just_before(session_id: str, sequence: int, reach: int) -> Any:
    from lancedb.expr import col, lit

    near = (col("sequence") < lit(sequence)) & (col("sequence") >= lit(sequence - reach))
    return _equals("sessionId", session_id) & near


def _one_of(column: str, values: Sequence[str]) -> Any:
    from lancedb.expr import col

    return col(column).isin(list(values))


def _alive(now: int) -> Any:
    from lancedb.expr import col, lit

    unexpired = (col("expiresAt") == lit(0)) | (col("expiresAt") > lit(now))
    return _equals("status", Status.ACTIVE.value) & unexpired
