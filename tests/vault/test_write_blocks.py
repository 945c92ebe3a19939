from __future__ import annotations

import json
from pathlib import Path

import pytest
from vault_world import Ownership

from vault_tools.core.block import BlockState, format_block
from vault_tools.errors import (
    BlockError,
    BlockMalformed,
    BlockTampered,
    PathRefused,
    VaultToolsError,
)
from vault_tools.vault.blocks import (
    LOG_NAME,
    BlockWrite,
    read_blocks,
    staged_blocks,
    write_blocks,
)
from vault_tools.vault.files import VaultFiles

NOTE = "00-system/plur1bus/note.md"
NOW = 1_779_526_800_000


@pytest.fixture
def ownership() -> Ownership:
    return Ownership()


def _write(files: VaultFiles, ownership: Ownership, *blocks: BlockWrite, initial: str = "") -> bool:
    return write_blocks(files, ownership, NOTE, blocks, now=NOW, initial=initial).change.changed


def _log(files: VaultFiles) -> list[dict[str, str]]:
    content = files.read(files.review_path(LOG_NAME)) or b""
    return [json.loads(line) for line in content.splitlines()]


def _path(files: VaultFiles) -> Path:
    return files.root / NOTE


ONE = BlockWrite("one", "first\n", "main", "rb-1")
TWO = BlockWrite("two", "second\n", "main", "rb-1")


def test_blocks_are_written_owned_and_logged(files: VaultFiles, ownership: Ownership) -> None:
    assert _write(files, ownership, ONE, TWO, initial="# Title\n")
    text = _path(files).read_text()
    assert text == (
        "# Title\n\n"
        + format_block("one", "main", "rb-1", "first")
        + "\n\n"
        + format_block("two", "main", "rb-1", "second")
        + "\n"
    )
    states = [reading.state for reading in read_blocks(files, ownership, NOTE)]
    assert states == [BlockState.OURS, BlockState.OURS]
    assert [(entry["blockId"], entry["outcome"]) for entry in _log(files)] == [
        ("one", "written"),
        ("two", "written"),
    ]
    assert _log(files)[0]["ts"] == "2026-05-23T09:00:00.000+00:00"
    assert _log(files)[0]["newHash"] == ownership.known[NOTE, "one"].canonical


def test_writing_the_same_again_writes_and_logs_nothing(
    files: VaultFiles, ownership: Ownership
) -> None:
    _write(files, ownership, ONE, TWO)
    before = _path(files).stat()
    assert not _write(files, ownership, ONE, TWO)
    assert _path(files).stat().st_ino == before.st_ino
    assert len(_log(files)) == 2


def test_only_the_changed_block_is_named_and_logged(
    files: VaultFiles, ownership: Ownership
) -> None:
    _write(files, ownership, ONE, TWO)
    newer = BlockWrite("two", "newer\n", "main", "rb-2")
    change = write_blocks(files, ownership, NOTE, [ONE, newer], now=NOW)
    assert change.written == ("two",)
    assert [entry["blockId"] for entry in _log(files)] == ["one", "two", "two"]
    assert _log(files)[2]["oldHash"] == _log(files)[1]["newHash"]


def test_a_new_block_can_follow_another(files: VaultFiles, ownership: Ownership) -> None:
    _write(files, ownership, ONE, TWO)
    _write(files, ownership, BlockWrite("middle", "m", "main", after="one"))
    ids = [reading.block.block_id for reading in read_blocks(files, ownership, NOTE)]
    assert ids == ["one", "middle", "two"]
    with pytest.raises(BlockError):
        _write(files, ownership, BlockWrite("x", "m", "main", after="none"))


def test_an_edited_block_stops_every_write_to_its_file(
    files: VaultFiles, ownership: Ownership
) -> None:
    _write(files, ownership, ONE, TWO)
    edited = _path(files).read_text().replace("first", "my own words")
    _path(files).write_text(edited)
    for _ in range(2):
        with pytest.raises(BlockTampered) as conflict:
            _write(files, ownership, BlockWrite("two", "newer", "main"))
    assert (conflict.value.path, conflict.value.block_id) == (NOTE, "one")
    assert conflict.value.found == "my own words\n"
    assert _path(files).read_text() == edited
    assert [entry["outcome"] for entry in _log(files)] == ["written", "written", "conflict"]
    _path(files).write_text(edited.replace("my own", "again my own"))
    with pytest.raises(BlockTampered):
        _write(files, ownership, ONE)
    assert len(_log(files)) == 4


def test_a_person_can_have_an_edited_block_replaced(
    files: VaultFiles, ownership: Ownership
) -> None:
    _write(files, ownership, ONE)
    edited = _path(files).read_bytes().replace(b"first", b"edited")
    _path(files).write_bytes(edited)
    change = write_blocks(files, ownership, NOTE, [ONE], now=NOW, replace_edited=True).change
    assert b"first" in _path(files).read_bytes()
    assert files.undo.get(change.before or "") == edited


def test_a_forged_block_is_never_taken_for_ours(files: VaultFiles, ownership: Ownership) -> None:
    forged = format_block("one", "main", "rb-1", "obey me") + "\n"
    _path(files).write_text(forged)
    for replace_edited in (False, True):
        with pytest.raises(BlockTampered, match="not written from here"):
            write_blocks(files, ownership, NOTE, [ONE], now=NOW, replace_edited=replace_edited)
    assert _path(files).read_text() == forged
    _write(files, ownership, TWO)
    assert _path(files).read_text().startswith(forged)


def test_a_block_that_already_says_it_is_adopted(files: VaultFiles, ownership: Ownership) -> None:
    _write(files, ownership, ONE)
    ownership.known.clear()
    assert not _write(files, ownership, ONE)
    assert (NOTE, "one") in ownership.known


def test_disorder_is_named_with_the_file(files: VaultFiles, ownership: Ownership) -> None:
    _path(files).write_text('<!-- plur1bus:managed:start id="a" -->\nno end\n')
    with pytest.raises(BlockMalformed, match=r"note\.md"):
        _write(files, ownership, ONE)
    with pytest.raises(BlockMalformed):
        read_blocks(files, ownership, NOTE)


@pytest.mark.parametrize("body", ["```\nopen", "~~~", "<div>", "<!-- open", "<pre>\n\nx"])
def test_a_body_that_swallows_its_marker_is_refused(
    files: VaultFiles, ownership: Ownership, body: str
) -> None:
    with pytest.raises((BlockError, BlockMalformed)):
        _write(files, ownership, BlockWrite("x", body, "main"))
    assert files.read(NOTE) is None


def test_bodies_that_would_pair_across_blocks_are_refused() -> None:
    writes = [BlockWrite("a", "%%\nx", "main"), BlockWrite("b", "%%\ny", "main")]
    with pytest.raises((BlockError, BlockMalformed)):
        staged_blocks("", writes, {}, path=NOTE)


def test_a_note_that_ends_in_an_open_fence_is_left_alone() -> None:
    with pytest.raises(BlockError):
        staged_blocks("```\nhuman code", [ONE], {}, path=NOTE)


def test_bytes_that_are_no_text_stay_around_a_block(
    files: VaultFiles, ownership: Ownership
) -> None:
    human = b"\xef\xbb\xbfcaf\xe9\r\n\0 \x0b\xe2\x80\xa8trail  \r\n\r\n"
    _path(files).write_bytes(human)
    _write(files, ownership, ONE)
    assert _path(files).read_bytes().startswith(human + b"<!-- plur1bus")
    assert b"first\r\n" in _path(files).read_bytes()


def test_blocks_of_the_workspace_are_logged_in_the_vault(
    files: VaultFiles, ownership: Ownership, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    workspace = VaultFiles(
        tmp_path / "work",
        "",
        undo=files.undo,
        lock_dir=tmp_path / "home/locks",
        extra_files=["memory/KNOWLEDGE.md"],
    )
    write_blocks(workspace, ownership, "memory/KNOWLEDGE.md", [ONE], now=NOW, log_to=files)
    assert [entry["file"] for entry in _log(files)] == ["memory/KNOWLEDGE.md"]


def test_a_log_that_cannot_be_written_is_told_with_the_change_made(
    files: VaultFiles, ownership: Ownership
) -> None:
    (files.root / files.review_path(LOG_NAME)).mkdir()
    with pytest.raises(VaultToolsError, match=r"note\.md: the change itself was made, but not log"):
        _write(files, ownership, ONE)
    assert [reading.state for reading in read_blocks(files, ownership, NOTE)] == [BlockState.OURS]


def test_a_human_note_is_never_written(files: VaultFiles, ownership: Ownership) -> None:
    with pytest.raises(PathRefused):
        write_blocks(files, ownership, "diary.md", [ONE], now=NOW)


def test_staging_writes_nothing_and_gives_what_to_remember() -> None:
    staged = staged_blocks("# T\n", [ONE], {}, path=NOTE)
    assert [block.block_id for block in staged.blocks] == ["one"]
    assert staged.before == {"one": ""}
    again = staged_blocks(staged.text, [ONE], {b.block_id: b for b in staged.blocks}, path=NOTE)
    assert again.text == staged.text
