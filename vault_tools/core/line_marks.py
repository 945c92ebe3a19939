"""Find what a whole line is: a task, a callout, a field; and the block id that may end it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from vault_tools.core.marks import BlockId, Callout, Field, Mark, Task, shown_key
from vault_tools.core.note import Line

LIST_MARKER = r"(?:[-*+]|\d{1,9}[.)])"

_TASK = re.compile(rf"[ \t>]*({LIST_MARKER}[ \t]+\[([^\r\n])\](?:[ \t]+(.*)|$))", re.DOTALL)
_QUOTE = re.compile(rf"[ \t]*(?:{LIST_MARKER}[ \t]+)?(>[> \t]*)")
_CALLOUT = re.compile(
    r"\[!([^\[\]|\r\n]{1,80})(?:\|[^\[\]\r\n]*)?\]([+-]?)(.*)",
    re.DOTALL,
)
_FIELD = re.compile(
    rf"[ \t>]*(?:{LIST_MARKER}[ \t]+)?([*_~]*(\w[^\[\]()\r\n:|`#]{{0,79}})::)(?=[ \t]|$)"
)
_BLOCK_ID = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*")


def line_marks(text: str, lines: Iterable[Line], seen: Callable[[int], bool]) -> Iterator[Mark]:
    """Yield the marks that whole lines make; `seen` tells whether an offset is outside code.

    `lines` leave out the opaque ones. A field line wants a blank behind its colons, as Dataview
    documents it, and a task line is no field.
    """
    tasks, callouts = "]" in text, "[!" in text
    fields, ids = "::" in text, "^" in text
    if not (tasks or fields or ids):
        return
    depth, last = 0, -1
    for line in lines:
        depth = depth if line.number == last + 1 else 0
        task = _task(text, line) if tasks else None
        field = _field(text, line) if fields and not task else None
        found: list[Mark | None] = [task, field, _block_id(text, line) if ids else None]
        if callouts:
            callout, depth = _callout(text, line, depth)
            found.append(callout)
        yield from (mark for mark in found if mark and seen(mark.start))
        last = line.number


def _task(text: str, line: Line) -> Task | None:
    match = _TASK.match(text, line.start, line.end)
    return Task(match.start(1), line.end, match[2], match[3] or "") if match else None


def _callout(text: str, line: Line, above: int) -> tuple[Callout | None, int]:
    """Read a callout that begins its quote; give how deep the line is quoted, too."""
    quote = _QUOTE.match(text, line.start, line.end)
    depth = quote[1].count(">") if quote else 0
    match = _CALLOUT.match(text, quote.end(), line.end) if quote and depth > above else None
    if not quote or not match:
        return None, depth
    kind, title = match[1].strip().lower(), match[3].strip(" \t")
    return Callout(quote.start(1), line.end, kind, match[2], title, depth), depth


def _field(text: str, line: Line) -> Field | None:
    match = _FIELD.match(text, line.start, line.end)
    key = shown_key(match[2]) if match else ""
    if not match or not key:
        return None
    value = text[match.end(1) : line.end].strip(" \t")
    return Field(match.start(1), line.end, key, value)


def _block_id(text: str, line: Line) -> BlockId | None:
    start = text.rfind("^", line.start, line.end)
    match = _BLOCK_ID.fullmatch(text, start, line.end) if start >= 0 else None
    if not match or not (start == line.start or text[start - 1] in " \t"):
        return None
    return BlockId(start, match.end(1), match[1])
