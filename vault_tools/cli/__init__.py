"""The command `vault-tools`: its groups, and the one place where errors become messages."""

from __future__ import annotations

import importlib
import io
import itertools
import os
import sys
from typing import NoReturn

import click

from vault_tools import __version__
from vault_tools.cli.options import Group
from vault_tools.cli.output import Output
from vault_tools.errors import DONE, ERROR, INTERRUPTED, USAGE, VaultToolsError

_COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo:demo", "Try a morning review on a copy of the sample vault."),
    "init": ("init:init", "Set up the review in a vault."),
    "status": ("status:status", "Show agents, memories, and what waits for you."),
    "morning-review": ("preparing:morning_review", "Prepare the morning's bundle of proposals."),
    "review": ("review:review", "Read, approve, apply and undo proposals."),
    "blocks": ("blocks:blocks", "List managed blocks; take over those of another machine."),
    "memory": ("memory:memory", "Store, recall, forget and inspect memories."),
    "watch": ("watch:watch", "Follow the vault and tell which notes change."),
    "doctor": ("doctor:doctor", "Check home, vault, engine and ledger; tell how to mend them."),
    "config": ("config:config", "Show or write the configuration."),
    "ledger": ("ledger:ledger", "Check the account of all decisions."),
}


class Commands(Group):
    """The top group; a command's module is imported when the command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(":")
        found = getattr(importlib.import_module(f"vault_tools.cli.{module}"), name)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=Commands, hide_globals=False)
@click.version_option(__version__, prog_name="vault-tools")
def cli() -> None:
    """Your agents' memory, reviewed by you, in your vault.

    Agents recall and store through a local engine. What changes trust or sharing is proposed in
    your vault; nothing is applied before you have approved exactly that.

    \b
    Begin with:
      vault-tools demo
      vault-tools init --vault ~/Notes
      vault-tools morning-review
    """


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    _open_streams()
    try:
        code = cli.main(prog_name="vault-tools", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else DONE)
    except VaultToolsError as error:
        _end(type(error).__name__, error.message, error.hint, error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _end("Interrupted", "interrupted; what was finished before stays", "", INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(f"{error.format_message()}\n")
        sys.exit(USAGE)
    except click.ClickException as error:
        _end("UsageError", error.format_message(), _usage_hint(error), USAGE)
    except BrokenPipeError:
        _leave_pipe()
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        what = error.strerror or type(error).__name__
        _end("OSError", f"{place}{what}", "Check that the place exists and is yours.", ERROR)


def _open_streams() -> None:
    """Give every stream a shape that can be written and read, also one the caller closed."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.TextIOWrapper(io.BytesIO()))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal without the letter gets its number; it is no reason to fail.
            stream.reconfigure(errors="backslashreplace")


def _leave_pipe() -> NoReturn:
    # Whoever reads our output has left, as `head` does; there is nobody to tell. What is still
    # buffered goes nowhere, else the interpreter complains about it when it ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(ERROR)


def _usage_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"See `{context.command_path} --help`." if context else "See `vault-tools --help`."


def _end(kind: str, message: str, hint: str, code: int) -> NoReturn:
    # The options may be what is wrong, so the parser cannot be asked for this one.
    typed = itertools.takewhile(lambda word: word != "--", sys.argv[1:])
    output = Output(as_json="--json" in typed, quiet=False)
    output.error(kind, message, hint, code)
    sys.exit(code)
