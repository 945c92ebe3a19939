"""One row of the engine (spec 01 §Row)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, fields
from enum import StrEnum

from vault_tools.core.digest import digest_of, sha256_hex
from vault_tools.core.plain import to_plain
from vault_tools.core.scope import Scope, Viewer, may_recall
from vault_tools.core.trust import SourceRole, Trust

MAX_TEXT = 32_768
MAX_EVIDENCE = 200
MAX_SOURCE = 500
DAY_MS = 86_400_000

AGENT_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
MEMORY_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)


class Category(StrEnum):
    """What kind of thing a memory states."""

    PREFERENCE = "preference"
    FACT = "fact"
    DECISION = "decision"
    ENTITY = "entity"
    OTHER = "other"


class Origin(StrEnum):
    """Where a memory was captured; evidence only, never ownership."""

    DM = "dm"
    GROUP = "group"
    CRON = "cron"
    INTERNAL = "internal"


class Ttl(StrEnum):
    """How long a memory lives when it is not permanent."""

    SESSION = "session"
    SHORT = "short"

    @property
    def milliseconds(self) -> int:
        """Give the lifetime: session 1 day, short 14 days."""
        return DAY_MS * (1 if self is Ttl.SESSION else 14)


class Status(StrEnum):
    """Where a memory stands in its life; only active rows are recalled."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    TOMBSTONED = "tombstoned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One engine row without its vector and token columns.

    Times are UTC milliseconds; `expires_at` and `review_after` 0 mean never. `importance` is in
    thousandths (0–1000) so that a sealed row holds no float; JSON and the table show 0–1.
    """

    id: str
    text: str
    summary: str = ""
    origin: Origin = Origin.DM
    importance: int = 500
    category: Category = Category.OTHER
    created_at: int
    merged_from: tuple[str, ...] = ()
    expires_at: int = 0
    stored_by: str
    scope: Scope = Scope.AGENT_PRIVATE
    trust: Trust = Trust.UNTRUSTED
    status: Status = Status.ACTIVE
    superseded_by: str = ""
    workspace_key: str = "main"
    owner_id: str = ""
    evidence: str = ""
    source: str = ""
    source_role: SourceRole = SourceRole.NONE
    turn_id: str = ""
    session_id: str = ""
    sequence: int = 0
    updated_at: int = 0
    review_after: int = 0
    version: int = 1

    @property
    def row_hash(self) -> str:
        """Hash every field, so that a flipped byte or a silent change is noticed."""
        return digest_of(to_plain(self))

    @property
    def content_hash(self) -> str:
        """Hash the normalised text; equal texts share it whatever their spacing and case."""
        return sha256_hex(normalised(self.text))

    def is_expired(self, now: int) -> bool:
        """Tell whether the memory's lifetime is over at `now` (UTC ms)."""
        return 0 < self.expires_at <= now

    def is_visible_to(self, viewer: Viewer) -> bool:
        """Tell whether the acting agent may see this row."""
        return may_recall(
            viewer,
            scope=self.scope,
            stored_by=self.stored_by,
            workspace_key=self.workspace_key,
            owner_id=self.owner_id,
        )


ROW_FIELDS = tuple(field.name for field in fields(Memory))


def normalised(text: str) -> str:
    """Fold a text for comparison: NFC, case, white space."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def is_agent_id(value: str) -> bool:
    """Tell whether a value may name an agent or workspace, and so a folder (spec 01)."""
    return bool(AGENT_ID.match(value)) and value.split(".")[0] not in _RESERVED and value[-1] != "."


def is_memory_id(value: str) -> bool:
    """Tell whether a value has the form of a memory's id: a UUID in lower case."""
    return bool(MEMORY_ID.match(value))
