"""An item: one proposed change, sealed with everything a reviewer saw (spec 02 §Items)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from enum import StrEnum

from vault_tools.core.digest import digest_of, sha256_hex
from vault_tools.core.memory import Category, Memory, Origin, Status
from vault_tools.core.plain import to_plain
from vault_tools.core.risk import Risk, highest
from vault_tools.core.scope import Scope
from vault_tools.core.trust import SourceRole, Trust

SCHEMA_VERSION = 1


class ItemType(StrEnum):
    """The closed set of changes that a bundle can propose."""

    MEMORY_PROMOTION = "memory_promotion"
    MEMORY_DEMOTION = "memory_demotion"
    TOMBSTONE = "tombstone"
    KNOWLEDGE_UPDATE = "knowledge_update"
    CONFLICT_RESOLUTION = "conflict_resolution"
    MEMORY_MERGE = "memory_merge"
    VAULT_HYGIENE = "vault_hygiene"
    PROJECT_HUB_UPDATE = "project_hub_update"
    TASK_SUGGESTION = "task_suggestion"
    STALE_REVIEW = "stale_review"
    NOTE_IMPORT_CANDIDATE = "note_import_candidate"


class ItemState(StrEnum):
    """Where an item stands; it lives in the ledger, never in the sealed item."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    SNOOZED = "snoozed"
    APPLIED = "applied"
    STALE = "stale"
    BLOCKED = "blocked"
    INVALID = "invalid"
    UNDONE = "undone"
    EXPIRED = "expired"


ALLOWED: dict[ItemState, frozenset[ItemState]] = {
    ItemState.PENDING: frozenset(
        {
            ItemState.APPROVED,
            ItemState.REJECTED,
            ItemState.SNOOZED,
            ItemState.BLOCKED,
            ItemState.EXPIRED,
        }
    ),
    ItemState.SNOOZED: frozenset({ItemState.PENDING, ItemState.REJECTED}),
    ItemState.APPROVED: frozenset(
        {
            ItemState.APPLIED,
            ItemState.STALE,
            ItemState.BLOCKED,
            ItemState.INVALID,
            ItemState.REJECTED,
            ItemState.EXPIRED,
        }
    ),
    ItemState.STALE: frozenset({ItemState.APPROVED, ItemState.REJECTED, ItemState.EXPIRED}),
    ItemState.APPLIED: frozenset({ItemState.UNDONE}),
    ItemState.REJECTED: frozenset(),
    ItemState.BLOCKED: frozenset(),
    ItemState.INVALID: frozenset(),
    ItemState.UNDONE: frozenset(),
    ItemState.EXPIRED: frozenset(),
}


def may_become(here: ItemState, there: ItemState) -> bool:
    """Tell whether the state machine of spec 02 has this step."""
    return there in ALLOWED[here]


class Verdict(StrEnum):
    """What the adversarial pass says of an item."""

    PASS = "pass"
    WARNING = "warning"
    NEEDS_FLAG = "needs_flag"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Finding:
    """One objection of the adversarial pass: a code for machines, a sentence for the reviewer."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Adversarial:
    """The adversarial pass over one item."""

    verdict: Verdict = Verdict.PASS
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words that stand behind a proposal; `citation` is where they can be read again."""

    quote: str
    citation: str = ""
    role: SourceRole = SourceRole.NONE


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One column of a row, before and after, in text form: the seal knows no types."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class RowChange:
    """A change of one existing row, bound to the row hash that the reviewer saw."""

    memory_id: str
    row_hash: str
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDraft:
    """A row to be stored; its id follows from the item digest, so storing twice stores once."""

    text: str
    category: Category = Category.OTHER
    origin: Origin = Origin.INTERNAL
    importance: int = 500
    expires_at: int = 0
    scope: Scope = Scope.AGENT_PRIVATE
    trust: Trust = Trust.UNTRUSTED
    evidence: str = ""
    source: str = ""
    source_role: SourceRole = SourceRole.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDraft:
    """A managed block to be written; empty hashes mean that block or file must not exist yet."""

    path: str
    block_id: str
    body: str
    file_sha256: str = ""
    block_hash: str = ""


@dataclass(frozen=True, slots=True)
class Effects:
    """All that applying an item does, in the order rows, drafts, blocks."""

    changes: tuple[RowChange, ...] = ()
    drafts: tuple[RowDraft, ...] = ()
    blocks: tuple[BlockDraft, ...] = ()

    def proposed_text(self) -> str:
        """Give the words this proposal would put in place, for telling like from like."""
        texts = [draft.text for draft in self.drafts] + [block.body for block in self.blocks]
        texts += [f"{f.name}={f.after}" for change in self.changes for f in change.fields]
        return "\n".join(texts)


class Needs(StrEnum):
    """What must hold at the moment of writing."""

    ROW_HASH = "row_hash"
    SOURCE_SHA256 = "source_sha256"
    FILE_SHA256 = "file_sha256"


@dataclass(frozen=True, slots=True)
class Precondition:
    """A hash that must still hold when the item is applied; `subject` is a memory id or a path."""

    needs: Needs
    subject: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One proposal with its preview, evidence, risk and preconditions.

    Everything here is covered by `digest`; state, decisions and the display id are not.
    `shown` is the memory text (or the lines) the proposal is about, as the reviewer reads it.
    """

    type: ItemType
    agent_id: str
    workspace_key: str
    vault_id: str
    target: str
    title: str
    shown: str
    reason: str
    if_rejected: str
    proposed_by: str
    profile: str
    created_at: int
    effects: Effects = Effects()
    evidence: tuple[Evidence, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    labelled: Risk = Risk.LOW
    risk: Risk = Risk.LOW
    risk_reason: str = ""
    scope_before: Scope | None = None
    scope_after: Scope | None = None
    trust_before: Trust | None = None
    trust_after: Trust | None = None
    adversarial: Adversarial = Adversarial()
    template_digest: str = ""
    rank: int = 0
    schema_version: int = SCHEMA_VERSION

    @property
    def digest(self) -> str:
        """Seal the item: SHA-256 over RFC 8785 JSON of all its fields (spec 11, Digests)."""
        return digest_of(to_plain(self))

    @property
    def key(self) -> str:
        """Tell like from like: type, target without lines, folded proposed text (spec 11)."""
        words = unicodedata.normalize("NFC", self.effects.proposed_text())
        parts = (self.type.value, target_without_lines(self.target), " ".join(words.split()))
        return sha256_hex("\x1f".join(parts))

    @property
    def widens_scope(self) -> bool:
        """Tell whether more readers would see the memory afterwards."""
        return bool(
            self.scope_before and self.scope_after and self.scope_before.widens_to(self.scope_after)
        )

    @property
    def wants_digest_typed(self) -> bool:
        """Tell whether approving takes typing the short digest (spec 02 §Deciding)."""
        return self.risk.at_least(Risk.HIGH) or self.widens_scope

    def roles(self) -> tuple[SourceRole, ...]:
        """List who stands behind the evidence."""
        return tuple(evidence.role for evidence in self.evidence)


def target_without_lines(target: str) -> str:
    """Drop the line range of a note target: `note:a.md:3-4` -> `note:a.md`."""
    if not target.startswith("note:"):
        return target
    head, _, tail = target.rpartition(":")
    return head if head != "note" and tail.replace("-", "").isdigit() else target


_FLOORS = {
    ItemType.TOMBSTONE: Risk.HIGH,
    ItemType.CONFLICT_RESOLUTION: Risk.HIGH,
    ItemType.MEMORY_MERGE: Risk.HIGH,
    ItemType.KNOWLEDGE_UPDATE: Risk.CRITICAL,
    ItemType.MEMORY_PROMOTION: Risk.MEDIUM,
    ItemType.MEMORY_DEMOTION: Risk.MEDIUM,
    ItemType.NOTE_IMPORT_CANDIDATE: Risk.MEDIUM,
}

_WHY_TYPE = {
    ItemType.TOMBSTONE: "a tombstoned memory never comes back by itself",
    ItemType.CONFLICT_RESOLUTION: "one of two memories stops being recalled",
    ItemType.MEMORY_MERGE: "the source memories stop being recalled",
    ItemType.KNOWLEDGE_UPDATE: "it writes to KNOWLEDGE.md, which every agent reads",
    ItemType.MEMORY_PROMOTION: "agents will believe it more",
    ItemType.MEMORY_DEMOTION: "agents will believe it less",
    ItemType.STALE_REVIEW: "it changes only how long the memory lives",
    ItemType.NOTE_IMPORT_CANDIDATE: "text from a note becomes something an agent recalls",
}


def with_risk_floor(item: Item) -> Item:
    """Raise an item's risk to the floor of its rule; a proposer's label can only raise it."""
    floor, why = _floor(item)
    risk = highest(floor, item.labelled)
    if risk is not floor:
        why = "the proposer labelled it so"
    return replace(item, risk=risk, risk_reason=why)


def _floor(item: Item) -> tuple[Risk, str]:
    if item.trust_after is Trust.TRUSTED and item.trust_before is not Trust.TRUSTED:
        return Risk.CRITICAL, "agents will treat it as established truth"
    if item.scope_after is Scope.GLOBAL_USER and item.widens_scope:
        return Risk.CRITICAL, "every agent of this owner will recall it"
    if item.target.partition(":")[2].partition("#")[0].endswith("KNOWLEDGE.md"):
        return Risk.CRITICAL, "it writes to KNOWLEDGE.md, which every agent reads"
    if item.widens_scope:
        return Risk.HIGH, "more agents will recall it"
    floor = _FLOORS.get(item.type, Risk.LOW)
    return floor, _WHY_TYPE.get(item.type, "it changes only generated text in the review root")


_GIST = 100


def gist(text: str, most: int = _GIST) -> str:
    """Cut a text to at most so many characters, at a word, in quotation marks."""
    words = " ".join(text.split())
    if len(words) > most:
        words = f"{words[:most].rpartition(' ')[0] or words[:most]}…"
    return f"“{words}”"


CHANGEABLE = {
    "trust": Trust,
    "scope": Scope,
    "status": Status,
    "superseded_by": str,
    "expires_at": int,
    "review_after": int,
}


def changed_row(memory: Memory, change: RowChange, *, at: int) -> Memory:
    """Give the row as it is after a change: new values, next version, `updated_at` = `at`.

    Raises ValueError for a column that no item may change.
    """
    values: dict[str, object] = {}
    for field in change.fields:
        if field.name not in CHANGEABLE:
            raise ValueError(f"an item may not change the column {field.name}")
        values[field.name] = CHANGEABLE[field.name](field.after)
    return replace(memory, **values, version=memory.version + 1, updated_at=at)  # type: ignore[arg-type]
