from __future__ import annotations

import os
from pathlib import Path

import pytest

from vault_tools.core.digest import sha256_hex
from vault_tools.errors import VaultToolsError
from vault_tools.vault.undo import UndoStore


def test_bytes_come_back_by_their_hash(tmp_path: Path) -> None:
    store = UndoStore(tmp_path / "undo")
    sha = store.put(b"\0old\xff")
    assert sha == sha256_hex(b"\0old\xff") == store.put(b"\0old\xff")
    assert UndoStore(tmp_path / "undo").get(sha) == b"\0old\xff"
    assert list(store.hashes()) == [sha]


def test_damage_and_absence_are_named(tmp_path: Path) -> None:
    store = UndoStore(tmp_path)
    sha = store.put(b"old")
    (tmp_path / sha[:2] / sha).write_bytes(b"odd")
    with pytest.raises(VaultToolsError, match="damaged"):
        store.get(sha)
    assert store.get(store.put(b"old")) == b"old"
    store.discard(sha)
    with pytest.raises(VaultToolsError, match="no longer holds"):
        store.get(sha)
    with pytest.raises(VaultToolsError, match="no SHA-256"):
        store.get("../../etc/passwd")


def test_the_oldest_entries_go_when_the_bound_is_reached(tmp_path: Path) -> None:
    store = UndoStore(tmp_path, max_bytes=250)
    kept = []
    for n in range(4):
        kept.append(store.put(bytes([n]) * 100))
        os.utime(tmp_path / kept[-1][:2] / kept[-1], (n, n))
    assert [sha in store for sha in kept] == [False, False, True, True]


def test_an_entry_larger_than_the_bound_is_still_kept(tmp_path: Path) -> None:
    store = UndoStore(tmp_path, max_bytes=10)
    assert store.get(store.put(b"x" * 100)) == b"x" * 100
