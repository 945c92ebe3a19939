"""The main job: read, approve at a terminal, apply, recall, take back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.command import process
from tests.cli.studio import Studio, own_files
from tests.cli.terminal import Terminal
from vault_tools.cli.demo import packaged_sample

pytestmark = pytest.mark.slow


def short(item: dict[str, Any]) -> str:
    return str(item["digest"])[:8]


def approve_three(studio: Studio) -> dict[str, dict[str, Any]]:
    chosen = {
        kind: studio.item(kind)
        for kind in ("note_import_candidate", "memory_promotion", "tombstone")
    }
    ids = ",".join(item["id"] for item in chosen.values())
    with Terminal(studio, "review", "approve", studio.bundle, "--items", ids) as terminal:
        for item in chosen.values():
            typed = item["risk"] in ("high", "critical")
            question = (
                f"Type the digest (8 characters) to approve {item['id']}: "
                if typed
                else f"Approve {item['id']}? [y/N]: "
            )
            terminal.asked(question)
            terminal.types(short(item) if typed else "y")
        assert terminal.ended() == 0
    return chosen


def recalled(studio: Studio, query: str) -> dict[str, Any]:
    """Ask in a process of its own: what it knows it has from disk."""
    said = process("--home", str(studio.home), "--json", "memory", "recall", query)
    assert said.code == 0, said
    return {hit["id"]: hit for hit in said.json["hits"]}


def test_a_morning_from_proposal_to_recall_and_back(studio: Studio) -> None:
    before = json.dumps(studio.rows())
    chosen = approve_three(studio)
    imported, promoted, buried = chosen.values()
    assert json.dumps(studio.rows()) == before

    applied = studio.json("review", "apply", studio.bundle)
    assert sorted(applied["applied"]) == sorted(item["id"] for item in chosen.values())
    again = studio.json("review", "apply", studio.bundle)
    assert (again["applied"], again["stale"]) == ([], [])

    path = imported["target"].removeprefix("note:").rpartition(":")[0]
    hits = recalled(studio, imported["shown"])
    sources = [hit["source"] for hit in hits.values() if hit.get("source", {}).get("path") == path]
    assert sources
    assert sources[0]["state"] == "current"
    assert sources[0]["sha256"]

    target = promoted["target"].removeprefix("memory:")
    assert recalled(studio, promoted["shown"])[target]["trust"] == "trusted"
    assert buried["target"].removeprefix("memory:") not in recalled(studio, buried["shown"])

    ids = ",".join(item["id"] for item in chosen.values())
    with Terminal(studio, "review", "undo", studio.bundle, "--items", ids) as terminal:
        for _ in chosen:
            terminal.asked_like(r"Undo rbi-\S+\? \[y/N\]: ")
            terminal.types("y")
        assert terminal.ended() == 0
    assert json.dumps(studio.rows()) == before
    assert studio.words() == own_files(packaged_sample())
    assert studio.call("ledger", "verify").code == 0


def test_a_changed_note_makes_its_import_stale(studio: Studio) -> None:
    studio.allow_headless()
    item = studio.item("note_import_candidate")
    decide = ("review", "approve", studio.bundle, "--items", item["id"], "--approver", "Mirjam")
    assert studio.call(*decide).code == 0
    path = studio.vault / item["target"].removeprefix("note:").rpartition(":")[0]
    path.write_text(path.read_text("utf-8") + "\nOne line more.\n", "utf-8")
    said = studio.call("--json", "review", "apply", studio.bundle)
    assert said.code == 3
    assert said.json["applied"] == []
    assert [one["id"] for one in said.json["stale"]] == [item["id"]]
    assert studio.call("review", "apply", studio.bundle).code == 3


def test_a_dry_run_of_apply_shows_the_change_and_writes_nothing(studio: Studio) -> None:
    studio.allow_headless()
    item = studio.item("memory_promotion")
    decide = ("review", "approve", studio.bundle, "--items", item["id"], "--approver", "Mirjam")
    assert studio.call(*decide).code == 0
    before = json.dumps(studio.rows())
    said = studio.call("review", "apply", studio.bundle, "--dry-run")
    assert said.code == 0
    assert f"{item['id']} would be applied" in said.out
    assert "trust: candidate → trusted" in said.out
    assert json.dumps(studio.rows()) == before
    assert studio.states()[item["id"]] == "approved"
