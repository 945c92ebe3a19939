"""The home: who else may read or write in it, which vaults it serves, how strong its writes are."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path

from vault_tools.errors import ConfigError, PathRefused
from vault_tools.home.vaults import KnownVault, Place, VaultRegistry
from vault_tools.reports.checkup.finding import Sheet
from vault_tools.store.sync import syncs_at_once
from vault_tools.vault.exchange import can_exchange
from vault_tools.vault.paths import WALKS_BY_DESCRIPTOR

_OTHERS = 0o077
_OTHERS_WRITE = 0o022
_PRIVATE = ("config.toml", "vaults.json", "state/*/*/ledger.sqlite", "state/*/*/*.json")
_WEAK_FILE_SYSTEMS = (
    "9p", "cifs", "drvfs", "exfat", "fuse", "nfs", "ntfs", "smb", "vboxsf", "vfat", "virtiofs",
)  # fmt: skip


def check_home(sheet: Sheet, home: Path) -> None:
    """Look at the rights of the home, its private files and the folders above it."""
    if os.name == "nt":
        sheet.checks["home"] = {"path": str(home), "rights": "not looked at on Windows"}
        return
    mode = stat.S_IMODE(home.stat().st_mode)
    sheet.checks["home"] = {"path": str(home), "mode": f"{mode:04o}"}
    if mode & _OTHERS_WRITE:
        fix = f"Run `chmod 700 {shlex.quote(str(home))}`."
        sheet.error("home_writable", "other users may write in the home folder", fix, str(home))
    elif mode & _OTHERS:
        fix = f"Run `chmod 700 {shlex.quote(str(home))}`."
        sheet.warn("home_readable", "other users may look into the home folder", fix, str(home))
    for path in sorted(found for pattern in _PRIVATE for found in home.glob(pattern)):
        _check_file(sheet, path)
    for parent in home.resolve().parents:
        _check_parent(sheet, parent)


def _check_file(sheet: Sheet, path: Path) -> None:
    mode = path.stat().st_mode
    fix = f"Run `chmod 600 {shlex.quote(str(path))}`."
    if mode & _OTHERS_WRITE:
        sheet.error("file_writable", f"other users may change {path.name}", fix, str(path))
    elif mode & _OTHERS:
        sheet.warn("file_readable", f"other users may read {path.name}", fix, str(path))


def _check_parent(sheet: Sheet, parent: Path) -> None:
    mode = parent.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        sheet.error(
            "parent_writable",
            "every user of this computer may put another folder in the place of the home",
            f"Run `chmod o-w {shlex.quote(str(parent))}`, or move the home with --home DIR.",
            str(parent),
        )


def check_registry(sheet: Sheet, home: Path, vault: Path, host: str) -> KnownVault | None:
    """Find the vault in the home's list; None when it is unknown, moved or copied."""
    registry = VaultRegistry(home)
    try:
        found = registry.find(vault)
        former = [] if found else registry.left_behind(vault)
        known = registry.vaults()
    except (ConfigError, PathRefused) as error:
        sheet.refused("registry_refused", error, str(vault))
        return None
    if found is None:
        _tell_unknown(sheet, vault, former, known)
        return None
    sheet.checks["registry"] = {"vaultId": found.id, "host": found.host, "vaults": len(known)}
    if found.host != host:
        sheet.error(
            "other_host",
            f"the review root belongs to another computer ({found.host}); here it is read-only",
            "Decide there, or take it over with `vault-tools blocks adopt --take-over`.",
        )
    _check_others(sheet, [other for other in known if other.id != found.id])
    return found


def _tell_unknown(
    sheet: Sheet, vault: Path, former: list[KnownVault], known: list[KnownVault]
) -> None:
    if former:
        old = former[0].path
        sheet.error(
            "vault_moved",
            f"this vault was registered at {old} before",
            f"Run `vault-tools init --moved-from {shlex.quote(old)}` to keep its ledger.",
            str(vault),
        )
    else:
        sheet.error(
            "vault_unregistered",
            "this vault is not registered in this home; a copy of a vault counts as a new one"
            if known
            else "this vault is not registered in this home",
            "Run `vault-tools init` in it.",
            str(vault),
        )


def _check_others(sheet: Sheet, others: list[KnownVault]) -> None:
    for other in others:
        if not _is_there(other):
            sheet.inform(
                "other_vault_gone",
                f"another registered vault is not at {other.path}",
                "Mount its drive, or run `vault-tools init --moved-from` where it lies now.",
                other.path,
            )


def _is_there(known: KnownVault) -> bool:
    path = Path(known.path)
    return path.is_dir() and known.is_folder(Place.of(path))


def check_guarantees(sheet: Sheet, place: Path) -> None:
    """Name which protections hold here, and each weaker form in use."""
    kind = file_system(place)
    sheet.checks["guarantees"] = {
        "descriptorWalk": WALKS_BY_DESCRIPTOR,
        "exchange": can_exchange(),
        "syncfs": syncs_at_once(),
        "lock": "msvcrt" if os.name == "nt" else "flock",
        "fileSystem": kind or "unknown",
    }
    if not WALKS_BY_DESCRIPTOR:
        sheet.inform(
            "path_walk",
            "this system cannot walk by folder descriptors: links are looked for before each step",
            "Keep the vault in a folder that only you may write.",
        )
    if not can_exchange():
        sheet.inform(
            "weaker_write",
            "this system cannot exchange two files: a note is hashed again just before it is "
            "replaced",
            "Let a note rest a few seconds after editing before you apply.",
        )
    if not syncs_at_once():
        sheet.inform(
            "file_syncs",
            "this system cannot sync a file system at once: each file of the engine is synced",
            "Nothing to do; storing takes a little longer.",
        )
    if kind.startswith(_WEAK_FILE_SYSTEMS):
        sheet.inform(
            "file_system",
            f"the vault lies on {kind}, which may not exchange files, lock them or tell changes",
            "Use `vault-tools watch --poll`, and keep the home on a local disk.",
            str(place),
        )


def file_system(place: Path) -> str:
    """Give the type of the file system a folder lies on, "" where the system does not tell."""
    table = Path("/proc/self/mountinfo")
    if not sys.platform.startswith("linux") or not table.is_file():
        return ""
    real, best = place.resolve(), ("", "")
    for line in table.read_text("utf-8", "surrogateescape").splitlines():
        fields, _, rest = line.partition(" - ")
        mounted = fields.split(" ")[4].replace("\\040", " ")
        if real.is_relative_to(mounted) and len(mounted) >= len(best[0]):
            best = (mounted, rest.split(" ")[0])
    return best[1]
