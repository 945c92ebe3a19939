"""Carry out a plan all-or-nothing: forward to its goal, or back to where it began.

Spec 02 §All-or-nothing. The commit record is in the ledger before the first write. Each step looks
at what is there first, so that running a saga again after a crash runs it once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vault_tools.core.item import ItemState
from vault_tools.core.saga import FileStep, Plan, RowStep, Saga, SagaStage
from vault_tools.errors import (
    BlockError,
    FileConflict,
    MemoryNotFound,
    StalePrecondition,
    VaultToolsError,
)
from vault_tools.review.world import World
from vault_tools.vault.files import Leftover

TAKEN_BACK = "taken back:"
CONFLICTS = (StalePrecondition, FileConflict, BlockError, MemoryNotFound)


@dataclass(frozen=True, slots=True)
class Repaired:
    """A saga that a crash left behind, and how it ended now."""

    item_id: str
    bundle_id: str
    forward: bool
    message: str


def carry_out(saga: Saga, world: World) -> None:
    """Write the commit record, then every change, then the account of it.

    Raises one of CONFLICTS after everything was taken back, because a row or file is no longer
    what the reviewer saw; any other error leaves the item as it was, for another try.
    """
    world.ledger.begin(saga)
    _roll_forward(saga, world)


def recover(world: World) -> list[Repaired]:
    """Finish what a crash left behind: forward where possible, back otherwise.

    Temporary files of interrupted writes go from the review root into the undo store.
    """
    # First: a crash in here then leaves a saga unfinished that leads the next command here again.
    leftovers = world.files.sweep()
    repaired = []
    for saga in world.ledger.unfinished():
        try:
            if saga.stage is SagaStage.REVERTING:
                # Where a conflict was the cause, the next apply finds it again and says so.
                _take_back(saga, world, note="taken back after an interruption", conflict=False)
                repaired.append(_told(saga, forward=False, why=_kept(saga, leftovers, world)))
                continue
            _roll_forward(saga, world)
            repaired.append(_told(saga, forward=True, why=_kept(saga, leftovers, world)))
        except CONFLICTS as conflict:
            repaired.append(_told(saga, forward=False, why=conflict.message))
    return repaired


def _told(saga: Saga, *, forward: bool, why: str = "") -> Repaired:
    ending = "was finished" if forward else "was taken back"
    message = f"{saga.item_id} had been interrupted and {ending}"
    return Repaired(saga.item_id, saga.bundle_id, forward, f"{message}: {why}" if why else message)


def _kept(saga: Saga, leftovers: Iterable[Leftover], world: World) -> str:
    """Name the texts found beside a saga's files that are neither the old nor the new one."""
    kept = [
        f"another text of {step.path} is kept in the undo store as {left.sha256[:8]}"
        for step in saga.plan.files
        for left in leftovers
        if not left.known and left.replaces(step.path) and not _torn(left, step, world)
    ]
    return "; ".join(kept)


def _torn(left: Leftover, step: FileStep, world: World) -> bool:
    """Tell whether a leftover is the beginning of the text that was being written."""
    if not step.after_sha256:
        return False
    return world.undo.get(step.after_sha256).startswith(world.undo.get(left.sha256))


def _roll_forward(saga: Saga, world: World) -> None:
    try:
        _run(saga.plan, world, reason=_reason(saga))
    except VaultToolsError as error:
        world.ledger.turn(saga.saga_id, SagaStage.REVERTING)
        _take_back(saga, world, note=error.message, conflict=isinstance(error, CONFLICTS))
        raise
    world.ledger.finish(saga, at=world.clock.now())


def _take_back(saga: Saga, world: World, *, note: str, conflict: bool = True) -> None:
    for row in saga.plan.inverse().rows:
        if _row_is(row.before, row, world):
            _change_row(row, world, reason=f"{TAKEN_BACK} {saga.item_id}")
    for file in saga.plan.inverse().files:
        if _present(file.path, world) == file.before_sha256:
            _change_file(file, world)
    kept = ItemState.APPROVED if saga.goal is ItemState.APPLIED else ItemState.APPLIED
    state = ItemState.STALE if conflict and saga.goal is ItemState.APPLIED else kept
    world.ledger.close_reverted(saga, state, note=note, at=world.clock.now())


def _run(plan: Plan, world: World, *, reason: str) -> None:
    for row in plan.rows:
        _change_row(row, world, reason=reason)
    for file in plan.files:
        _change_file(file, world)


def _reason(saga: Saga) -> str:
    return f"{saga.goal.value} {saga.item_id} {saga.item_digest[:8]}"


def _change_row(step: RowStep, world: World, *, reason: str) -> None:
    viewer = world.viewer(step.agent_id)
    if step.after is None:
        before = step.before.row_hash if step.before else ""
        world.store.remove(viewer, before, step.memory_id, reason=reason)
    elif step.before is None:
        if _row_is(step.after, step, world):
            return
        vector = world.embedder().embed_documents([step.after.text])[0]
        world.store.insert(viewer, step.after, vector, reason=reason)
    else:
        world.store.replace(viewer, step.before.row_hash, step.after, reason=reason)


def _row_is(expected: object, step: RowStep, world: World) -> bool:
    return world.store.find(world.viewer(step.agent_id), step.memory_id) == expected


def _present(path: str, world: World) -> str:
    return world.files.sha256(path) or ""


def _change_file(step: FileStep, world: World) -> None:
    present = _present(step.path, world)
    if present == step.after_sha256:
        return
    if present != step.before_sha256:
        raise FileConflict(
            f"{step.path} has changed since it was reviewed",
            "Run `vault-tools review prepare` to have it proposed again.",
        )
    if step.after_sha256:
        new = world.undo.get(step.after_sha256)
        world.files.write(step.path, new, expected=step.before_sha256 or None)
    else:
        world.files.remove(step.path, expected=step.before_sha256)
