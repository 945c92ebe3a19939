"""The ledger as the review sees it: bundles, decisions, sagas and block ownership over SQLite."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vault_tools.core.approval import Approval, Approver, Decision
from vault_tools.core.bundle import (
    ReviewBundle,
    StandingBundle,
    StandingItem,
    status_of,
)
from vault_tools.core.digest import canonical_json, digest_of, sha256_hex
from vault_tools.core.item import Item, ItemState, may_become
from vault_tools.core.plain import from_plain, to_plain
from vault_tools.core.saga import OwnedBlock, Saga, SagaStage
from vault_tools.errors import LedgerError, UnknownBundle, UnknownItem, WrongState
from vault_tools.store.chained import (
    ADOPTED,
    BEGUN,
    EXPIRED,
    PREPARED,
    REVERTED,
    adoption,
    check_approval,
    check_saga,
    check_tables,
)
from vault_tools.store.ledger import LedgerFile

_OPEN = (ItemState.PENDING, ItemState.APPROVED, ItemState.STALE)


class SqliteLedger:
    """The append-only account of bundles, approvals, applies and undos (port `Ledger`)."""

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    # Bundles and items

    def open_bundle(
        self, bundle: ReviewBundle, *, stamp: str, expires_at: int, blocked: Mapping[int, str]
    ) -> StandingBundle:
        with self._file.transaction():
            named = replace(bundle, bundle_id=self._free_id(stamp))
            self._file.run(
                "insert into bundles(bundle_id, digest, created_at, expires_at, header)"
                " values (?, ?, ?, ?, ?)",
                named.bundle_id,
                named.digest,
                named.created_at,
                expires_at,
                self._file.keep(_text(replace(named, items=()))),
            )
            for position, item in enumerate(named.items):
                self._insert_item(named, position, item, blocked.get(position))
            self._file.append_event(
                PREPARED,
                {
                    "bundleId": named.bundle_id,
                    "bundleDigest": named.digest,
                    "items": [item.digest for item in named.items],
                    "blocked": sorted(blocked),
                },
                at=named.created_at,
            )
        return self.bundle(named.bundle_id)

    def _free_id(self, stamp: str) -> str:
        number = 1
        while True:
            bundle_id = f"rb-{stamp}" if number == 1 else f"rb-{stamp}-{number}"
            if not self._file.one("select 1 from bundles where bundle_id = ?", bundle_id):
                return bundle_id
            number += 1

    def _insert_item(
        self, bundle: ReviewBundle, position: int, item: Item, blocked: str | None
    ) -> None:
        state = ItemState.PENDING if blocked is None else ItemState.BLOCKED
        self._file.run(
            "insert into items values (?, ?, ?, ?, ?, ?, ?, ?)",
            bundle.item_id(position),
            bundle.bundle_id,
            position,
            self._file.keep(_text(item)),
            item.key,
            state,
            blocked or "",
            bundle.created_at,
        )
        self._file.run("delete from proposals where key = ?", item.key)

    def bundles(self) -> list[StandingBundle]:
        rows = self._file.all("select bundle_id from bundles order by position desc")
        return [self.bundle(row[0]) for row in rows]

    def bundle(self, bundle_id: str) -> StandingBundle:
        row = self._file.one(
            "select digest, header, expired from bundles where bundle_id = ?", bundle_id
        )
        if row is None:
            raise UnknownBundle(
                f"there is no bundle {bundle_id} in this workspace",
                "`vault-tools review list` shows the bundles there are.",
            )
        digest, header, expired = row
        items = tuple(
            StandingItem(item_id, self._item(sealed), sealed, ItemState(state), note)
            for item_id, sealed, state, note in self._file.all(
                "select item_id, digest, state, note from items where bundle_id = ?"
                " order by position",
                bundle_id,
            )
        )
        bundle = from_plain(ReviewBundle, json.loads(self._file.kept(header)))
        whole = replace(bundle, items=tuple(standing.item for standing in items))
        if whole.digest != digest:
            raise LedgerError(
                f"bundle {bundle_id} no longer matches its seal",
                "Nothing was applied. Restore the ledger from a backup.",
            )
        status = status_of((standing.state for standing in items), expired=bool(expired))
        return StandingBundle(whole, digest, status, items)

    def _item(self, digest: str) -> Item:
        return from_plain(Item, json.loads(self._file.kept(digest)))

    def keys(self) -> Mapping[str, frozenset[ItemState]]:
        known: dict[str, set[ItemState]] = {}
        for key, state in self._file.all("select key, state from items"):
            known.setdefault(key, set()).add(ItemState(state))
        return {key: frozenset(states) for key, states in known.items()}

    # Proposals that are in no bundle yet

    def propose(self, item: Item, *, at: int) -> str:
        with self._file.transaction():
            digest = self._file.keep(_text(item))
            self._file.run("insert or ignore into proposals values (?, ?, ?)", digest, item.key, at)
            row = self._file.one("select digest from proposals where key = ?", item.key)
        return f"proposal-{(row or (digest,))[0][:8]}"

    def proposals(self) -> list[Item]:
        rows = self._file.all("select digest from proposals order by at, digest")
        return [self._item(row[0]) for row in rows]

    # Decisions

    def decide(self, approval: Approval, *, state: ItemState | None) -> None:
        with self._file.transaction():
            if state is not None:
                self._move(approval.item_id, state, note="", at=approval.at)
            body = _text(approval)
            said = {
                "bundleId": approval.bundle_id,
                "itemId": approval.item_id,
                "itemDigest": approval.item_digest,
                "decisionDigest": sha256_hex(body),
            }
            if state is not None:
                said["state"] = state.value
            event = self._file.append_event(approval.decision.value, said, at=approval.at)
            self._file.run(
                "insert into approvals values (?, ?, ?, ?, ?, ?, null)",
                approval.nonce,
                approval.item_id,
                approval.bundle_id,
                approval.decision.value,
                body,
                event,
            )

    def approval(self, item_id: str) -> Approval | None:
        row = self._file.one(
            "select body, event from approvals where item_id = ? and decision = ?"
            " and spent_at is null order by event desc limit 1",
            item_id,
            Decision.APPROVE.value,
        )
        if row is None:
            return None
        approval = from_plain(Approval, json.loads(row[0]))
        check_approval(self._file, replace(approval, item_id=item_id), *row)
        return approval

    def ever_approved(self, bundle_id: str) -> frozenset[str]:
        rows = self._file.all(
            "select item_id from approvals where bundle_id = ? and decision = ?",
            bundle_id,
            Decision.APPROVE.value,
        )
        return frozenset(row[0] for row in rows)

    def settle(self, item_id: str, state: ItemState, *, note: str, at: int) -> None:
        with self._file.transaction():
            self._move(item_id, state, note=note, at=at)
            self._file.append_event(state.value, {"itemId": item_id, "state": state.value}, at=at)

    def _move(self, item_id: str, state: ItemState, *, note: str, at: int) -> None:
        row = self._file.one("select state from items where item_id = ?", item_id)
        if row is None:
            raise UnknownItem(
                f"there is no item {item_id} in this workspace",
                "`vault-tools review show` lists the items of a bundle.",
            )
        if not may_become(ItemState(row[0]), state):
            raise WrongState(
                f"{item_id} is {row[0]} and cannot become {state.value}",
                "`vault-tools review show` tells where each item stands.",
            )
        self._file.run(
            "update items set state = ?, note = ?, changed_at = ? where item_id = ?",
            state.value,
            note,
            at,
            item_id,
        )

    # Sagas

    def begin(self, saga: Saga) -> None:
        with self._file.transaction():
            digest = self._file.keep(_text(replace(saga, stage=SagaStage.COMMITTED)))
            # An earlier try under the same approval that was taken back stays in the chain only.
            self._file.run(
                "delete from sagas where saga_id = ? and stage = ?",
                saga.saga_id,
                SagaStage.REVERTED.value,
            )
            self._file.run(
                "insert into sagas(saga_id, item_id, goal, stage, body) values (?, ?, ?, ?, ?)",
                saga.saga_id,
                saga.item_id,
                saga.goal.value,
                saga.stage.value,
                digest,
            )
            said = {"bundleId": saga.bundle_id, "itemId": saga.item_id, "sagaDigest": digest}
            self._file.append_event(BEGUN, said, at=saga.at)

    def turn(self, saga_id: str, stage: SagaStage) -> None:
        with self._file.transaction():
            self._set_stage(saga_id, stage)

    def _set_stage(self, saga_id: str, stage: SagaStage) -> None:
        self._file.run("update sagas set stage = ? where saga_id = ?", stage.value, saga_id)

    def finish(self, saga: Saga, *, at: int) -> None:
        with self._file.transaction():
            self._set_stage(saga.saga_id, SagaStage.DONE)
            self._move(saga.item_id, saga.goal, note="", at=at)
            self._file.run("update approvals set spent_at = ? where nonce = ?", at, saga.nonce)
            for step in saga.plan.files:
                self._swap_blocks(step.path, step.blocks_before, step.blocks_after)
            self._file.append_event(
                saga.goal.value,
                {
                    "bundleId": saga.bundle_id,
                    "itemId": saga.item_id,
                    "itemDigest": saga.item_digest,
                    "planDigest": digest_of(to_plain(saga.plan)),
                    "state": saga.goal.value,
                },
                at=at,
            )

    def close_reverted(self, saga: Saga, state: ItemState, *, note: str, at: int) -> None:
        with self._file.transaction():
            self._set_stage(saga.saga_id, SagaStage.REVERTED)
            row = self._file.one("select state from items where item_id = ?", saga.item_id)
            said = {"itemId": saga.item_id}
            if row is not None and may_become(ItemState(row[0]), state):
                self._move(saga.item_id, state, note=note, at=at)
                said["state"] = state.value
            self._file.append_event(REVERTED, said, at=at)

    def unfinished(self) -> list[Saga]:
        left_behind = self._sagas(
            "stage in (?, ?) order by position", SagaStage.COMMITTED, SagaStage.REVERTING
        )
        if left_behind:
            # Whoever can slip a row in here would have it carried out without any approval.
            self.verify()
        return left_behind

    def applied_saga(self, item_id: str) -> Saga | None:
        found = self._sagas(
            "item_id = ? and goal = ? and stage = ? order by position desc",
            item_id,
            ItemState.APPLIED,
            SagaStage.DONE,
        )
        return found[0] if found else None

    def _sagas(self, where: str, *values: str) -> list[Saga]:
        rows = self._file.all(f"select body, stage from sagas where {where}", *values)
        return [self._saga(body, SagaStage(stage)) for body, stage in rows]

    def _saga(self, digest: str, stage: SagaStage) -> Saga:
        check_saga(self._file, digest)
        return replace(from_plain(Saga, json.loads(self._file.kept(digest))), stage=stage)

    # Expiry and the chain

    def expire(self, *, now: int) -> list[str]:
        expired = []
        with self._file.transaction():
            for (bundle_id,) in self._file.all(
                "select bundle_id from bundles where expires_at <= ? and not expired", now
            ):
                self._file.run("update bundles set expired = 1 where bundle_id = ?", bundle_id)
                marks = ", ".join("?" for _ in _OPEN)
                rows = self._file.all(
                    "update items set state = ?, changed_at = ? where bundle_id = ?"
                    f" and state in ({marks}) returning item_id",
                    ItemState.EXPIRED.value,
                    now,
                    bundle_id,
                    *(state.value for state in _OPEN),
                )
                said = {"bundleId": bundle_id, "items": sorted(row[0] for row in rows)}
                self._file.append_event(EXPIRED, said, at=now)
                expired.append(str(bundle_id))
        return expired

    def verify(self) -> int:
        # One transaction, so that a decision made meanwhile does not look like a forged one.
        with self._file.transaction():
            length = self._file.verify()
            check_tables(self._file)
        return length

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # Which blocks are ours

    def owned_blocks(self, path: str) -> Mapping[str, OwnedBlock]:
        rows = self._file.all("select block_id, canonical, exact from blocks where path = ?", path)
        return {row[0]: OwnedBlock(path, *row) for row in rows}

    def own_blocks(self, blocks: Sequence[OwnedBlock]) -> None:
        with self._file.transaction():
            for block in blocks:
                self._own(block)

    def adopt_blocks(
        self,
        blocks: Sequence[OwnedBlock],
        approver: Approver | None,
        *,
        at: int,
        former_host: str = "",
    ) -> None:
        with self._file.transaction():
            for block in blocks:
                self._own(block)
            said = adoption(blocks, approver, former_host)
            self._file.append_event(ADOPTED, said, at=at)

    def disown_blocks(self, path: str, block_ids: Collection[str]) -> None:
        with self._file.transaction():
            for block_id in block_ids:
                self._file.run("delete from blocks where path = ? and block_id = ?", path, block_id)

    def _swap_blocks(
        self, path: str, before: Sequence[OwnedBlock], after: Sequence[OwnedBlock]
    ) -> None:
        for block in before:
            self._file.run(
                "delete from blocks where path = ? and block_id = ?", path, block.block_id
            )
        for block in after:
            self._own(block)

    def _own(self, block: OwnedBlock) -> None:
        self._file.run(
            "insert or replace into blocks values (?, ?, ?, ?)",
            block.path,
            block.block_id,
            block.canonical,
            block.exact,
        )


def _text(value: Any) -> str:
    return canonical_json(to_plain(value)).decode()
