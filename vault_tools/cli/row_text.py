"""Rows of the engine and their changes, as published JSON and as lines for a person."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from vault_tools.core.memory import Memory
from vault_tools.core.plain import to_plain

_TIMES = {"createdAt", "expiresAt", "updatedAt", "reviewAfter"}
# They follow from the rest, or change with every change.
_DERIVED = {"updatedAt", "version", "rowHash", "contentHash"}
_NONE = "–"


def row_document(row: Memory) -> dict[str, Any]:
    """Shape a row with every field but the vector; importance is 0–1."""
    plain: dict[str, Any] = to_plain(row)
    hashes = {"rowHash": row.row_hash, "contentHash": row.content_hash}
    return {**plain, "importance": row.importance / 1000, **hashes}


def row_lines(row: Memory) -> list[str]:
    """Show every field of a row, one a line, times in UTC."""
    return [f"{key:12} {_shown(key, value)}" for key, value in row_document(row).items()]


def change_lines(before: Memory | None, after: Memory | None) -> list[str]:
    """Show what a change does to a row; a new or removed row shows the fields it has."""
    old = _fields(before)
    new = _fields(after)
    if before is None or after is None:
        sign, fields = ("+", new) if before is None else ("-", old)
        return [f"{sign} {key}: {value}" for key, value in fields.items() if value != _NONE]
    return [f"{key}: {old[key]} → {new[key]}" for key in new if old[key] != new[key]]


def moment(milliseconds: int) -> str:
    """Show UTC milliseconds as ISO 8601."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")


def _fields(row: Memory | None) -> dict[str, str]:
    document = row_document(row) if row else {}
    return {k: _shown(k, v) for k, v in document.items() if k not in _DERIVED}


def _shown(key: str, value: Any) -> str:
    if value in ("", [], None) or (key in _TIMES and not value):
        return _NONE
    if key in _TIMES:
        return moment(value)
    return ", ".join(value) if isinstance(value, list) else str(value)
