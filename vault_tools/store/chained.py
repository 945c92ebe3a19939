"""What the chained events say of bundles, items, decisions and sagas.

The other tables are indexes for speed: where one of them says something else than the chain, the
ledger file was changed by another hand, and nothing is applied.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from vault_tools.core.approval import Approval, Approver, Decision
from vault_tools.core.digest import sha256_hex
from vault_tools.core.item import ItemState
from vault_tools.core.plain import to_plain
from vault_tools.core.ports import OwnedBlock
from vault_tools.errors import LedgerError
from vault_tools.store.ledger import LedgerFile

PREPARED, EXPIRED, BEGUN, REVERTED = "prepared", "expired", "begun", "reverted"
ADOPTED = "adopted"


def adoption(
    blocks: Sequence[OwnedBlock], approver: Approver | None, former_host: str
) -> dict[str, Any]:
    """Say in an event which blocks were taken over, by whom and from which computer."""
    return {
        "blocks": [
            {"target": f"block:{block.path}#{block.block_id}", "canonical": block.canonical}
            for block in blocks
        ],
        "approver": to_plain(approver) if approver else None,
        "formerHost": former_host or None,
    }


def check_approval(file: LedgerFile, approval: Approval, body: str, event: int) -> None:
    """Require that an event records this very approval, and that nothing has ended it since.

    Raises LedgerError.
    """
    kind, said = _event(file, event)
    if (kind, approval.decision) != (Decision.APPROVE, Decision.APPROVE) or said != {
        **said,
        "itemId": approval.item_id,
        "itemDigest": approval.item_digest,
        "decisionDigest": sha256_hex(body),
    }:
        raise _altered(f"the approval of {approval.item_id} was altered in the ledger")
    ended = file.one(
        "select kind from events where seq > ? and kind not in (?, ?)"
        " and json_extract(body, '$.itemId') = ? limit 1",
        event,
        BEGUN,
        REVERTED,
        approval.item_id,
    )
    if ended:
        raise _altered(f"the approval of {approval.item_id} is over: {ended[0]}")


def check_saga(file: LedgerFile, saga_digest: str) -> None:
    """Require that an event records the start of this very saga; raises LedgerError."""
    if not file.one(
        "select 1 from events where kind = ? and json_extract(body, '$.sagaDigest') = ?",
        BEGUN,
        saga_digest,
    ):
        raise _altered(f"no event stands behind the change {saga_digest[:8]} in the ledger")


def check_tables(file: LedgerFile) -> None:
    """Compare bundles, items, their states and all decisions with the chain; raises LedgerError."""
    states = _states(file)
    for item_id, state in file.all("select item_id, state from items"):
        if states.get(item_id) != state:
            said = states.get(item_id, "unknown")
            raise _altered(f"the ledger has {item_id} as {state}, its chain says {said}")
    for event, *row in file.all("select event, item_id, bundle_id, decision, body from approvals"):
        _check_decision(file, event, *row)


def _check_decision(
    file: LedgerFile, event: int, item_id: str, bundle_id: str, decision: str, body: str
) -> None:
    kind, said = _event(file, event)
    recorded = (kind, said.get("itemId"), said.get("bundleId"), said.get("decisionDigest"))
    if recorded != (decision, item_id, bundle_id, sha256_hex(body)):
        raise _altered(f"a decision about {item_id} was altered in the ledger")


def _states(file: LedgerFile) -> dict[str, str]:
    states: dict[str, str] = {}
    for kind, text in file.all("select kind, body from events order by seq"):
        said = json.loads(text)
        if kind == PREPARED:
            states.update(_opened(file, said))
        elif kind == EXPIRED:
            states.update(dict.fromkeys(said["items"], ItemState.EXPIRED.value))
        elif "state" in said:
            states[said["itemId"]] = said["state"]
    return states


def _opened(file: LedgerFile, said: dict[str, Any]) -> dict[str, str]:
    bundle_id = said["bundleId"]
    rows = file.all(
        "select item_id, digest from items where bundle_id = ? order by position", bundle_id
    )
    sealed = file.one("select digest from bundles where bundle_id = ?", bundle_id)
    if sealed != (said["bundleDigest"],) or [row[1] for row in rows] != said["items"]:
        raise _altered(f"the ledger has other items in {bundle_id} than its chain")
    blocked = set(said["blocked"])
    return {
        row[0]: (ItemState.BLOCKED if position in blocked else ItemState.PENDING).value
        for position, row in enumerate(rows)
    }


def _event(file: LedgerFile, seq: int) -> tuple[str, dict[str, Any]]:
    row = file.one("select kind, body from events where seq = ?", seq)
    if row is None:
        raise _altered(f"event {seq} is missing from the ledger")
    said: dict[str, Any] = json.loads(row[1])
    return str(row[0]), said


def _altered(what: str) -> LedgerError:
    return LedgerError(
        what,
        "Someone changed the ledger file. Restore it from a backup; until then nothing is applied.",
    )
