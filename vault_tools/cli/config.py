"""`vault-tools config …`: show or write the configuration."""

from __future__ import annotations

import click

from vault_tools.cli.options import Group, Run, dry_run, pass_run
from vault_tools.errors import ConfigError


@click.group(cls=Group)
def config() -> None:
    """Show or write the configuration.

    \b
    Example:
      vault-tools config show
    """


@config.command()
@pass_run
def show(run: Run) -> None:
    """Print the effective values; secrets and paths are masked.

    \b
    Example:
      vault-tools config show --json
    """
    from vault_tools.config import effective

    values = effective(run.settings.config)
    width = max(len(key) for key, _ in values)
    run.output.result({"values": dict(values)}, *(f"{key:{width}}  {v}" for key, v in values))


@config.command()
@dry_run
@pass_run
def init(run: Run, dry_run: bool) -> None:
    """Write a commented configuration file with every key and its default.

    \b
    Example:
      vault-tools config init
    """
    from vault_tools.config import commented_example
    from vault_tools.home.durable import write_private

    path = run.config_place
    if path.exists():
        raise ConfigError(
            f"{path} exists already; it was not touched", "Edit it, or move it aside first."
        )
    if not dry_run:
        write_private(path, commented_example().encode())
    did = "would be written" if dry_run else "written"
    run.output.result({"path": str(path), "written": not dry_run}, f"{path} {did}")
