"""`vault-tools review approve` and `reject`: a person decides about items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vault_tools.cli.applying import care, follow
from vault_tools.cli.asking import approver_option, person_or_none
from vault_tools.cli.options import Command, Run, dry_run, pass_run
from vault_tools.core.digest import short
from vault_tools.errors import NotApproved

if TYPE_CHECKING:
    from vault_tools.cli.asking import Person
    from vault_tools.core.approval import Decision
    from vault_tools.core.bundle import StandingBundle, StandingItem
    from vault_tools.review.approvals import Flags, Selection, Unchanged
    from vault_tools.workspace import Workspace

_PAST = {"approve": "approved", "reject": "rejected"}

_items = click.option(
    "--items", "selector", required=True, help="Item ids separated by commas, `all`, `low-risk`."
)


@click.command(cls=Command)
@click.argument("bundle_id")
@_items
@click.option("--global", "allow_global", is_flag=True, help="Allow scope global_user.")
@click.option("--trust-assistant", is_flag=True, help="Allow trust for what only an agent said.")
@approver_option
@dry_run
@pass_run
def approve(
    run: Run,
    bundle_id: str,
    selector: str,
    allow_global: bool,
    trust_assistant: bool,
    approver: str | None,
    dry_run: bool,
) -> None:
    """Approve items after showing each exact change; nothing is applied yet.

    \b
    Example:
      vault-tools review approve rb-2026-11-30-0900 --items low-risk
    """
    from vault_tools.core.approval import Decision
    from vault_tools.review.approvals import Flags, approvable

    workspace = run.open()
    with workspace.review_lock():
        care(run, workspace)
        standing = workspace.ledger.bundle(bundle_id)
        flags = Flags(allow_global, trust_assistant)
        selection = approvable(standing, selector, flags, workspace.world)
        _refuse_edited_note(workspace, standing)
        person = person_or_none(run, workspace.settings, "approve", approver, dry_run=dry_run)
        _decide(run, workspace, standing, selection, Decision.APPROVE, person, flags)


@click.command(cls=Command)
@click.argument("bundle_id")
@_items
@approver_option
@dry_run
@pass_run
def reject(run: Run, bundle_id: str, selector: str, approver: str | None, dry_run: bool) -> None:
    """Reject items; the same proposal does not come back.

    \b
    Example:
      vault-tools review reject rb-2026-11-30-0900 --items rbi-2026-11-30-0900-004
    """
    from vault_tools.core.approval import Decision
    from vault_tools.review.approvals import rejectable

    workspace = run.open()
    with workspace.review_lock():
        care(run, workspace)
        standing = workspace.ledger.bundle(bundle_id)
        selection = rejectable(standing, selector)
        person = person_or_none(run, workspace.settings, "reject", approver, dry_run=dry_run)
        _decide(run, workspace, standing, selection, Decision.REJECT, person)


def _refuse_edited_note(workspace: Workspace, standing: StandingBundle) -> None:
    state = workspace.publisher.state(standing)
    if state.value != "intact":
        raise NotApproved(
            f"the note of {standing.bundle_id} is {state.value}: you may have read something "
            "that was not proposed",
            f"`vault-tools review refresh {standing.bundle_id}` renders it anew; then read it "
            "and approve.",
        )


def _decide(
    run: Run,
    workspace: Workspace,
    standing: StandingBundle,
    selection: Selection,
    decision: Decision,
    person: Person | None,
    flags: Flags | None = None,
) -> None:
    changed: list[StandingItem] = []
    left = list(selection.unchanged)
    try:
        for item in selection.chosen:
            if person is None or _asked(workspace, standing, item, decision, person, flags):
                changed.append(item)
            else:
                left.append(_declined(item))
    except NotApproved:
        for item in changed:
            run.output.warn(f"{item.item_id} was {_PAST[decision.value]} before that.")
        raise
    finally:
        if changed and person is not None:
            follow(run, workspace, standing.bundle_id)
    _tell_decided(run, standing, decision, changed, left, dry=person is None)


def _asked(
    workspace: Workspace,
    standing: StandingBundle,
    item: StandingItem,
    decision: Decision,
    person: Person,
    flags: Flags | None,
) -> bool:
    from vault_tools.cli.review_text import item_lines
    from vault_tools.review.approvals import decision_on, record

    person.tell(("", *item_lines(item), ""))
    if not person.agrees(decision.value, item):
        return False
    approval = decision_on(
        workspace.world,
        standing,
        item,
        decision,
        person.approver,
        flags=flags,
        expires_after_days=workspace.settings.config.review.expires_after_days,
    )
    record(workspace.world, [approval])
    return True


def _declined(item: StandingItem) -> Unchanged:
    from vault_tools.review.approvals import Unchanged

    return Unchanged(item.item_id, "you said no")


def _tell_decided(
    run: Run,
    standing: StandingBundle,
    decision: Decision,
    changed: list[StandingItem],
    left: list[Unchanged],
    *,
    dry: bool,
) -> None:
    past = _PAST[decision.value]
    would = f"would be {past}" if dry else past
    lines = [f"{item.item_id} {would} (digest {short(item.digest)})" for item in changed]
    lines += [f"{one.item_id} unchanged: {one.reason}" for one in left]
    if past == "approved" and changed and not dry:
        lines += ["", f"Now run: vault-tools review apply {standing.bundle_id}"]
    run.output.result(
        {
            "bundleId": standing.bundle_id,
            "action": decision.value,
            "changed": [item.item_id for item in changed],
            "unchanged": [{"id": one.item_id, "reason": one.reason} for one in left],
            "digests": {item.item_id: item.digest for item in changed},
            "dryRun": dry,
        },
        *(lines or ["Nothing to decide."]),
    )
