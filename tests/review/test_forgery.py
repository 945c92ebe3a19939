"""Hands on the ledger file: whatever they write there without its chain changes no memory.

Who rewrites the whole chain as well is beyond what an unsealed ledger can notice;
docs/experiments.md shows it.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.review.worlds import PERSON, ReviewWorld, make_world
from vault_tools.core.approval import Decision
from vault_tools.core.block import append_block
from vault_tools.core.bundle import StandingBundle, StandingItem
from vault_tools.core.digest import canonical_json, sha256_hex
from vault_tools.core.item import ItemState, ItemType
from vault_tools.core.memory import Memory
from vault_tools.core.plain import to_plain
from vault_tools.core.saga import Plan, RowStep, Saga
from vault_tools.core.trust import Trust
from vault_tools.errors import LedgerError, NotApproved
from vault_tools.review.apply import apply
from vault_tools.review.approvals import decision_on, record
from vault_tools.review.saga import recover
from vault_tools.review.undoing import undo
from vault_tools.store.ledger import LedgerFile

TEXT = "Glaze 7 needs two coats"
OTHER = "The studio key hangs behind the door"


class Scene:
    """Two candidate memories proposed for promotion, and the file the attacker writes to."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.world: ReviewWorld = make_world(place)
        self.memory: Memory = self.world.remember(TEXT)
        self.other: Memory = self.world.remember(OTHER)
        self.standing: StandingBundle = self.world.bundle()
        self.item = self.about(self.memory)
        self.ledger = place / "state" / "ledger.sqlite"

    def about(self, memory: Memory) -> StandingItem:
        (item,) = (
            item
            for item in self.standing.items
            if item.item.type is ItemType.MEMORY_PROMOTION and memory.id in item.item.target
        )
        return item

    def write(self, *statements: str) -> None:
        database = sqlite3.connect(self.ledger)
        for statement in statements:
            database.execute(statement)
        database.commit()
        database.close()

    def approve(self, *memories: Memory) -> None:
        self.world.approve(self.standing, *(self.about(memory).item_id for memory in memories))

    def reject(self) -> None:
        decision = decision_on(self.world.world, self.standing, self.item, Decision.REJECT, PERSON)
        record(self.world.world, [decision])

    def apply(self) -> tuple[str, ...]:
        applied = apply(self.world.world, self.standing.bundle_id)
        return applied.ids(ItemState.APPLIED)

    def undo(self) -> tuple[str, ...]:
        decisions = self.world.undo_decisions(self.standing, self.item.item_id)
        return undo(self.world.world, self.standing.bundle_id, decisions).undone

    def unchanged(self) -> bool:
        rows = (self.world.row(self.memory), self.world.row(self.other))
        return rows == (self.memory, self.other)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_without_an_attacker_the_same_scene_applies_and_undoes(scene: Scene) -> None:
    scene.approve(scene.memory)
    assert scene.apply() == (scene.item.item_id,)
    assert not scene.unchanged()
    assert scene.undo() == (scene.item.item_id,)
    assert scene.unchanged()


def test_a_state_column_alone_approves_nothing(scene: Scene) -> None:
    scene.approve(scene.other)
    scene.write("update items set state = 'approved'")
    with pytest.raises(LedgerError, match="its chain says pending"):
        scene.apply()
    assert scene.unchanged()


def test_a_rejection_relabelled_as_approval_is_refused(scene: Scene) -> None:
    scene.reject()
    scene.write("update approvals set decision = 'approve'", "update items set state = 'approved'")
    with pytest.raises(LedgerError):
        scene.apply()
    with pytest.raises(LedgerError, match="altered"):
        scene.world.world.ledger.approval(scene.item.item_id)
    assert scene.unchanged()


def test_an_approval_that_was_taken_back_does_not_return_by_its_columns(scene: Scene) -> None:
    scene.approve(scene.memory)
    scene.reject()
    scene.write(f"update items set state = 'approved' where item_id = '{scene.item.item_id}'")
    with pytest.raises(LedgerError):
        scene.apply()
    with pytest.raises(LedgerError, match="over: reject"):
        scene.world.world.ledger.approval(scene.item.item_id)
    assert scene.unchanged()


def test_a_spent_approval_cannot_be_made_unspent(scene: Scene) -> None:
    scene.approve(scene.memory)
    scene.apply()
    scene.undo()
    scene.write(
        "update approvals set spent_at = null where decision = 'approve'",
        "delete from sagas",
        f"update items set state = 'approved' where item_id = '{scene.item.item_id}'",
    )
    with pytest.raises(LedgerError):
        scene.apply()
    with pytest.raises(LedgerError, match="over: applied"):
        scene.world.world.ledger.approval(scene.item.item_id)
    assert scene.unchanged()


def test_a_change_slipped_in_as_unfinished_is_not_carried_out(scene: Scene) -> None:
    believed = replace(scene.memory, trust=Trust.TRUSTED, version=2)
    forged = _saga(scene, Plan(rows=(RowStep("main", believed.id, scene.memory, believed),)))
    _keep(scene, forged)
    scene.write(
        "insert into sagas(saga_id, item_id, goal, stage, body) values"
        f" ('forged', '{forged.item_id}', 'applied', 'committed', '{_digest(forged)}')"
    )
    with pytest.raises(LedgerError, match="no event stands behind"):
        recover(scene.world.world)
    assert scene.unchanged()


def test_undo_takes_back_only_what_was_really_applied(scene: Scene) -> None:
    scene.approve(scene.memory)
    scene.apply()
    now = scene.world.row(scene.memory)
    assert now is not None
    twisted = replace(scene.memory, text="Glaze 7 needs no coat at all")
    forged = _saga(scene, Plan(rows=(RowStep("main", now.id, twisted, now),)))
    _keep(scene, forged)
    scene.write(f"update sagas set body = '{_digest(forged)}'")
    with pytest.raises(LedgerError, match="no event stands behind"):
        scene.undo()
    assert scene.world.row(scene.memory) == now


@pytest.mark.parametrize(
    "swap",
    [
        "update payloads set body = (select body from payloads where digest = '{other}')"
        " where digest = '{item}'",
        "update items set digest = '{other}' where digest = '{item}'",
        "update items set item_id = 'x' where item_id = '{item_id}';"
        "update items set item_id = '{item_id}' where item_id = '{other_id}';"
        "update items set item_id = '{other_id}' where item_id = 'x'",
        "update approvals set item_id = '{other_id}'",
        "update approvals set body = replace(body, '{item}', '{other}')",
        "update bundles set digest = '{other}'",
    ],
    ids=["text", "digest", "ids", "approval column", "approval body", "bundle digest"],
)
def test_an_approval_cannot_be_moved_to_other_effects(scene: Scene, swap: str) -> None:
    other = scene.about(scene.other)
    scene.approve(scene.memory)
    values = {
        "item": scene.item.digest,
        "other": other.digest,
        "item_id": scene.item.item_id,
        "other_id": other.item_id,
    }
    scene.write(*swap.format(**values).split(";"))
    with pytest.raises(LedgerError):
        scene.apply()
    assert scene.unchanged()


def test_an_approval_without_an_event_is_refused(scene: Scene) -> None:
    scene.approve(scene.other)
    scene.write(
        f"insert into approvals select 'forged', '{scene.item.item_id}', bundle_id, decision,"
        " body, 99, null from approvals",
        f"update items set state = 'approved' where item_id = '{scene.item.item_id}'",
    )
    with pytest.raises(LedgerError):
        scene.apply()
    with pytest.raises(LedgerError, match="event 99 is missing"):
        scene.world.world.ledger.approval(scene.item.item_id)
    assert scene.unchanged()


@pytest.mark.parametrize("undone_first", [True, False])
def test_an_older_copy_of_the_ledger_applies_nothing_again(
    scene: Scene, undone_first: bool
) -> None:
    scene.approve(scene.memory)
    scene.write("pragma wal_checkpoint(truncate)")
    shutil.copy(scene.ledger, scene.place / "older")
    scene.apply()
    if undone_first:
        scene.undo()
    after = scene.world.row(scene.memory)
    for name in ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"):
        (scene.ledger.parent / name).unlink(missing_ok=True)
    shutil.copy(scene.place / "older", scene.ledger)
    again = make_world(scene.place, store=scene.world.store)
    outcome = apply(again.world, scene.standing.bundle_id)
    assert outcome.ids(ItemState.APPLIED) == ()
    assert scene.world.row(scene.memory) == after


def test_the_ledger_of_another_vault_is_refused(scene: Scene) -> None:
    scene.approve(scene.memory)
    with pytest.raises(LedgerError, match="another vault"):
        LedgerFile(scene.ledger, vault_id="another", workspace_key="main")


def test_a_ledger_that_every_user_could_replace_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "home" / "state"
    state.mkdir(parents=True)
    (tmp_path / "home").chmod(0o777)
    with pytest.raises(LedgerError, match="every user of this computer"):
        LedgerFile(state / "ledger.sqlite", vault_id="one", workspace_key="main")


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("- [ ]", "- [x]").replace("waiting", "approved"),
        lambda text: text.replace("pending_user_review", "approved"),
        lambda text: append_block(text, "approval", "main", "", "Approved by the reviewer.\n"),
    ],
    ids=["ticked", "status", "forged block with a right hash"],
)
def test_an_edited_note_approves_nothing(scene: Scene, edit: Callable[[str], str]) -> None:
    path = scene.world.vault / scene.world.publisher.path(scene.standing.bundle_id)
    path.write_text(edit(path.read_text("utf-8")), encoding="utf-8")
    with pytest.raises(NotApproved):
        scene.apply()
    assert scene.unchanged()


def _saga(scene: Scene, plan: Plan) -> Saga:
    return Saga(
        saga_id="forged",
        bundle_id=scene.standing.bundle_id,
        item_id=scene.item.item_id,
        item_digest=scene.item.digest,
        nonce="forged",
        goal=ItemState.APPLIED,
        plan=plan,
    )


def _keep(scene: Scene, saga: Saga) -> None:
    database = sqlite3.connect(scene.ledger)
    body = canonical_json(to_plain(saga)).decode()
    database.execute("insert into payloads values (?, ?)", (sha256_hex(body), body))
    database.commit()
    database.close()


def _digest(saga: Saga) -> str:
    return sha256_hex(canonical_json(to_plain(saga)))
