"""Which model embedded a table, kept in a file beside it, so that vectors never mix."""

from __future__ import annotations

import json
from pathlib import Path

from vault_tools.core.plain import from_plain, to_plain
from vault_tools.core.ports import EmbedderIdentity
from vault_tools.errors import ModelMismatch, StoreUnavailable
from vault_tools.home.durable import write_private
from vault_tools.store.rows import FORMAT

IDENTITY = "embedder.json"


def write_identity(folder: Path, identity: EmbedderIdentity) -> None:
    """Note durably which model embeds the table of a folder."""
    noted = {"format": FORMAT, "embedder": to_plain(identity)}
    write_private(folder / IDENTITY, json.dumps(noted, indent=2).encode())


def read_identity(folder: Path) -> EmbedderIdentity | None:
    """Give the model noted beside a table, or None when nothing is noted.

    Raises StoreUnavailable for a newer format or an unreadable file.
    """
    path = folder / IDENTITY
    if not path.exists():
        return None
    try:
        noted = json.loads(path.read_bytes())
        if noted["format"] > FORMAT:
            raise StoreUnavailable(
                f"{path} has format {noted['format']}, this program knows up to {FORMAT}",
                "Update vault-tools.",
            )
        return from_plain(EmbedderIdentity, noted["embedder"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise StoreUnavailable(
            f"cannot read {path}: {error}", "Restore the file from a backup."
        ) from error


def check_identity(folder: Path, wanted: EmbedderIdentity) -> None:
    """Refuse a table whose vectors another model made; raises ModelMismatch naming both."""
    noted = read_identity(folder)
    if noted is None or _essence(noted) != _essence(wanted):
        raise ModelMismatch(
            f"the memories in {folder} were embedded with {_named(noted)}, "
            f"but {_named(wanted)} is configured",
            "Configure the former model again; embedding anew is not built into this version.",
        )


def _essence(identity: EmbedderIdentity) -> tuple[str, str, int, str, bool]:
    return (
        identity.provider,
        identity.model,
        identity.dimensions,
        identity.prefix,
        identity.normalised,
    )


def _named(identity: EmbedderIdentity | None) -> str:
    if identity is None:
        return "an unknown model"
    return f"{identity.provider} {identity.model} ({identity.dimensions} dimensions)"
