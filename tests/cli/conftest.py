"""Keep the command line away from the real user, and lay out studios."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import call
from tests.cli.studio import Studio, moved_in


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with no variable set and a user's home of our own."""
    for name in ("VAULT", "CONFIG", "HOME", "AGENT", "WORKSPACE"):
        monkeypatch.delenv(f"VAULT_TOOLS_{name}", raising=False)
    for name in ("OPENCLAW_WORKSPACE", "NO_COLOR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "person"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.chdir(place)
    return place


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """Run the demo once; tests work on copies of what it left."""
    place = tmp_path_factory.mktemp("demo") / "studio"
    said = call("demo", "--into", str(place))
    assert said.code == 0, said
    return Studio(place / "vault", place / "home")


@pytest.fixture
def studio(demo: Studio, tmp_path: Path) -> Studio:
    return moved_in(demo, tmp_path)
