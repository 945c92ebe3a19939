"""The global options: accepted before and after every command, the last one wins (spec 08)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vault_tools.cli.output import Output
from vault_tools.errors import PathRefused

if TYPE_CHECKING:
    from vault_tools.config import Settings
    from vault_tools.workspace import Workspace

_META = "vault_tools.options"
_EVERYWHERE = "The options of `vault-tools --help` may stand here too."
F = TypeVar("F", bound=Callable[..., Any])


class _Place(click.Path):
    """A path that is not empty: a script's unset variable must not mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty; leave the option out to use its default", param, ctx)
        return super().convert(value, param, ctx)


_FOLDER = _Place(path_type=Path)


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value == "":
        raise click.BadParameter("it is empty; leave the option out to use its default")
    if value not in (None, False) and parameter.name:
        given(context)[parameter.name] = value


def given(context: click.Context) -> dict[str, Any]:
    """Give the global options typed so far, by name."""
    typed: dict[str, Any] = context.meta.setdefault(_META, {})
    return typed


def _option(*names: str, hidden: bool, **rest: Any) -> click.Option:
    return click.Option(names, expose_value=False, callback=_remember, hidden=hidden, **rest)


def _global_options(*, hidden: bool) -> list[click.Parameter]:
    return [
        _option("--vault", type=_FOLDER, metavar="DIR", hidden=hidden, help="The Obsidian vault."),
        _option("--config", type=_FOLDER, metavar="FILE", hidden=hidden, help="The config file."),
        _option("--home", type=_FOLDER, metavar="DIR", hidden=hidden, help="Engine and ledger."),
        _option("--agent", metavar="ID", hidden=hidden, help="The acting agent."),
        _option("--workspace", type=_FOLDER, metavar="DIR", hidden=hidden, help="Agents' folder."),
        _option("--json", is_flag=True, hidden=hidden, help="One JSON object on stdout."),
        _option("--quiet", is_flag=True, hidden=hidden, help="Only results and errors."),
        _option("--no-color", is_flag=True, hidden=hidden, help="Plain text."),
        _option("--yes", is_flag=True, hidden=hidden, help="Answer harmless questions with yes."),
    ]


class Command(click.Command):
    """A command that also takes the global options after its name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("epilog", _EVERYWHERE)
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *_global_options(hidden=True)]


class Group(click.Group):
    """A group whose commands are `Command`s and that takes the global options itself."""

    command_class = Command

    def __init__(self, *args: Any, hide_globals: bool = True, **kwargs: Any) -> None:
        kwargs.setdefault("epilog", _EVERYWHERE if hide_globals else None)
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *_global_options(hidden=hide_globals)]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order in which a person needs them."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say in a whole sentence what each command does."""
        with formatter.section("Commands"):
            whole = [(name, _sentence(self.commands[name])) for name in self.list_commands(ctx)]
            formatter.write_dl(whole)


Group.group_class = Group


def _sentence(command: click.Command) -> str:
    return " ".join((command.help or "").partition("\n\n")[0].split())


def here() -> Path:
    """Give the folder the person stands in; raises PathRefused when it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise PathRefused(
            "the folder you stand in does not exist any more", "Change to another one with `cd`."
        ) from None


@dataclass(slots=True)
class Run:
    """One call of the command line: its options and where its output goes."""

    context: click.Context

    @property
    def output(self) -> Output:
        """Give the printer for this run."""
        typed = given(self.context)
        return Output(as_json=bool(typed.get("json")), quiet=bool(typed.get("quiet")))

    @property
    def settings(self) -> Settings:
        """Resolve home, config, vault, workspace and agent."""
        from vault_tools.config import Options, environment, settings

        return settings(Options(**given(self.context)), environment(), here())

    @property
    def config_place(self) -> Path:
        """Find the configuration's path without reading it."""
        from vault_tools.config import Options, config_place, environment

        return config_place(Options(**given(self.context)), environment(), here())

    def open(self) -> Workspace:
        """Open the workspace; its parts are opened when first used."""
        from vault_tools.workspace import Workspace

        return Workspace(self.settings)


def pass_run(function: F) -> F:
    """Hand a command its run as the first argument."""

    @click.pass_context
    def with_run(context: click.Context, *args: Any, **kwargs: Any) -> Any:
        return context.invoke(function, Run(context), *args, **kwargs)

    with_run.__doc__ = function.__doc__
    with_run.__name__ = function.__name__
    for name in ("__click_params__",):
        if hasattr(function, name):
            setattr(with_run, name, getattr(function, name))
    return with_run  # type: ignore[return-value]


def dry_run(function: F) -> F:
    """Add --dry-run to a command that changes something."""
    option = click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
    return option(function)
