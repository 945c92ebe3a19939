"""The journal of one applied or undone item: every change with what was there before and after.

Spec 02 §All-or-nothing. A plan is staged before the first write; running it twice runs it once,
because each step compares what is there with `before` and `after`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vault_tools.core.item import ItemState
from vault_tools.core.memory import Memory


@dataclass(frozen=True, slots=True)
class OwnedBlock:
    """A managed block that we wrote: canonical hash, and SHA-256 of the exact body bytes."""

    path: str
    block_id: str
    canonical: str
    exact: str


@dataclass(frozen=True, slots=True)
class RowStep:
    """One row of one agent; None stands for absent."""

    agent_id: str
    memory_id: str
    before: Memory | None
    after: Memory | None

    def inverse(self) -> RowStep:
        """Give the step that takes this one back."""
        return RowStep(self.agent_id, self.memory_id, self.after, self.before)


@dataclass(frozen=True, slots=True)
class FileStep:
    """One file; hashes name bytes kept in the undo store, "" stands for absent."""

    path: str
    before_sha256: str
    after_sha256: str
    blocks_before: tuple[OwnedBlock, ...] = ()
    blocks_after: tuple[OwnedBlock, ...] = ()

    def inverse(self) -> FileStep:
        """Give the step that takes this one back."""
        return FileStep(
            self.path,
            self.after_sha256,
            self.before_sha256,
            self.blocks_after,
            self.blocks_before,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes of one item: rows first, then files."""

    rows: tuple[RowStep, ...] = ()
    files: tuple[FileStep, ...] = ()

    def inverse(self) -> Plan:
        """Give the plan that takes this one back, newest change first."""
        return Plan(
            tuple(step.inverse() for step in reversed(self.rows)),
            tuple(step.inverse() for step in reversed(self.files)),
        )


class SagaStage(StrEnum):
    """How far a saga has come; only COMMITTED and REVERTING are unfinished."""

    COMMITTED = "committed"
    REVERTING = "reverting"
    DONE = "done"
    REVERTED = "reverted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saga:
    """A plan bound to the item it serves; `goal` is APPLIED or UNDONE."""

    saga_id: str
    bundle_id: str
    item_id: str
    item_digest: str
    nonce: str
    goal: ItemState
    plan: Plan
    stage: SagaStage = SagaStage.COMMITTED
    at: int = 0
