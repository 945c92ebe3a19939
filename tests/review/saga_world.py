"""A world with one approved item whose saga changes a row, a managed block and the ledger.

The engine is the real LanceDB store, so that everything can be opened again by another process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.review.worlds import MONDAY, REVIEW_ROOT, ReviewWorld, make_world
from vault_tools.core.bundle import StandingItem
from vault_tools.core.item import ItemState, ItemType, changed_row
from vault_tools.core.memory import Memory
from vault_tools.core.ports import OwnedBlock
from vault_tools.core.saga import FileStep, Plan, RowStep, Saga
from vault_tools.engine.tokens import index_tokens
from vault_tools.providers.hashing import HashingEmbedder
from vault_tools.review.saga import carry_out, recover
from vault_tools.review.world import World
from vault_tools.store.account import SqliteLedger
from vault_tools.store.memories import LanceMemories
from vault_tools.vault.blocks import BlockWrite, Staged, staged_blocks, write_blocks

HUB = f"{REVIEW_ROOT}/project-hubs/kiln.md"
HUMAN = "# Kiln\n\nMy own words, before the block.\n"
OLD_BODY = "Glaze 7: one coat, says the tin."
NEW_BODY = "Glaze 7: two coats, as the tests of May showed."
EDIT = b"\nA line that I wrote while the review was being applied.\n"


class _StandingClock:
    def now(self) -> int:
        return MONDAY


@dataclass(frozen=True)
class Seen:
    """Everything that the saga touches, as a process finds it that opens the world anew."""

    row: Memory | None
    changes: tuple[tuple[str, str, str], ...]
    hub: bytes
    blocks: dict[str, OwnedBlock]
    state: ItemState
    waiting: bool
    events: int
    vault: frozenset[str]
    unfinished: int

    @property
    def truth(self) -> tuple[object, ...]:
        """Give what a reader or an agent can tell; a way there and back leaves the same."""
        return self.row, self.hub, self.blocks, self.state, self.waiting


def open_world(place: Path) -> ReviewWorld:
    """Open a world with its real store."""
    store = LanceMemories(
        place / "engine",
        identity=HashingEmbedder().identity,
        indexer=index_tokens,
        clock=_StandingClock(),
    )
    return make_world(place, store=store)


@contextmanager
def opened(place: Path) -> Iterator[World]:
    """Open a world for a while, as the next command would."""
    world = open_world(place).world
    assert isinstance(world.ledger, SqliteLedger)
    try:
        yield world
    finally:
        world.ledger.close()


def build(world: ReviewWorld) -> None:
    """Fill a world with two memories, a hub with our block in it and one approved promotion."""
    world.remember("Glaze 7 needs two coats")
    world.remember("Lena keeps the kiln log in the blue folder")
    write_blocks(
        world.world.files,
        world.world.ledger,
        HUB,
        [BlockWrite("plan", OLD_BODY, "main")],
        now=MONDAY,
        initial=HUMAN,
    )
    world.approve(world.bundle(), item_of(world.world).item_id)


def item_of(world: World) -> StandingItem:
    """Give the item: the newest bundle's first promotion."""
    items = world.ledger.bundles()[0].items
    return next(item for item in items if item.item.type is ItemType.MEMORY_PROMOTION)


def apply_saga(world: World) -> bool:
    """Apply the item if it is approved, the way `apply` does; tell whether there was work."""
    item = item_of(world)
    if item.state is ItemState.APPROVED:
        carry_out(staged_saga(world, item), world)
        return True
    return False


def apply_over_an_edit(world: World) -> Callable[[], bool]:
    """Stage the item, let a person edit the hub, and give the apply that must be taken back."""
    saga = staged_saga(world, item_of(world))
    hub = world.files.root / HUB
    hub.write_bytes(hub.read_bytes() + EDIT)

    def apply() -> bool:
        carry_out(saga, world)
        return True

    return apply


def apply_naively(world: World) -> bool:
    """Do the same three writes one after the other: no commit record, so nothing to recover."""
    saga = staged_saga(world, item_of(world))
    (row,) = saga.plan.rows
    assert row.before is not None
    assert row.after is not None
    world.store.replace(world.viewer(row.agent_id), row.before.row_hash, row.after, reason="naive")
    (world.files.root / HUB).write_bytes(world.undo.get(saga.plan.files[0].after_sha256))
    world.ledger.finish(saga, at=world.clock.now())
    return True


APPLY: dict[str, Callable[[World], Callable[[], bool]]] = {
    "saga": lambda world: lambda: apply_saga(world),
    "naive": lambda world: lambda: apply_naively(world),
    "edited": apply_over_an_edit,
    "recover": lambda world: lambda: bool(recover(world)),
}


def look(place: Path) -> Seen:
    """Open a world anew and see what stands there; raises LedgerError for a broken chain."""
    with opened(place) as world:
        item = item_of(world)
        (change,) = item.item.effects.changes
        viewer = world.viewer(item.item.agent_id)
        history = world.store.history(viewer, change.memory_id)
        return Seen(
            row=world.store.find(viewer, change.memory_id),
            changes=tuple((e.operation, e.before_hash, _hash(e.after)) for e in history),
            hub=world.files.read(HUB) or b"",
            blocks=dict(world.ledger.owned_blocks(HUB)),
            state=item.state,
            waiting=world.ledger.approval(item.item_id) is not None,
            events=world.ledger.verify(),
            vault=frozenset(str(path.relative_to(place)) for path in (place / "vault").rglob("*")),
            unfinished=len(world.ledger.unfinished()),
        )


def _hash(memory: Memory | None) -> str:
    return memory.row_hash if memory else ""


def staged_saga(world: World, item: StandingItem) -> Saga:
    """Stage the item's change: both texts of the hub into the undo store, nothing else written."""
    approval = world.ledger.approval(item.item_id)
    assert approval is not None
    return Saga(
        saga_id=f"{item.digest}:{approval.nonce}",
        bundle_id=approval.bundle_id,
        item_id=item.item_id,
        item_digest=item.digest,
        nonce=approval.nonce,
        goal=ItemState.APPLIED,
        plan=Plan(rows=(_row_step(world, item),), files=(_file_step(world),)),
        at=world.clock.now(),
    )


def _row_step(world: World, item: StandingItem) -> RowStep:
    (change,) = item.item.effects.changes
    row = world.store.find(world.viewer(item.item.agent_id), change.memory_id)
    assert row is not None
    return RowStep(item.item.agent_id, row.id, row, changed_row(row, change, at=world.clock.now()))


def _file_step(world: World) -> FileStep:
    content = world.files.read(HUB) or b""
    owned = world.ledger.owned_blocks(HUB)
    write = BlockWrite("plan", NEW_BODY, "main")
    staged: Staged = staged_blocks(content.decode(), [write], owned, path=HUB)
    return FileStep(
        HUB,
        world.files.keep(HUB, content),
        world.files.keep(HUB, staged.text.encode()),
        tuple(owned[block.block_id] for block in staged.blocks),
        staged.blocks,
    )
