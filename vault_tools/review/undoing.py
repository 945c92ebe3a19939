"""Take applied items back, newest first (spec 02 §Commands, undo)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from vault_tools.core.approval import Approval
from vault_tools.core.bundle import StandingItem
from vault_tools.core.item import ItemState
from vault_tools.core.saga import Saga
from vault_tools.errors import VaultToolsError
from vault_tools.review.apply import Outcome
from vault_tools.review.items import HANDLERS
from vault_tools.review.saga import CONFLICTS, carry_out
from vault_tools.review.world import World


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did."""

    bundle_id: str
    undone: tuple[str, ...]
    refused: tuple[Outcome, ...]
    errors: tuple[VaultToolsError, ...] = ()


def applied_items(world: World, bundle_id: str, wanted: Collection[str]) -> list[StandingItem]:
    """List the applied items of a bundle, newest first; `wanted` empty means all of them."""
    items = world.ledger.bundle(bundle_id).items
    applied = [item for item in items if item.state is ItemState.APPLIED]
    chosen = [item for item in applied if not wanted or item.item_id in wanted]
    return sorted(chosen, key=lambda item: _applied_at(world, item), reverse=True)


def _applied_at(world: World, item: StandingItem) -> tuple[int, str]:
    saga = world.ledger.applied_saga(item.item_id)
    return (saga.at if saga else 0, item.item_id)


def undo(
    world: World, bundle_id: str, decisions: list[Approval], *, dry_run: bool = False
) -> Undone:
    """Take back the items that `decisions` name, in that order; each is a saga of its own.

    Raises LedgerError when the ledger was changed by another hand.
    """
    world.ledger.verify()
    undone, refused, errors = [], [], []
    for decision in decisions:
        saga = world.ledger.applied_saga(decision.item_id)
        if saga is None:
            refused.append(Outcome(decision.item_id, ItemState.BLOCKED, "it was never applied"))
            continue
        try:
            _undo_item(world, saga, decision, dry_run=dry_run)
            undone.append(decision.item_id)
        except CONFLICTS as conflict:
            refused.append(Outcome(decision.item_id, ItemState.STALE, conflict.message))
        except VaultToolsError as error:
            errors.append(error)
    return Undone(bundle_id, tuple(undone), tuple(refused), tuple(errors))


def _undo_item(world: World, applied: Saga, decision: Approval, *, dry_run: bool) -> None:
    kinds = {i.item_id: i.item.type for i in world.ledger.bundle(applied.bundle_id).items}
    way_back = HANDLERS[kinds[applied.item_id]].undo(applied.plan, world)
    if dry_run:
        return
    carry_out(
        Saga(
            saga_id=f"undo:{applied.saga_id}:{decision.nonce}",
            bundle_id=applied.bundle_id,
            item_id=applied.item_id,
            item_digest=applied.item_digest,
            nonce=decision.nonce,
            goal=ItemState.UNDONE,
            plan=way_back,
            at=world.clock.now(),
        ),
        world,
    )
