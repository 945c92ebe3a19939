"""A memory as a table row and back: the one schema definition (spec 01 §Row)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from vault_tools.core.memory import Memory
from vault_tools.core.plain import from_plain, to_plain
from vault_tools.core.ports import Vector
from vault_tools.errors import RowDamaged

TABLE = "memories"
FORMAT = 1

TEXT, WHOLE, REAL = "string", "int64", "float64"
COLUMNS: Mapping[str, str] = {
    "id": TEXT,
    "text": TEXT,
    "summary": TEXT,
    "origin": TEXT,
    "importance": REAL,
    "category": TEXT,
    "createdAt": WHOLE,
    "mergedFrom": TEXT,
    "expiresAt": WHOLE,
    "storedBy": TEXT,
    "scope": TEXT,
    "trust": TEXT,
    "status": TEXT,
    "supersededBy": TEXT,
    "workspaceKey": TEXT,
    "ownerId": TEXT,
    "evidence": TEXT,
    "source": TEXT,
    "sourceRole": TEXT,
    "turnId": TEXT,
    "sessionId": TEXT,
    "sequence": WHOLE,
    "updatedAt": WHOLE,
    "reviewAfter": WHOLE,
    "version": WHOLE,
}
DATED, NEAR = "tokensDated", "tokensNear"
ROW_HASH, CONTENT_HASH, VECTOR = "rowHash", "contentHash", "vector"
READ_COLUMNS = (*COLUMNS, ROW_HASH)
ADDED_COLUMNS: Mapping[str, str] = {
    **COLUMNS,
    DATED: TEXT,
    NEAR: TEXT,
    ROW_HASH: TEXT,
    CONTENT_HASH: TEXT,
}


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """A memory with what only the table holds: its vector and the words it is found by."""

    memory: Memory
    vector: Vector
    dated: Sequence[str]
    near: Sequence[str]

    def record(self) -> dict[str, Any]:
        """Give the row as one record of the table."""
        return {
            **record_of(self.memory),
            VECTOR: self.vector,
            DATED: " ".join(self.dated),
            NEAR: " ".join(self.near),
        }


def record_of(memory: Memory) -> dict[str, Any]:
    """Give a memory's own columns; `importance` becomes 0–1, `mergedFrom` JSON text."""
    record: dict[str, Any] = to_plain(memory)
    record["importance"] = memory.importance / 1000
    record["mergedFrom"] = json.dumps(record["mergedFrom"])
    record[ROW_HASH] = memory.row_hash
    record[CONTENT_HASH] = memory.content_hash
    return record


def memory_of(record: Mapping[str, Any], agent_id: str) -> Memory:
    """Read a row back and verify its hash.

    A row that never had a hash (written before the column existed) is taken as it is; empty
    columns get their defaults. Raises RowDamaged when the hash or a value does not hold.
    """
    return _verified(tuple(record.get(column) for column in READ_COLUMNS), agent_id)


@lru_cache(maxsize=4_096)
def _verified(values: tuple[Any, ...], agent_id: str) -> Memory:
    # Keyed by every value of the row: whatever changed in the table is verified anew.
    record = dict(zip(READ_COLUMNS, values, strict=True))
    try:
        memory = from_plain(Memory, _plain(record, agent_id))
    except (ValueError, TypeError) as error:
        raise _damaged(record, f"has an impossible value ({error})") from error
    sealed = record.get(ROW_HASH)
    if sealed and memory.row_hash != sealed:
        raise _damaged(record, "no longer matches its hash")
    return memory


def _plain(record: Mapping[str, Any], agent_id: str) -> dict[str, Any]:
    plain = {key: record[key] for key in COLUMNS if record.get(key) is not None}
    plain.setdefault("storedBy", agent_id)
    plain["mergedFrom"] = json.loads(plain.get("mergedFrom") or "[]")
    if "importance" in plain:
        plain["importance"] = round(plain["importance"] * 1000)
    return plain


def _damaged(record: Mapping[str, Any], what: str) -> RowDamaged:
    return RowDamaged(
        f"memory {record.get('id')!r} {what}",
        "Run `vault-tools doctor --repair` to restore it from the history beside the database.",
    )
