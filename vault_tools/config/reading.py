"""TOML text to `Config`: every mistake is named with its key path and the way out (spec 08)."""

from __future__ import annotations

import difflib
import enum
import re
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vault_tools.config.keys import KnownKey, keys_of, snake, walk
from vault_tools.config.schema import Config
from vault_tools.errors import ConfigError

_TYPE_NAMES: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
}


def load_config(text: str | None, *, home: Path) -> Config:
    """Read TOML text, or give the defaults for None.

    A relative `base_db_path` is put into the home. Raises ConfigError that names the key path for
    a syntax error, an unknown key, a wrong type, a value out of range or one that may not change.
    """
    config = typing.cast(Config, _section(Config, _parsed(text or ""), ""))
    _check_band(config)
    return replace(config, base_db_path=_engine_location(config.base_db_path, home))


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(
            f"the configuration is not valid TOML: {error}",
            "Correct that line; `vault-tools config init` shows a file that is valid.",
        ) from None


def _engine_location(value: str, home: Path) -> str:
    if "://" in value or value.startswith("${"):
        return value
    return str(home / _expanded(value, "base_db_path"))


def _expanded(value: str, path: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ConfigError(f"{path}: '~' cannot be resolved", "Write the whole path.") from None


def _check_band(config: Config) -> None:
    if config.merging.min_score > config.merging.max_score:
        raise ConfigError(
            "merging.min_score is greater than merging.max_score",
            "Give a band whose lower end comes first, such as 0.70 to 0.94.",
        )


def _section(kind: type, table: Any, path: str) -> Any:
    known = keys_of(kind)
    unknown = [name for name in table if name not in known]
    if unknown:
        raise _unknown_key(kind, unknown[0], path)
    values = {name: _value(known[name], value, path + name) for name, value in table.items()}
    return kind(**values)


def _unknown_key(kind: type, name: str, path: str) -> ConfigError:
    return ConfigError(f"{path}{name}: unknown key", _nearest(kind, name, path))


def _nearest(kind: type, name: str, path: str) -> str:
    siblings = [f"{path}{sibling}" for sibling in keys_of(kind)]
    everywhere = [dotted for dotted, _ in walk(Config)]
    elsewhere = [dotted for dotted in everywhere if dotted.endswith(f".{snake(name)}")]
    close = difflib.get_close_matches(path + snake(name), siblings, n=1, cutoff=0.8)
    if path + snake(name) not in siblings and len(elsewhere) == 1:
        close = elsewhere
    close = close or difflib.get_close_matches(path + snake(name), everywhere, n=1, cutoff=0.7)
    return f"Did you mean {close[0]}?" if close else f"Known here: {', '.join(keys_of(kind))}."


def _value(known: KnownKey, value: Any, path: str) -> Any:
    if known.section is not None:
        return _section(known.section, _require(dict, value, path, "a table"), f"{path}.")
    read = _typed(known.inner, value, path)
    _check_fixed(known, read, path)
    _check_range(known, read, path)
    if known.key.check is not None and (wrong := known.key.check(read)):
        raise ConfigError(f"{path}: {wrong}", f"{known.key.comment}.")
    return read


def _typed(kind: Any, value: Any, path: str) -> Any:
    origin = typing.get_origin(kind)
    if origin is tuple:
        entries = _require(list, value, path, "a list")
        inner = typing.get_args(kind)[0]
        return tuple(_typed(inner, entry, f"{path}[{n}]") for n, entry in enumerate(entries))
    if origin is Mapping:
        table = _require(dict, value, path, "a table")
        inner = typing.get_args(kind)[1]
        read = {name: _typed(inner, entry, f"{path}.{name}") for name, entry in table.items()}
        return MappingProxyType(read)
    return _scalar(kind, value, path)


def _scalar(kind: Any, value: Any, path: str) -> Any:
    if issubclass(kind, enum.Enum):
        return _word(kind, value, path)
    if kind is Path:
        return _path(_text(value, path, "a path"), path)
    if kind is str:
        return _text(value, path, "a text")
    if kind is float and type(value) is int:
        return float(value)
    return _require(kind, value, path, _TYPE_NAMES[kind])


def _require(kind: type, value: Any, path: str, expected: str) -> Any:
    # The exact type: a TOML boolean is an int to isinstance.
    if type(value) is kind:
        return value
    found = _TYPE_NAMES.get(type(value), "a date or time")
    raise ConfigError(f"{path}: expected {expected}, found {found}", f"Write {expected}.")


def _text(value: Any, path: str, expected: str) -> str:
    text: str = _require(str, value, path, expected)
    if not text.strip():
        raise ConfigError(f"{path}: empty", "Leave the key out to use its default.")
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise ConfigError(f"{path}: holds a control character", "Write plain text on one line.")
    return text


def _path(text: str, path: str) -> Path:
    whole = _expanded(text, path)
    if not whole.is_absolute():
        raise ConfigError(
            f"{path}: a relative path means another folder in every terminal",
            "Write the whole path, or one that starts with ~/.",
        )
    return whole


def _word(kind: type[enum.Enum], value: Any, path: str) -> enum.Enum:
    word = _text(value, path, "a text")
    try:
        return kind(word)
    except ValueError:
        allowed = [str(member.value) for member in kind]
        close = difflib.get_close_matches(word, allowed, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Use one of: {', '.join(allowed)}."
        raise ConfigError(f"{path}: {word!r} is not one of {', '.join(allowed)}", hint) from None


def _check_fixed(known: KnownKey, value: Any, path: str) -> None:
    if known.key.fixed and value != known.default:
        shown = str(known.default).lower() if known.default in (True, False) else known.default
        raise ConfigError(
            f"{path}: only {shown} is accepted. {known.key.fixed}",
            f"Write {shown}, or leave the key out.",
        )


def _check_range(known: KnownKey, value: Any, path: str) -> None:
    low, high = known.key.low, known.key.high
    # `not` also catches nan, which TOML can spell.
    if low is not None and high is not None and not low <= value <= high:
        raise ConfigError(
            f"{path}: {value} is not between {low:g} and {high:g}", f"{known.key.comment}."
        )
