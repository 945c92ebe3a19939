"""Files written in place: hard links, a linked review root, clients that dislike a replacement."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from vault_world import REVIEW_ROOT, contents, make_files

from vault_tools.core.digest import sha256_hex
from vault_tools.errors import FileConflict, PathRefused, VaultToolsError
from vault_tools.vault import in_place, swap
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.paths import Folder
from vault_tools.vault.undo import UndoStore

NOTE = f"{REVIEW_ROOT}/note.md"
OLD = b"old text"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need POSIX: every check skipped")


@pytest.fixture
def files(tmp_path: Path) -> VaultFiles:
    return make_files(tmp_path, in_place=True)


def _place(files: VaultFiles, content: bytes = OLD) -> Path:
    path = files.root / NOTE
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("new", [b"", b"new", b"new text, much longer than the one before"])
def test_the_file_itself_is_written_and_its_old_text_is_kept(files: VaultFiles, new: bytes) -> None:
    path = _place(files)
    path.chmod(0o640)
    before = path.stat()
    change = files.write(NOTE, new, expected=sha256_hex(OLD))
    after = path.stat()
    assert path.read_bytes() == new
    assert (after.st_ino, after.st_dev, stat.S_IMODE(after.st_mode)) == (
        before.st_ino, before.st_dev, 0o640,
    )  # fmt: skip
    assert change.signals == ("in_place",)
    assert files.undo.get(sha256_hex(OLD)) == OLD
    assert contents(files.root) == {NOTE: new}


def test_every_name_of_a_hard_linked_note_shows_the_change(files: VaultFiles) -> None:
    path = _place(files)
    other = files.root / "other.md"
    os.link(path, other)
    files.write(NOTE, b"new", expected=sha256_hex(OLD))
    files.append_line(NOTE, "line")
    assert path.read_bytes() == other.read_bytes() == b"new\nline\n"
    assert path.stat().st_nlink == 2


def test_what_is_there_already_is_not_written(files: VaultFiles) -> None:
    path = _place(files)
    before = path.stat().st_mtime_ns
    assert not files.write(NOTE, OLD, expected=sha256_hex(OLD)).changed
    assert path.stat().st_mtime_ns == before


def test_a_note_changed_in_between_is_left_alone(files: VaultFiles) -> None:
    path = _place(files, b"edited")
    with pytest.raises(FileConflict):
        files.write(NOTE, b"new", expected=sha256_hex(OLD))
    assert path.read_bytes() == b"edited"


def test_a_review_root_behind_a_link_is_served(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere"
    real.mkdir()
    (tmp_path / "vault/00-system").mkdir(parents=True)
    (tmp_path / "vault" / REVIEW_ROOT).symlink_to(real)
    files = make_files(tmp_path, in_place=True)
    files.write(NOTE, OLD, expected=None)
    files.write(NOTE, b"new", expected=sha256_hex(OLD))
    files.write(f"{REVIEW_ROOT}/a/b.md", b"b", expected=None)
    assert contents(real) == {"note.md": b"new", "a/b.md": b"b"}
    assert files.read(NOTE) == b"new"
    with pytest.raises(PathRefused):
        make_files(tmp_path).write(NOTE, b"x", expected=None)


def test_a_review_root_that_is_another_folder_now_is_noticed(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere"
    real.mkdir()
    (tmp_path / "vault/00-system").mkdir(parents=True)
    (tmp_path / "vault" / REVIEW_ROOT).symlink_to(real)
    files = make_files(tmp_path, in_place=True)
    real.rename(tmp_path / "away")
    real.mkdir()
    with pytest.raises(PathRefused):
        files.write(NOTE, OLD, expected=None)
    assert contents(real) == {}


def test_a_linked_note_is_followed_inside_the_review_root_and_nowhere_else(
    files: VaultFiles, tmp_path: Path
) -> None:
    path = _place(files)
    (tmp_path / "secret.md").write_bytes(b"secret")
    (files.root / "mine.md").write_bytes(b"mine")
    folder = path.parent
    (folder / "linked.md").symlink_to("note.md")
    for name, target in {
        "outside.md": tmp_path / "secret.md",
        "up.md": Path("../../mine.md"),
        "far.md": Path("../../../secret.md"),
        "twice.md": Path("linked.md"),
    }.items():
        (folder / name).symlink_to(target)
        for expected in (sha256_hex(b"secret"), sha256_hex(b"mine"), sha256_hex(OLD)):
            with pytest.raises(PathRefused):
                files.write(f"{REVIEW_ROOT}/{name}", b"x", expected=expected)
        with pytest.raises(PathRefused):
            files.read(f"{REVIEW_ROOT}/{name}")
    files.write(f"{REVIEW_ROOT}/linked.md", b"new", expected=sha256_hex(OLD))
    assert (folder / "linked.md").is_symlink()
    assert path.read_bytes() == b"new"
    assert (tmp_path / "secret.md").read_bytes() == b"secret"
    assert (files.root / "mine.md").read_bytes() == b"mine"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0 or sys.platform != "linux" or not shutil.which("mount"):
        pytest.skip("only root can mount a small disk: 1 check skipped")
    place = tmp_path / "vault"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("tmpfs cannot be mounted here: 1 check skipped")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_leaves_the_old_text(small_disk: Path, tmp_path: Path) -> None:
    files = make_files(tmp_path, in_place=True)
    path = _place(files)
    with pytest.raises(VaultToolsError, match="nothing was changed"):
        files.write(NOTE, b"x" * 200_000, expected=sha256_hex(OLD))
    assert path.read_bytes() == OLD
    assert contents(small_disk) == {NOTE: OLD}


def test_text_of_another_program_between_write_and_check_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "note.md").write_bytes(OLD)
    undo = UndoStore(tmp_path / "undo")
    fd = os.open(tmp_path, os.O_RDONLY)
    folder = Folder(str(tmp_path), fd)
    found = swap.standing(folder, "note.md")
    assert found is not None
    sync = os.fsync

    def edited(descriptor: int) -> None:
        sync(descriptor)
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode) and b"theirs" not in undo_texts(undo):
            (tmp_path / "note.md").write_bytes(b"theirs")

    monkeypatch.setattr(in_place.os, "fsync", edited)
    with pytest.raises(FileConflict, match="same moment"):
        in_place.overwrite(folder, "note.md", found, b"ours", undo)
    monkeypatch.undo()
    os.close(fd)
    assert (tmp_path / "note.md").read_bytes() == b"theirs"


def undo_texts(undo: UndoStore) -> list[bytes]:
    return [undo.get(sha) for sha in undo.hashes()]


def test_a_fault_in_the_middle_puts_the_old_text_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "note.md"
    path.write_bytes(OLD)
    fd = os.open(tmp_path, os.O_RDONLY)
    folder = Folder(str(tmp_path), fd)
    found = swap.standing(folder, "note.md")
    assert found is not None
    faults = iter([OSError(errno.EIO, "no")])
    cut = os.ftruncate

    def failing(descriptor: int, size: int) -> None:
        for fault in faults:
            raise fault
        cut(descriptor, size)

    monkeypatch.setattr(in_place.os, "ftruncate", failing)
    with pytest.raises(OSError, match="no"):
        in_place.overwrite(folder, "note.md", found, b"n", UndoStore(tmp_path / "undo"))
    os.close(fd)
    assert path.read_bytes() == OLD
