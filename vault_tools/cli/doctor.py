"""`vault-tools doctor`: look everything over, and mend what can be mended safely."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from vault_tools.cli.options import Command, Run, dry_run, pass_run
from vault_tools.errors import DONE, ERROR, ConfigError, InvalidInput

if TYPE_CHECKING:
    from vault_tools.reports.checkup.finding import Sheet
    from vault_tools.reports.doctor import Examined
    from vault_tools.workspace import Workspace


@click.command(cls=Command)
@click.option("--repair", is_flag=True, help="Mend what can be mended without a decision.")
@dry_run
@pass_run
def doctor(run: Run, repair: bool, dry_run: bool) -> int:
    """Check home, vault, engine and ledger, and tell for each finding how to mend it.

    Nothing is changed. Exit code 1 when something is broken. --repair clears what interrupted
    writes left in the review root, finishes interrupted applies and undos, and begins the list of
    known notes anew where it is missing or damaged; with --dry-run it only says so.

    \b
    Example:
      vault-tools doctor
      vault-tools doctor --repair --dry-run
    """
    from vault_tools.reports.checkup.finding import Sheet

    if dry_run and not repair:
        raise InvalidInput("--dry-run goes with --repair", "`doctor` alone changes nothing.")
    try:
        workspace = run.open()
    except ConfigError as error:
        sheet = Sheet()
        sheet.refused("config_broken", error)
        return _tell(run, sheet, [], dry_run=dry_run)
    sheet = _looked_over(run, workspace)
    done = _repairs(workspace, sheet, dry_run=dry_run) if repair else []
    if done and not dry_run:
        sheet = _looked_over(run, run.open())
    return _tell(run, sheet, done, dry_run=dry_run)


def _looked_over(run: Run, workspace: Workspace) -> Sheet:
    from vault_tools.reports.doctor import examine

    with _progress(run) as announce:
        return examine(examined(workspace), announce)


def examined(workspace: Workspace) -> Examined:
    """Gather what the doctor looks at; nothing is opened before it is looked at."""
    import platform
    from pathlib import Path

    from vault_tools.engine.tokens import index_tokens
    from vault_tools.reports.doctor import Examined
    from vault_tools.store.health import agent_health
    from vault_tools.store.memories import LanceMemories

    base = workspace.settings.config.base_db_path
    clock = workspace.clock
    # Without an identity and never written through, so that looking creates nothing.
    engine = LanceMemories(Path(base), identity=None, indexer=index_tokens, clock=clock)

    def agents() -> list[str]:
        return workspace.agents() if "://" in base else engine.agents()

    return Examined(
        settings=workspace.settings,
        host=platform.node(),
        now=clock.now(),
        list_agents=agents,
        examine_agent=lambda agent, each: agent_health(
            Path(base), agent, workspace.embedder.identity, each
        ),
        state_folder=lambda: workspace.state_folder,
        open_ledger=lambda: workspace.ledger,
        open_files=lambda: workspace.files,
        scan=workspace.scan,
        note_state=lambda standing: workspace.publisher.state(standing).value,
    )


@contextmanager
def _progress(run: Run) -> Iterator[Callable[[str], None]]:
    if run.output.as_json or run.output.quiet or not sys.stderr.isatty():
        yield lambda what: None
        return
    from rich.console import Console

    with Console(stderr=True).status("Starting") as status:
        yield status.update


def _repairs(workspace: Workspace, sheet: Sheet, *, dry_run: bool) -> list[str]:
    """Mend what the findings name and say what was done; a plan with `dry_run`."""
    found = {finding.code for finding in sheet.findings}
    done: list[str] = []
    if "leftover" in found:
        done += _swept(workspace, sheet, dry_run=dry_run)
    if "saga_unfinished" in found:
        done += _finished(workspace, sheet, dry_run=dry_run)
    for finding in sheet.findings:
        if finding.code in ("manifest_broken", "manifest_missing"):
            done += _begun_anew(finding.path, dry_run=dry_run)
    return done


def _swept(workspace: Workspace, sheet: Sheet, *, dry_run: bool) -> list[str]:
    if dry_run:
        left = [finding.path for finding in sheet.findings if finding.code == "leftover"]
        return [f"{path or 'more files'} would be cleared" for path in left]
    told = []
    for one in workspace.files.sweep():
        where = "" if one.known else ", which may be an edit of yours"
        told.append(f"{one.path} cleared; its bytes are kept as {one.sha256[:8]}{where}")
    return told


def _finished(workspace: Workspace, sheet: Sheet, *, dry_run: bool) -> list[str]:
    if dry_run:
        sagas = [one.message for one in sheet.findings if one.code == "saga_unfinished"]
        return [f"{message}; it would be finished or taken back" for message in sagas]
    return workspace.repair()


def _begun_anew(path: str, *, dry_run: bool) -> list[str]:
    from pathlib import Path

    from vault_tools.home.durable import write_private
    from vault_tools.vault.manifest import Manifest

    place = Path(path)
    if not dry_run:
        write_private(place, Manifest().dump())
    did = "would be begun anew" if dry_run else "begun anew"
    return [f"{place.name} {did}: every note is read once"]


def _tell(run: Run, sheet: Sheet, done: list[str], *, dry_run: bool) -> int:
    order = ("error", "warning", "info")
    findings = sorted(sheet.findings, key=lambda one: order.index(one.severity.value))
    lines = [*done, *([""] if done else [])]
    for one in findings:
        place = f"{one.path}: " if one.path else ""
        lines += [f"{one.severity.value:8} {place}{one.message}", f"{'':8} {one.fix}"]
    count = [sum(one.severity.value == name for one in findings) for name in order]
    lines += ["", f"{count[0]} errors, {count[1]} warnings, {count[2]} remarks"]
    run.output.result(
        {
            "ok": sheet.ok,
            "findings": [finding.plain() for finding in findings],
            "checks": sheet.checks,
            "repaired": done,
            "dryRun": dry_run,
        },
        *lines,
    )
    return DONE if sheet.ok else ERROR
