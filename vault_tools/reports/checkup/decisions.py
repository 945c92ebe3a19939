"""The ledger: its chain, what a crash left open, and the notes that show its bundles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from vault_tools.core.bundle import BundleStatus, StandingBundle
from vault_tools.core.item import ItemState
from vault_tools.core.ports import Ledger, OwnedBlock
from vault_tools.errors import LedgerError
from vault_tools.reports.checkup.finding import Sheet, names

_DAY_MS = 86_400_000
_OPEN = (BundleStatus.PENDING, BundleStatus.PARTIALLY_APPLIED)
BUNDLES = "review-bundles"


def check_ledger(
    sheet: Sheet, ledger: Ledger, *, now: int, expires_after_days: int
) -> list[StandingBundle]:
    """Walk the chain, and give the bundles where they can be read."""
    try:
        bundles = ledger.bundles()
        sheet.checks["ledger"] = {"events": ledger.verify(), "bundles": len(bundles)}
        unfinished = ledger.unfinished()
    except LedgerError as error:
        sheet.checks["ledger"] = {"events": None}
        sheet.refused("ledger_broken", error)
        return []
    sheet.checks["ledger"]["unfinished"] = len(unfinished)
    for saga in unfinished:
        sheet.warn(
            "saga_unfinished",
            f"{saga.item_id} was interrupted while it was being {saga.goal.value}",
            "Run `vault-tools doctor --repair`: it is finished, or taken back as a whole.",
        )
    late = now - expires_after_days * _DAY_MS
    _check_expired(sheet, [one for one in bundles if one.bundle.created_at <= late])
    return bundles


def _check_expired(sheet: Sheet, bundles: Iterable[StandingBundle]) -> None:
    for standing in bundles:
        approved = [i.item_id for i in standing.items if i.state is ItemState.APPROVED]
        if approved:
            sheet.warn(
                "approval_expired",
                f"approved but never applied in time: {names(approved)}",
                "Run `vault-tools morning-review`: what still holds is proposed anew.",
            )


def check_seal(sheet: Sheet) -> None:
    """Say plainly what approvals without a signature are worth."""
    sheet.checks["approvals"] = "unsealed"
    sheet.inform(
        "approvals_unsealed",
        "approvals are not sealed: audit only, code running as your own user can do what you can",
        "Let agents run as another user, or in a container that does not hold the home.",
    )


def check_bundle_notes(
    sheet: Sheet,
    bundles: Iterable[StandingBundle],
    note_state: Callable[[StandingBundle], str],
    review_root: str,
    present: Iterable[str],
) -> None:
    """Compare the bundle notes in the vault with the ledger, both ways."""
    folder = f"{review_root}/{BUNDLES}/"
    unknown = {path for path in present if path.startswith(folder) and "/rb-" in path}
    for standing in bundles:
        path = f"{folder}{standing.bundle_id}.md"
        unknown.discard(path)
        state = note_state(standing)
        refresh = f"Run `vault-tools review refresh {standing.bundle_id}`."
        if state == "edited":
            sheet.warn(
                "bundle_edited",
                "what this bundle note shows is not what the ledger has; the ledger counts",
                f"{refresh} Your text outside the blocks stays.",
                path,
            )
        elif state == "missing" and standing.status in _OPEN:
            sheet.warn("bundle_missing", "the note of an open bundle is gone", refresh, path)
        elif state == "missing":
            sheet.inform("bundle_missing", "the note of a closed bundle is gone", refresh, path)
    sheet.warn_each(
        "bundle_unknown",
        "the ledger knows no such bundle; nothing in this note can be approved",
        "Delete it, or point --home at the home it was prepared in.",
        unknown,
    )


class NoBlocks:
    """Own no block: what holds where there is no ledger yet."""

    def owned_blocks(self, path: str) -> Mapping[str, OwnedBlock]:
        """Give nothing."""
        return {}

    def own_blocks(self, blocks: Sequence[OwnedBlock]) -> None:
        """Refuse: a check-up owns nothing."""
        raise LedgerError("a check-up writes nothing", "Run `vault-tools init` first.")

    def disown_blocks(self, path: str, block_ids: Collection[str]) -> None:
        """Do nothing: none is owned."""
