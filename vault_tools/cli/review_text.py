"""Bundles, items and outcomes as lines for a terminal and as published JSON."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vault_tools.cli.row_text import change_lines
from vault_tools.core.digest import short
from vault_tools.core.item import Evidence, ItemState
from vault_tools.core.plain import to_plain
from vault_tools.core.saga import Plan
from vault_tools.review.approvals import is_low_risk
from vault_tools.review.items import HANDLERS, not_yet

if TYPE_CHECKING:
    from vault_tools.core.bundle import StandingBundle, StandingItem
    from vault_tools.core.saga import Saga
    from vault_tools.review.apply import Applied
    from vault_tools.review.bundle_note import NoteState
    from vault_tools.review.publishing import Publisher


def bundle_document(
    standing: StandingBundle, state: NoteState, items: Sequence[StandingItem] | None = None
) -> dict[str, Any]:
    """Shape a bundle with full items as its published JSON object."""
    bundle = standing.bundle
    return {
        "bundleId": standing.bundle_id,
        "status": standing.status.value,
        "createdAt": bundle.created_iso,
        "createdByAgent": bundle.created_by_agent,
        "workspaceKey": bundle.workspace_key,
        "reviewProfiles": [profile.value for profile in bundle.profiles],
        "digest": standing.digest,
        "noteState": state.value,
        "leftOut": list(bundle.left_out),
        "items": [
            {
                "id": one.item_id,
                "state": one.state.value,
                "note": one.note,
                "digest": one.digest,
                "lowRisk": is_low_risk(one),
                **to_plain(one.item),
            }
            for one in (standing.items if items is None else items)
        ],
    }


def bundle_lines(standing: StandingBundle, state: NoteState) -> list[str]:
    """Show a bundle on a terminal: one line per item, highest risk first."""
    lines = [f"{standing.bundle_id}  {standing.status.value}  note {state.value}", ""]
    for one in sorted(standing.items, key=lambda item: (-item.item.risk.rank, item.item.rank)):
        lines.append(
            f"{one.item_id}  {one.item.risk.value:8}  {one.state.value:8}  {one.item.title}"
        )
        words = " ".join(one.item.shown.split())
        lines.append(f"    {words[:96]}{'…' if len(words) > 96 else ''}")
    lines += ["", *standing.bundle.left_out]
    lines.append(f"Details: vault-tools review show {standing.bundle_id} --item ID")
    return lines


def item_lines(one: StandingItem) -> tuple[str, ...]:
    """Show the exact change of one item with everything a decision rests on."""
    item = one.item
    lines = [f"{one.item_id}  {item.title}", f"  why       {item.reason}"]
    lines.append(f"  risk      {item.risk.value}: {item.risk_reason}")
    lines.append(f"  state     {one.state.value}{f': {one.note}' if one.note else ''}")
    lines.append(f"  agent     {item.agent_id}, proposed by {item.proposed_by}")
    for evidence in item.evidence:
        lines.append(f"  evidence  {_evidence(evidence)}")
    if item.adversarial.findings:
        lines.append(f"  attack    {item.adversarial.verdict.value}")
        lines += [f"            {finding.message}" for finding in item.adversarial.findings]
    lines.append(f"  if not    {item.if_rejected}")
    lines.append(f"  digest    {short(one.digest)}")
    handler = HANDLERS.get(item.type)
    if handler is None:
        return (*lines, f"  cannot be approved: {not_yet(item.type)}", *_indented(item.shown))
    return (*lines, "", *handler.preview(item))


def _evidence(evidence: Evidence) -> str:
    # On one line: a quote must not be able to look like another field below it.
    quote = f"“{evidence.quote.replace(chr(10), '⏎')}”" if evidence.quote else "nothing quoted"
    return f"{quote} ({evidence.role.value or 'unknown'}) {evidence.citation}".rstrip()


def undo_lines(one: StandingItem, applied: Saga | None) -> tuple[str, ...]:
    """Show what taking an item back changes, row by row."""
    way_back = applied.plan.inverse() if applied else Plan()
    return (f"{one.item_id}  {one.item.title}", "  takes back:", *_plan_lines(way_back))


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.split("\n")]


def applied_document(
    outcome: Applied, recovered: list[str], note_state: str, *, dry_run: bool
) -> dict[str, Any]:
    """Shape an apply as its published JSON object."""

    def reasons(state: ItemState) -> list[dict[str, str]]:
        return [
            {"id": one.item_id, "reason": one.reason}
            for one in (*outcome.earlier, *outcome.outcomes)
            if one.state is state
        ]

    return {
        "bundleId": outcome.bundle_id,
        "applied": list(outcome.ids(ItemState.APPLIED)),
        "stale": reasons(ItemState.STALE),
        "blocked": reasons(ItemState.BLOCKED),
        "invalid": reasons(ItemState.INVALID),
        "recovered": recovered,
        "status": outcome.status.value,
        "noteState": note_state,
        "dryRun": dry_run,
    }


def applied_lines(
    outcome: Applied, recovered: list[str], note_state: str, *, dry_run: bool
) -> list[str]:
    """Show an apply on a terminal."""
    did = "would be applied" if dry_run else "applied"
    lines = []
    for one in outcome.outcomes:
        if one.state is ItemState.APPLIED:
            lines.append(f"{one.item_id} {did}")
            lines += _plan_lines(one.plan) if dry_run else []
        else:
            lines.append(f"{one.item_id} {one.state.value}: {one.reason}")
    for one in outcome.earlier:
        lines.append(f"{one.item_id} {one.state.value} (from an earlier run): {one.reason}")
    if note_state == "edited":
        lines.append(
            "The bundle note was edited; that changed nothing. "
            f"`vault-tools review refresh {outcome.bundle_id}` renders it anew."
        )
    if not lines and not recovered:
        lines.append("Nothing is left to apply.")
    return [*lines, f"{outcome.bundle_id} is {outcome.status.value}"]


def _plan_lines(plan: Plan) -> list[str]:
    return [f"    {line}" for step in plan.rows for line in change_lines(step.before, step.after)]


def note_difference(publisher: Publisher, standing: StandingBundle) -> list[str]:
    """Show as a unified diff what rendering a bundle's note anew takes away and puts back."""
    before, after = publisher.preview(standing)
    if before is None:
        return ["It is written again."]
    return [
        line.rstrip("\n")
        for line in difflib.unified_diff(
            before.splitlines(), after.splitlines(), "as it is", "as rendered", lineterm="", n=1
        )
    ]
