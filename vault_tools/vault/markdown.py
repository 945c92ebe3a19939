"""Tell which lines of a note are not plain text, by markdown-it-py (the only place that uses it).

Parsing costs 20 to 40 times a line scan, so a note without our marker is never parsed.
"""

from __future__ import annotations

import functools
import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

from vault_tools.core.block import MARKER
from vault_tools.core.note import lines_of, split_front_matter, text_start

_MAX_NESTING = 500
_CODE = frozenset({"fence", "code_block"})
_CONTAINERS = frozenset({"blockquote_open", "list_item_open"})
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
    front = split_front_matter(text)
    start = front.body if front else text_start(text)
    first = front.lines if front else 0
    lines = [text[line.start : line.end] for line in lines_of(text, start)]
    state = StateCore(text[start:], _parser(), {})
    _parser().core.process(state)
    found: set[int] = set()
    for token in state.tokens:
        if token.map is None:
            continue
        span = range(token.map[0], token.map[1])
        if token.type in _CODE or token.type in _CONTAINERS or _is_html(token.type, span, lines):
            found.update(first + number for number in span)
    return frozenset(found)


def _is_html(kind: str, span: range, lines: list[str]) -> bool:
    if kind != "html_block":
        return False
    last = span[-1] if span else span.start
    return not (len(span) == 1 and _LONE_COMMENT.fullmatch(lines[last]))
