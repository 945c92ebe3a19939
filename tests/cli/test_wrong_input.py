"""Wrong input gets one clear message, a way out and its exit code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.command import assert_fails, call, process
from tests.cli.studio import Studio

UUID = "00000000-0000-4000-8000-000000000000"
MEGABYTE = b"kiln and glaze " * 70_000

IN_A_STUDIO = [
    ("review show rb-2020-01-01-0000", 1, "there is no bundle", "review list"),
    ("review show ../../etc/passwd", 1, "there is no bundle", "review list"),
    ("review apply rb-2020-01-01-0000", 1, "there is no bundle", "review list"),
    ("review undo rb-2020-01-01-0000", 1, "there is no bundle", "review list"),
    ("review refresh rb-2020-01-01-0000", 1, "there is no bundle", "review list"),
    ("review show BUNDLE --item rbi-none", 1, "rbi-none", "review show"),
    ("review show BUNDLE --item all", 1, "no item all", "review show"),
    ("review approve BUNDLE --items rbi-a,rbi-b", 1, "rbi-a, rbi-b", "Nothing was changed"),
    ("review approve BUNDLE --items ,", 2, "--items names nothing", "low-risk"),
    ("review approve BUNDLE", 2, "--items", "--help"),
    ("review apply BUNDLE", 4, "nothing in", "review approve"),
    ("review apply BUNDLE --force", 2, "No such option", "--help"),
    ("review apply", 2, "Missing argument", "--help"),
    ("review prepare --profile reckless", 2, "reckless", "adversarial"),
    (f"memory show {UUID}", 1, UUID, "memory list"),
    (f"memory history {UUID}", 1, UUID, "memory list"),
    ("memory show x", 1, "there is no memory x", "memory list"),
    ("memory store", 2, "Missing argument", "--help"),
    ("memory store x --importance nan", 2, "nan", "--help"),
    ("memory store x --importance 2", 2, "0<=x<=1", "--help"),
    ("memory store x --category secret", 2, "secret", "preference"),
    ("memory recall x --min-score nan", 2, "nan", "--help"),
    ("memory recall x --limit 0", 2, "1<=x<=100", "--help"),
    ("memory recall", 2, "Missing argument", "--help"),
    ("memory forget", 2, "either an id or --query", "--help"),
    ("memory forget x --query y", 2, "either an id or --query", "--help"),
    ("memory list --agent ../x", 2, "'../x' is not an agent id", "a-z"),
    ("memory list --agent Main", 2, "'Main' is not an agent id", "a-z"),
    ("memory list --all-agents", 2, "terminal", "--agent"),
    ("init --vault nowhere", 1, "nowhere", "Check the spelling"),
    ("init --moved-from nowhere", 1, "nowhere", "Registered are"),
    ("memory list --workspace nowhere", 1, "nowhere", "Check the spelling"),
    ("memory list --config nowhere.toml", 1, "nowhere.toml", "config init"),
    ("config init", 1, "exists already", "Edit it"),
]


@pytest.mark.parametrize(("line", "code", "what", "way_out"), IN_A_STUDIO)
def test_wrong_arguments(studio: Studio, line: str, code: int, what: str, way_out: str) -> None:
    words = line.split()
    if "BUNDLE" in words:
        words[words.index("BUNDLE")] = studio.bundle
    before = studio.everything()
    assert_fails(studio.call(*words), code, what, way_out)
    assert studio.everything() == before


TEXTS = [
    (("memory", "recall", ""), b"", 2, "empty"),
    (("memory", "recall", "  \n"), b"", 2, "empty"),
    (("memory", "recall", "-"), b"", 2, "empty"),
    (("memory", "recall", "-"), MEGABYTE, 2, "the limit is"),
    (("memory", "recall", "-"), b"glaze \xff\xfe", 2, "not UTF-8"),
    (("memory", "store", ""), b"", 2, "empty"),
    (("memory", "store", "\x00"), b"", 2, "empty"),
    (("memory", "store", "-"), b"", 2, "empty"),
    (("memory", "store", "-"), MEGABYTE, 2, "the limit is"),
    (("memory", "store", "-"), b"\xe4\xf6\xfc", 2, "not UTF-8"),
    (("memory", "store", "caf\udce9"), b"", 2, "not UTF-8"),
    (("memory", "forget", "--query", "   "), b"", 2, "empty"),
    (("memory", "store", "x", "--evidence-quote", "y" * 9999), b"", 2, "the limit is"),
]


@pytest.mark.parametrize(("words", "stdin", "code", "what"), TEXTS)
def test_texts_that_are_none(
    tmp_path: Path, words: tuple[str, ...], stdin: bytes, code: int, what: str
) -> None:
    home = ("--home", str(tmp_path / "home"))
    assert_fails(call(*home, *words, stdin=stdin), code, what)
    assert call(*home, "memory", "list", "--json").json["memories"] == []


def test_bytes_that_are_no_text_on_the_command_line(tmp_path: Path) -> None:
    said = process("--home", str(tmp_path / "home"), "memory", "show", "\udcff\udcfe")
    assert_fails(said, 1, "there is no memory")


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that is in use")
def test_standing_in_a_deleted_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for line in ("status", "config init", "demo"):
        said = call("--home", str(tmp_path / "home"), *line.split())
        assert_fails(said, 1, "does not exist any more", "cd")


REVIEWING = ["review list", "review prepare", "morning-review", "ledger verify"]


@pytest.mark.parametrize("line", REVIEWING)
def test_without_a_vault_the_review_names_init(tmp_path: Path, line: str) -> None:
    said = call("--home", str(tmp_path / "home"), *line.split())
    assert_fails(said, 1, "there is no vault here", "vault-tools init")


@pytest.mark.parametrize("line", REVIEWING)
def test_in_a_vault_that_was_not_set_up_the_review_names_init(tmp_path: Path, line: str) -> None:
    (tmp_path / "Notes" / ".obsidian").mkdir(parents=True)
    vault = ("--vault", str(tmp_path / "Notes"))
    said = call("--home", str(tmp_path / "home"), *vault, *line.split())
    assert_fails(said, 1, "not switched on for the vault 'Notes'", "vault-tools init")
    assert [path.name for path in (tmp_path / "Notes").rglob("*")] == [".obsidian"]


def test_memories_work_without_a_vault(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path / "home"))
    assert call(*home, "memory", "store", "The kiln is serviced in March").code == 0
    assert call(*home, "memory", "recall", "when is the kiln serviced").code == 0
    said = call(*home, "status", "--json")
    assert said.json["agents"] == [{"id": "main", "memories": 1}]
    assert said.json["vault"] is None


def test_a_wider_scope_without_a_vault_is_stored_private_and_said(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path / "home"))
    said = call(*home, "memory", "store", "The kiln is red", "--scope", "workspace_shared")
    assert said.code == 0
    assert "It stays private" in said.err
    assert "vault-tools init" in said.err
    (row,) = call(*home, "memory", "list", "--json").json["memories"]
    assert row["scope"] == "agent_private"


def test_init_says_what_it_did_and_refuses_a_second_vault(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path / "home"))
    for name in ("One", "Two"):
        (tmp_path / name / ".obsidian").mkdir(parents=True)
    (tmp_path / "One" / "note.md").write_text("We decided to wait.\n", "utf-8")
    dry = call(*home, "init", "--vault", str(tmp_path / "One"), "--dry-run")
    assert dry.code == 0
    assert not (tmp_path / "One" / "00-system").exists()
    assert not (tmp_path / "home" / "config.toml").exists()
    done = call(*home, "init", "--vault", str(tmp_path / "One"), "--json")
    assert (done.code, done.json["notes"]) == (0, 1)
    assert (tmp_path / "One" / "00-system").is_dir()
    second = call(*home, "init", "--vault", str(tmp_path / "Two"))
    assert_fails(second, 1, "serves another vault already", "--home DIR")


def test_a_home_inside_the_vault_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    said = call("--home", str(tmp_path / ".home"), "init", "--vault", str(tmp_path))
    assert_fails(said, 1, "lies inside the vault", "--home DIR")
    assert not (tmp_path / ".home" / "vaults.json").exists()


def test_a_demo_wants_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", "utf-8")
    assert_fails(call("demo", "--into", str(tmp_path)), 2, "not empty", "does not exist yet")
    assert_fails(call("demo", "--into", str(tmp_path / "file")), 2, "not a folder")
    assert {path.name for path in tmp_path.iterdir()} == {"person", "file"}


def test_the_demo_leaves_the_persons_own_configuration_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('workspace_key = "studio"\n', "utf-8")
    monkeypatch.setenv("VAULT_TOOLS_CONFIG", str(mine))
    monkeypatch.setenv("VAULT_TOOLS_AGENT", "stranger")
    said = call("demo", "--into", str(tmp_path / "demo"))
    assert said.code == 0
    assert f"--config {tmp_path / 'demo' / 'home' / 'config.toml'}" in said.out
    assert mine.read_text("utf-8") == 'workspace_key = "studio"\n'


def test_config_init_writes_where_it_is_told(tmp_path: Path) -> None:
    place = tmp_path / "own" / "config.toml"
    named = ("--home", str(tmp_path / "home"), "--config", str(place))
    assert call(*named, "config", "init", "--dry-run").code == 0
    assert not place.exists()
    assert call(*named, "config", "init").code == 0
    assert call(*named, "config", "show").code == 0
    assert_fails(call(*named, "config", "init"), 1, "exists already")
