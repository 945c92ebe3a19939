"""`Config` for people: the masked view, the commented file, and careful edits of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from vault_tools.config.bridge import ObsidianBridge
from vault_tools.config.keys import KnownKey, keys_of, walk
from vault_tools.config.reading import load_config
from vault_tools.config.schema import Config
from vault_tools.errors import ConfigError

UNSET = "unset"
HIDDEN = "(hidden)"

_HEAD = """\
# Configuration of vault-tools. Every key stands here with its default; a key that is unset by
# default is commented out. `vault-tools config show` prints the values in force.
# Secrets belong into the environment: write "${OPENAI_API_KEY}", not the key.
"""


def effective(config: Config) -> list[tuple[str, str]]:
    """List every key path with its value, secrets hidden and folders cut to their last part."""
    return [(path, _shown(known, value)) for path, known, value in _values(config)]


def _values(section: Any, prefix: str = "") -> Iterator[tuple[str, KnownKey, Any]]:
    kind: type = type(section)
    for name, known in keys_of(kind).items():
        value = getattr(section, name)
        if known.section is not None:
            yield from _values(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", known, value


def _shown(known: KnownKey, value: Any) -> str:
    if value is None:
        return UNSET
    if known.key.secret:
        return _hidden(value)
    if isinstance(value, PurePath):
        return _shortened(str(value))
    return _masked_text(str(value)) if isinstance(value, str) else _toml(value)


def _hidden(value: Any) -> str:
    if isinstance(value, Mapping):
        return _toml({name: _hidden(entry) for name, entry in value.items()})
    # The name of a variable is no secret, and is what one looks for when a key is missing.
    is_reference = isinstance(value, str) and re.fullmatch(r"\$\{\w+\}", value)
    return str(value) if is_reference else HIDDEN if value else _toml(value)


def _masked_text(value: str) -> str:
    if "://" in value:
        return re.sub(r"(?<=://)[^/@\s]*@|\?.*", "", value)
    return _shortened(value) if re.match(r"[~/\\]|[A-Za-z]:[\\/]", value) else value


def _shortened(path: str) -> str:
    return "…/" + re.split(r"[\\/]", path.rstrip("\\/"))[-1]


def commented_example() -> str:
    """Write a configuration file that holds every key, its default and one line about it."""
    lines = [_HEAD]
    lines += _scalars(Config)
    for path, known in walk(Config):
        if known.section is not None:
            lines += ["", f"[{path}]", f"# {known.key.comment}.", *_scalars(known.section)]
        elif known.is_table:
            lines += ["", f"[{path}]", f"# {known.key.comment}."]
            lines += [f"{name} = {_toml(value)}" for name, value in known.default.items()]
    return "\n".join(lines) + "\n"


def _scalars(section: type) -> list[str]:
    lines = []
    for name, known in keys_of(section).items():
        if not known.is_table:
            unset = known.default is None
            value = _toml(known.key.example if unset else known.default)
            lines += [f"# {known.key.comment}.", f"{'# ' if unset else ''}{name} = {value}"]
    return lines


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        pairs = (f"{_toml(name)} = {_toml(entry)}" for name, entry in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    # A JSON string of printable text is a TOML basic string.
    return json.dumps(str(value), ensure_ascii=False)


def with_bridge_enabled(text: str, vault_path: Path) -> str:
    """Switch the bridge on for a vault in a configuration text, keeping all comments and order.

    The result is read back; raises ConfigError if the text was not valid before or is not after.
    """
    import tomlkit

    # `home` only completes base_db_path, which plays no part here.
    before = load_config(text, home=vault_path).obsidian_bridge
    document = tomlkit.parse(text if before.vault_path else _with_vault_line(text))
    bridge: Any = document.setdefault("obsidian_bridge", tomlkit.table())
    bridge["enabled"] = True
    bridge["vault_path"] = str(vault_path)
    edited = tomlkit.dumps(document)
    _check_edit(edited, vault_path)
    return edited


def _with_vault_line(text: str) -> str:
    # Our own example line is used where it stands, so that the path does not land at the end.
    line = f"vault_path = {_toml(keys_of(ObsidianBridge)['vault_path'].key.example)}\n"
    return text.replace(f"# {line}", line, 1)


def _check_edit(edited: str, vault_path: Path) -> None:
    bridge = load_config(edited, home=vault_path).obsidian_bridge
    if not bridge.enabled or bridge.vault_path != vault_path:
        raise ConfigError(
            "obsidian_bridge could not be switched on in the configuration",
            'Write `enabled = true` and `vault_path = "…"` under [obsidian_bridge] by hand.',
        )
