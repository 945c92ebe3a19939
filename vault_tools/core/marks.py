"""What stands between the words of a note: links, tags, block ids, tasks, fields, comments.

Every mark has `start` and `end`, its span in characters: `text[start:end]` is how it was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SIZE = re.compile(r"(?:.*\|)?[ ]*(\d{1,6})(?:x(\d{1,6}))?[ ]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Link:
    """A wikilink or Markdown link, or the embed of what it names.

    `target` is the name or path as meant (Markdown: percent-decoded), empty for the note itself;
    `sub` the part behind the first `#`: `H1#H2` or `^block-id`. An `external` one holds its whole
    address in `target`.
    """

    start: int
    end: int
    target: str
    sub: str = ""
    display: str | None = None
    embed: bool = False
    markdown: bool = False
    external: bool = False

    @property
    def size(self) -> tuple[int, int | None] | None:
        """Give width and height in pixels of an embed `|640x480` or `|640`."""
        match = _SIZE.fullmatch(self.display or "") if self.embed else None
        return (int(match[1]), int(match[2]) if match[2] else None) if match else None


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag; `name` is without `#`, in the case it was written in."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class BlockId:
    """The id of a paragraph or list item, ` ^id` at the end of a line; `name` is without `^`."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class Task:
    """A line with a checkbox; `status` is the one character inside, `text` what follows it."""

    start: int
    end: int
    status: str
    text: str

    @property
    def checked(self) -> bool:
        """Tell whether Obsidian shows it as checked: any status but a space."""
        return self.status != " "


@dataclass(frozen=True, slots=True)
class Field:
    """An inline field `key:: value`, `[key:: value]` or `(key:: value)`."""

    start: int
    end: int
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Comment:
    """A `%%` or HTML comment; nothing inside is a mark."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Callout:
    """The first line of a callout; `kind` in lower case, `fold` is `+`, `-` or empty.

    `depth` counts the `>` in front of it.
    """

    start: int
    end: int
    kind: str
    fold: str
    title: str
    depth: int


Mark = Link | Tag | BlockId | Task | Field | Comment | Callout


def shown_key(key: str) -> str:
    """Give the name of a field without the emphasis around it."""
    return key.strip(" \t*_~")


def wikilink(start: int, end: int, content: str, *, embed: bool) -> Link | None:
    """Read what stands between `[[` and `]]`; None when it names nothing.

    The pipe may be escaped, as it must be in a table.
    """
    name, pipe, display = content.partition("|")
    if pipe:
        name = name.removesuffix("\\")
    target, _, sub = name.partition("#")
    if not target.strip() and not sub.strip():
        return None
    return Link(start, end, target.strip(), sub.strip(), display if pipe else None, embed)


def markdown_link(
    start: int, end: int, destination: str, display: str, *, embed: bool
) -> Link | None:
    """Read the two halves of `[display](destination)`; None when it leads nowhere."""
    shown = _ESCAPED.sub(r"\1", display)
    where = _ESCAPED.sub(r"\1", destination)
    if not where:
        return None
    if _SCHEME.match(where):
        return Link(start, end, where, "", shown, embed, markdown=True, external=True)
    target, _, sub = where.partition("#")
    return Link(start, end, _decoded(target), _decoded(sub), shown, embed, markdown=True)


def _decoded(text: str) -> str:
    return unquote(text, errors="surrogateescape")
