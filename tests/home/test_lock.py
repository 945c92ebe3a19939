from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vault_tools.errors import LockHeld
from vault_tools.home.lock import locked

NOW = "2026-05-23T09:00:00+02:00"

HOLD = """
import os, sys
from pathlib import Path
from vault_tools.home.lock import locked
with locked(Path(sys.argv[1]), started="2026-05-22T08:00:00+02:00"):
    print(os.getpid(), flush=True)
    sys.stdin.read()
    os._exit(9)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks" / "review"


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert int(process.stdout.readline()) == process.pid
    return process


def test_free_lock_has_no_former_owner(path: Path) -> None:
    for _ in range(2):
        with locked(path, started=NOW) as left_behind:
            assert left_behind is None


def test_held_lock_is_refused_with_the_name_of_its_owner(path: Path) -> None:
    with holder(path) as process:
        with pytest.raises(LockHeld, match=f"process {process.pid} .*2026-05-22T08:00"):
            locked(path, started=NOW).__enter__()
        process.communicate("")


def test_lock_of_a_dead_process_is_taken_over_and_its_owner_named(path: Path) -> None:
    with holder(path) as process:
        process.communicate("")
    with locked(path, started=NOW) as left_behind:
        assert left_behind is not None
        assert left_behind.pid == process.pid
    with locked(path, started=NOW) as left_behind:
        assert left_behind is None


def test_lock_is_free_again_after_an_error(path: Path) -> None:
    with pytest.raises(ValueError, match="inside"), locked(path, started=NOW):
        raise ValueError("inside")
    with locked(path, started=NOW):
        pass


def test_waiting_ends_when_the_owner_is_gone(path: Path) -> None:
    with holder(path) as process:
        assert process.stdin is not None
        process.stdin.close()
        with locked(path, started=NOW, wait_seconds=30) as left_behind:
            assert left_behind is not None


@pytest.mark.parametrize("text", ["", "{", "null", '{"pid": "x"}', "\0\0"])
def test_unreadable_owner_is_nobody(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    with locked(path, started=NOW) as left_behind:
        assert left_behind is None
