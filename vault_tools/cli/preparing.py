"""`vault-tools review prepare` and `morning-review`: make proposals and say where to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vault_tools.cli.options import Command, Run, dry_run, pass_run

if TYPE_CHECKING:
    from vault_tools.core.bundle import StandingBundle, StandingItem
    from vault_tools.review.prepare import Prepared
    from vault_tools.workspace import Workspace

_profile = click.option(
    "--profile",
    "profiles",
    multiple=True,
    type=click.Choice(["standard", "conservative", "adversarial", "maintenance"]),
    help="How carefully to judge; may be given more than once.",
)


@click.command(cls=Command)
@_profile
@dry_run
@pass_run
def prepare(run: Run, profiles: tuple[str, ...], dry_run: bool) -> None:
    """Make proposals and write them into one bundle note.

    \b
    Example:
      vault-tools review prepare
    """
    _prepare(run, profiles, dry_run=dry_run)


@click.command("morning-review", cls=Command)
@_profile
@dry_run
@pass_run
def morning_review(run: Run, profiles: tuple[str, ...], dry_run: bool) -> None:
    """Prepare the morning's bundle: all steps, proposals only.

    \b
    Example:
      vault-tools morning-review
    """
    _prepare(run, profiles, dry_run=dry_run)


def _prepare(run: Run, profiles: tuple[str, ...], *, dry_run: bool) -> None:
    from vault_tools.cli.morning import prepare_bundle

    workspace = run.open()
    prepared = prepare_bundle(workspace, run.output, profiles, dry_run=dry_run)
    show_prepared(run, workspace, prepared, dry_run=dry_run)


def show_prepared(
    run: Run,
    workspace: Workspace,
    prepared: Prepared,
    *,
    dry_run: bool = False,
    command: str = "vault-tools",
    more: dict[str, Any] | None = None,
) -> None:
    """Print what a preparation found: counts, the note alone on a line, the next command."""
    standing = prepared.standing
    document = {**prepared_document(prepared), **(more or {})}
    for repaired in prepared.repaired:
        run.output.warn(repaired.message)
    if standing is None:
        run.output.result(document, *_without_bundle(prepared, dry_run=dry_run))
        return
    counts = _risk_counts(standing)
    run.output.result(
        document,
        f"{standing.bundle_id}: {len(standing.items)} proposals ({counts})",
        prepared.looked_at(),
        *prepared.left_out,
        "",
        "Read it in Obsidian:",
        str(workspace.note_path(prepared.note)),
        "",
        "Then decide, for example:",
        f"  {command} review approve {standing.bundle_id} --items {_example(standing)}",
        f"  {command} review apply {standing.bundle_id}",
    )


def _without_bundle(prepared: Prepared, *, dry_run: bool) -> list[str]:
    waits = f"{prepared.waiting} items wait for you." if prepared.waiting else ""
    if prepared.nothing_new:
        return [f"Nothing new. {waits}".rstrip(), prepared.looked_at(), *prepared.left_out]
    lines = [f"{item.risk.value:8}  {item.title}" for item in prepared.kept]
    said = f"Dry run: {len(lines)} proposals, nothing was written." if dry_run else ""
    return [said, *lines, prepared.looked_at(), *prepared.left_out]


def prepared_document(prepared: Prepared) -> dict[str, Any]:
    """Shape a preparation as its published JSON object."""
    standing = prepared.standing
    return {
        "bundleId": standing.bundle_id if standing else None,
        "note": prepared.note or None,
        "status": standing.status.value if standing else None,
        "items": [_brief(item) for item in standing.items] if standing else [],
        "steps": [
            {"name": s.name, "seconds": s.milliseconds / 1000, "findings": list(s.findings)}
            for s in prepared.steps
        ],
        "wouldPropose": [
            {
                "type": item.type.value,
                "risk": item.risk.value,
                "target": item.target,
                "summary": item.title,
            }
            for item in (prepared.kept if standing is None else ())
        ],
        "leftOut": list(prepared.left_out),
        "recovered": [repaired.item_id for repaired in prepared.repaired],
        "waiting": prepared.waiting,
        "nothingNew": prepared.nothing_new,
    }


def _brief(item: StandingItem) -> dict[str, Any]:
    return {
        "id": item.item_id,
        "type": item.item.type.value,
        "risk": item.item.risk.value,
        "state": item.state.value,
        "digest": item.digest,
        "target": item.item.target,
        "summary": item.item.title,
    }


def _risk_counts(standing: StandingBundle) -> str:
    counts: dict[str, int] = {}
    for item in sorted(standing.items, key=lambda one: -one.item.risk.rank):
        counts[item.item.risk.value] = counts.get(item.item.risk.value, 0) + 1
    return ", ".join(f"{count} {risk}" for risk, count in counts.items())


def _example(standing: StandingBundle) -> str:
    from vault_tools.core.item import ItemState, ItemType, Verdict
    from vault_tools.review.items import HANDLERS

    def ease(item: StandingItem) -> tuple[bool, bool, int]:
        imports = item.item.type is ItemType.NOTE_IMPORT_CANDIDATE
        passed = item.item.adversarial.verdict is Verdict.PASS
        return (not imports, not passed, item.item.risk.rank)

    able = [i for i in standing.items if i.state is ItemState.PENDING and i.item.type in HANDLERS]
    return min(able, key=ease).item_id if able else "all"
