"""`vault-tools status`: agents, memories, what waits."""

from __future__ import annotations

import click

from vault_tools.cli.options import Command, Run, pass_run
from vault_tools.errors import BridgeDisabled


@click.command(cls=Command)
@pass_run
def status(run: Run) -> None:
    """Show agents, memories, and what waits for you.

    \b
    Example:
      vault-tools status --json
    """
    workspace = run.open()
    settings = workspace.settings
    counts = {agent: workspace.store.count(workspace.viewer(agent)) for agent in workspace.agents()}
    document = {
        "home": str(settings.home),
        "agents": [{"id": agent, "memories": count} for agent, count in counts.items()],
        "vault": None,
        "waiting": 0,
        "lastBundle": None,
    }
    lines = [f"home    {settings.home}"]
    lines += [f"agent   {agent}: {count} memories" for agent, count in counts.items()]
    try:
        bundles = workspace.ledger.bundles()
    except BridgeDisabled as off:
        run.output.result(document, *lines, f"review  off: {off.message}. {off.hint}")
        return
    waiting = sum(item.state.value == "pending" for bundle in bundles for item in bundle.items)
    document |= {
        "vault": str(workspace.vault),
        "waiting": waiting,
        "lastBundle": bundles[0].bundle_id if bundles else None,
    }
    lines.append(f"vault   {workspace.vault}")
    last = f", newest bundle {bundles[0].bundle_id}" if bundles else ""
    lines.append(f"review  {waiting} items wait for you{last}")
    run.output.result(document, *lines)
