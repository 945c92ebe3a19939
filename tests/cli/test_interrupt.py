"""Ctrl-C: exit 130, no traceback, nothing half done, and the next run works."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.command import call
from tests.cli.studio import Studio, own_files
from tests.cli.terminal import Terminal
from vault_tools.cli.demo import copy_sample, packaged_sample
from vault_tools.home.lock import locked


@pytest.fixture
def fresh(tmp_path: Path) -> Studio:
    """A sample vault whose first morning is still to come."""
    studio = Studio(tmp_path / "vault", tmp_path / "home")
    copy_sample(studio.vault)
    assert call("--home", str(studio.home), "init", "--vault", str(studio.vault)).code == 0
    return studio


@pytest.mark.slow
def test_an_interrupted_morning_can_be_run_again(fresh: Studio) -> None:
    (state,) = fresh.home.glob("state/*/main")
    # Somebody else's turn holds the review in place, so that the interrupt surely meets it.
    with (
        locked(state / "review.lock", started="2026-11-30T09:00:00+00:00"),
        Terminal(fresh, "morning-review") as terminal,
    ):
        time.sleep(4)
        terminal.child.sendintr()
        assert terminal.ended() == 130
        assert "Traceback" not in terminal.said
        assert "interrupted" in terminal.said
    assert own_files(fresh.vault) == own_files(packaged_sample())
    again = fresh.call("morning-review")
    assert again.code == 0
    assert "proposals" in again.out


def test_an_interrupted_question_decides_nothing(studio: Studio) -> None:
    item, before = studio.item("note_import_candidate"), studio.everything()
    with Terminal(studio, "review", "approve", studio.bundle, "--items", item["id"]) as terminal:
        terminal.asked(f"Approve {item['id']}? [y/N]: ")
        terminal.child.sendintr()
        assert terminal.ended() == 130
        assert "Traceback" not in terminal.said
    assert studio.everything() == before


def test_saying_no_to_init_switches_nothing_on(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "vault", tmp_path / "home")
    copy_sample(studio.vault)
    with Terminal(studio, "init", "--vault", str(studio.vault)) as terminal:
        terminal.child.expect(r"May vault-tools read these notes\? \[Y/n\]: ")
        terminal.types("n")
        assert terminal.ended() == 130
    assert not (studio.home / "vaults.json").exists()
    assert not (studio.home / "config.toml").exists()
    assert not (studio.vault / "00-system").exists()
