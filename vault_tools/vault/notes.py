"""Read notes: bytes in, a Note with findings out; no note, however broken, raises.

python-frontmatter reads a block that we cut ourselves and never writes (it keeps 1 of 74 forms).
Scalars keep their text: `no`, `01234` and `12:30` are what the person wrote.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

import frontmatter
import yaml
from frontmatter.default_handlers import YAMLHandler

from vault_tools.core.digest import sha256_hex
from vault_tools.core.note import decode, split_front_matter, text_start

MAX_FRONT_MATTER = 64 * 1024
MAX_NOTE_BYTES = 16 * 1024 * 1024
_MAX_NODES = 20_000
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

# YAML 1.1 takes U+0085, U+2028 and U+2029 for line ends and refuses control characters; Obsidian's
# YAML 1.2 takes all of them for text. While a block is parsed, one character stands for each.
_STAND_IN = 0x100000
_TEXT_ONLY = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
_STANDING_IN = re.compile("[\U00100000-\U0010ffff]")
_SECOND_BLOCK = re.compile(r"[\r\n]*---[ \t]*[\r\n]+[A-Za-z_][\w-]*:[ \t\r\n]")

Plain = str | list[Any] | dict[str, Any]


class Problem(StrEnum):
    """What can be wrong with a note."""

    NOT_UTF8 = "not_utf8"
    HOLDS_NUL = "holds_nul"
    TOO_LARGE = "too_large"
    UNCLOSED_FRONT_MATTER = "unclosed_front_matter"
    SECOND_FRONT_MATTER = "second_front_matter"
    BROKEN_YAML = "broken_yaml"
    NOT_A_MAP = "not_a_map"
    REPEATED_KEY = "repeated_key"
    HUGE_FRONT_MATTER = "huge_front_matter"


@dataclass(frozen=True, slots=True)
class NoteFinding:
    """One thing wrong with a note, for the doctor."""

    path: str
    problem: Problem
    detail: str


@dataclass(frozen=True, slots=True)
class Note:
    """A note as read: `text` gives its bytes back through `core.note.encode`.

    `properties` hold strings, lists and maps only; `body` is the offset of the text after them.
    """

    path: str
    sha256: str
    text: str
    properties: Mapping[str, Plain]
    body: int
    findings: tuple[NoteFinding, ...] = ()

    def names(self, key: str) -> tuple[str, ...]:
        """Give a list property (`tags`, `aliases`) as strings, be it a list or one value."""
        value = self.properties.get(key, [])
        entries = value if isinstance(value, list) else [value]
        return tuple(entry for entry in entries if isinstance(entry, str) and entry)


def read_note(path: str, data: bytes) -> Note:
    """Read a note from its bytes; whatever is broken becomes a finding."""
    found: list[tuple[Problem, str]] = []
    text = decode(data[:MAX_NOTE_BYTES])
    if len(data) > MAX_NOTE_BYTES:
        found.append((Problem.TOO_LARGE, f"only the first {MAX_NOTE_BYTES} bytes were read"))
    if re.search("[\udc80-\udcff]", text):
        found.append((Problem.NOT_UTF8, "some bytes are not UTF-8"))
    if "\0" in text:
        found.append((Problem.HOLDS_NUL, "it holds a NUL character"))
    properties, body = _front(text, found)
    findings = tuple(NoteFinding(path, problem, detail) for problem, detail in found)
    return Note(path, sha256_hex(data), text, properties, body, findings)


def _front(text: str, found: list[tuple[Problem, str]]) -> tuple[dict[str, Plain], int]:
    front = split_front_matter(text)
    start = text_start(text)
    if front is None:
        if re.compile(r"---[ \t]*[\r\n]").match(text, start):
            found.append((Problem.UNCLOSED_FRONT_MATTER, "the block at the top never closes"))
        return {}, start
    if has_second_block(text, front.body):
        found.append((Problem.SECOND_FRONT_MATTER, "a second block follows the first"))
    block = text[front.content : front.close]
    if len(block) > MAX_FRONT_MATTER:
        found.append((Problem.HUGE_FRONT_MATTER, f"it has {len(block)} characters"))
        return {}, front.body
    try:
        return _properties(block), front.body
    except _Unreadable as error:
        found.append((error.problem, str(error)))
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        found.append((Problem.BROKEN_YAML, " ".join(str(error).split())[:200]))
    return {}, front.body


def has_second_block(text: str, body: int) -> bool:
    """Tell whether the body begins with another block of properties."""
    return _SECOND_BLOCK.match(text, body) is not None


def compose(block: str) -> yaml.Node | None:
    """Parse front matter into nodes whose marks count its characters.

    Scalars are to be read with `scalar_text`. Raises yaml.YAMLError, RecursionError.
    """
    text = _TEXT_ONLY.sub(lambda match: chr(_STAND_IN + ord(match[0])), block)
    return yaml.compose(text, Loader=_LOADER)


def scalar_text(node: yaml.ScalarNode) -> str:
    """Give the text of a scalar as the person wrote it, without a type."""
    return _STANDING_IN.sub(_stood_for, str(node.value))


def _stood_for(match: re.Match[str]) -> str:
    char = chr(ord(match[0]) - _STAND_IN)
    return char if _TEXT_ONLY.match(char) else match[0]


def has_anchors(block: str) -> bool:
    """Tell whether front matter names a value with `&` to repeat it elsewhere."""
    if "&" not in block:
        return False
    text = _TEXT_ONLY.sub(" ", block)
    return any(getattr(event, "anchor", None) for event in yaml.parse(text, Loader=_LOADER))


class _Unreadable(Exception):
    def __init__(self, problem: Problem, detail: str) -> None:
        super().__init__(detail)
        self.problem = problem


def _properties(block: str) -> dict[str, Plain]:
    lines = block.replace("\r\n", "\n").replace("\r", "\n")
    properties, _ = frontmatter.parse(f"---\n{lines}---\n", handler=_TextHandler())
    return cast(dict[str, Plain], properties)


class _TextHandler(YAMLHandler):
    """Load a block without giving any scalar a type, and without expanding aliases."""

    def split(self, text: str) -> tuple[str, str]:
        return text.removeprefix("---\n").removesuffix("---"), ""

    def load(self, fm: str, **_: object) -> dict[str, Plain]:
        node = compose(fm)
        if node is None:
            return {}
        if not isinstance(node, yaml.MappingNode):
            raise _Unreadable(Problem.NOT_A_MAP, "the block is no list of `name: value` lines")
        return _mapping(node, [_MAX_NODES])


def _plain(node: yaml.Node, budget: list[int]) -> Plain:
    budget[0] -= 1
    if budget[0] < 0:
        raise _Unreadable(Problem.HUGE_FRONT_MATTER, f"it has more than {_MAX_NODES} values")
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, budget)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(entry, budget) for entry in node.value]
    return scalar_text(node) if isinstance(node, yaml.ScalarNode) else ""


def _mapping(node: yaml.MappingNode, budget: list[int]) -> dict[str, Plain]:
    result: dict[str, Plain] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _Unreadable(Problem.BROKEN_YAML, "a name is no plain text (a template?)")
        key = scalar_text(key_node)
        if key in result:
            raise _Unreadable(Problem.REPEATED_KEY, f"the property {key} stands twice")
        result[key] = _plain(value_node, budget)
    return result
