"""Tell which lines of a note are not plain text, by markdown-it-py (the only place that uses it).

Parsing costs 20 to 40 times a line scan, so a note without our marker, or without a sign of code,
is never parsed.
"""

from __future__ import annotations

import functools
import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from vault_tools.core.block import MARKER
from vault_tools.core.note import lines_of, split_front_matter, text_start

_MAX_NESTING = 500
_CODE = frozenset({"fence", "code_block"})
_CONTAINERS = frozenset({"blockquote_open", "list_item_open"})
_MAY_BE_CODE = re.compile(r"```|~~~|(?:^|\r)[ \t>*+\d.)-]*(?: {4}|\t|<[A-Za-z/?!])", re.MULTILINE)
_COMMENT = re.compile(r"[ \t>]*<!--")
_LONE_COMMENT = re.compile(r" {0,3}<!--[^>]*-->[ \t]*")


@functools.cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    # Block structure is all we ask for; inline rules would cost as much again.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def opaque_lines(text: str) -> frozenset[int]:
    """Give the lines (from 0) inside fences, indented code, HTML, quotes and lists.

    Empty for a note without a block marker. Front matter is cut before parsing and not included.
    An HTML comment alone on its line is plain. Lines end with LF, CRLF or CR only.
    """
    if MARKER not in text:
        return frozenset()
    first, lines, tokens = _blocks(text)
    found: set[int] = set()
    for token in tokens:
        if token.map is None:
            continue
        span = range(token.map[0], token.map[1])
        if token.type in _CODE or token.type in _CONTAINERS or _is_html(token.type, span, lines):
            found.update(first + number for number in span)
    return frozenset(found)


def code_lines(text: str) -> frozenset[int]:
    """Give the lines (from 0) inside fences, indented code and HTML blocks, quoted ones too.

    Front matter is not included, nor an HTML block that is a comment.
    """
    if not _MAY_BE_CODE.search(text):
        return frozenset()
    first, lines, tokens = _blocks(text)
    found: set[int] = set()
    for token in tokens:
        html = token.type == "html_block" and not _COMMENT.match(token.content)
        if token.map is not None and (token.type in _CODE or html):
            found.update(range(first + token.map[0], first + min(token.map[1], len(lines))))
    return frozenset(found)


def _blocks(text: str) -> tuple[int, list[str], list[Token]]:
    """Parse what follows the front matter: its first line number, its lines, the block tokens."""
    front = split_front_matter(text)
    start = front.body if front else text_start(text)
    lines = [text[line.start : line.end] for line in lines_of(text, start)]
    state = StateCore(text[start:], _parser(), {})
    _parser().core.process(state)
    return (front.lines if front else 0), lines, state.tokens


def _is_html(kind: str, span: range, lines: list[str]) -> bool:
    if kind != "html_block":
        return False
    last = span[-1] if span else span.start
    return not (len(span) == 1 and _LONE_COMMENT.fullmatch(lines[last]))
