"""What is known about one configuration key besides its type and default."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Check = Callable[[Any], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Annotate a field of a configuration section.

    `comment` is the one line that `config init` writes above the key. `fixed` is the sentence why
    only the default is accepted. `check` gives what is wrong with a value, or an empty string.
    `example` stands in the commented line of a key that is unset by default.
    """

    comment: str
    low: float | None = None
    high: float | None = None
    fixed: str = ""
    secret: bool = False
    check: Check | None = None
    example: Any = ""


@dataclass(frozen=True, slots=True)
class KnownKey:
    """One field of a section: its name, type, default and annotation."""

    name: str
    kind: Any
    default: Any
    key: Key

    @property
    def section(self) -> type | None:
        """Give the section class when the key is a table of further keys."""
        return self.kind if dataclasses.is_dataclass(self.kind) else None  # type: ignore[return-value]

    @property
    def inner(self) -> Any:
        """Give the type without `| None`."""
        if typing.get_origin(self.kind) not in (types.UnionType, typing.Union):
            return self.kind
        return next(kind for kind in typing.get_args(self.kind) if kind is not type(None))

    @property
    def is_table(self) -> bool:
        """Tell whether the key is written as a table of its own."""
        return self.section is not None or typing.get_origin(self.kind) is Mapping


@functools.cache
def keys_of(section: type) -> dict[str, KnownKey]:
    """List the keys of a section class by name, in the order of its definition."""
    hints = typing.get_type_hints(section, include_extras=True)
    known = {}
    for field in dataclasses.fields(section):
        kind, key = typing.get_args(hints[field.name])
        known[field.name] = KnownKey(field.name, kind, _default(field), key)
    return known


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def walk(section: type, prefix: str = "") -> Iterator[tuple[str, KnownKey]]:
    """Yield the dotted path of every key below a section, sections included, in order."""
    for name, known in keys_of(section).items():
        path = f"{prefix}{name}"
        yield path, known
        if known.section is not None:
            yield from walk(known.section, f"{path}.")


def snake(name: str) -> str:
    """Turn a seed's camelCase key into ours: reviewRoot -> review_root."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()
