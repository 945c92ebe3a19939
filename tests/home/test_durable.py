from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_tools.home.durable import private_folder, write_private

CALLS = ["open", "fsync", "replace"]

Writer = Callable[[Path, bytes], None]


def naive(path: Path, data: bytes) -> None:
    """Write in place: the twin that the fault harness has to catch."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())


def survives(writer: Writer, path: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Tell whether the old file is whole and alone after a system call has failed."""

    def failing(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        # pathlib calls the same functions of `os`.
        patch.setattr(os, call, failing)
        with pytest.raises(OSError, match="No space left"):
            writer(path, b"new")
    return path.read_bytes() == b"old" and [p.name for p in path.parent.iterdir()] == [path.name]


def test_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a" / "state.json"
    for data in (b"one", b"", b"three\n"):
        write_private(path, data)
        assert path.read_bytes() == data
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("call", CALLS)
def test_failing_call_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    assert survives(write_private, tmp_path / "state.json", call, monkeypatch)


def test_writing_in_place_would_not_have_survived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not survives(naive, tmp_path / "state.json", "fsync", monkeypatch)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_only_the_owner_can_read(tmp_path: Path) -> None:
    path = private_folder(tmp_path / "home") / "state.json"
    write_private(path, b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
