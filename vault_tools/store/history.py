"""The history of an agent's rows: append-only JSON lines beside its database.

Each line is one committed change with the whole row after it and the table version it belongs to,
so the next writer sees what a crash left unrecorded, and a lost table can be rebuilt.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vault_tools.core.memory import Memory
from vault_tools.core.plain import from_plain, to_plain
from vault_tools.core.ports import HistoryEntry, Operation
from vault_tools.errors import StoreUnavailable

HISTORY = "history.jsonl"
_TAIL_BYTES = 1 << 16
_MARKER = "unchanged"


@dataclass(frozen=True, slots=True)
class HistoryHead:
    """Where the history stands: the last sequence number and the table version noted with it."""

    sequence: int = 0
    table_version: int = 0


class History:
    """One agent's history file; appending wants the agent's lock.

    `torn_bytes` counts what was cut off because a crash had left a half-written last line.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY
        self.torn_bytes = 0

    def head(self) -> HistoryHead:
        """Read the last whole line."""
        if not self.path.exists():
            return HistoryHead()
        last = _last_line(self.path)
        if not last:
            return HistoryHead()
        line = self._parsed(last)
        return HistoryHead(line["sequence"], line["tableVersion"])

    def append(self, entries: Sequence[HistoryEntry], table_version: int) -> None:
        """Append changes; not durable until the caller syncs the folder."""
        lines = [_line({**to_plain(entry), "tableVersion": table_version}) for entry in entries]
        self._append(b"".join(lines))

    def note_version(self, table_version: int) -> None:
        """Record that a newer table version (compaction, an index) holds the same rows."""
        sequence = self.head().sequence
        marker = {"sequence": sequence, "tableVersion": table_version, "operation": _MARKER}
        self._append(_line(marker))

    def entries(self, memory_id: str = "") -> Iterator[HistoryEntry]:
        """Stream the changes of one row, or of all rows, oldest first.

        Raises StoreUnavailable for a line in the middle that cannot be read.
        """
        if not self.path.exists():
            return
        wanted = memory_id.encode()
        with self.path.open("rb") as handle:
            for raw in handle:
                if wanted in raw and raw.endswith(b"\n"):
                    yield from self._entry(raw, memory_id)

    def latest(self) -> dict[str, Memory | None]:
        """Give the row after its last change by id; None where it was removed."""
        return {entry.memory_id: entry.after for entry in self.entries()}

    def _entry(self, raw: bytes, memory_id: str) -> Iterator[HistoryEntry]:
        line = self._parsed(raw)
        if line["operation"] == _MARKER or (memory_id and line["memoryId"] != memory_id):
            return
        line.pop("tableVersion")
        try:
            yield from_plain(HistoryEntry, line)
        except ValueError as error:
            raise self._unreadable(str(error)) from error

    def _append(self, data: bytes) -> None:
        try:
            self._cut_torn_line()
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as handle:
                handle.write(data)
        except OSError as error:
            raise StoreUnavailable(
                f"cannot write the history {self.path}: {error}",
                "Free some space or fix the folder's permissions, then store again.",
            ) from error

    def _cut_torn_line(self) -> None:
        if not self.path.exists():
            return
        whole = _whole_lines_end(self.path)
        torn = self.path.stat().st_size - whole
        if torn:
            self.torn_bytes += torn
            os.truncate(self.path, whole)

    def _parsed(self, raw: bytes) -> dict[str, Any]:
        try:
            line = json.loads(raw)
            if isinstance(line["sequence"], int) and isinstance(line["tableVersion"], int):
                return dict(line)
        except (ValueError, KeyError, TypeError) as error:
            raise self._unreadable(str(error)) from error
        raise self._unreadable("sequence and tableVersion are not numbers")

    def _unreadable(self, why: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"the history {self.path} holds a line that cannot be read: {why}",
            "Run `vault-tools doctor --repair`; it keeps the file and names what is lost.",
        )


def numbered(entries: Sequence[HistoryEntry], head: HistoryHead) -> list[HistoryEntry]:
    """Give entries the sequence numbers that follow the head."""
    return [replace(entry, sequence=head.sequence + n) for n, entry in enumerate(entries, 1)]


def change(
    operation: Operation, memory: Memory, *, at: int, reason: str, before_hash: str = ""
) -> HistoryEntry:
    """Describe a change; its sequence number is given when it is appended."""
    after = None if operation is Operation.REMOVED else memory
    return HistoryEntry(
        sequence=0,
        at=at,
        operation=operation,
        memory_id=memory.id,
        reason=reason,
        before_hash=before_hash,
        after=after,
    )


def _line(plain: Mapping[str, Any]) -> bytes:
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _whole_lines_end(path: Path) -> int:
    """Find where the last whole line ends, reading backwards."""
    size = path.stat().st_size
    with path.open("rb") as handle:
        end = size
        while end:
            start = max(0, end - _TAIL_BYTES)
            handle.seek(start)
            found = handle.read(end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
    return 0


def _last_line(path: Path) -> bytes:
    end = _whole_lines_end(path)
    with path.open("rb") as handle:
        start = end
        tail = b""
        while start and b"\n" not in tail[:-1]:
            start = max(0, start - _TAIL_BYTES)
            handle.seek(start)
            tail = handle.read(end - start)
    return tail[:-1].rsplit(b"\n", 1)[-1] if tail else b""
