"""What the engine, the review and the reports ask of the outside world.

The adapters live in `store/`, `providers/` and `workspace.py`; `store/in_memory.py` is the second
implementation of the store, used where a test needs no LanceDB.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from vault_tools.core.approval import Approval, Approver
from vault_tools.core.bundle import ReviewBundle, StandingBundle
from vault_tools.core.citation import Citation, SourceState
from vault_tools.core.item import Item, ItemState
from vault_tools.core.memory import Memory, Status
from vault_tools.core.saga import OwnedBlock, Saga, SagaStage
from vault_tools.core.scope import Viewer

__all__ = ["OwnedBlock"]

Vector = Sequence[float]


class Clock(Protocol):
    """Tell the time; the only source of it."""

    def now(self) -> int:
        """Give UTC milliseconds."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What makes vectors comparable; stored with the table and checked (spec 01 §Providers).

    `mean` and `spread` are the cosine of unrelated texts under this model, in thousandths: the
    calibration that maps raw cosine to the 0–1 scale of the thresholds.
    """

    provider: str
    model: str
    dimensions: int
    prefix: str = "none"
    normalised: bool = True
    mean: int = 0
    spread: int = 100


class Embedder(Protocol):
    """Turn texts into vectors."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Name provider, model and dimensions."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts to be stored."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        ...


RECOVERED = "recorded after an interruption"
"""The reason in a history line that a crash kept from being written."""


class Operation(StrEnum):
    """What happened to a row."""

    STORED = "stored"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One committed change of one row; `after` is None for a removal."""

    sequence: int
    at: int
    operation: Operation
    memory_id: str
    reason: str
    before_hash: str = ""
    after: Memory | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """A row found by vector search; `cosine` is raw, −1 to 1."""

    memory: Memory
    cosine: float


@dataclass(frozen=True, slots=True)
class Matching:
    """A row found by words; `bm25` is raw, 0 or more."""

    memory: Memory
    bm25: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows near each other in meaning, the smaller id first; `cosine` is raw, −1 to 1."""

    first: Memory
    second: Memory
    cosine: float


class Indexer(Protocol):
    """Turn a memory into the words it is found by (the store cannot import the tokeniser)."""

    def __call__(self, memory: Memory) -> Sequence[str]:
        """Give the search tokens of a row, without white space inside a token."""
        ...


class MemoryStore(Protocol):
    """The engine's tables. Every call names the acting agent (spec 07 rule 4).

    Reads see the viewer's own rows and other agents' rows whose scope allows it; writes touch only
    rows that the viewer's agent stored. A foreign id behaves exactly like an unknown one.
    """

    @property
    def damaged(self) -> int:
        """Count the rows that reads have skipped because they no longer match their hash."""
        ...

    def find(self, viewer: Viewer, memory_id: str) -> Memory | None:
        """Give a row, whatever its status, or None when unknown or not visible."""
        ...

    def rows(
        self,
        viewer: Viewer,
        *,
        statuses: Collection[Status] = (Status.ACTIVE,),
        own_only: bool = False,
    ) -> Iterator[Memory]:
        """Stream visible rows ordered by created_at, then id; expired ones included."""
        ...

    def count(self, viewer: Viewer) -> int:
        """Count the agent's own active rows."""
        ...

    def nearest(self, viewer: Viewer, vector: Vector, *, limit: int, now: int) -> list[Near]:
        """Give the nearest active, unexpired, visible rows, best first, ties by id."""
        ...

    def matching(
        self, viewer: Viewer, tokens: Sequence[str], *, limit: int, now: int
    ) -> list[Matching]:
        """Give the active, unexpired, visible rows that hold some of the tokens, best first."""
        ...

    def same_content(self, viewer: Viewer, content_hash: str) -> list[Memory]:
        """Give the visible rows of any status whose normalised text has this hash, by id."""
        ...

    def pairs(self, viewer: Viewer, *, minimum: float, limit: int, now: int) -> Iterator[Pair]:
        """Give each pair of active, unexpired, visible rows with a raw cosine ≥ `minimum` once.

        At most `limit` partners are looked at per row, nearest first; pairs come best first.
        """
        ...

    def insert(self, viewer: Viewer, memory: Memory, vector: Vector, *, reason: str) -> Memory:
        """Store a new row durably and give it back as read back.

        Inserting the same row again is a no-op; another row under the same id raises StoreError.
        """
        ...

    def replace(
        self,
        viewer: Viewer,
        before_hash: str,
        memory: Memory,
        *,
        reason: str,
        vector: Vector | None = None,
    ) -> Memory:
        """Change a row durably if it still has `before_hash`; without `vector` it keeps its own.

        A row that already equals `memory` is left alone; any other hash raises StalePrecondition,
        an unknown or foreign id MemoryNotFound.
        """
        ...

    def remove(self, viewer: Viewer, before_hash: str, memory_id: str, *, reason: str) -> None:
        """Take a row out (the undo of a store); absent already is a no-op. History keeps it."""
        ...

    def history(self, viewer: Viewer, memory_id: str) -> list[HistoryEntry]:
        """Give every committed change of a row, oldest first."""
        ...

    def agents(self) -> list[str]:
        """List the agents that have a database here."""
        ...

    def version(self, agent_id: str) -> int:
        """Give the table version of an agent's database, 0 when it has none."""
        ...


class BlockOwnership(Protocol):
    """Which blocks are ours; a correct hash alone proves nothing (spec 03)."""

    def owned_blocks(self, path: str) -> Mapping[str, OwnedBlock]:
        """Give the blocks that we wrote in a file, by block id."""
        ...

    def own_blocks(self, blocks: Sequence[OwnedBlock]) -> None:
        """Remember blocks just written; replaces what was known under the same path and id."""
        ...

    def disown_blocks(self, path: str, block_ids: Collection[str]) -> None:
        """Forget blocks that were taken out again."""
        ...


class SourceReader(Protocol):
    """Tell whether a cited source is still what was cited."""

    def state(self, citation: Citation) -> SourceState:
        """Re-hash the source of a citation."""
        ...


class Redactor(Protocol):
    """Mask secrets in a text, line for line."""

    def __call__(self, text: str) -> str: ...


class Ledger(BlockOwnership, Protocol):
    """The append-only account of bundles, approvals, applies and undos, outside the vault."""

    def open_bundle(
        self, bundle: ReviewBundle, *, stamp: str, expires_at: int, blocked: Mapping[int, str]
    ) -> StandingBundle:
        """Record a new bundle under the next free id for its stamp.

        `blocked` maps positions of items that the adversarial pass blocked to the reason.
        """
        ...

    def bundles(self) -> list[StandingBundle]:
        """Give every bundle, newest first."""
        ...

    def bundle(self, bundle_id: str) -> StandingBundle:
        """Give one bundle; raises UnknownBundle."""
        ...

    def propose(self, item: Item, *, at: int) -> str:
        """Keep a proposal for the next bundle and give its id; the same proposal is kept once."""
        ...

    def proposals(self) -> list[Item]:
        """Give the proposals that are in no bundle yet, oldest first."""
        ...

    def keys(self) -> Mapping[str, frozenset[ItemState]]:
        """Map the key of every item ever bundled to the states its items are in."""
        ...

    def decide(self, approval: Approval, *, state: ItemState | None) -> None:
        """Record a decision and move its item, unless a saga will (`state` None).

        Raises WrongState where the state machine does not allow that step.
        """
        ...

    def approval(self, item_id: str) -> Approval | None:
        """Give the newest unspent approval of an item, or None."""
        ...

    def ever_approved(self, bundle_id: str) -> frozenset[str]:
        """Give the ids of a bundle's items that were ever approved."""
        ...

    def settle(self, item_id: str, state: ItemState, *, note: str, at: int) -> None:
        """Move an item that could not be applied, with the reason."""
        ...

    def begin(self, saga: Saga) -> None:
        """Write the commit record of a saga; from here on it is rolled forward."""
        ...

    def turn(self, saga_id: str, stage: SagaStage) -> None:
        """Note that a saga is being reverted."""
        ...

    def finish(self, saga: Saga, *, at: int) -> None:
        """Close a saga: item state, spent nonce, block ownership and event in one transaction."""
        ...

    def close_reverted(self, saga: Saga, state: ItemState, *, note: str, at: int) -> None:
        """Close a saga that was taken back, and move its item to `state`."""
        ...

    def unfinished(self) -> list[Saga]:
        """Give the sagas that a crash left behind, oldest first."""
        ...

    def adopt_blocks(
        self,
        blocks: Sequence[OwnedBlock],
        approver: Approver | None,
        *,
        at: int,
        former_host: str = "",
    ) -> None:
        """Take over blocks that another ledger wrote, and record who decided so.

        `approver` is None for blocks that stand as we would render them; `former_host` is the
        computer that owned the review root until now.
        """
        ...

    def applied_saga(self, item_id: str) -> Saga | None:
        """Give the saga that applied an item, for taking it back."""
        ...

    def expire(self, *, now: int) -> list[str]:
        """Expire what is pending or approved in bundles whose time is over; give their ids."""
        ...

    def verify(self) -> int:
        """Walk the event chain and give its length; raises LedgerError at the first broken link."""
        ...
