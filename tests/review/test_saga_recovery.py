"""What a crash or a fault leaves of a saga, and what the next command makes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.review.saga_world import HUB, apply_saga, build, item_of, staged_saga
from tests.review.worlds import make_world
from vault_tools.core.item import ItemState
from vault_tools.core.saga import SagaStage
from vault_tools.errors import VaultToolsError
from vault_tools.review.saga import carry_out, recover
from vault_tools.review.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = make_world(tmp_path)
    build(made)
    return made.world


def test_an_item_taken_back_after_a_fault_is_applied_by_another_try(world: World) -> None:
    saga = staged_saga(world, item_of(world))
    after = world.undo.get(saga.plan.files[0].after_sha256)
    world.undo.discard(saga.plan.files[0].after_sha256)
    with pytest.raises(VaultToolsError, match="no longer holds"):
        carry_out(saga, world)
    assert item_of(world).state is ItemState.APPROVED
    assert world.ledger.unfinished() == []
    assert apply_saga(world)
    assert item_of(world).state is ItemState.APPLIED
    assert world.files.read(HUB) == after
    assert world.ledger.verify()


def test_an_interrupted_way_back_leaves_the_approval_for_another_try(world: World) -> None:
    saga = staged_saga(world, item_of(world))
    world.ledger.begin(saga)
    world.ledger.turn(saga.saga_id, SagaStage.REVERTING)
    (repaired,) = recover(world)
    assert not repaired.forward
    assert item_of(world).state is ItemState.APPROVED
    assert apply_saga(world)


def test_a_saga_that_still_stands_is_not_begun_again(world: World) -> None:
    saga = staged_saga(world, item_of(world))
    world.ledger.begin(saga)
    with pytest.raises(VaultToolsError):
        world.ledger.begin(replace(saga, at=saga.at + 1))
    assert world.ledger.unfinished() == [saga]


@pytest.mark.parametrize("text", [b"", b"# Ki"])
def test_the_beginning_of_our_own_text_is_cleared_away_in_silence(
    world: World, text: bytes
) -> None:
    repaired = _recovered_beside(world, text)
    assert repaired.endswith("was finished")


def test_a_text_that_the_write_displaced_is_kept_and_named(world: World) -> None:
    edit = b"# Kiln\n\nSaved by me at the last moment.\n"
    repaired = _recovered_beside(world, edit)
    assert "another text of" in repaired
    assert HUB in repaired
    assert world.undo.get(next(sha for sha in world.undo.hashes() if sha[:8] in repaired)) == edit


def _recovered_beside(world: World, text: bytes) -> str:
    """Recover a saga beside whose file an interrupted write left a temporary file."""
    hub = world.files.root / HUB
    temporary = hub.with_name(f".{hub.name}.vault-tools-0123456789ab.tmp")
    world.ledger.begin(staged_saga(world, item_of(world)))
    temporary.write_bytes(text)
    (repaired,) = recover(world)
    assert repaired.forward
    assert not temporary.exists()
    return repaired.message


def test_a_leftover_without_any_saga_is_cleared_away_too(world: World) -> None:
    temporary = (world.files.root / HUB).with_name(".kiln.md.vault-tools-0123456789ab.tmp")
    temporary.write_bytes(b"x")
    assert recover(world) == []
    assert not temporary.exists()
