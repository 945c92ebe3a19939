"""`vault-tools watch`: follow the vault, one line for each note that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vault_tools.cli.options import Command, Run, pass_run

if TYPE_CHECKING:
    from pathlib import Path

    from vault_tools.vault.manifest import Manifest
    from vault_tools.vault.watch import Batch, Watcher
    from vault_tools.workspace import Workspace

_LOCK_NAME = "watch.lock"


@click.command(cls=Command)
@click.option("--poll", is_flag=True, help="Ask the disk again and again: WSL, Docker, networks.")
@click.option("--once", is_flag=True, help="Compare with the last time, then stop.")
@pass_run
def watch(run: Run, poll: bool, once: bool) -> None:
    """Follow the vault: one line for each note that is new, changed or removed.

    No note is written. What is seen here is still new to the next morning review, which keeps a
    list of its own. Ctrl-C ends it. With --json each change is one JSON object on a line of its
    own. --poll helps where the system reports no changes.

    \b
    Example:
      vault-tools watch --poll
    """
    from vault_tools.home.lock import locked
    from vault_tools.vault.watch import WATCHED_NAME, look_once
    from vault_tools.vault.watch import watch as follow

    workspace = run.open()
    path = workspace.state_folder / WATCHED_NAME
    with locked(workspace.state_folder / _LOCK_NAME, started=workspace.iso_now()):
        teller = _Teller(run, path, _watcher(workspace, _known(path)))
        if once:
            teller.tell(look_once(teller.watcher))
            return
        for batch in follow(teller.watcher, poll=poll):
            teller.tell(batch)


def _watcher(workspace: Workspace, known: Manifest) -> Watcher:
    from vault_tools.vault.own_writes import OwnWrites
    from vault_tools.vault.watch import Watched, Watcher
    from vault_tools.workspace import excluded_notes

    vault = Watched(
        root=workspace.files.root,
        now=workspace.clock.now,
        review_root=workspace.files.review_root,
        excluded=lambda: excluded_notes(workspace.settings, workspace.vault),
        is_own_write=OwnWrites(workspace.files, lambda: workspace.ledger).made,
    )
    return Watcher(vault, known)


def _known(path: Path) -> Manifest:
    from vault_tools.vault.manifest import Manifest

    return Manifest.load(path.read_bytes()) if path.is_file() else Manifest()


class _Teller:
    """Print what changed and remember what was seen, in this order: told twice beats never told."""

    def __init__(self, run: Run, path: Path, watcher: Watcher) -> None:
        self._run = run
        self._path = path
        self.watcher = watcher
        self._kept = watcher.manifest.entries
        self._begun = False
        self._missing = False

    def tell(self, batch: Batch) -> None:
        from vault_tools.home.durable import write_private

        self._begin()
        self._tell_missing(batch.missing)
        for change in batch.changes:
            self._run.output.result(
                {"change": change.kind.value, "path": change.path, "sha256": change.sha256},
                f"{change.kind.value:9} {change.path}",
            )
        if self.watcher.manifest.entries != self._kept:
            write_private(self._path, self.watcher.manifest.dump())
            self._kept = self.watcher.manifest.entries

    def _begin(self) -> None:
        if not self._begun:
            count = len(self.watcher.manifest.entries)
            self._run.output.say(f"Following {count} notes in {self.watcher.vault.root}")
        self._begun = True

    def _tell_missing(self, missing: bool) -> None:
        if missing and not self._missing:
            root = self.watcher.vault.root
            self._run.output.warn(f"{root} is empty or out of reach; nothing counts as removed")
        self._missing = missing
