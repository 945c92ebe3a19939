"""Option > environment > default, for everything a run has to find."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from vault_tools.config import Options, environment, nearest_vault, settings, system_zone
from vault_tools.core.scope import Viewer
from vault_tools.errors import BridgeDisabled, ConfigError, InvalidInput

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return folder(tmp_path, "Notes/.obsidian").parent


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"VAULT_TOOLS_HOME": str(home), "TZ": "Europe/Zurich"}


def folder(base: Path, name: str) -> Path:
    path = base / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_config(home: Path, text: str) -> None:
    folder(home, ".").joinpath("config.toml").write_text(text, "utf-8")


@posix
def test_home_is_created_for_the_owner_only(
    environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    found = settings(Options(), environ, tmp_path)
    assert found.home == home
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_option_wins_over_environment_and_environment_over_default(
    environ: dict[str, str], tmp_path: Path, vault: Path
) -> None:
    named, other = folder(tmp_path, "named"), folder(tmp_path, "other")
    inside = folder(vault, "deep/er")
    assert settings(Options(), environ, inside).vault == vault
    environ["VAULT_TOOLS_VAULT"] = str(other)
    assert settings(Options(), environ, inside).vault == other
    assert settings(Options(vault=named), environ, inside).vault == named


def test_home_option_wins_over_its_variable(environ: dict[str, str], tmp_path: Path) -> None:
    found = settings(Options(home=Path("elsewhere")), environ, tmp_path)
    assert found.home == tmp_path / "elsewhere"
    assert found.config_path == tmp_path / "elsewhere" / "config.toml"


def test_default_home_is_the_platforms_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("XDG_DATA_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path))
    assert settings(Options(), {}, tmp_path).home.is_relative_to(tmp_path)


@pytest.mark.parametrize(
    ("option", "variable", "agent"),
    [(None, "", "main"), (None, "ada", "ada"), ("ben", "ada", "ben")],
)
def test_agent(
    environ: dict[str, str], tmp_path: Path, option: str | None, variable: str, agent: str
) -> None:
    environ["VAULT_TOOLS_AGENT"] = variable
    assert settings(Options(agent=option), environ, tmp_path).agent == agent


@pytest.mark.parametrize("agent", ["../x", "A", "con", "a" * 65, "a/b"])
def test_agent_that_could_not_name_a_folder_is_refused(
    environ: dict[str, str], tmp_path: Path, agent: str
) -> None:
    with pytest.raises(InvalidInput):
        settings(Options(agent=agent), environ, tmp_path)


def test_workspace_is_named_configured_the_vault_or_in_the_home(
    environ: dict[str, str], home: Path, tmp_path: Path, vault: Path
) -> None:
    def workspace(options: Options = Options(), cwd: Path = tmp_path) -> Path:  # noqa: B008
        return settings(options, environ, cwd).workspace

    assert workspace() == home / "workspace"
    assert workspace(cwd=vault) == vault
    configured = folder(tmp_path, "configured")
    write_config(home, f"obsidian_bridge.workspace_root = '{configured}'")
    assert workspace(cwd=vault) == configured
    for variable in ("OPENCLAW_WORKSPACE", "VAULT_TOOLS_WORKSPACE"):
        environ[variable] = str(folder(tmp_path, variable))
        assert workspace(cwd=vault) == tmp_path / variable
    assert workspace(Options(workspace=vault)) == vault


@pytest.mark.parametrize("variable", ["VAULT_TOOLS_VAULT", "VAULT_TOOLS_WORKSPACE"])
def test_missing_folder_is_named_with_the_variable_that_named_it(
    environ: dict[str, str], tmp_path: Path, variable: str
) -> None:
    environ[variable] = "nowhere"
    with pytest.raises(ConfigError, match=f"nowhere.*{variable}"):
        settings(Options(), environ, tmp_path)


def test_missing_named_configuration_is_an_error_and_missing_default_is_not(
    environ: dict[str, str], tmp_path: Path
) -> None:
    assert settings(Options(), environ, tmp_path).config.auto_recall
    with pytest.raises(ConfigError, match=r"mine\.toml"):
        settings(Options(config=Path("mine.toml")), environ, tmp_path)


def test_configuration_that_is_not_text_is_an_error(
    environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    folder(home, ".").joinpath("config.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        settings(Options(), environ, tmp_path)


def test_configuration_inside_a_vault_is_never_read(
    environ: dict[str, str], tmp_path: Path, vault: Path
) -> None:
    (folder(vault, "a") / "config.toml").write_text("auto_recall = false")
    with pytest.raises(ConfigError, match="inside a vault"):
        settings(Options(config=vault / "a" / "config.toml"), environ, tmp_path)


@posix
def test_link_from_the_home_into_a_vault_is_never_read(
    environ: dict[str, str], home: Path, tmp_path: Path, vault: Path
) -> None:
    (vault / "c.toml").write_text("auto_recall = false")
    (folder(home, ".") / "config.toml").symlink_to(vault / "c.toml")
    with pytest.raises(ConfigError, match="inside a vault"):
        settings(Options(), environ, tmp_path)


def test_home_below_a_folder_that_is_a_vault_keeps_its_configuration(
    environ: dict[str, str], vault: Path
) -> None:
    environ["VAULT_TOOLS_HOME"] = str(vault / ".local" / "vault-tools")
    write_config(vault / ".local" / "vault-tools", "auto_recall = false")
    assert not settings(Options(), environ, vault).config.auto_recall


def test_templates_that_override_ours_may_not_lie_in_the_vault(
    environ: dict[str, str], home: Path, vault: Path
) -> None:
    write_config(home, f"templates.override_dir = '{vault / 'T'}'")
    with pytest.raises(ConfigError, match="override_dir"):
        settings(Options(), environ, vault)


def test_settings_folder_of_another_name_marks_a_vault_too(tmp_path: Path) -> None:
    (folder(tmp_path, "V/.obsidian-phone") / "app.json").write_text("{}")
    assert nearest_vault(tmp_path / "V" / "x") == tmp_path / "V"
    assert nearest_vault(tmp_path) is None


@pytest.mark.parametrize(("variable", "color"), [("", True), ("1", False), ("0", False)])
def test_color(environ: dict[str, str], tmp_path: Path, variable: str, color: bool) -> None:
    environ["NO_COLOR"] = variable
    assert settings(Options(), environ, tmp_path).color is color
    assert settings(Options(no_color=True), environ, tmp_path).color is False


def test_viewer_acts_for_the_configured_workspace_and_owner(
    environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    write_config(home, "workspace_key = 'team'\nowner_id = 'ada'")
    found = settings(Options(agent="ben"), environ, tmp_path)
    assert found.viewer == Viewer("ben", "team", "ada")


@posix
def test_owner_is_the_system_user_whatever_a_variable_says(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = settings(Options(), environ, tmp_path).owner_id
    for variable in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "mallory")
    assert settings(Options(), environ, tmp_path).owner_id == before


@pytest.mark.parametrize(
    ("variable", "zone"),
    [("Europe/Zurich", "Europe/Zurich"), (":UTC", "UTC"), ("CET-1CEST", ""), ("../etc", "")],
)
def test_zone_of_the_system(variable: str, zone: str) -> None:
    assert system_zone({"TZ": variable}) == zone


def test_time_zone_is_configured_or_the_systems_or_an_error(
    environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    assert settings(Options(), environ, tmp_path).timezone == "Europe/Zurich"
    environ["TZ"] = "CET-1CEST"
    with pytest.raises(ConfigError, match="time zone"):
        _ = settings(Options(), environ, tmp_path).timezone
    write_config(home, "obsidian_bridge.morning_review.timezone = 'Asia/Tokyo'")
    assert settings(Options(), environ, tmp_path).timezone == "Asia/Tokyo"


class TestBridgedVault:
    def test_is_refused_without_a_vault(self, environ: dict[str, str], tmp_path: Path) -> None:
        with pytest.raises(BridgeDisabled) as caught:
            settings(Options(), environ, tmp_path).bridged_vault()
        assert "vault-tools init" in caught.value.hint

    def test_is_refused_before_init(self, environ: dict[str, str], vault: Path) -> None:
        with pytest.raises(BridgeDisabled):
            settings(Options(), environ, vault).bridged_vault()

    def test_is_the_vault_that_init_named(
        self, environ: dict[str, str], home: Path, vault: Path, tmp_path: Path
    ) -> None:
        write_config(home, f"[obsidian_bridge]\nenabled = true\nvault_path = '{vault}'")
        assert settings(Options(), environ, tmp_path).bridged_vault() == vault
        other = folder(tmp_path, "Other/.obsidian").parent
        with pytest.raises(BridgeDisabled, match="Other"):
            settings(Options(), environ, other).bridged_vault()

    def test_says_that_it_is_gone(
        self, environ: dict[str, str], home: Path, tmp_path: Path
    ) -> None:
        write_config(home, f"[obsidian_bridge]\nenabled = true\nvault_path = '{tmp_path / 'X'}'")
        with pytest.raises(ConfigError, match="no folder"):
            settings(Options(), environ, tmp_path).bridged_vault()


def test_environment_is_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_TOOLS_AGENT", "ada")
    copy = environment()
    monkeypatch.delenv("VAULT_TOOLS_AGENT")
    assert copy["VAULT_TOOLS_AGENT"] == "ada"
    assert "VAULT_TOOLS_AGENT" not in os.environ
