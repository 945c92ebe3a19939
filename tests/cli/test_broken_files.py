"""Damaged, unreadable and missing files: named, explained, never overwritten."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import Said, assert_fails, call, process
from tests.cli.studio import Studio

BAD_CONFIGS = [
    ("this is not TOML", "not valid TOML"),
    ('colour = "blue"', "colour: unknown key"),
    ("[obsidian_bridge]\nreview_rot = 'x'", "obsidian_bridge.review_rot: unknown key"),
    ("recall_min_score = 'high'", "recall_min_score: expected a number"),
    ("recall_min_score = 7", "recall_min_score: 7"),
    ("\xff", "not UTF-8"),
]


@pytest.mark.parametrize(("text", "what"), BAD_CONFIGS)
@pytest.mark.parametrize("line", ["memory list", "review list", "status", "config show"])
def test_a_bad_configuration_names_the_key(tmp_path: Path, line: str, text: str, what: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode("latin-1"))
    said = call("--home", str(tmp_path / "home"), "--config", str(path), *line.split())
    assert_fails(said, 1, what)


def test_a_configuration_inside_a_vault_is_refused(studio: Studio) -> None:
    path = studio.vault / "config.toml"
    path.write_text("[review]\nallow_headless = true\n", "utf-8")
    for line in ("review list", "memory list", "config init"):
        said = studio.call("--config", str(path), *line.split())
        assert_fails(said, 1, "lies inside a vault", "Move it into the home")


def ledger_of(studio: Studio) -> Path:
    (path,) = studio.home.glob("state/*/*/ledger.sqlite")
    return path


def manifest_of(studio: Studio) -> Path:
    return ledger_of(studio).with_name("manifest.json")


def registry_of(studio: Studio) -> Path:
    return studio.home / "vaults.json"


DAMAGES = [b"", b"\x00\xff nonsense " * 400, b'{"version": 1, "vaults": [{"id": 7}]}']
READERS = ["review list", "review show", "ledger verify", "status", "morning-review"]


@pytest.mark.parametrize("damage", DAMAGES[1:])
@pytest.mark.parametrize("line", READERS)
@pytest.mark.parametrize("file", [ledger_of, registry_of])
def test_a_damaged_file_is_named_and_left_as_it_is(
    studio: Studio, file: Callable[[Studio], Path], line: str, damage: bytes
) -> None:
    path = file(studio)
    path.write_bytes(damage)
    for beside in ("-wal", "-shm"):
        # What SQLite has not moved into the file yet would hide the damage.
        path.with_name(path.name + beside).unlink(missing_ok=True)
    assert_fails(studio.call(*line.split()), 1, path.name)
    assert path.read_bytes() == damage


@pytest.mark.parametrize("damage", [*DAMAGES, b"[]", b"null", b'{"version": 99}'])
def test_a_damaged_manifest_is_named_or_made_anew(studio: Studio, damage: bytes) -> None:
    path = manifest_of(studio)
    path.write_bytes(damage)
    said = studio.call("morning-review")
    if said.code:
        assert_fails(said, 1, "manifest")
    else:
        assert "Nothing new" in said.out


def test_a_ledger_whose_chain_is_broken_applies_nothing(studio: Studio) -> None:
    studio.allow_headless()
    item = studio.item("note_import_candidate")
    by = ("--approver", "Mirjam")
    decided = studio.call("review", "approve", studio.bundle, "--items", item["id"], *by)
    assert decided.code == 0
    ledger = sqlite3.connect(ledger_of(studio))
    for (name,) in ledger.execute(
        "select name from sqlite_master where type = 'trigger'"
    ).fetchall():
        ledger.execute(f"drop trigger {name}")
    columns = [row[1] for row in ledger.execute("pragma table_info(events)")]
    assert "at" in columns
    ledger.execute("update events set at = at + 1 where rowid = 1")
    ledger.commit()
    ledger.close()
    bundle = studio.call("--json", "ledger", "verify")
    assert (bundle.code, bundle.error["type"]) == (1, "LedgerError")
    (note,) = studio.vault.glob("00-system/*/review-bundles/*.md")
    assert_fails(studio.call("review", "apply", note.stem), 1, "chain")


def test_a_damaged_engine_is_named(studio: Studio) -> None:
    for path in studio.home.glob("memory/main/memories.lance/**/*"):
        if path.is_file():
            path.write_bytes(b"nonsense")
    for line in ("memory list", "memory recall glaze", "status", "memory store x"):
        assert_fails(studio.call(*line.split()), 1, "main")
    assert studio.call("memory", "list", "--agent", "scout").code == 0


def test_a_vault_that_is_gone_is_named(studio: Studio) -> None:
    shutil.move(studio.vault, studio.vault.with_name("elsewhere"))
    for line in ("review list", "morning-review", "status"):
        assert_fails(studio.call(*line.split()), 1, "vault_path", "Check the spelling")
    assert studio.call("memory", "list").code == 0
    moved = ("init", "--vault", str(studio.vault.with_name("elsewhere")))
    assert_fails(studio.call(*moved), 1, "--moved-from")
    assert studio.call(*moved, "--moved-from", str(studio.vault)).code == 0
    assert studio.bundle


def test_another_folder_in_place_of_the_vault_is_refused(studio: Studio) -> None:
    shutil.move(studio.vault, studio.vault.with_name("elsewhere"))
    studio.vault.mkdir()
    assert_fails(studio.call("morning-review"), 1, "another folder", "--moved-from")


def without_privileges() -> list[str]:
    """Begin a command with what takes from root the right to pass over permissions."""
    if sys.platform != "win32" and os.getuid() != 0:
        return []
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


permissions = pytest.mark.skipif(
    sys.platform == "win32" or not all(map(shutil.which, without_privileges()[:1])),
    reason="permissions bind nobody here: root without setpriv, or Windows",
)


def plainly(studio: Studio, line: str) -> Said:
    return process("--home", str(studio.home), *line.split(), before=without_privileges())


@permissions
def test_a_vault_without_permission_is_named(studio: Studio) -> None:
    studio.vault.chmod(0)
    for line in ("review show", "morning-review"):
        assert_fails(plainly(studio, line), 1, "ermission denied")
    studio.vault.chmod(0o700)


@permissions
def test_a_note_without_permission_does_not_stop_the_morning(studio: Studio) -> None:
    next(studio.vault.glob("People/*.md")).chmod(0)
    assert plainly(studio, "morning-review").code == 0


@permissions
def test_a_memory_answers_though_its_note_cannot_be_read(studio: Studio) -> None:
    studio.allow_headless()
    item = studio.item("note_import_candidate")
    by = ("--items", item["id"], "--approver", "Mirjam")
    studio.json("review", "approve", studio.bundle, *by)
    studio.json("review", "apply", studio.bundle)
    path = item["target"].removeprefix("note:").rpartition(":")[0]
    (studio.vault / path).chmod(0)
    said = plainly(studio, f"--json memory recall {item['shown'].split()[0]}")
    assert said.code == 0
    states = [h["source"]["state"] for h in said.json["hits"] if h.get("source", {}).get("sha256")]
    assert set(states) <= {"unchecked"}


@permissions
def test_a_read_only_home_is_named(studio: Studio) -> None:
    folders = [studio.home, *(path for path in studio.home.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    for line in ("memory store kiln", "morning-review"):
        assert_fails(plainly(studio, line), 1, str(studio.home))
    for folder in folders:
        folder.chmod(0o700)
