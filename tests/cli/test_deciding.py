"""Deciding takes a person: questions, answers, and what refuses to be one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.command import Said, assert_fails
from tests.cli.studio import Studio
from tests.cli.terminal import Terminal
from vault_tools.config import Options, settings
from vault_tools.core.approval import Approver, Way
from vault_tools.workspace import Workspace

VERBS = ["approve", "reject", "undo"]


def decide(studio: Studio, verb: str, item: str, *more: str) -> Said:
    return studio.call("review", verb, studio.bundle, "--items", item, *more)


def approver(studio: Studio, item: str) -> Approver:
    """Read who decided, and how, from the ledger."""
    workspace = Workspace(settings(Options(home=studio.home), {}, studio.vault))
    approval = workspace.ledger.approval(item)
    assert approval is not None
    return approval.approver


@pytest.mark.parametrize("answer", ["y", "yes", "ja"])
def test_yes_approves_an_item_of_medium_risk(studio: Studio, answer: str) -> None:
    item = studio.item("note_import_candidate")
    with Terminal(studio, "review", "approve", studio.bundle, "--items", item["id"]) as terminal:
        shown = terminal.asked(f"Approve {item['id']}? [y/N]: ")
        assert item["shown"] in shown
        assert "\x1b" not in shown
        terminal.types(answer)
        assert terminal.ended() == 0
    assert studio.states()[item["id"]] == "approved"
    assert approver(studio, item["id"]).way is Way.TERMINAL


@pytest.mark.parametrize("answer", ["n", "", "yep"])
def test_any_other_answer_leaves_the_item_as_it_is(studio: Studio, answer: str) -> None:
    item = studio.item("note_import_candidate")
    with Terminal(studio, "review", "approve", studio.bundle, "--items", item["id"]) as terminal:
        terminal.asked(f"Approve {item['id']}? [y/N]: ")
        terminal.types(answer)
        assert terminal.ended() == 0
        assert "you said no" in terminal.said
    assert studio.states()[item["id"]] == "pending"


def test_three_wrong_digests_end_with_exit_4_and_change_nothing(studio: Studio) -> None:
    item, before = studio.item("memory_promotion"), studio.everything()
    with Terminal(studio, "review", "approve", studio.bundle, "--items", item["id"]) as terminal:
        for wrong in ("y", "00000000", item["id"]):
            terminal.asked(f"Type the digest (8 characters) to approve {item['id']}: ")
            terminal.types(wrong)
        assert terminal.ended() == 4
        assert "was not typed" in terminal.said
    assert studio.everything() == before


def test_the_third_try_may_be_the_right_one(studio: Studio) -> None:
    item = studio.item("tombstone")
    with Terminal(studio, "review", "approve", studio.bundle, "--items", item["id"]) as terminal:
        for typed in ("y", "nonsense", item["digest"][:8].upper()):
            terminal.asked(f"Type the digest (8 characters) to approve {item['id']}: ")
            terminal.types(typed)
        assert terminal.ended() == 0
    assert studio.states()[item["id"]] == "approved"


@pytest.mark.parametrize("no", ["", "n", "no", "nein"])
def test_a_no_at_the_digest_passes_on_to_the_next_item(studio: Studio, no: str) -> None:
    first, second = studio.item("memory_promotion"), studio.item("note_import_candidate")
    ids = f"{first['id']},{second['id']}"
    with Terminal(studio, "review", "approve", studio.bundle, "--items", ids) as terminal:
        terminal.asked(f"Type the digest (8 characters) to approve {first['id']}: ")
        terminal.types(no)
        terminal.asked(f"Approve {second['id']}? [y/N]: ")
        terminal.types("y")
        assert terminal.ended() == 0
    states = studio.states()
    assert (states[first["id"]], states[second["id"]]) == ("pending", "approved")


def test_the_end_of_the_input_is_no_answer(studio: Studio) -> None:
    item, before = studio.item("note_import_candidate"), studio.everything()
    with Terminal(studio, "review", "approve", studio.bundle, "--items", item["id"]) as terminal:
        terminal.asked(f"Approve {item['id']}? [y/N]: ")
        terminal.ends_input()
        assert terminal.ended() == 4
    assert studio.everything() == before


def test_every_answer_is_saved_at_once(studio: Studio) -> None:
    first, second = studio.items("note_import_candidate")[:2]
    ids = f"{first['id']},{second['id']}"
    with Terminal(studio, "review", "approve", studio.bundle, "--items", ids) as terminal:
        terminal.asked(f"Approve {first['id']}? [y/N]: ")
        terminal.types("y")
        terminal.asked(f"Approve {second['id']}? [y/N]: ")
        terminal.ends_input()
        assert terminal.ended() == 4
        assert f"{first['id']} was approved" in terminal.said
    states = studio.states()
    assert (states[first["id"]], states[second["id"]]) == ("approved", "pending")
    assert studio.json("review", "show", studio.bundle)["noteState"] == "intact"


def test_yes_never_stands_in_for_a_person(studio: Studio) -> None:
    item = studio.item("note_import_candidate")
    with Terminal(
        studio, "--yes", "review", "approve", studio.bundle, "--items", item["id"]
    ) as terminal:
        terminal.asked(f"Approve {item['id']}? [y/N]: ")
        terminal.types("n")
        assert terminal.ended() == 0
    assert_fails(decide(studio, "approve", item["id"], "--yes"), 4, "terminal")
    assert studio.states()[item["id"]] == "pending"


@pytest.mark.parametrize("verb", VERBS)
def test_without_a_terminal_nothing_is_decided(studio: Studio, verb: str) -> None:
    item, before = studio.item("note_import_candidate"), studio.everything()
    said = decide(studio, verb, item["id"], "--approver", "Mirjam")
    assert_fails(said, 4, "wants a person at a terminal", "review.allow_headless")
    assert studio.everything() == before


def test_headless_wants_a_name_and_the_ledger_keeps_it(studio: Studio) -> None:
    studio.allow_headless()
    item = studio.item("memory_promotion")
    for nameless in ((), ("--approver", " ")):
        assert_fails(decide(studio, "approve", item["id"], *nameless), 4, "--approver NAME")
    assert decide(studio, "approve", item["id"], "--approver", "Mirjam").code == 0
    by = approver(studio, item["id"])
    assert (by.name, by.way) == ("Mirjam", Way.HEADLESS)


def test_a_headless_round_trip(studio: Studio) -> None:
    studio.allow_headless()
    approved, rejected = studio.items("note_import_candidate")[:2]
    by = ("--approver", "Mirjam")
    assert decide(studio, "reject", rejected["id"], *by).code == 0
    assert decide(studio, "approve", approved["id"], *by).code == 0
    assert studio.call("review", "apply", studio.bundle).code == 0
    refused = decide(studio, "undo", f"{approved['id']},{rejected['id']}", *by)
    assert refused.code == 3
    assert f"{approved['id']} taken back" in refused.out
    assert f"{rejected['id']} refused: it is not applied" in refused.out
    states = studio.states()
    assert (states[approved["id"]], states[rejected["id"]]) == ("undone", "rejected")


def test_json_asks_on_stderr_and_answers_on_stdout(studio: Studio) -> None:
    item = studio.item("note_import_candidate")
    arguments = ("--json", "review", "approve", studio.bundle, "--items", item["id"])
    with Terminal(studio, *arguments) as terminal:
        terminal.asked(f"Approve {item['id']}? [y/N]: ")
        terminal.types("y")
        assert terminal.ended() == 0
        assert f'"changed": ["{item["id"]}"]' in terminal.said


def test_ticks_and_a_status_in_the_note_approve_nothing(studio: Studio) -> None:
    studio.note.write_text(
        studio.note.read_text("utf-8")
        .replace("status: pending_user_review", "status: approved")
        .replace("[ ]", "[x]")
        + "\n- [x] approved\n",
        "utf-8",
    )
    rows, note = studio.rows(), studio.note.read_bytes()
    assert_fails(studio.call("review", "apply", studio.bundle), 4, "never an approval")
    assert studio.rows() == rows
    assert studio.note.read_bytes() == note
    assert set(studio.states().values()) <= {"pending", "blocked"}


def edit(studio: Studio, item: dict[str, Any]) -> None:
    text = studio.note.read_text("utf-8")
    assert item["title"] in text
    edited = text.replace(item["title"], "Something nicer")
    studio.note.write_text(f"{edited}\nMy own thoughts.\n", "utf-8")


def test_an_edited_note_cannot_be_approved_until_it_is_rendered_anew(studio: Studio) -> None:
    studio.allow_headless()
    item = studio.item("note_import_candidate")
    edit(studio, item)
    by = ("--approver", "Mirjam")
    assert studio.json("review", "show")["noteState"] == "edited"
    assert_fails(
        decide(studio, "approve", item["id"], *by), 4, "is edited", "vault-tools review refresh"
    )
    previewed = studio.call("review", "refresh", studio.bundle, "--dry-run")
    assert "Something nicer" in studio.note.read_text("utf-8")
    refreshed = studio.call("review", "refresh", studio.bundle)
    for said in (previewed, refreshed):
        assert said.code == 0
        assert any(
            line[0] == "-" and "Something nicer" in line for line in said.out.split("\n")[1:]
        )
        assert "My own thoughts" not in [line.strip("+-") for line in said.out.split("\n")]
    text = studio.note.read_text("utf-8")
    assert "Something nicer" not in text
    assert text.endswith("My own thoughts.\n")
    assert decide(studio, "approve", item["id"], *by).code == 0


def test_an_edited_note_is_reported_by_apply_and_strict_applies_nothing(studio: Studio) -> None:
    studio.allow_headless()
    item = studio.item("note_import_candidate")
    assert decide(studio, "approve", item["id"], "--approver", "Mirjam").code == 0
    edit(studio, item)
    assert_fails(studio.call("review", "apply", studio.bundle, "--strict"), 4, "edited")
    said = studio.call("review", "apply", studio.bundle)
    assert said.code == 0
    assert "The bundle note was edited" in said.out
    assert "Something nicer" in studio.note.read_text("utf-8")


def test_a_deleted_note_is_written_again(studio: Studio) -> None:
    text = studio.note.read_bytes()
    path = studio.note
    path.unlink()
    assert studio.json("review", "show")["noteState"] == "missing"
    assert studio.call("review", "refresh", studio.bundle).code == 0
    assert path.read_bytes() == text


def test_all_names_what_it_cannot_approve(studio: Studio) -> None:
    studio.allow_headless()
    said = decide(studio, "approve", "all", "--approver", "Mirjam", "--dry-run", "--json")
    assert said.code == 0
    assert said.json["changed"]
    assert all(one["reason"] for one in said.json["unchanged"])
    assert set(studio.states().values()) <= {"pending", "blocked"}
