"""Saying no, naming the wrong thing, and losing the ledger: nothing happens behind one's back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.command import call

pytestmark = pytest.mark.usefixtures("_quiet_environment")


@pytest.fixture
def _quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VAULT_TOOLS_HOME", "VAULT_TOOLS_VAULT", "VAULT_TOOLS_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def test_forget_takes_ids_only_where_an_id_belongs(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    assert call("--home", home, "memory", "store", "The password file is etc passwd").code == 0
    said = call("--home", home, "memory", "forget", "../../etc/passwd")
    assert said.code == 2
    assert "--query" in said.err
    assert "etc passwd" in call("--home", home, "memory", "list").out


def test_a_lost_ledger_is_refused_and_not_replaced(tmp_path: Path) -> None:
    assert call("demo", "--into", str(tmp_path / "demo")).code == 0
    home = tmp_path / "demo" / "home"
    (ledger,) = home.glob("state/*/main/ledger.sqlite")
    for suffix in ("", "-wal", "-shm"):
        ledger.with_name(ledger.name + suffix).unlink(missing_ok=True)
    said = call("--home", str(home), "review", "list")
    assert said.code == 1
    assert "missing or empty" in said.err
    assert not ledger.exists()


def test_a_configuration_nested_without_end_is_one_message(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("a=" + "[" * 100_000, encoding="utf-8")
    said = call("--home", str(home), "status")
    assert said.code == 1
    assert "not valid TOML" in said.err
    shutil.rmtree(home)
