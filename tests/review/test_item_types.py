"""All eleven types of items can be sealed; those without a handler cannot be approved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import rfc8785

from tests.review.worlds import MONDAY, ReviewWorld, make_world
from vault_tools.core.bundle import Profile, ReviewBundle, StandingBundle
from vault_tools.core.digest import canonical_json
from vault_tools.core.item import Item, ItemState, ItemType, with_risk_floor
from vault_tools.core.plain import from_plain, to_plain
from vault_tools.core.risk import Risk
from vault_tools.errors import WrongState
from vault_tools.review.approvals import Flags, approvable
from vault_tools.review.items import HANDLERS, NOT_YET


@pytest.fixture
def world(tmp_path: Path) -> ReviewWorld:
    return make_world(tmp_path)


def item(kind: ItemType) -> Item:
    return with_risk_floor(
        Item(
            type=kind,
            agent_id="main",
            workspace_key="main",
            vault_id="11111111-1111-4111-8111-111111111111",
            target=f"memory:00000000-0000-4000-8000-{list(ItemType).index(kind):012d}",
            title=f"Über {kind.value} — “quoted”",
            shown="words \u202e shown\n\ttwo lines",
            reason="because",
            if_rejected="nothing happens",
            proposed_by="test",
            profile="standard",
            created_at=MONDAY,
        )
    )


def sealed(world: ReviewWorld) -> StandingBundle:
    bundle = ReviewBundle(
        bundle_id="",
        created_at=MONDAY,
        created_iso="2026-11-30T10:00:00+01:00",
        vault_id=world.world.vault_id,
        workspace_key="main",
        created_by_agent="main",
        profiles=(Profile.STANDARD,),
        items=tuple(item(kind) for kind in ItemType),
    )
    return world.world.ledger.open_bundle(
        bundle, stamp="2026-11-30-1000", expires_at=MONDAY + 1, blocked={}
    )


def test_every_type_is_sealed_pending_and_comes_back_as_it_was(world: ReviewWorld) -> None:
    standing = sealed(world)
    again = world.world.ledger.bundle(standing.bundle_id)
    assert [one.item for one in again.items] == [item(kind) for kind in ItemType]
    assert {one.state for one in again.items} == {ItemState.PENDING}
    assert all(one.item.digest == one.digest for one in again.items)


@pytest.mark.parametrize("kind", [kind for kind in ItemType if kind not in HANDLERS])
def test_a_type_without_a_handler_is_refused_with_that_reason(
    world: ReviewWorld, kind: ItemType
) -> None:
    standing = sealed(world)
    (chosen,) = [one for one in standing.items if one.item.type is kind]
    with pytest.raises(WrongState, match="not built into this version"):
        approvable(standing, chosen.item_id, Flags(), world.world)
    assert kind in NOT_YET


@pytest.mark.parametrize("kind", list(ItemType))
def test_the_seal_is_over_rfc_8785_json(kind: ItemType) -> None:
    plain = to_plain(item(kind))
    assert canonical_json(plain) == rfc8785.dumps(plain)
    assert from_plain(Item, plain) == item(kind)


@pytest.mark.parametrize("field", ["title", "shown", "reason", "target", "agent_id"])
def test_any_change_changes_the_digest(field: str) -> None:
    before = item(ItemType.TOMBSTONE)
    assert replace(before, **{field: "other"}).digest != before.digest


def test_a_self_declared_low_risk_does_not_lower_the_floor() -> None:
    for kind in (ItemType.TOMBSTONE, ItemType.KNOWLEDGE_UPDATE, ItemType.MEMORY_MERGE):
        assert item(kind).labelled is Risk.LOW
        assert item(kind).risk.at_least(Risk.HIGH)
