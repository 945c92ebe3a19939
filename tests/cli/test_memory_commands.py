"""`vault-tools memory …` from the first store to the last forget."""

from __future__ import annotations

import random
import string
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Said, assert_fails, call
from tests.cli.studio import Studio

LATER = "We decided to fire the large kiln on Thursdays"


class Engine:
    """A home of its own without any vault."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def call(self, *words: str, stdin: bytes = b"") -> Said:
        return call("--home", str(self.home), "memory", *words, stdin=stdin)

    def json(self, *words: str, stdin: bytes = b"") -> Any:
        said = self.call("--json", *words, stdin=stdin)
        assert said.code == 0, said
        return said.json

    def rows(self) -> list[Any]:
        return list(self.json("list", "--all-states")["memories"])

    def files(self) -> dict[str, bytes]:
        return {
            str(path): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and "cache" not in path.parts
        }


@pytest.fixture
def engine(demo: Studio, tmp_path: Path) -> Engine:
    home = tmp_path / "home"
    home.mkdir()
    (home / "cache").symlink_to(demo.home / "cache")
    return Engine(home)


def made_key() -> str:
    letters = random.Random(7).choices(string.ascii_letters + string.digits, k=36)
    return "ghp_" + "".join(letters)


def test_what_is_stored_is_recalled_listed_and_shown(engine: Engine) -> None:
    stored = engine.json("store", LATER, "--category", "decision", "--importance", "0.9")
    assert (stored["action"], stored["category"]) == ("stored", "decision")
    (hit,) = engine.json("recall", "when do we fire the kiln?", "--full-text")["hits"]
    assert (hit["id"], hit["text"], hit["trust"]) == (stored["id"], LATER, "untrusted")
    (row,) = engine.rows()
    assert row["id"] == stored["id"]
    assert (row["importance"], row["scope"]) == (0.9, "agent_private")
    assert engine.json("show", stored["id"].upper())["memories"] == [row]
    (change,) = engine.json("history", stored["id"].upper())["memories"]
    assert change["after"]["rowHash"] == row["rowHash"]


def test_text_may_come_from_standard_input(engine: Engine) -> None:
    stored = engine.json("store", "-", stdin="Der Ofen zieht nach: 40 °C\n".encode())
    assert engine.rows()[0]["text"] == "Der Ofen zieht nach: 40 °C"
    hits = engine.json("recall", "-", stdin=b"Wie stark zieht der Ofen nach?")["hits"]
    assert [hit["id"] for hit in hits] == [stored["id"]]


def test_a_dry_store_shows_the_masked_text_and_writes_nothing(engine: Engine) -> None:
    engine.json("store", "The kiln is serviced in March")
    before = engine.files()
    said = engine.call("store", f"The token is {made_key()}", "--dry-run")
    assert said.code == 0
    assert said.out.startswith("Would store [")
    assert made_key() not in said.out
    assert "A secret in it was masked." in said.out
    document = engine.json("store", "We decided to wait", "--dry-run")
    assert (document["action"], document["id"], document["dryRun"]) == ("stored", None, True)
    assert (document["category"], document["text"]) == ("decision", "We decided to wait")
    again = engine.json("store", "The kiln is serviced in March.", "--dry-run")
    assert again["action"] == "rejected_duplicate"
    assert again["duplicateOf"] == engine.rows()[0]["id"]
    assert engine.files() == before


def test_a_secret_is_never_stored(engine: Engine) -> None:
    assert engine.json("store", f"The token is {made_key()}")["redacted"] is True
    assert made_key() not in str(engine.rows())


def test_the_same_text_is_stored_once(engine: Engine) -> None:
    first = engine.json("store", LATER)
    second = engine.json("store", f"{LATER}.")
    assert (second["action"], second["duplicateOf"]) == ("rejected_duplicate", first["id"])
    assert len(engine.rows()) == 1


def test_a_dry_forget_tells_and_a_real_one_forgets(engine: Engine) -> None:
    stored = engine.json("store", LATER)
    before = engine.files()
    for target in ([stored["id"]], ["--query", "fire the large kiln on Thursdays"]):
        dry = engine.call("forget", *target, "--dry-run")
        assert dry.code == 0
        assert dry.out.startswith(f"Would forget: {stored['id']}")
    assert engine.files() == before
    assert engine.json("forget", stored["id"])["action"] == "forgotten"
    assert engine.json("recall", LATER)["hits"] == []
    assert [row["status"] for row in engine.rows()] == ["archived"]
    assert engine.json("list")["memories"] == []
    gone = engine.call("forget", stored["id"])
    assert (gone.code, gone.out) == (1, "No matching memory found.\n")


def test_an_ambiguous_query_forgets_nothing(engine: Engine) -> None:
    engine.json("store", "The small kiln is fired on Monday")
    engine.json("store", "The small kiln is fired on Tuesday")
    said = engine.call("--json", "forget", "--query", "the small kiln is fired")
    assert said.code == 3
    assert said.json["action"] == "ambiguous"
    assert len(said.json["candidates"]) == 2
    assert len(engine.json("list")["memories"]) == 2


def test_agents_do_not_see_each_other(engine: Engine) -> None:
    stored = engine.json("store", LATER)
    assert engine.json("list", "--agent", "scout")["memories"] == []
    assert engine.json("recall", LATER, "--agent", "scout")["hits"] == []
    for verb in ("show", "history"):
        assert_fails(engine.call(verb, stored["id"], "--agent", "scout"), 1, stored["id"])
    assert engine.call("forget", stored["id"], "--agent", "scout").code == 1
    assert [row["status"] for row in engine.rows()] == ["active"]


def test_what_is_trusted_is_forgotten_by_proposal_only(studio: Studio) -> None:
    row = next(
        row for row in studio.json("memory", "list")["memories"] if row["trust"] == "trusted"
    )
    dry = studio.json("memory", "forget", row["id"], "--dry-run")
    assert (dry["action"], "proposed" in dry) == ("needs_approval", False)
    asked = studio.json("memory", "forget", row["id"])
    assert asked["action"] == "needs_approval"
    assert len(asked["proposed"]) == 1
    assert studio.json("memory", "show", row["id"])["memories"] == [row]


def test_a_wider_scope_is_proposed(studio: Studio) -> None:
    stored = studio.json("memory", "store", LATER, "--scope", "workspace_shared")
    assert len(stored["proposed"]) == 1
    (row,) = studio.json("memory", "show", stored["id"])["memories"]
    assert row["scope"] == "agent_private"


def test_a_recalled_memory_names_its_note_and_whether_it_changed(studio: Studio) -> None:
    studio.allow_headless()
    item = studio.item("note_import_candidate")
    by = ("--approver", "Mirjam")
    studio.json("review", "approve", studio.bundle, "--items", item["id"], *by)
    studio.json("review", "apply", studio.bundle)
    path = item["target"].removeprefix("note:").rpartition(":")[0]

    def source() -> Any:
        hits = studio.json("memory", "recall", item["shown"], "--limit", "1")["hits"]
        return hits[0]["source"]

    assert (source()["path"], source()["state"]) == (path, "current")
    note = studio.vault / path
    note.write_text(note.read_text("utf-8").replace(item["shown"][:20], "Something else"), "utf-8")
    assert source()["state"] == "changed"
    note.unlink()
    assert source()["state"] == "missing"
