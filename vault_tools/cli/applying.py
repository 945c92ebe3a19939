"""`vault-tools review apply`, `undo` and `refresh`: carry out what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from vault_tools.cli.asking import Person, approver_option, nobody, person_or_none
from vault_tools.cli.options import Command, Run, dry_run, pass_run
from vault_tools.errors import DONE, ERROR, NEEDS_HUMAN, NotApproved, VaultToolsError

if TYPE_CHECKING:
    from vault_tools.core.bundle import StandingItem
    from vault_tools.review.undoing import Undone
    from vault_tools.workspace import Workspace


@click.command(cls=Command)
@click.argument("bundle_id")
@click.option("--strict", is_flag=True, help="Apply nothing if the bundle note was edited.")
@dry_run
@pass_run
def apply(run: Run, bundle_id: str, strict: bool, dry_run: bool) -> int:
    """Check everything again and apply exactly what was approved.

    \b
    Example:
      vault-tools review apply rb-2026-11-30-0900 --dry-run
    """
    from vault_tools.cli.review_text import applied_document, applied_lines
    from vault_tools.review.apply import apply as apply_bundle

    workspace = run.open()
    with workspace.review_lock():
        recovered = care(run, workspace, tell=False, dry_run=dry_run)
        standing = workspace.ledger.bundle(bundle_id)
        state = workspace.publisher.state(standing)
        if strict and state.value != "intact":
            raise NotApproved(
                f"the note of {bundle_id} is {state.value}, and --strict was given",
                f"`vault-tools review refresh {bundle_id}` renders it anew.",
            )
        outcome = apply_bundle(workspace.world, bundle_id, dry_run=dry_run)
        if not dry_run:
            follow(run, workspace, bundle_id)
    document = applied_document(outcome, recovered, state.value, dry_run=dry_run)
    document["errors"] = _errors(outcome.errors)
    run.output.result(document, *applied_lines(outcome, recovered, state.value, dry_run=dry_run))
    return _code(run, bool(outcome.failed()), outcome.errors)


@click.command(cls=Command)
@click.argument("bundle_id")
@click.option("--items", "selector", default="", help="Item ids separated by commas; default all.")
@approver_option
@dry_run
@pass_run
def undo(run: Run, bundle_id: str, selector: str, approver: str | None, dry_run: bool) -> int:
    """Take applied items back, newest first; refuses where the target has changed since.

    \b
    Example:
      vault-tools review undo rb-2026-11-30-0900 --items rbi-2026-11-30-0900-003
    """
    from vault_tools.core.approval import Decision
    from vault_tools.review.approvals import decision_on, record, select
    from vault_tools.review.undoing import applied_items
    from vault_tools.review.undoing import undo as undo_items

    workspace = run.open()
    with workspace.review_lock():
        care(run, workspace)
        standing = workspace.ledger.bundle(bundle_id)
        wanted = [item.item_id for item in select(standing, selector)] if selector else []
        items = applied_items(workspace.world, bundle_id, wanted)
        person = person_or_none(run, workspace.settings, "undo", approver, dry_run=dry_run)
        who = person.approver if person else nobody()
        decisions, unchanged = [], [i for i in wanted if i not in {one.item_id for one in items}]
        kept = []
        for item in items:
            if person is not None and not _agreed(workspace, item, person):
                kept.append(item.item_id)
                continue
            decisions.append(decision_on(workspace.world, standing, item, Decision.UNDO, who))
            if person is not None:
                record(workspace.world, decisions[-1:])
        outcome = undo_items(workspace.world, bundle_id, decisions, dry_run=dry_run)
        if not dry_run:
            follow(run, workspace, bundle_id)
    return _tell_undone(run, outcome, unchanged, kept, dry_run=dry_run)


def _agreed(workspace: Workspace, item: StandingItem, person: Person) -> bool:
    from vault_tools.cli.review_text import undo_lines

    saga = workspace.ledger.applied_saga(item.item_id)
    person.tell(("", *undo_lines(item, saga), ""))
    return person.agrees("undo", item)


def _tell_undone(
    run: Run, outcome: Undone, not_applied: list[str], kept: list[str], *, dry_run: bool
) -> int:
    refused = [{"id": one.item_id, "reason": one.reason} for one in outcome.refused]
    refused += [{"id": item_id, "reason": "it is not applied"} for item_id in not_applied]
    did = "would be taken back" if dry_run else "taken back"
    lines = [f"{item_id} {did}" for item_id in outcome.undone]
    lines += [f"{one['id']} refused: {one['reason']}" for one in refused]
    lines += [f"{item_id} unchanged: you said no" for item_id in kept]
    run.output.result(
        {
            "bundleId": outcome.bundle_id,
            "undone": list(outcome.undone),
            "refused": refused,
            "unchanged": [{"id": item_id, "reason": "you said no"} for item_id in kept],
            "errors": _errors(outcome.errors),
            "dryRun": dry_run,
        },
        *(lines or ([] if outcome.errors else ["Nothing to take back."])),
    )
    return _code(run, bool(refused), outcome.errors)


def _errors(errors: Sequence[VaultToolsError]) -> list[dict[str, str]]:
    return [{"type": type(e).__name__, "message": e.message, "hint": e.hint} for e in errors]


def _code(run: Run, failed: bool, errors: Sequence[VaultToolsError]) -> int:
    for error in errors:
        run.output.error(type(error).__name__, error.message, error.hint, error.exit_code)
    if failed:
        return NEEDS_HUMAN
    return ERROR if errors else DONE


@click.command(cls=Command)
@click.argument("bundle_id")
@dry_run
@pass_run
def refresh(run: Run, bundle_id: str, dry_run: bool) -> None:
    """Render a bundle's note anew from the ledger; your text outside the blocks stays.

    \b
    Example:
      vault-tools review refresh rb-2026-11-30-0900
    """
    from vault_tools.cli.review_text import note_difference

    workspace = run.open()
    with workspace.review_lock():
        standing = workspace.ledger.bundle(bundle_id)
        difference = note_difference(workspace.publisher, standing)
        if dry_run:
            state, kept = workspace.publisher.state(standing), ""
        else:
            state, kept = workspace.publisher.refresh(bundle_id)
    lines = [f"The note was {state.value}.", *difference]
    if kept and state.value == "edited":
        lines.append(f"Its former text is kept as {kept[:8]} in the undo store.")
    run.output.result(
        {"bundleId": bundle_id, "noteState": state.value, "kept": kept or None}, *lines
    )


def follow(run: Run, workspace: Workspace, bundle_id: str) -> None:
    """Render a bundle's note anew; what is on the ledger stays when that fails, and is said."""
    try:
        workspace.publisher.follow(bundle_id)
    except VaultToolsError as error:
        run.output.warn(
            f"This is on the ledger, but the note of {bundle_id} does not show it yet: "
            f"{error.message}. `vault-tools review refresh {bundle_id}` renders it anew."
        )


def care(run: Run, workspace: Workspace, *, tell: bool = True, dry_run: bool = False) -> list[str]:
    """Finish what a crash left behind and let bundles whose time is over expire; say so."""
    if dry_run:
        return []
    from vault_tools.review.saga import recover

    repaired = recover(workspace.world)
    for bundle_id in {one.bundle_id for one in repaired}:
        follow(run, workspace, bundle_id)
    for bundle_id in workspace.ledger.expire(now=workspace.clock.now()):
        follow(run, workspace, bundle_id)
        if tell:
            run.output.warn(f"{bundle_id} has expired; its open items return as new proposals.")
    for one in repaired:
        run.output.warn(one.message)
    return [one.item_id for one in repaired]
