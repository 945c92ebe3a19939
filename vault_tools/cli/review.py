"""`vault-tools review …`: read, decide, apply, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vault_tools.cli.applying import apply, refresh, undo
from vault_tools.cli.deciding import approve, reject
from vault_tools.cli.options import Group, Run, pass_run
from vault_tools.cli.preparing import prepare
from vault_tools.errors import UnknownBundle, UnknownItem

if TYPE_CHECKING:
    from vault_tools.core.bundle import StandingBundle, StandingItem
    from vault_tools.workspace import Workspace


@click.group(cls=Group)
def review() -> None:
    """Read, approve, apply and undo proposals.

    \b
    A morning, for example:
      vault-tools review prepare
      vault-tools review show
      vault-tools review approve BUNDLE --items ITEM,ITEM
      vault-tools review apply BUNDLE
    """


review.add_command(prepare)


@review.command("list")
@pass_run
def list_bundles(run: Run) -> None:
    """List the bundles, newest first.

    \b
    Example:
      vault-tools review list
    """
    workspace = run.open()
    bundles = workspace.ledger.bundles()
    document = {
        "bundles": [
            {
                "bundleId": standing.bundle_id,
                "status": standing.status.value,
                "createdAt": standing.bundle.created_iso,
                "counts": _state_counts(standing),
            }
            for standing in bundles
        ]
    }
    lines = [
        f"{s.bundle_id}  {s.status.value:20}  {len(s.items):3} items  "
        + ", ".join(f"{n} {state}" for state, n in _state_counts(s).items())
        for s in bundles
    ]
    run.output.result(document, *(lines or ["No bundles yet. Run `vault-tools morning-review`."]))


def _state_counts(standing: StandingBundle) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in standing.items:
        counts[item.state.value] = counts.get(item.state.value, 0) + 1
    return counts


@review.command()
@click.argument("bundle_id", required=False)
@click.option("--item", "item_id", help="Show one item in full.")
@pass_run
def show(run: Run, bundle_id: str | None, item_id: str | None) -> None:
    """Show a bundle, the newest pending one by default.

    \b
    Example:
      vault-tools review show rb-2026-11-30-0900 --item rbi-2026-11-30-0900-001
    """
    from vault_tools.cli.review_text import bundle_document, bundle_lines, item_lines

    workspace = run.open()
    standing = _standing(workspace, bundle_id)
    state = workspace.publisher.state(standing)
    if item_id:
        chosen = _item(standing, item_id)
        run.output.result(bundle_document(standing, state, [chosen]), *item_lines(chosen))
        return
    run.output.result(bundle_document(standing, state), *bundle_lines(standing, state))


def _item(standing: StandingBundle, item_id: str) -> StandingItem:
    for item in standing.items:
        if item.item_id == item_id.strip():
            return item
    raise UnknownItem(
        f"{standing.bundle_id} has no item {item_id}",
        f"`vault-tools review show {standing.bundle_id}` lists its items.",
    )


def _standing(workspace: Workspace, bundle_id: str | None) -> StandingBundle:
    from vault_tools.core.bundle import BundleStatus

    if bundle_id:
        return workspace.ledger.bundle(bundle_id)
    waiting = [b for b in workspace.ledger.bundles() if b.status is BundleStatus.PENDING]
    if not waiting:
        raise UnknownBundle(
            "no bundle is waiting for you", "`vault-tools review list` shows the earlier ones."
        )
    return waiting[0]


for command in (approve, reject, apply, undo, refresh):
    review.add_command(command)
