"""Whose the managed blocks are, and taking over those of another machine."""

from __future__ import annotations

import json
import platform
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Said, assert_fails
from tests.cli.studio import REVIEW_ROOT, Studio
from tests.cli.terminal import Terminal
from vault_tools.core.block import format_block

pytestmark = pytest.mark.slow

OTHER = "the-old-laptop"


def ledger_of(studio: Studio) -> Path:
    (found,) = studio.home.glob("state/*/*/ledger.sqlite")
    return found


def forget_blocks(studio: Studio) -> None:
    """Restore the ledger of before the notes were written, as far as it knows blocks."""
    with sqlite3.connect(ledger_of(studio)) as db:
        db.execute("delete from blocks")
    db.close()


def events(studio: Studio) -> list[dict[str, Any]]:
    with sqlite3.connect(ledger_of(studio)) as db:
        rows = db.execute("select body from events where kind = 'adopted' order by seq").fetchall()
    db.close()
    return [json.loads(row[0]) for row in rows]


def owner(studio: Studio) -> str:
    return str(json.loads((studio.home / "vaults.json").read_bytes())["vaults"][0]["host"])


def belongs_elsewhere(studio: Studio) -> None:
    registry = studio.home / "vaults.json"
    known = json.loads(registry.read_bytes())
    known["vaults"][0]["host"] = OTHER
    registry.write_text(json.dumps(known), "utf-8")


@pytest.fixture
def foreign(studio: Studio) -> tuple[Studio, str, str]:
    """A note of another machine: two blocks that this ledger never wrote."""
    one, two = (format_block(name, "main", "", f"Body of {name}.\n") for name in ("one", "two"))
    path = studio.note.with_name("restored.md")
    path.write_text(f"Mine.\n\n{one}\n\n{two}\n", "utf-8")
    return studio, path.relative_to(studio.vault).as_posix(), path.read_text("utf-8")


def states(studio: Studio, *place: str) -> dict[str, str]:
    return {one["id"]: one["state"] for one in studio.json("blocks", "list", *place)["blocks"]}


def test_every_block_is_listed_with_its_state(foreign: tuple[Studio, str, str]) -> None:
    studio, path, text = foreign
    found = states(studio)
    assert (found.pop("one"), found.pop("two")) == ("foreign", "foreign")
    assert set(found.values()) == {"ours"}
    assert len(found) > 2
    assert states(studio, path) == {"one": "foreign", "two": "foreign"}
    (studio.vault / path).write_text(text + '\n<!-- plur1bus:managed:start id="x" -->\n', "utf-8")
    said = studio.call("blocks", "list")
    assert said.code == 0
    assert f"closed   {path}: " in said.out
    assert "never closed" in said.out


def test_an_edited_block_is_listed_as_edited(studio: Studio) -> None:
    text = studio.note.read_text("utf-8")
    end = "\n<!-- plur1bus:managed:end -->"
    studio.note.write_text(text.replace(end, f"\nA word of mine.{end}", 1), "utf-8")
    assert sorted(set(states(studio).values())) == ["edited", "ours"]


def test_a_person_adopts_what_they_were_shown(foreign: tuple[Studio, str, str]) -> None:
    studio, path, text = foreign
    with Terminal(studio, "blocks", "adopt", path) as terminal:
        assert "  | Body of one." in terminal.asked("Adopt one? [y/N]: ")
        terminal.types("y")
        assert "  | Body of two." in terminal.asked("Adopt two? [y/N]: ")
        terminal.types("")
        assert terminal.ended() == 0
        assert "two: you said no" in terminal.said
    assert states(studio, path) == {"one": "ours", "two": "foreign"}
    (event,) = events(studio)
    assert [one["target"] for one in event["blocks"]] == [f"block:{path}#one"]
    assert event["approver"]["way"] == "terminal"
    assert (studio.vault / path).read_text("utf-8") == text
    assert studio.call("ledger", "verify").code == 0


def test_without_a_terminal_nothing_is_adopted(foreign: tuple[Studio, str, str]) -> None:
    studio, path, _ = foreign
    before = studio.everything()
    for extra in ((), ("--yes",), ("--approver", "Mirjam")):
        assert_fails(studio.call("blocks", "adopt", path, *extra), 4, "person at a terminal")
    assert studio.everything() == before


def test_an_operator_may_adopt_headless_under_a_name(foreign: tuple[Studio, str, str]) -> None:
    studio, path, _ = foreign
    studio.allow_headless()
    assert studio.call("blocks", "adopt", path).code == 4
    adopt = ("blocks", "adopt", str(studio.vault / path), "--approver", "Mirjam")
    said = studio.json(*adopt, "--items", "two", "--dry-run")
    assert (said["adopted"], said["dryRun"]) == ([{"path": path, "id": "two"}], True)
    assert states(studio, path)["two"] == "foreign"
    assert studio.json(*adopt, "--items", "two")["adopted"] == [{"path": path, "id": "two"}]
    assert states(studio, path) == {"one": "foreign", "two": "ours"}
    again = studio.json(*adopt)
    assert [one["id"] for one in again["adopted"]] == ["one"]
    assert again["unchanged"] == [{"path": path, "id": "two", "reason": "it is ours already"}]
    assert [event["approver"]["name"] for event in events(studio)] == ["Mirjam", "Mirjam"]


def test_an_edited_foreign_block_is_refused(foreign: tuple[Studio, str, str]) -> None:
    studio, path, text = foreign
    studio.allow_headless()
    (studio.vault / path).write_text(text.replace("Body of one.", "Another body."), "utf-8")
    said = studio.call("--json", "blocks", "adopt", path, "--approver", "Mirjam")
    assert said.code == 3
    assert [one["id"] for one in said.json["adopted"]] == ["two"]
    assert "edited" in said.json["unchanged"][0]["reason"]
    assert states(studio, path) == {"one": "foreign", "two": "ours"}


def refused(studio: Studio, *arguments: str) -> Said:
    return studio.call("blocks", "adopt", *arguments, "--dry-run")


def test_a_place_that_is_none_is_refused(foreign: tuple[Studio, str, str]) -> None:
    studio, path, _ = foreign
    assert_fails(refused(studio, "Home.md"), 1, "outside the review root")
    assert_fails(refused(studio, "/etc"), 1, "outside the vault")
    assert_fails(refused(studio, f"{path}/../../../../x.md"), 1)
    assert_fails(refused(studio, path.replace("restored", "none")), 1, "there is no note")
    assert_fails(refused(studio, path, "--items", "three"), 1, "three")
    assert_fails(refused(studio), 2, "--take-over")


def test_taking_over_makes_this_computer_the_owner(studio: Studio) -> None:
    belongs_elsewhere(studio)
    assert_fails(studio.call("blocks", "list"), 1, OTHER)
    assert_fails(studio.call("blocks", "adopt", "--take-over"), 4)
    said = studio.json("blocks", "adopt", "--take-over", "--dry-run")
    assert (said["takenOverFrom"], owner(studio)) == (OTHER, OTHER)
    here = platform.node()
    question = f"Make this computer ({here}) the owner of the review root, not {OTHER}? [y/N]: "
    for answer, code in (("n", 4), ("y", 0)):
        with Terminal(studio, "blocks", "adopt", "--take-over") as terminal:
            terminal.asked(question)
            terminal.types(answer)
            assert terminal.ended() == code
    assert owner(studio) == here
    assert [event["formerHost"] for event in events(studio)] == [OTHER]
    assert set(states(studio).values()) == {"ours"}
    with Terminal(studio, "blocks", "adopt", "--take-over") as terminal:
        assert terminal.ended() == 0
        assert "Nothing to adopt." in terminal.said


def test_init_knows_the_blocks_again_that_stand_as_we_would_render_them(studio: Studio) -> None:
    forget_blocks(studio)
    assert set(states(studio).values()) == {"foreign"}
    text = studio.note.read_text("utf-8")
    end = "\n<!-- plur1bus:managed:end -->"
    studio.note.write_text(text.replace(end, f"\nA word of mine.{end}", 1), "utf-8")
    count = studio.json("init", "--vault", str(studio.vault))["adoptedBlocks"]
    found = states(studio)
    assert count == len(found) - 1
    assert sorted(found.values()) == ["foreign", *["ours"] * count]
    (event,) = events(studio)
    assert event["approver"] is None
    assert studio.json("init", "--vault", str(studio.vault))["adoptedBlocks"] == 0


def test_words_of_a_person_stay_when_blocks_change_hands(
    foreign: tuple[Studio, str, str],
) -> None:
    studio, path, text = foreign
    studio.allow_headless()
    studio.json("blocks", "adopt", REVIEW_ROOT + "/plur1bus", "--approver", "Mirjam")
    assert (studio.vault / path).read_text("utf-8") == text
    assert set(states(studio).values()) == {"ours"}
