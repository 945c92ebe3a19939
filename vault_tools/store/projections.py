"""Copies of shared rows, so that recall opens two more tables and not one per agent (spec 11)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from vault_tools.core.digest import sha256_hex
from vault_tools.core.memory import Memory, is_agent_id
from vault_tools.core.scope import Scope, Viewer
from vault_tools.store.database import Database
from vault_tools.store.rows import ROW_HASH, IndexedRow
from vault_tools.store.sync import sync_tree

SHARED = "_shared"
_PREFIXES = ("owner-", "key-")
_UNSAFE = re.compile(r"[^a-z0-9]+")


def workspace_folder(base: Path, workspace_key: str) -> Path:
    """Name the projection of a workspace; a key that is no safe name is hashed."""
    if is_agent_id(workspace_key) and not workspace_key.startswith(_PREFIXES):
        return base / SHARED / workspace_key
    return base / SHARED / f"key-{sha256_hex(workspace_key)[:24]}"


def owner_folder(base: Path, owner_id: str) -> Path:
    """Name the projection of an owner: a readable part and a hash that keeps owners apart."""
    readable = _UNSAFE.sub("-", owner_id.casefold()).strip("-")[:24]
    return base / SHARED / f"owner-{readable}-{sha256_hex(owner_id)[:16]}"


class Projections:
    """Keep each shared row of an agent's table also where the readers of its scope look."""

    def __init__(self, base: Path, database: Callable[[Path], Database]) -> None:
        self._base = base
        self._database = database

    def of(self, viewer: Viewer) -> list[Database]:
        """Give the existing projections that an agent reads: its workspace's, its owner's."""
        folders = []
        if viewer.workspace_key:
            folders.append(workspace_folder(self._base, viewer.workspace_key))
        if viewer.owner_id:
            folders.append(owner_folder(self._base, viewer.owner_id))
        databases = [self._database(folder) for folder in folders]
        return [database for database in databases if database.exists]

    def place(self, row: IndexedRow, former: Iterable[Memory] = ()) -> None:
        """Put a row where its scope says, and take it out where its former scopes said."""
        target = self._folder_of(row.memory)
        self.withdraw(row.memory.id, former, keep=target)
        if target is not None:
            self._put(self._database(target), row)

    def withdraw(self, memory_id: str, former: Iterable[Memory], keep: Path | None = None) -> None:
        """Take a row out of every projection where its former forms stood."""
        folders = {self._folder_of(memory) for memory in former} - {None, keep}
        for folder in sorted(folder for folder in folders if folder is not None):
            self._drop(self._database(folder), memory_id)

    def _folder_of(self, memory: Memory) -> Path | None:
        if memory.scope is Scope.WORKSPACE_SHARED and memory.workspace_key:
            return workspace_folder(self._base, memory.workspace_key)
        if memory.scope is Scope.GLOBAL_USER and memory.owner_id:
            return owner_folder(self._base, memory.owner_id)
        return None

    def _put(self, database: Database, row: IndexedRow) -> None:
        database.table()
        with database.writing():
            table = database.created()
            there = table.by_id(row.memory.id)
            if there is None or there[ROW_HASH] != row.memory.row_hash:
                table.upsert([row.record()])
                table.read_back(row.memory.id)
            sync_tree(database.folder)

    def _drop(self, database: Database, memory_id: str) -> None:
        table = database.table()
        if table is None:
            return
        with database.writing():
            if table.by_id(memory_id) is not None:
                table.delete(memory_id)
            sync_tree(database.folder)
