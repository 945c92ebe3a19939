"""Apply exactly what was approved, item by item, after checking everything again (spec 02)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vault_tools.core.approval import Approval
from vault_tools.core.bundle import BundleStatus, StandingBundle, StandingItem
from vault_tools.core.item import Item, ItemState, Verdict
from vault_tools.core.ports import RECOVERED, HistoryEntry
from vault_tools.core.saga import Plan, RowStep, Saga
from vault_tools.core.scope import Scope
from vault_tools.core.trust import Trust, is_assistant_only
from vault_tools.errors import NotApproved, VaultToolsError
from vault_tools.review.items import HANDLERS, not_yet
from vault_tools.review.items.objection import Objection, blocked, invalid
from vault_tools.review.saga import CONFLICTS, TAKEN_BACK, carry_out
from vault_tools.review.world import World

FAILED = (ItemState.STALE, ItemState.BLOCKED, ItemState.INVALID)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to one item."""

    item_id: str
    state: ItemState
    reason: str = ""
    plan: Plan = field(default=Plan(), compare=False)


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply did: outcomes of this run, what had failed before, what is left to say."""

    bundle_id: str
    outcomes: tuple[Outcome, ...]
    earlier: tuple[Outcome, ...]
    status: BundleStatus
    errors: tuple[VaultToolsError, ...] = ()

    def ids(self, state: ItemState) -> tuple[str, ...]:
        """List the items that came out in a state in this run."""
        return tuple(o.item_id for o in self.outcomes if o.state is state)

    def failed(self) -> tuple[Outcome, ...]:
        """List what was approved but could not be applied, now or in an earlier run."""
        return (*self.earlier, *(o for o in self.outcomes if o.state in FAILED))


def apply(world: World, bundle_id: str, *, dry_run: bool = False) -> Applied:
    """Apply the approved items of a bundle; one item's failure leaves the others' results intact.

    Raises NotApproved when nothing in the bundle was ever approved, LedgerError when the chain of
    the ledger is broken. With `dry_run` everything is checked and staged, nothing is written.
    """
    world.ledger.verify()
    standing = world.ledger.bundle(bundle_id)
    approved_ever = world.ledger.ever_approved(bundle_id)
    if not approved_ever:
        raise NotApproved(
            f"nothing in {bundle_id} has been approved",
            f"Read it with `vault-tools review show {bundle_id}`, then approve items with "
            f"`vault-tools review approve {bundle_id} --items …`. "
            "A ticked box or an edited note is never an approval.",
        )
    earlier = _failed_before(standing.items, approved_ever)
    outcomes, errors = [], []
    for item in standing.items:
        if item.state is ItemState.APPROVED:
            try:
                outcomes.append(_apply_item(world, standing, item, dry_run=dry_run))
            except VaultToolsError as error:
                errors.append(error)
    status = world.ledger.bundle(bundle_id).status
    return Applied(bundle_id, tuple(outcomes), earlier, status, tuple(errors))


def _failed_before(
    items: Iterable[StandingItem], approved_ever: frozenset[str]
) -> tuple[Outcome, ...]:
    return tuple(
        Outcome(item.item_id, item.state, item.note)
        for item in items
        if item.state in FAILED and item.item_id in approved_ever
    ) + tuple(
        Outcome(item.item_id, ItemState.INVALID, "its approval has expired with the bundle")
        for item in items
        if item.state is ItemState.EXPIRED and item.item_id in approved_ever
    )


def _apply_item(
    world: World, standing: StandingBundle, item: StandingItem, *, dry_run: bool
) -> Outcome:
    approval = world.ledger.approval(item.item_id)
    objections = (
        *_decision_objections(world, standing, item, approval),
        *_rule_objections(item.item, approval, world),
    )
    if not objections:
        objections = HANDLERS[item.item.type].preconditions(item.item, world)
    if objections or approval is None:
        return _object(world, item, objections, dry_run=dry_run)
    plan = HANDLERS[item.item.type].apply(item.item, world)
    if _is_spent(item, plan, world):
        spent = invalid("the engine's history has it as applied already")
        return _object(world, item, (spent,), dry_run=dry_run)
    if dry_run:
        return Outcome(item.item_id, ItemState.APPLIED, "would be applied", plan)
    saga = Saga(
        saga_id=f"{item.digest}:{approval.nonce}",
        bundle_id=standing.bundle_id,
        item_id=item.item_id,
        item_digest=item.digest,
        nonce=approval.nonce,
        goal=ItemState.APPLIED,
        plan=plan,
        at=world.clock.now(),
    )
    try:
        carry_out(saga, world)
    except CONFLICTS as conflict:
        return Outcome(item.item_id, ItemState.STALE, conflict.message)
    return Outcome(item.item_id, ItemState.APPLIED, plan=plan)


def _object(
    world: World, item: StandingItem, objections: Sequence[Objection], *, dry_run: bool
) -> Outcome:
    first = objections[0]
    reason = "; ".join(objection.reason for objection in objections)
    if not dry_run:
        world.ledger.settle(item.item_id, first.state, note=reason, at=world.clock.now())
    return Outcome(item.item_id, first.state, reason)


def _decision_objections(
    world: World, standing: StandingBundle, item: StandingItem, approval: Approval | None
) -> tuple[Objection, ...]:
    if approval is None:
        return (invalid("its approval is not on the ledger"),)
    found = []
    if approval.vault_id != world.vault_id or item.item.vault_id != world.vault_id:
        found.append(invalid("it was approved for another vault"))
    if approval.bundle_digest != standing.digest or approval.item_digest != item.digest:
        found.append(invalid("it was approved for another content"))
    if item.item.digest != item.digest:
        found.append(invalid("its sealed content was altered"))
    if approval.expires_at <= world.clock.now():
        found.append(invalid("its approval has expired"))
    if item.item.workspace_key != world.workspace_key:
        found.append(invalid("it belongs to another workspace"))
    return tuple(found)


def _rule_objections(item: Item, approval: Approval | None, world: World) -> tuple[Objection, ...]:
    """Judge scope, trust and paths again, with the approval known."""
    found = []
    if item.type not in HANDLERS:
        found.append(blocked(not_yet(item.type)))
    if item.adversarial.verdict is Verdict.BLOCK:
        found.append(blocked("the adversarial pass blocked it"))
    for needed, given in flags_needed(item).items():
        if approval is None or not getattr(approval, given):
            found.append(blocked(f"it needs {needed} on approve"))
    for block in item.effects.blocks:
        if not block.path.startswith(f"{world.review_root}/"):
            found.append(blocked(f"{block.path} is outside the review root"))
    return tuple(found)


def _is_spent(item: StandingItem, plan: Plan, world: World) -> bool:
    """Ask the engine's own history, because an older copy of the ledger knows nothing of it."""
    for step in plan.rows:
        entries = world.store.history(world.viewer(step.agent_id), step.memory_id)
        about = [n for n, entry in enumerate(entries) if item.item_id in entry.reason.split()]
        if about and not _was_taken_back(entries[about[-1] :], step):
            return True
    return False


def _was_taken_back(entries: Sequence[HistoryEntry], step: RowStep) -> bool:
    """Look for the way back, also where a crash kept its reason from being written."""
    last, *later = entries
    recorded = any(one.reason == RECOVERED and one.after == step.before for one in later)
    return last.reason.startswith(TAKEN_BACK) or recorded


def flags_needed(item: Item) -> dict[str, str]:
    """Map the flags that approving this item takes to the approval's field for each."""
    needed = {}
    if item.scope_after is Scope.GLOBAL_USER and item.widens_scope:
        needed["--global"] = "allow_global"
    rises = item.trust_after is Trust.TRUSTED and item.trust_before is not Trust.TRUSTED
    if (rises or "--global" in needed) and is_assistant_only(item.roles()):
        needed["--trust-assistant"] = "trust_assistant"
    return needed
