"""`vault-tools ledger verify`: walk the chain of decisions."""

from __future__ import annotations

import click

from vault_tools.cli.options import Group, Run, pass_run


@click.group(cls=Group)
def ledger() -> None:
    """Check the account of all decisions.

    \b
    Example:
      vault-tools ledger verify
    """


@ledger.command()
@pass_run
def verify(run: Run) -> None:
    """Walk the chain of events; each carries the hash of the one before it.

    \b
    Example:
      vault-tools ledger verify
    """
    events = run.open().ledger.verify()
    run.output.result({"ok": True, "events": events}, f"The chain of {events} events is intact.")
