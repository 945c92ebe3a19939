"""Select items and record what a person decided about them (spec 02 §Commands)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_tools.core.approval import Approval, Approver, Decision
from vault_tools.core.bundle import StandingBundle, StandingItem
from vault_tools.core.item import ItemState, Needs, Verdict
from vault_tools.core.memory import DAY_MS
from vault_tools.core.risk import Risk
from vault_tools.errors import InvalidInput, UnknownItem, WrongState
from vault_tools.review.apply import flags_needed
from vault_tools.review.items import HANDLERS, not_yet
from vault_tools.review.world import World

ALL = "all"
LOW_RISK = "low-risk"


@dataclass(frozen=True, slots=True)
class Unchanged:
    """An item that a command left as it was, and why."""

    item_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What `--items` picked: items to ask about, and items left out with the reason."""

    chosen: tuple[StandingItem, ...]
    unchanged: tuple[Unchanged, ...]


@dataclass(frozen=True, slots=True)
class Flags:
    """The two flags that let an approval go further (spec 02 §What apply checks, point 4)."""

    allow_global: bool = False
    trust_assistant: bool = False


def select(standing: StandingBundle, selector: str) -> tuple[StandingItem, ...]:
    """Pick the items that `--items` names: ids separated by commas, `all`, or `low-risk`.

    Raises InvalidInput when empty, UnknownItem that names every id the bundle does not have.
    """
    wanted = [part.strip() for part in selector.split(",") if part.strip()]
    if not wanted:
        raise InvalidInput(
            "--items names nothing", "Give item ids separated by commas, `all`, or `low-risk`."
        )
    if wanted == [ALL]:
        return tuple(i for i in standing.items if i.state is ItemState.PENDING)
    if wanted == [LOW_RISK]:
        return tuple(i for i in standing.items if is_low_risk(i))
    known = {item.item_id: item for item in standing.items}
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise UnknownItem(
            f"{standing.bundle_id} has no item {', '.join(unknown)}",
            f"`vault-tools review show {standing.bundle_id}` lists its items. Nothing was changed.",
        )
    return tuple(known[item_id] for item_id in dict.fromkeys(wanted))


def is_low_risk(item: StandingItem) -> bool:
    """Tell whether `low-risk` picks an item: pending, effective risk low, verdict pass."""
    passed = item.item.adversarial.verdict is Verdict.PASS
    return item.state is ItemState.PENDING and item.item.risk is Risk.LOW and passed


def approvable(standing: StandingBundle, selector: str, flags: Flags, world: World) -> Selection:
    """Sort the selected items into those to ask about and those that cannot be approved.

    An id that was named and cannot be approved fails the whole command (WrongState).
    """
    named = selector.strip() not in (ALL, LOW_RISK)
    chosen, unchanged = [], []
    for item in select(standing, selector):
        reason = why_not(item, flags, world, named=named)
        if reason and named and item.state is not ItemState.APPROVED:
            raise WrongState(f"{item.item_id} cannot be approved: {reason}", "Nothing was changed.")
        if reason:
            unchanged.append(Unchanged(item.item_id, reason))
        else:
            chosen.append(item)
    return Selection(tuple(chosen), tuple(unchanged))


def why_not(item: StandingItem, flags: Flags, world: World, *, named: bool) -> str:
    """Say why an item cannot be approved now; empty when it can."""
    if item.state is ItemState.APPROVED:
        return "it is approved already"
    if item.state is ItemState.STALE:
        return "its source has changed; run `vault-tools review prepare` to see it anew"
    if item.state is not ItemState.PENDING:
        return f"it is {item.state.value}"
    if item.item.type not in HANDLERS:
        return not_yet(item.item.type)
    if item.item.adversarial.verdict is Verdict.BLOCK:
        return "the adversarial pass blocked it"
    needed = flags_needed(item.item)
    missing = [flag for flag, name in needed.items() if not getattr(flags, name)]
    if missing:
        return f"it needs {' and '.join(missing)}"
    if needed and not named:
        return f"{' and '.join(needed)} takes item ids"
    return _source_changed(item, world)


def _source_changed(item: StandingItem, world: World) -> str:
    """Look at cited files only: opening the engine would keep the reviewer waiting."""
    for need in item.item.preconditions:
        if need.needs is Needs.SOURCE_SHA256 and world.files.sha256(need.subject) != need.value:
            return f"{need.subject} has changed since; run `vault-tools review prepare`"
    return ""


def rejectable(standing: StandingBundle, selector: str) -> Selection:
    """Sort the selected items into those to ask about and those that are past rejecting."""
    able = (ItemState.PENDING, ItemState.APPROVED, ItemState.STALE, ItemState.SNOOZED)
    picked = select(standing, selector)
    chosen = tuple(item for item in picked if item.state in able)
    left = [Unchanged(i.item_id, f"it is {i.state.value}") for i in picked if i.state not in able]
    return Selection(chosen, tuple(left))


def decision_on(
    world: World,
    standing: StandingBundle,
    item: StandingItem,
    decision: Decision,
    approver: Approver,
    *,
    flags: Flags | None = None,
    expires_after_days: int = 7,
) -> Approval:
    """Bind a decision to the very digests that were shown."""
    at = world.clock.now()
    given = flags or Flags()
    needed = flags_needed(item.item).values()
    return Approval(
        vault_id=world.vault_id,
        bundle_id=standing.bundle_id,
        bundle_digest=standing.digest,
        item_id=item.item_id,
        item_digest=item.digest,
        decision=decision,
        approver=approver,
        at=at,
        expires_at=standing.bundle.created_at + expires_after_days * DAY_MS,
        nonce=world.new_nonce(),
        allow_global=given.allow_global and "allow_global" in needed,
        trust_assistant=given.trust_assistant and "trust_assistant" in needed,
    )


def record(world: World, decisions: Sequence[Approval]) -> None:
    """Put decisions on the ledger and move their items."""
    states = {Decision.APPROVE: ItemState.APPROVED, Decision.REJECT: ItemState.REJECTED}
    for decision in decisions:
        world.ledger.decide(decision, state=states.get(decision.decision))
