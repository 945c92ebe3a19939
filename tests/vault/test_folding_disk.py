"""A disk that takes names for one that differ in case or Unicode form only, like most Macs."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from vault_world import REVIEW_ROOT, Ownership, contents, make_files

from tests.core.test_note_path import HOSTILE
from vault_tools.core.digest import sha256_hex
from vault_tools.errors import PathRefused, VaultToolsError
from vault_tools.vault.blocks import BlockWrite, read_blocks, write_blocks
from vault_tools.vault.files import VaultFiles

HERE = Path(__file__).parent
TWINS = [
    ("Straße.md", "STRASSE.md"),
    ("Note.md", "NOTE.MD"),
    ("Über.md", "ÜBER.md"),
    ("ſo.md", "so.md"),
    ("a/Deep.md", "A/Deep.md"),
    ("a/Deep.md", "a/deep.md"),
]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("folding")
    if not Path("/dev/fuse").exists() or not shutil.which("fusermount3"):
        pytest.skip("FUSE 3 is not here: the checks on a case-folding disk are skipped")
    if importlib.util.find_spec("mfusepy") is None:
        pytest.skip("mfusepy is not installed: the checks on a case-folding disk are skipped")
    (place / "real").mkdir()
    (place / "mounted").mkdir()
    command = [sys.executable, HERE / "folding_disk.py", place / "real", place / "mounted"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 20
        while not os.path.ismount(place / "mounted"):
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                pytest.skip("FUSE cannot be mounted here: the case-folding disk is skipped")
            time.sleep(0.05)
        try:
            yield place / "mounted"
        finally:
            subprocess.run(["fusermount3", "-u", "-z", place / "mounted"], check=True)


@pytest.fixture
def files(disk: Path, tmp_path: Path) -> VaultFiles:
    vault = disk / tmp_path.name
    vault.mkdir()
    (tmp_path / "vault").symlink_to(vault)
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian/app.json").write_bytes(b"{}")
    return make_files(tmp_path)


def test_the_disk_folds_names(disk: Path) -> None:
    (disk / "Größe.md").write_bytes(b"x")
    for name in ("GRÖSSE.MD", "gro\u0308ße.md"):
        assert (disk / name).read_bytes() == b"x"


def test_a_note_is_written_replaced_and_removed(files: VaultFiles) -> None:
    note = files.review_path("Straße/Über.md")
    files.write(note, b"one", expected=None)
    files.write(note, b"two", expected=sha256_hex(b"one"))
    assert contents(files.root / REVIEW_ROOT) == {"Straße/Über.md": b"two"}
    files.remove(note, expected=sha256_hex(b"two"))
    assert contents(files.root / REVIEW_ROOT) == {}


def test_blocks_are_written_and_logged(files: VaultFiles) -> None:
    ownership = Ownership()
    note = files.review_path("n.md")
    for body in ("one", "two"):
        write_blocks(files, ownership, note, [BlockWrite("b", body, "main")], now=0)
    assert [reading.block.body for reading in read_blocks(files, ownership, note)] == ["two\n"]


@pytest.mark.parametrize(("there", "twin"), TWINS)
def test_a_twin_is_neither_written_nor_removed(files: VaultFiles, there: str, twin: str) -> None:
    files.write(files.review_path(there), b"mine", expected=None)
    before = contents(files.root)
    for expected in (None, sha256_hex(b"mine")):
        with pytest.raises(VaultToolsError):
            files.write(files.review_path(twin), b"x", expected=expected)
    with pytest.raises(PathRefused):
        files.append_line(files.review_path(twin), "x")
    with pytest.raises(PathRefused):
        files.remove(files.review_path(twin), expected=sha256_hex(b"mine"))
    assert contents(files.root) == before


@pytest.mark.parametrize("pattern", [".OBSIDIAN/app.json", ".Obſidian/app.json", ".obsidian/*"])
def test_obsidians_folder_in_any_spelling_is_no_place_to_write(
    files: VaultFiles, tmp_path: Path, pattern: str
) -> None:
    with pytest.raises(PathRefused):
        make_files(tmp_path, [pattern])
    with pytest.raises(PathRefused):
        files.write(pattern, b"x", expected=None)
    assert contents(files.root) == {".obsidian/app.json": b"{}"}


def test_no_hostile_path_is_written(files: VaultFiles) -> None:
    before = contents(files.root)
    for path in HOSTILE:
        for tried in (path, f"{REVIEW_ROOT}/{path}", f"{REVIEW_ROOT.upper()}/{path}"):
            with pytest.raises(VaultToolsError):
                files.write(tried, b"x", expected=None)
    assert contents(files.root) == before
