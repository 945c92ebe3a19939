"""Set or remove one property of any note by cutting text, never by writing its YAML anew (spec 03).

YAML only tells where each property begins and ends. What was cut is read back: every other
property, the text around them and the body must be what they were, else the note is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import yaml

from vault_tools.core.note import (
    FrontMatter,
    newline_of,
    plain_name,
    scalar,
    split_front_matter,
    text_start,
)
from vault_tools.errors import InvalidInput, VaultToolsError
from vault_tools.vault.notes import (
    MAX_FRONT_MATTER,
    compose,
    has_anchors,
    has_second_block,
    scalar_text,
)

Value = str | int | bool | Sequence[str]

_DASHES = re.compile(r"[\s\ufeff]*---")
_FENCE = re.compile(r"---[ \t]*(?:[\r\n]|\Z)")
_COLON = re.compile(r"[ \t]*:(?=[ \t\r\n]|\Z)")
_LINE_END = re.compile(r"\r\n|\r|\n|\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BY_HAND = "Repair it in Obsidian's source mode; until then vault-tools leaves the note as it is."


def set_property(text: str, key: str, value: Value) -> str:
    """Set one property of a note, changing its line or lines only; gives the new text.

    A new property becomes the last one; a note without properties gets a block at its top. A list
    becomes a block list. What is there already gives the same text. Raises InvalidInput for a key
    or value that cannot stand in YAML, VaultToolsError for a note that cannot be edited safely.
    """
    _check_key(key)
    _check_value(key, value)
    front = _front_matter(text)
    if front is None:
        return _checked(text, _with_block(text, key, value), key, value)
    entries = _entries(text, front)
    entry = entries.get(key)
    if entry is None:
        return _checked(text, _added(text, front, entries, key, value), key, value)
    if _holds(entry.node, value):
        return text
    return _checked(text, _replaced(text, entry, value), key, value)


def remove_property(text: str, key: str) -> str:
    """Remove one property with its lines; a note without it stays as it is.

    Raises VaultToolsError for a note that cannot be edited safely.
    """
    front = _front_matter(text)
    entry = _entries(text, front).get(key) if front else None
    if entry is None:
        return text
    return _checked(text, _without(text, entry), key, None)


def _refused(what: str, hint: str = _BY_HAND) -> VaultToolsError:
    return VaultToolsError(f"the note's properties cannot be edited: {what}", hint)


def _check_key(key: str) -> None:
    if not key.strip() or not key.isprintable() or _SURROGATE.search(key):
        raise InvalidInput(f"{key!r} is no property name", "Use one line of printable characters.")


def _check_value(key: str, value: Value) -> None:
    texts = [value] if isinstance(value, str) else [] if isinstance(value, int) else value
    if any(_SURROGATE.search(text) for text in texts):
        raise InvalidInput(
            f"the value for {key} holds bytes that are not UTF-8", "Remove them: YAML has no form."
        )


def _front_matter(text: str) -> FrontMatter | None:
    front = split_front_matter(text)
    if front is None:
        if _FENCE.match(text, text_start(text)):
            raise _refused("the block at the top never closes")
        if _DASHES.match(text):
            raise _refused("it begins with --- that opens no block")
        return None
    if has_second_block(text, front.body):
        raise _refused("a second block follows the first")
    if front.close - front.content > MAX_FRONT_MATTER:
        raise _refused(f"the block has more than {MAX_FRONT_MATTER} characters")
    return front


@dataclass(frozen=True, slots=True)
class _Entry:
    """One property: its line begins at `start`, its value follows `colon` and ends at `end`."""

    name: str
    node: yaml.Node
    base: int
    start: int
    indent: str
    colon: int
    end: int

    def raw(self, text: str) -> str:
        return text[self.start : self.end]


def _entries(text: str, front: FrontMatter) -> dict[str, _Entry]:
    """Find the properties in order; raises VaultToolsError for any block that is not plain."""
    block = text[front.content : front.close]
    entries: dict[str, _Entry] = {}
    for key, value in _pairs(block):
        if not isinstance(key, yaml.ScalarNode):
            raise _refused("a name is no plain text (a template?)")
        entry = _entry(text, front.content, key, value)
        if entry.name in entries:
            raise _refused(f"the property {entry.name} stands twice")
        entries[entry.name] = entry
    return entries


def _pairs(block: str) -> list[tuple[yaml.Node, yaml.Node]]:
    try:
        node = compose(block)
        anchored = has_anchors(block)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = getattr(error, "problem", None) or " ".join(str(error).split())[:120]
        raise _refused(f"the block is no valid YAML ({why})") from None
    if node is None:
        return []
    if not isinstance(node, yaml.MappingNode):
        kind = "a list" if isinstance(node, yaml.SequenceNode) else "a text"
        raise _refused(f"the block is {kind}, no list of `name: value` lines")
    if node.flow_style:
        raise _refused("the block is written in braces")
    if anchored:
        raise _refused("the block uses YAML anchors")
    return list(node.value)


def _entry(text: str, base: int, key: yaml.ScalarNode, value: yaml.Node) -> _Entry:
    begin = base + key.start_mark.index
    start = _line_start(text, begin)
    colon = _COLON.match(text, base + key.end_mark.index)
    indent, name = text[start:begin], scalar_text(key)
    if colon is None or indent.strip(" "):
        raise _refused(f"the property {name} does not stand on a line of its own")
    end = max(_content_end(text, base, value), colon.end())
    return _Entry(name, value, base, start, indent, colon.end(), end)


def _content_end(text: str, base: int, node: yaml.Node) -> int:
    """Give where the last character of a value stands; a block's own mark lies beyond it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _content_end(text, base, last[1] if isinstance(last, tuple) else last)
    start, end = base + node.start_mark.index, base + node.end_mark.index
    return start + len(text[start:end].rstrip(" \t\r\n"))


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _line_end(text: str, at: int) -> re.Match[str]:
    found = _LINE_END.search(text, at)
    assert found is not None
    return found


def _holds(node: yaml.Node, value: Value) -> bool:
    """Tell whether a value is there already, in whatever style it is written."""
    if isinstance(value, str):
        return isinstance(node, yaml.ScalarNode) and scalar_text(node) == value
    if isinstance(value, int):
        plain = isinstance(node, yaml.ScalarNode) and node.style in (None, "")
        return plain and node.value in _spellings(value)
    if not isinstance(node, yaml.SequenceNode):
        return False
    texts = [isinstance(one, yaml.ScalarNode) and scalar_text(one) for one in node.value]
    return texts == list(value)


def _spellings(value: int) -> tuple[str, ...]:
    written = scalar(value)
    return (written, written.title(), written.upper()) if isinstance(value, bool) else (written,)


def _with_block(text: str, key: str, value: Value) -> str:
    start, newline = text_start(text), newline_of(text)
    property_lines = _written(plain_name(key), value, "", newline)
    block = f"---{newline}{property_lines}{newline}---{newline}"
    return text[:start] + block + text[start:]


def _added(
    text: str, front: FrontMatter, entries: dict[str, _Entry], key: str, value: Value
) -> str:
    indent = next((entry.indent for entry in entries.values()), "")
    newline = newline_of(text)
    written = _written(indent + plain_name(key), value, indent, newline)
    return text[: front.close] + written + newline + text[front.close :]


def _written(name: str, value: Value, indent: str, newline: str) -> str:
    return f"{name}:{_value(value, indent + '  ', newline)}"


def _value(value: Value, indent: str, newline: str) -> str:
    """Write what follows the colon, without a last line end."""
    if isinstance(value, str | int):
        return f" {scalar(value)}"
    if not value:
        return " []"
    return "".join(f"{newline}{indent}- {scalar(one)}" for one in value)


def _replaced(text: str, entry: _Entry, value: Value) -> str:
    node, base = entry.node, entry.base
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        raise _refused(f"the property {entry.name} holds properties of its own")
    begin = max(base + node.start_mark.index, entry.colon)
    key_line = _line_end(text, entry.colon)
    newline = key_line[0] or newline_of(text)
    written = _value(value, _list_indent(text, entry), newline)
    last_line = _line_end(text, entry.end)
    block = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    if block or begin > key_line.start():
        _refuse_comment(text, entry, last_line.start())
        return text[: entry.colon] + written + text[last_line.start() :]
    rest = text[entry.end : last_line.start()]
    rest = rest if rest.strip(" \t") else ""
    if written.startswith(" "):
        gap = text[entry.colon : begin] if begin < entry.end else ""
        return text[: entry.colon] + (gap or " ") + written[1:] + rest + text[last_line.start() :]
    return text[: entry.colon] + rest + written + text[last_line.start() :]


def _list_indent(text: str, entry: _Entry) -> str:
    """Give how far the list stands in, as it is written now."""
    node = entry.node
    if not isinstance(node, yaml.SequenceNode) or node.flow_style:
        return entry.indent + "  "
    dash = entry.base + node.start_mark.index
    return text[_line_start(text, dash) : dash]


def _refuse_comment(text: str, entry: _Entry, end: int) -> None:
    at, between = entry.colon, ""
    for leaf in _leaves(entry.node):
        between += text[at : entry.base + leaf.start_mark.index]
        at = max(at, _content_end(text, entry.base, leaf))
    if "#" in between + text[at:end]:
        raise _refused(
            f"a comment stands inside the property {entry.name}",
            "Move the comment out of it, or change this property by hand.",
        )


def _leaves(node: yaml.Node) -> Iterator[yaml.Node]:
    if not isinstance(node, yaml.CollectionNode):
        yield node
        return
    for one in node.value:
        for part in one if isinstance(one, tuple) else (one,):
            yield from _leaves(part)


def _without(text: str, entry: _Entry) -> str:
    return text[: entry.start] + text[_line_end(text, entry.end).end() :]


def _checked(old: str, new: str, key: str, value: Value | None) -> str:
    """Give the new text back if it differs from the old one in this property alone."""
    before, after = split_front_matter(old), split_front_matter(new)
    if after is None or not _same_elsewhere(old, before, new, after, key, value):
        raise _refused(f"changing {key} would change something else as well")
    return new


def _same_elsewhere(
    old: str,
    before: FrontMatter | None,
    new: str,
    after: FrontMatter,
    key: str,
    value: Value | None,
) -> bool:
    body = old[before.body :] if before else old[text_start(old) :]
    earlier = _entries(old, before) if before else {}
    later = _entries(new, after)
    was, now = earlier.pop(key, None), later.pop(key, None)
    done = now is None if value is None else now is not None and _holds(now.node, value)
    others = [(name, entry.raw(old)) for name, entry in earlier.items()]
    rest = _without(new, now) if now else new
    block = rest[: len(rest) - len(body)]
    former = _without(old, was) if was else old
    return (
        done
        and new[after.body :] == body
        and others == [(name, entry.raw(new)) for name, entry in later.items()]
        and (before is None or block == former[: len(former) - len(body)])
    )
