"""`vault-tools init`: switch the review on for a vault."""

from __future__ import annotations

import platform
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_tools.cli.options import Command, Run, dry_run, pass_run
from vault_tools.errors import ConfigError, InvalidInput, PathRefused

if TYPE_CHECKING:
    from vault_tools.config import Settings
    from vault_tools.home.vaults import VaultRegistry
    from vault_tools.vault.manifest import ScanResult


@click.command(cls=Command)
@click.option(
    "--moved-from",
    type=click.Path(path_type=Path),
    metavar="OLD",
    help="This vault used to lie there; keep its ledger.",
)
@dry_run
@pass_run
def init(run: Run, moved_from: Path | None, dry_run: bool) -> None:
    """Set up the review in a vault: its folder, its ledger, its entry in the configuration.

    \b
    Example:
      vault-tools init --vault ~/Notes
    """
    settings = run.settings
    vault = _vault_of(settings)
    found = _look_over(settings, vault)
    told, adopted = False, 0
    if not dry_run:
        _check_place(settings, vault.resolve(), moved_from)
        told = _confirm(run, found)
        set_up(settings, moved_from=moved_from)
        workspace = run.open()
        workspace.welcome()
        adopted = workspace.adopt_rendered()
    root = settings.config.obsidian_bridge.review_root
    did = "would be set up" if dry_run else "set up"
    run.output.result(
        {
            "vault": str(vault),
            "reviewRoot": root,
            "config": str(settings.config_path),
            "notes": len(found.manifest.entries),
            "leftOut": len(found.skipped),
            "adoptedBlocks": adopted,
            "dryRun": dry_run,
        },
        f"Review {did} for {vault}",
        f"Everything of ours goes into {root}/; your notes are never changed.",
        *([] if told else _reading(found)),
        *([f"{adopted} managed blocks are known again."] if adopted else []),
        "",
        "Next: vault-tools morning-review",
    )


def set_up(settings: Settings, *, moved_from: Path | None = None) -> None:
    """Register the vault, write it into the configuration and create the review root's README."""
    from vault_tools.config import with_bridge_enabled
    from vault_tools.home.durable import write_private
    from vault_tools.home.vaults import VaultRegistry
    from vault_tools.workspace import SystemClock, iso

    assert settings.vault is not None
    vault, path = settings.vault.resolve(), settings.config_path
    _check_place(settings, vault, moved_from)
    registry = VaultRegistry(settings.home)
    now = iso(SystemClock().now())
    if moved_from is not None:
        registry.move(moved_from, vault, now=now)
    else:
        registry.register(vault, host=platform.node(), now=now, new_id=lambda: str(uuid.uuid4()))
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    write_private(path, with_bridge_enabled(text, vault).encode())


def _check_place(settings: Settings, vault: Path, moved_from: Path | None) -> None:
    from vault_tools.home.vaults import VaultRegistry

    _refuse_home_inside(settings, vault)
    if moved_from is None:
        _refuse_moved(VaultRegistry(settings.home), vault)
    _refuse_another_vault(settings, vault, moved_from)


def _refuse_another_vault(settings: Settings, vault: Path, moved_from: Path | None) -> None:
    known = settings.config.obsidian_bridge.vault_path
    if known is None or known.resolve() == vault:
        return
    if moved_from is not None and known.resolve() == moved_from.resolve():
        return
    raise ConfigError(
        f"this home serves another vault already: {known}",
        "Give this vault a home of its own with --home DIR, or edit obsidian_bridge.vault_path.",
    )


def _refuse_moved(registry: VaultRegistry, vault: Path) -> None:
    former = registry.left_behind(vault)
    if former and registry.find(vault) is None:
        raise ConfigError(
            f"this vault was registered at {former[0].path} before",
            f"Keep its ledger with `vault-tools init --moved-from {former[0].path}`.",
        )


def _refuse_home_inside(settings: Settings, vault: Path) -> None:
    # Whoever may write notes, an agent or a sync client, must not reach the ledger.
    if settings.home.resolve().is_relative_to(vault):
        raise ConfigError(
            f"the home {settings.home} lies inside the vault, where agents and sync can write",
            "Name a folder outside the vault with --home DIR or VAULT_TOOLS_HOME.",
        )


def _vault_of(settings: Settings) -> Path:
    if settings.vault is None:
        raise InvalidInput(
            "there is no vault here", "Name one with --vault DIR, or run this inside a vault."
        )
    if not settings.vault.is_dir():
        raise PathRefused(
            f"there is no folder {settings.vault}", "Check the spelling and the drive."
        )
    return settings.vault


def _look_over(settings: Settings, vault: Path) -> ScanResult:
    from vault_tools.vault.manifest import Manifest, scan
    from vault_tools.workspace import SystemClock, excluded_notes

    return scan(
        vault,
        Manifest(),
        now=SystemClock().now(),
        review_root=settings.config.obsidian_bridge.review_root,
        excluded=excluded_notes(settings, vault),
    )


def _reading(found: ScanResult) -> list[str]:
    lines = [f"{len(found.manifest.entries)} notes will be read."]
    if found.skipped:
        lines.append(f"{len(found.skipped)} files and folders are left out:")
        lines += [f"  {one.path}: {one.reason}" for one in found.skipped[:10]]
    lines.append("Keep more out with notes.exclude in the configuration, with Obsidian's")
    lines.append("“Excluded files”, or with the property `vault-tools: ignore` in a note.")
    return lines


def _confirm(run: Run, found: ScanResult) -> bool:
    """Ask before anything is switched on; tells whether the counts were shown."""
    if run.output.as_json or run.settings.yes or not sys.stdin.isatty():
        return False
    run.output.say(*_reading(found))
    click.confirm("May vault-tools read these notes?", default=True, abort=True)
    return True
