"""The SQLite file behind the ledger: schema, transactions and the hash chain of events.

Spec 02 §Where the truth sits: WAL, synchronous=FULL, outside the vault. Event rows hold ids and
digests only; texts stand in `payloads`, which can be erased without breaking the chain.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vault_tools.core.digest import canonical_json, sha256_hex
from vault_tools.errors import LedgerError
from vault_tools.home.durable import private_folder

FORMAT = 1
GENESIS = "0" * 64
_BUSY_SECONDS = 60
_PASSING = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
)

_SCHEMA = """
create table meta(key text primary key, value text not null) strict;
create table events(
    seq integer primary key, at integer not null, kind text not null,
    body text not null, prev text not null, hash text not null) strict;
create table payloads(digest text primary key, body text not null) strict;
create table bundles(
    position integer primary key, bundle_id text not null unique, digest text not null,
    created_at integer not null, expires_at integer not null, expired integer not null default 0,
    header text not null) strict;
create table items(
    item_id text primary key, bundle_id text not null references bundles(bundle_id),
    position integer not null, digest text not null, key text not null, state text not null,
    note text not null default '', changed_at integer not null) strict;
create index items_by_bundle on items(bundle_id, position);
create index items_by_key on items(key);
create table proposals(
    digest text primary key, key text not null unique, at integer not null) strict;
create table approvals(
    nonce text primary key, item_id text not null, bundle_id text not null,
    decision text not null, body text not null, event integer not null,
    spent_at integer) strict;
create index approvals_by_item on approvals(item_id);
create table sagas(
    position integer primary key, saga_id text not null unique, item_id text not null,
    goal text not null, stage text not null, body text not null) strict;
create index sagas_by_item on sagas(item_id);
create table blocks(
    path text not null, block_id text not null, canonical text not null, exact text not null,
    primary key(path, block_id)) strict;
"""


class LedgerFile:
    """One open ledger database."""

    def __init__(self, path: Path, *, vault_id: str, workspace_key: str) -> None:
        """Open or create the ledger.

        Raises LedgerError when the file is damaged, newer than this program, or another's.
        """
        self.path = path
        _refuse_open_folders(private_folder(path.parent))
        try:
            self._db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
            path.chmod(0o600)
            self._prepare(vault_id, workspace_key)
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _prepare(self, vault_id: str, workspace_key: str) -> None:
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=full")
        self._db.execute("pragma foreign_keys=on")
        self._db.execute("pragma secure_delete=on")
        with self.transaction():
            if not self.one("select 1 from sqlite_master where name = 'meta'"):
                self._create(vault_id, workspace_key)
        known = dict(self.all("select key, value from meta"))
        if int(known["format"]) > FORMAT:
            raise LedgerError(
                f"the ledger {self.path.name} was written by a newer vault-tools",
                "Update vault-tools, or restore the backup that its update made.",
            )
        if (known["vaultId"], known["workspaceKey"]) != (vault_id, workspace_key):
            raise LedgerError(
                f"the ledger {self.path.name} belongs to another vault or workspace",
                "A copied home folder keeps its approvals with the vault they were made for. "
                "Point --home at this vault's own home folder.",
            )

    def _create(self, vault_id: str, workspace_key: str) -> None:
        for statement in _SCHEMA.split(";\n"):
            if statement.strip():
                self._db.execute(statement)
        rows = [("format", str(FORMAT)), ("vaultId", vault_id), ("workspaceKey", workspace_key)]
        self._db.executemany("insert into meta values (?, ?)", rows)

    def _unreadable(self, error: sqlite3.Error) -> LedgerError:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING:
            return LedgerError(
                f"the ledger {self.path} cannot be written now: {error}",
                "Free some space or check the disk, then run the command again: what had begun "
                "is then finished or taken back.",
            )
        return LedgerError(
            f"the ledger {self.path} cannot be used: {error}",
            "No decision was changed. Restore the file from a backup, or move it aside: "
            "memories stay, but bundles and approvals made so far are then unknown.",
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run statements as one durable step; any exception takes all of them back."""
        try:
            self._db.execute("begin immediate")
            try:
                yield
                self._db.execute("commit")
            except BaseException:
                # A full disk makes SQLite take it back by itself.
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def run(self, statement: str, *values: object) -> int:
        """Run one statement and give the number of rows it touched."""
        return self._db.execute(statement, values).rowcount

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Give the first row, or None."""
        rows = self.all(statement, *values)
        return rows[0] if rows else None

    def all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Give all rows."""
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def keep(self, body: str) -> str:
        """Keep a text in the erasable store and give its digest."""
        digest = sha256_hex(body)
        self.run("insert or ignore into payloads values (?, ?)", digest, body)
        return digest

    def kept(self, digest: str) -> str:
        """Give back a kept text; raises LedgerError when it is gone or was altered."""
        row = self.one("select body from payloads where digest = ?", digest)
        if row is None:
            raise LedgerError(
                f"the text {digest[:8]} was purged from the ledger",
                "Its decision stays on record, but it can no longer be shown or applied.",
            )
        if sha256_hex(row[0]) != digest:
            raise LedgerError(
                f"the text {digest[:8]} in the ledger was altered",
                "Nothing was applied. Restore the ledger from a backup.",
            )
        return str(row[0])

    def append_event(self, kind: str, body: dict[str, Any], *, at: int) -> int:
        """Add an event that carries the hash of the one before it, and give its number."""
        last = self.one("select seq, hash from events order by seq desc limit 1")
        seq, prev = (last[0] + 1, last[1]) if last else (1, GENESIS)
        text = canonical_json(body).decode()
        digest = event_hash(seq, at, kind, text, prev)
        self.run("insert into events values (?, ?, ?, ?, ?, ?)", seq, at, kind, text, prev, digest)
        return int(seq)

    def verify(self) -> int:
        """Walk the chain and give its length; raises LedgerError at the first broken link."""
        prev, expected = GENESIS, 1
        for seq, at, kind, body, before, digest in self._db.execute(
            "select seq, at, kind, body, prev, hash from events order by seq"
        ):
            intact = event_hash(seq, at, kind, body, before) == digest
            if seq != expected or before != prev or not intact:
                raise LedgerError(
                    f"the ledger's chain is broken at event {expected}",
                    "Someone changed the ledger file. Restore it from a backup; until then "
                    "nothing is applied.",
                )
            prev, expected = digest, expected + 1
        return expected - 1


def _refuse_open_folders(folder: Path) -> None:
    """Refuse a ledger that other users of the computer could replace, up to the home's parent."""
    if os.name == "nt":
        return
    for place in (folder, *folder.resolve().parents[:3]):
        mode = place.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise LedgerError(
                f"every user of this computer may write in {place}",
                f"They could replace the ledger of decisions. Run `chmod o-w {place}` first.",
            )


def event_hash(seq: int, at: int, kind: str, body: str, prev: str) -> str:
    """Hash an event together with the hash of the event before it."""
    return sha256_hex(canonical_json([seq, at, kind, body, prev]))
