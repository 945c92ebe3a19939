"""`vault-tools demo`: a morning review on a copy of the sample vault."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path

import click

from vault_tools.cli.options import Command, Run, given, here, pass_run
from vault_tools.errors import InvalidInput, VaultToolsError

_SEED = Path("memory") / "seed-memories.json"


@click.command(cls=Command)
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to put the copy; default a new temporary folder.",
)
@pass_run
def demo(run: Run, into: Path | None) -> None:
    """Try a morning review on a copy of the sample vault.

    Everything is local: no key, no download. Your own vault, home and memories are not touched.

    \b
    Example:
      vault-tools demo --into ~/vault-tools-demo
    """
    from vault_tools.cli.init import set_up
    from vault_tools.cli.morning import prepare_bundle
    from vault_tools.cli.preparing import show_prepared

    place = _place(here(), into)
    vault, home = place / "vault", place / "home"
    copy_sample(vault)
    _act_only_there(run, vault, home)
    run.output.say(f"A sample vault of a person who works with two agents: {vault}")
    set_up(run.settings)
    workspace = run.open()
    workspace.welcome()
    seeded = workspace.seed((vault / _SEED).read_bytes())
    run.output.say(f"{seeded} memories of theirs are in the engine: {home}")
    prepared = prepare_bundle(workspace, run.output, ())
    show_prepared(
        run,
        workspace,
        prepared,
        command=_command(vault, home),
        more={"vault": str(vault), "home": str(home)},
    )
    run.output.say("")
    run.output.say("For the commands in the note itself, first:")
    run.output.say(f"  export VAULT_TOOLS_HOME={shlex.quote(str(home))}{_path()}")


def _act_only_there(run: Run, vault: Path, home: Path) -> None:
    """Overrule every option and variable that could lead to the person's own files."""
    from vault_tools.config import CONFIG_NAME, DEFAULT_AGENT
    from vault_tools.home.durable import write_private

    config = home / CONFIG_NAME
    write_private(config, b"")
    given(run.context).update(
        vault=vault, home=home, workspace=vault, config=config, agent=DEFAULT_AGENT
    )


def _command(vault: Path, home: Path) -> str:
    """Write the beginning of a command that works on the demo from where the person stands."""
    from vault_tools.config import CONFIG_NAME, environment, nearest_vault

    command = f"{_program()} --home {shlex.quote(str(home))}"
    environ = environment()
    if environ.get("VAULT_TOOLS_CONFIG"):
        command += f" --config {shlex.quote(str(home / CONFIG_NAME))}"
    if environ.get("VAULT_TOOLS_VAULT") or nearest_vault(here()):
        command += f" --vault {shlex.quote(str(vault))}"
    return command


def _place(start: Path, into: Path | None) -> Path:
    if into is None:
        return Path(tempfile.mkdtemp(prefix="vault-tools-demo-"))
    into = start / into
    if into.exists() and not into.is_dir():
        raise InvalidInput(f"{into} is not a folder", "Name a folder that does not exist yet.")
    if into.exists() and any(into.iterdir()):
        raise InvalidInput(f"{into} is not empty", "Name a folder that does not exist yet.")
    into.mkdir(parents=True, exist_ok=True)
    return into.resolve()


def packaged_sample() -> Path:
    """Give the folder of the sample vault: inside the package if there, else beside it."""
    package = Path(str(resources.files("vault_tools")))
    inside = package / "sample_vault"
    return inside if inside.is_dir() else package.parent / "sample-vault"


def copy_sample(target: Path) -> None:
    """Copy the sample vault without its review root."""
    source = packaged_sample()
    if not source.is_dir():
        raise VaultToolsError(
            "the sample vault is not part of this installation", "Install vault-tools anew."
        )
    review_root = source / "00-system"

    def left_out(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if Path(folder, name) == review_root}

    shutil.copytree(source, target, ignore=left_out)


def _path() -> str:
    """Give what makes `vault-tools` a command of this shell, when it is none yet."""
    called = Path(sys.argv[0])
    if called.name != "vault-tools" or shutil.which("vault-tools"):
        return ""
    return f' PATH={shlex.quote(str(called.resolve().parent))}:"$PATH"'


def _program() -> str:
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == "vault-tools" else "vault-tools"
