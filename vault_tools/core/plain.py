"""Values to plain JSON data and back: the one codec of sealed items, bundles and rows."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def camel(name: str) -> str:
    """Turn a field name into its JSON key: created_at -> createdAt."""
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


def to_plain(value: Any) -> Any:
    """Turn dataclasses, enums and tuples into dictionaries, strings and lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {camel(f.name): to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind: type[T], data: Any, where: str = "") -> T:
    """Build a value of `kind` from plain data.

    Raises ValueError that names the key path for a missing, unknown or ill-typed entry.
    """
    return typing.cast(T, _build(kind, data, where or kind.__name__))


@functools.cache
def _fields(kind: type) -> dict[str, tuple[str, Any, bool]]:
    hints = typing.get_type_hints(kind)
    known = {}
    for field in dataclasses.fields(kind):
        required = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        known[camel(field.name)] = (field.name, hints[field.name], required)
    return known


def _build(kind: Any, data: Any, where: str) -> Any:
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        options = [o for o in typing.get_args(kind) if o is not type(None)]
        return None if data is None else _build(options[0], data, where)
    if origin is tuple:
        return _build_tuple(typing.get_args(kind)[0], data, where)
    if dataclasses.is_dataclass(kind):
        return _build_dataclass(typing.cast(type, kind), data, where)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _build_enum(kind, data, where)
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise ValueError(f"{where}: expected {kind.__name__}, found {type(data).__name__}")
    return data


def _build_tuple(inner: Any, data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list | tuple):
        raise ValueError(f"{where}: expected a list, found {type(data).__name__}")
    return tuple(_build(inner, item, f"{where}[{n}]") for n, item in enumerate(data))


def _build_dataclass(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise ValueError(f"{where}: expected an object, found {type(data).__name__}")
    known = _fields(kind)
    unknown = sorted(set(data) - set(known))
    if unknown:
        raise ValueError(f"{where}.{unknown[0]}: unknown key")
    missing = [key for key, (_, _, required) in known.items() if required and key not in data]
    if missing:
        raise ValueError(f"{where}.{missing[0]}: missing")
    values = {
        name: _build(hint, data[key], f"{where}.{key}")
        for key, (name, hint, _) in known.items()
        if key in data
    }
    return kind(**values)


def _build_enum(kind: type[enum.Enum], data: Any, where: str) -> enum.Enum:
    try:
        return kind(data)
    except ValueError:
        allowed = ", ".join(str(member.value) for member in kind)
        raise ValueError(f"{where}: {data!r} is not one of {allowed}") from None
