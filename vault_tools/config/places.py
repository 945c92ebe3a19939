"""Where vault, workspace, home and configuration are: option > environment > default (spec 08)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vault_tools.config.reading import load_config
from vault_tools.config.schema import Config
from vault_tools.config.system import os_user, system_zone
from vault_tools.core.memory import is_agent_id
from vault_tools.core.scope import Viewer
from vault_tools.errors import BridgeDisabled, ConfigError, InvalidInput
from vault_tools.home.durable import private_folder

CONFIG_NAME = "config.toml"
DEFAULT_AGENT = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The global options as typed; None means not given."""

    vault: Path | None = None
    config: Path | None = None
    home: Path | None = None
    agent: str | None = None
    workspace: Path | None = None
    json: bool = False
    quiet: bool = False
    no_color: bool = False
    yes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything one run has to know about where it works and for whom.

    Folders are absolute. `vault` is None when there is none; `config_path` need not exist.
    `system_zone` is the IANA name of the system's time zone, empty when it has none.
    """

    config: Config
    config_path: Path
    home: Path
    vault: Path | None
    workspace: Path
    agent: str
    owner_id: str
    system_zone: str = ""
    json: bool = False
    quiet: bool = False
    color: bool = True
    yes: bool = False

    @property
    def workspace_key(self) -> str:
        """Give the configured name of the workspace."""
        return self.config.workspace_key

    @property
    def viewer(self) -> Viewer:
        """Give the acting agent as the store wants it."""
        return Viewer(self.agent, self.workspace_key, self.owner_id)

    @property
    def timezone(self) -> str:
        """Give the IANA time zone of bundle ids and dates; raise ConfigError when none is known."""
        zone = self.config.obsidian_bridge.morning_review.timezone or self.system_zone
        if not zone:
            raise ConfigError(
                "the system does not tell the name of its time zone",
                'Write it into the configuration: obsidian_bridge.morning_review.timezone = "…".',
            )
        return zone

    def bridged_vault(self) -> Path:
        """Give the vault that review and reports work in.

        Raises BridgeDisabled before `init` was run in it, and ConfigError when it is not there now.
        """
        bridge = self.config.obsidian_bridge
        if self.vault is None:
            raise BridgeDisabled(
                "there is no vault here",
                "Run `vault-tools init` in your vault, or name it with --vault DIR.",
            )
        belongs = bridge.vault_path is None or _is_same(bridge.vault_path, self.vault)
        if not (bridge.enabled and belongs):
            raise BridgeDisabled(
                f"review and reports are not switched on for the vault {self.vault.name!r}",
                "Run `vault-tools init` in it once.",
            )
        return _existing(self.vault, "obsidian_bridge.vault_path")


def settings(options: Options, environ: Mapping[str, str], cwd: Path) -> Settings:
    """Find home, configuration, vault and workspace, and create the home (0700).

    Raises ConfigError for a named folder or file that does not exist, for a configuration inside a
    vault and for whatever the configuration gets wrong; InvalidInput for a malformed agent id.
    """
    here = _Here(environ, cwd)
    agent = _agent(options, environ)
    home = _private(here.named(options.home, "VAULT_TOOLS_HOME") or _default_home())
    named_config = here.named(options.config, "VAULT_TOOLS_CONFIG")
    config = load_config(_config_text(named_config, home), home=home)
    vault = here.folder(options.vault, "VAULT_TOOLS_VAULT", "--vault")
    vault = vault or nearest_vault(cwd) or config.obsidian_bridge.vault_path
    _check_overrides(config, vault)
    workspace = _named_workspace(here, options) or config.obsidian_bridge.workspace_root
    return Settings(
        config=config,
        config_path=named_config or home / CONFIG_NAME,
        home=home,
        vault=vault,
        workspace=workspace or vault or _private(home / "workspace"),
        agent=agent,
        owner_id=config.owner_id or os_user(),
        system_zone=system_zone(environ),
        json=options.json,
        quiet=options.quiet,
        color=not (options.no_color or environ.get("NO_COLOR")),
        yes=options.yes,
    )


def config_place(options: Options, environ: Mapping[str, str], cwd: Path) -> Path:
    """Give where the configuration is or would be written, without reading it.

    Raises ConfigError for a place inside a vault.
    """
    here = _Here(environ, cwd)
    home = _private(here.named(options.home, "VAULT_TOOLS_HOME") or _default_home())
    path = here.named(options.config, "VAULT_TOOLS_CONFIG") or home / CONFIG_NAME
    _check_outside_vaults(path, home)
    return path


@dataclass(frozen=True, slots=True)
class _Here:
    """The environment and the folder that relative paths start from."""

    environ: Mapping[str, str]
    cwd: Path

    def named(self, option: Path | None, variable: str) -> Path | None:
        """Give the path named by an option, else by a variable; an empty variable names none."""
        given = option or self.environ.get(variable)
        return self.cwd / Path(given).expanduser() if given else None

    def folder(self, option: Path | None, variable: str, flag: str) -> Path | None:
        """Give a named folder, which has to exist."""
        path = self.named(option, variable)
        return path and _existing(path, flag if option else variable)


def _agent(options: Options, environ: Mapping[str, str]) -> str:
    agent = options.agent or environ.get("VAULT_TOOLS_AGENT") or DEFAULT_AGENT
    if not is_agent_id(agent):
        raise InvalidInput(
            f"{agent!r} is not an agent id",
            "Use a-z, 0-9, dot, dash and underscore, at most 64 characters.",
        )
    return agent


def _named_workspace(here: _Here, options: Options) -> Path | None:
    own = here.folder(options.workspace, "VAULT_TOOLS_WORKSPACE", "--workspace")
    return own or here.folder(None, "OPENCLAW_WORKSPACE", "")


def _existing(path: Path, source: str) -> Path:
    if not path.is_dir():
        raise ConfigError(
            f"there is no folder {path} ({source})",
            "Check the spelling, and whether its drive is mounted.",
        )
    return path


def _default_home() -> Path:
    from platformdirs import user_data_path

    return user_data_path("vault-tools", appauthor=False)


def _private(path: Path) -> Path:
    try:
        return private_folder(path)
    except OSError as error:
        raise ConfigError(
            f"the folder {path} cannot be created: {error.strerror}",
            "Name another one with --home DIR or VAULT_TOOLS_HOME.",
        ) from None


def _config_text(named: Path | None, home: Path) -> str | None:
    path = named or home / CONFIG_NAME
    if named is None and not path.exists():
        return None
    _check_outside_vaults(path, home)
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text", "Save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(
            f"the configuration {path} cannot be read: {error.strerror}",
            "Check --config and VAULT_TOOLS_CONFIG, or write one with `vault-tools config init`.",
        ) from None


def _check_outside_vaults(path: Path, home: Path) -> None:
    # Whoever may write notes must not be able to configure who approves them.
    real = path.resolve()
    if nearest_vault(real.parent) and not real.is_relative_to(home.resolve()):
        raise ConfigError(
            f"the configuration {path} lies inside a vault, where agents and sync can write",
            "Move it into the home (`vault-tools config init` names the place).",
        )


def _check_overrides(config: Config, vault: Path | None) -> None:
    override = config.templates.override_dir
    if vault and override and override.resolve().is_relative_to(vault.resolve()):
        raise ConfigError(
            "templates.override_dir lies inside the vault, where agents and sync can write",
            "Keep your templates in a folder outside the vault.",
        )


def nearest_vault(start: Path) -> Path | None:
    """Give the nearest folder upwards that Obsidian has opened as a vault."""
    return next((folder for folder in (start, *start.parents) if is_vault(folder)), None)


def is_vault(folder: Path) -> bool:
    """Tell whether a folder has `.obsidian`, or a settings folder of another hidden name."""
    if (folder / ".obsidian").is_dir():
        return True
    # The user's home is full of hidden folders of other programs.
    return folder != Path.home() and any(folder.glob(".*/app.json"))


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
