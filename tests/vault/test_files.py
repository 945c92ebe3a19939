from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from vault_world import contents, make_files

from tests.core.test_note_path import HOSTILE
from vault_tools.core.digest import sha256_hex
from vault_tools.errors import FileConflict, InvalidInput, LockHeld, PathRefused, VaultToolsError
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.undo import UndoStore

NOTE = "00-system/plur1bus/note.md"


def _place(files: VaultFiles, content: bytes = b"old") -> Path:
    path = files.root / NOTE
    path.write_bytes(content)
    return path


def test_a_new_file_is_created_with_its_folders(files: VaultFiles) -> None:
    change = files.write("00-system/plur1bus/a/b/new.md", b"text", expected=None)
    assert change.changed
    assert (change.before, change.after, change.signals) == (None, sha256_hex(b"text"), ())
    assert contents(files.root) == {"00-system/plur1bus/a/b/new.md": b"text"}


def test_an_existing_file_is_replaced_and_its_bytes_are_kept(files: VaultFiles) -> None:
    path = _place(files)
    change = files.write(NOTE, b"new", expected=sha256_hex(b"old"))
    assert path.read_bytes() == b"new"
    assert files.undo.get(change.before or "") == b"old"
    assert contents(files.root) == {NOTE: b"new"}
    assert files.sha256(NOTE) == change.after


def test_unchanged_content_is_not_written(files: VaultFiles) -> None:
    path = _place(files)
    before = path.stat()
    assert not files.write(NOTE, b"old", expected=sha256_hex(b"old")).changed
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("expected", [None, sha256_hex(b"other")])
def test_a_file_that_is_not_as_expected_is_left_alone(
    files: VaultFiles, expected: str | None
) -> None:
    path = _place(files)
    with pytest.raises(FileConflict):
        files.write(NOTE, b"new", expected=expected)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("path", [NOTE, "00-system/plur1bus/no/such/folder.md"])
def test_a_file_that_is_gone_is_a_conflict(files: VaultFiles, path: str) -> None:
    with pytest.raises(FileConflict):
        files.write(path, b"new", expected=sha256_hex(b"old"))
    assert contents(files.root) == {}


def test_mode_and_extended_attributes_stay(files: VaultFiles) -> None:
    path = _place(files)
    path.chmod(0o640)
    try:
        os.setxattr(path, "user.colour", b"green")
    except OSError:
        pytest.skip("this file system holds no extended attributes: 1 check skipped")
    change = files.write(NOTE, b"new", expected=sha256_hex(b"old"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.getxattr(path, "user.colour") == b"green"
    assert change.signals == ()


@pytest.mark.parametrize(
    "path", ["human.md", "00-system/other.md", "00-system/plur1bus2/a.md", "00-system/plur1bus"]
)
def test_nothing_is_written_outside_the_review_root(files: VaultFiles, path: str) -> None:
    with pytest.raises(PathRefused):
        files.write(path, b"x", expected=None)
    assert contents(files.root) == {}


def test_allow_listed_files_are_written_and_no_other(tmp_path: Path) -> None:
    files = make_files(tmp_path, ["memory/KNOWLEDGE.md", ".adaptive-learning/*.jsonl"])
    files.write("memory/KNOWLEDGE.md", b"k", expected=None)
    files.append_line(".adaptive-learning/a.jsonl", "{}")
    for path in ("memory/OTHER.md", ".adaptive-learning/a/b.jsonl", ".adaptive-learning/x.md"):
        with pytest.raises(PathRefused):
            files.write(path, b"x", expected=None)
    assert files.read(".adaptive-learning/a.jsonl") == b"{}\n"


def test_obsidians_folder_cannot_be_allowed(tmp_path: Path) -> None:
    with pytest.raises(PathRefused):
        make_files(tmp_path, [".Obsidian/plugins/x/main.js"])


def test_settings_of_obsidian_are_read_and_the_rest_is_not(files: VaultFiles) -> None:
    (files.root / ".obsidian").mkdir()
    (files.root / ".obsidian/app.json").write_bytes(b"{}")
    assert files.read(".obsidian/app.json") == b"{}"
    with pytest.raises(PathRefused):
        files.read(".obsidian/workspace.json")


def test_a_note_anywhere_in_the_vault_can_be_read(files: VaultFiles) -> None:
    (files.root / "a?.md").write_bytes(b"\xff\0")
    assert files.read("a?.md") == b"\xff\0"
    assert files.read("no/such.md") is None


def _link(place: Path, target: Path) -> None:
    try:
        place.symlink_to(target)
    except OSError:
        pytest.skip("links cannot be made here: 1 check skipped")


def test_a_link_is_followed_at_no_component(files: VaultFiles, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "n.md").write_bytes(b"secret")
    _link(files.root / "00-system/plur1bus/linked", outside)
    _link(files.root / "00-system/plur1bus/n.md", outside / "n.md")
    _link(files.root / "00-system/plur1bus/broken.md", outside / "none.md")
    for name in ("linked/n.md", "linked/new.md", "n.md", "broken.md"):
        path = files.review_path(name)
        with pytest.raises(PathRefused):
            files.read(path)
        for expected in (None, sha256_hex(b"secret")):
            with pytest.raises(PathRefused):
                files.write(path, b"x", expected=expected)
        with pytest.raises(PathRefused):
            files.append_line(path, "x")
    assert contents(outside) == {"n.md": b"secret"}


def test_a_review_root_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "vault").mkdir()
    _link(tmp_path / "vault/00-system", tmp_path / "outside")
    files = VaultFiles(
        tmp_path / "vault",
        "00-system/plur1bus",
        undo=UndoStore(tmp_path / "undo"),
        lock_dir=tmp_path / "locks",
    )
    with pytest.raises(PathRefused):
        files.write(NOTE, b"x", expected=None)
    assert contents(tmp_path / "outside") == {}


def test_a_hard_linked_file_is_refused(files: VaultFiles) -> None:
    path = _place(files)
    os.link(path, files.root / "other.md")
    with pytest.raises(PathRefused):
        files.write(NOTE, b"new", expected=sha256_hex(b"old"))
    with pytest.raises(PathRefused):
        files.append_line(NOTE, "x")
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here: 1 check skipped")
def test_pipes_and_folders_are_refused_without_waiting(files: VaultFiles) -> None:
    os.mkfifo(files.root / NOTE)
    (files.root / "00-system/plur1bus/folder.md").mkdir()
    for path in (NOTE, files.review_path("folder.md")):
        with pytest.raises(PathRefused):
            files.read(path)
        with pytest.raises(PathRefused):
            files.write(path, b"x", expected=None)
        with pytest.raises((PathRefused, VaultToolsError)):
            files.append_line(path, "x")


def test_a_twin_in_case_or_unicode_form_is_refused(files: VaultFiles) -> None:
    for twin in ("NOTE.md", "U\u0308ber.md"):
        (files.root / "00-system/plur1bus" / twin).write_bytes(b"x")
    for name in ("note.md", "über.md"):
        with pytest.raises((PathRefused, FileConflict)):
            files.write(files.review_path(name), b"y", expected=None)


@pytest.mark.parametrize("extra_files", [[], ["*", "*/*", "*/*/*", "*/*/*/*"]])
@pytest.mark.parametrize("in_place", [False, True])
def test_no_hostile_path_is_written_anywhere(
    tmp_path: Path, extra_files: list[str], in_place: bool
) -> None:
    root = tmp_path / "around/vault"
    (root / ".obsidian").mkdir(parents=True)
    (root / ".obsidian/app.json").write_bytes(b"{}")
    files = make_files(tmp_path / "around", extra_files, in_place=in_place)
    for path in HOSTILE:
        for tried in (path, files.review_path(path)):
            try:
                files.write(tried, b"x", expected=None)
            except VaultToolsError:
                continue
            # An operator may allow odd names; they stay in the vault and out of Obsidian's folder.
            assert extra_files, tried
            assert (root / tried).parent.resolve().is_relative_to(root)
    shutil.rmtree(tmp_path / "around/home", ignore_errors=True)
    assert list((tmp_path / "around").iterdir()) == [root]
    folded = {path.relative_to(root).parts[0].casefold() for path in root.rglob("*")}
    assert {name for name in folded if "obsidian" in name} == {".obsidian"}
    assert contents(root / ".obsidian") == {"app.json": b"{}"}
    assert extra_files or len(contents(root)) == 1


def test_a_replaced_vault_is_noticed(files: VaultFiles) -> None:
    files.root.rename(files.root.with_name("away"))
    (files.root / "00-system/plur1bus").mkdir(parents=True)
    with pytest.raises(PathRefused):
        files.write(NOTE, b"x", expected=None)
    assert contents(files.root) == {}


def test_a_missing_vault_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(VaultToolsError, match="cannot be opened"):
        VaultFiles(tmp_path / "no", "r", undo=UndoStore(tmp_path / "u"), lock_dir=tmp_path)


def test_a_file_of_ours_is_removed_and_restored(files: VaultFiles) -> None:
    change = files.write(NOTE, b"ours", expected=None)
    assert change.after
    with pytest.raises(FileConflict):
        files.remove(NOTE, expected=sha256_hex(b"other"))
    files.remove(NOTE, expected=change.after)
    assert contents(files.root) == {}
    files.restore(NOTE, change.after, expected=None)
    assert contents(files.root) == {NOTE: b"ours"}


def test_a_log_line_is_added_and_a_torn_one_is_closed(files: VaultFiles) -> None:
    log = files.review_path("log.jsonl")
    files.append_line(log, '{"a":1}')
    with (files.root / log).open("ab") as handle:
        handle.write(b'{"torn')
    files.append_line(log, '{"b":2}')
    assert files.read(log) == b'{"a":1}\n{"torn\n{"b":2}\n'
    with pytest.raises(InvalidInput):
        files.append_line(log, "a\nb")


def test_lines_of_several_processes_stay_whole(files: VaultFiles, tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\nfrom vault_world import make_files\n"
        "files = make_files(Path(sys.argv[1]))\n"
        "for n in range(25):\n"
        "    files.append_line(files.review_path('log.jsonl'), sys.argv[3] * 200)\n"
    )
    arguments = [str(tmp_path), str(Path(__file__).parent)]
    running = [
        subprocess.Popen([sys.executable, "-c", program, *arguments, letter]) for letter in "abc"
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    lines = (files.read(files.review_path("log.jsonl")) or b"").split(b"\n")
    assert sorted(lines) == sorted([b"", *[x * 200 for x in (b"a", b"b", b"c") for _ in range(25)]])


def test_a_second_process_is_told_who_holds_the_lock(files: VaultFiles, tmp_path: Path) -> None:
    other = VaultFiles(
        files.root,
        "00-system/plur1bus",
        undo=files.undo,
        lock_dir=tmp_path / "home/locks",
        wait_seconds=0,
    )
    with files.hold(), files.hold(), pytest.raises(LockHeld):
        other.write(NOTE, b"x", expected=None)
    other.write(NOTE, b"x", expected=None)


def test_leftovers_of_an_interrupted_write_are_kept_and_cleared(files: VaultFiles) -> None:
    known = files.undo.put(b"old")
    name = ".note.md.vault-tools-{}.tmp"
    folder = files.root / "00-system/plur1bus"
    (folder / name.format("0" * 12)).write_bytes(b"old")
    (folder / name.format("1" * 12)).write_bytes(b"a human's edit")
    (folder / ".other.tmp").write_bytes(b"not ours")
    found = {leftover.sha256: leftover.known for leftover in files.sweep()}
    assert found == {known: True, sha256_hex(b"a human's edit"): False}
    assert files.undo.get(sha256_hex(b"a human's edit")) == b"a human's edit"
    assert [path.name for path in folder.iterdir()] == [".other.tmp"]


def test_a_folder_is_made_inside_the_review_root_only(files: VaultFiles) -> None:
    files.make_folder("00-system/plur1bus/review-bundles/x")
    assert (files.root / "00-system/plur1bus/review-bundles/x").is_dir()
    with pytest.raises(PathRefused):
        files.make_folder("elsewhere")
