"""Look everything over and change nothing: home, vault, review root, ledger and engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vault_tools.config import Settings, effective
from vault_tools.core.bundle import StandingBundle
from vault_tools.core.ports import Ledger
from vault_tools.errors import BridgeDisabled, ConfigError, LedgerError, VaultToolsError
from vault_tools.reports.checkup.decisions import (
    NoBlocks,
    check_bundle_notes,
    check_ledger,
    check_seal,
)
from vault_tools.reports.checkup.engine import Examine, check_engine
from vault_tools.reports.checkup.finding import Sheet
from vault_tools.reports.checkup.home import check_guarantees, check_home, check_registry
from vault_tools.reports.checkup.notes import check_notes, check_scan
from vault_tools.reports.checkup.review_root import check_blocks, check_files, check_review_root
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.manifest import Manifest, ScanResult

LISTS = ("manifest.json", "watched.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What is looked over; each part is opened only when the parts before it allow that.

    `host` is the name of this computer, `now` UTC milliseconds. `ledger_path` and all that follows
    it need a registered vault.
    """

    settings: Settings
    host: str
    now: int
    list_agents: Callable[[], list[str]]
    examine_agent: Examine
    state_folder: Callable[[], Path]
    open_ledger: Callable[[], Ledger]
    open_files: Callable[[], VaultFiles]
    scan: Callable[[Manifest], ScanResult]
    note_state: Callable[[StandingBundle], str]


def examine(examined: Examined, announce: Callable[[str], None] = lambda what: None) -> Sheet:
    """Look everything over; `announce` is told what is looked at next."""
    sheet = Sheet()
    settings = examined.settings
    announce("Looking at the home")
    _check_config(sheet, settings)
    check_home(sheet, settings.home)
    announce("Verifying every memory")
    try:
        check_engine(sheet, examined.list_agents(), examined.examine_agent)
    except VaultToolsError as error:
        sheet.refused("engine_refused", error)
    vault = _vault(sheet, settings)
    check_guarantees(sheet, vault or settings.home)
    if vault is not None and _is_ours(sheet, examined, vault):
        _check_vault(sheet, examined, vault, announce)
    return sheet


def _check_config(sheet: Sheet, settings: Settings) -> None:
    sheet.checks["config"] = {
        "path": str(settings.config_path),
        "isFile": settings.config_path.is_file(),
        "values": dict(effective(settings.config)),
    }
    override = settings.config.templates.override_dir
    if override is None:
        return
    if not override.is_dir():
        sheet.warn(
            "templates_missing",
            "templates.override_dir names no folder; the packaged templates are used",
            "Create the folder, or take the key out of the configuration.",
            str(override),
        )
    for path in sorted(override.rglob("*.j2")):
        sheet.inform(
            "template_overridden",
            f"{path.relative_to(override).as_posix()} is drawn by a template of yours",
            "Delete that file to use the packaged one again.",
            str(path),
        )


def _vault(sheet: Sheet, settings: Settings) -> Path | None:
    sheet.checks["vault"] = {"path": str(settings.vault) if settings.vault else None}
    try:
        return settings.bridged_vault()
    except BridgeDisabled as off:
        sheet.inform("bridge_disabled", off.message, off.hint)
    except ConfigError as error:
        sheet.refused("vault_unreachable", error, str(settings.vault))
    return None


def _is_ours(sheet: Sheet, examined: Examined, vault: Path) -> bool:
    known = check_registry(sheet, examined.settings.home, vault, examined.host)
    return known is not None and known.host == examined.host


def _check_vault(
    sheet: Sheet, examined: Examined, vault: Path, announce: Callable[[str], None]
) -> None:
    bridge = examined.settings.config.obsidian_bridge
    announce("Checking the ledger")
    ledger, bundles = _ledger(sheet, examined)
    announce("Looking at the review root")
    if check_review_root(
        sheet,
        vault,
        bridge.review_root,
        may_write=bridge.allow_write,
        may_be_link=bridge.in_place_writes,
    ):
        notes = check_files(sheet, vault, bridge.review_root)
        if ledger is not None or not _ledger_path(examined).exists():
            check_blocks(sheet, examined.open_files(), ledger or NoBlocks(), notes)
            check_bundle_notes(sheet, bundles, examined.note_state, bridge.review_root, notes)
    announce("Reading every note")
    try:
        found = examined.scan(_manifest(sheet, examined, bool(bundles)))
    except VaultToolsError as error:
        sheet.refused("scan_refused", error)
        return
    check_scan(sheet, vault, found)
    if not found.vault_missing:
        check_notes(sheet, examined.open_files(), found.manifest.entries)


def _ledger_path(examined: Examined) -> Path:
    return examined.state_folder() / "ledger.sqlite"


def _ledger(sheet: Sheet, examined: Examined) -> tuple[Ledger | None, list[StandingBundle]]:
    check_seal(sheet)
    if not _ledger_path(examined).exists():
        sheet.checks["ledger"] = {"events": 0, "bundles": 0}
        sheet.inform(
            "no_ledger",
            "there is no ledger: nothing was prepared or decided here yet",
            "Run `vault-tools morning-review`.",
        )
        return None, []
    try:
        ledger = examined.open_ledger()
    except LedgerError as error:
        sheet.checks["ledger"] = {"events": None}
        sheet.refused("ledger_broken", error)
        return None, []
    days = examined.settings.config.review.expires_after_days
    return ledger, check_ledger(sheet, ledger, now=examined.now, expires_after_days=days)


def _manifest(sheet: Sheet, examined: Examined, reviewed: bool) -> Manifest:
    """Give what the last review knew; a list that cannot be read counts as none."""
    known = Manifest()
    for name in LISTS:
        path = examined.state_folder() / name
        try:
            found = Manifest.load(path.read_bytes()) if path.is_file() else None
        except VaultToolsError as error:
            fix = "Run `vault-tools doctor --repair`: every note is then read once."
            sheet.error("manifest_broken", error.message, fix, str(path))
            continue
        if name == LISTS[0] and found is None and reviewed:
            sheet.inform(
                "manifest_missing",
                "the list of notes that the last review knew is gone",
                "Nothing to do: the next review reads every note once.",
                str(path),
            )
        if name == LISTS[0] and found is not None:
            known = found
    return known
