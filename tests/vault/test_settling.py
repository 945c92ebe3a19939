"""A note that somebody saved a moment ago is waited for; our own writes are not."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from vault_world import REVIEW_ROOT, make_files

from vault_tools.core.digest import sha256_hex
from vault_tools.errors import FileConflict
from vault_tools.home.recent import RecentWrites
from vault_tools.vault import settling

NOTE = f"{REVIEW_ROOT}/note.md"
OLD = b"old"
QUIET = 0.4


class Pauses:
    """Count the pauses, and let something happen in each of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken = 0
        self.meanwhile = lambda: None
        self._sleep = time.sleep
        monkeypatch.setattr(settling.time, "sleep", self._pause)

    def _pause(self, seconds: float) -> None:
        self.taken += 1
        self.meanwhile()
        self._sleep(seconds)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Pauses:
    return Pauses(monkeypatch)


def test_a_note_saved_just_now_is_written_once_it_rests(tmp_path: Path, pauses: Pauses) -> None:
    files = make_files(tmp_path, quiet_seconds=QUIET)
    path = files.root / NOTE
    path.write_bytes(OLD)
    saved = path.stat().st_mtime
    files.write(NOTE, b"new", expected=sha256_hex(OLD))
    assert pauses.taken
    assert path.stat().st_mtime - saved >= QUIET
    assert path.read_bytes() == b"new"


def test_a_note_edited_while_we_wait_is_left_alone(tmp_path: Path, pauses: Pauses) -> None:
    files = make_files(tmp_path, quiet_seconds=QUIET)
    path = files.root / NOTE
    path.write_bytes(OLD)
    pauses.meanwhile = lambda: path.write_bytes(b"edited") and None
    with pytest.raises(FileConflict, match="changed"):
        files.write(NOTE, b"new", expected=sha256_hex(OLD))
    assert path.read_bytes() == b"edited"


def test_waiting_ends_with_the_wait_for_the_lock(tmp_path: Path, pauses: Pauses) -> None:
    files = make_files(tmp_path, quiet_seconds=QUIET, wait_seconds=0.6)
    path = files.root / NOTE
    path.write_bytes(OLD)
    pauses.meanwhile = path.touch
    with pytest.raises(FileConflict, match="being edited"):
        files.write(NOTE, b"new", expected=sha256_hex(OLD))
    assert path.read_bytes() == OLD


def test_nobody_waits_for_a_note_at_rest(tmp_path: Path, pauses: Pauses) -> None:
    files = make_files(tmp_path, quiet_seconds=60.0)
    path = files.root / NOTE
    path.write_bytes(OLD)
    os.utime(path, (time.time() - 3600,) * 2)
    files.write(NOTE, b"new", expected=sha256_hex(OLD))
    assert not pauses.taken


def test_nobody_waits_for_our_own_writes_whichever_process_made_them(
    tmp_path: Path, pauses: Pauses
) -> None:
    make_files(tmp_path, quiet_seconds=60.0).write(NOTE, b"first", expected=None)
    files = make_files(tmp_path, quiet_seconds=60.0)
    for before, after in ((b"first", b"second"), (b"second", b"third")):
        files.write(NOTE, after, expected=sha256_hex(before))
    files.restore(NOTE, sha256_hex(b"first"), expected=sha256_hex(b"third"))
    assert not pauses.taken
    assert files.read(NOTE) == b"first"


def test_what_we_wrote_is_forgotten_after_a_while(tmp_path: Path) -> None:
    place = tmp_path / "locks" / "vault.recent"
    recent = RecentWrites(place, seconds=60.0)
    assert not recent.knows("a" * 64)
    recent.remember("a" * 64)
    recent.remember("b" * 64)
    assert recent.knows("a" * 64)
    os.utime(place, (time.time() - 3600,) * 2)
    assert not recent.knows("a" * 64)
    recent.remember("c" * 64)
    assert not recent.knows("b" * 64)


def test_a_disk_fault_only_costs_the_pause(tmp_path: Path) -> None:
    (tmp_path / "recent").mkdir()
    recent = RecentWrites(tmp_path / "recent", seconds=60.0)
    recent.remember("a" * 64)
    assert not recent.knows("a" * 64)
