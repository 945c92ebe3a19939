"""Secrets in the cells of a Markdown table, named by the column or by the first cell of a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from vault_tools.redaction.assignments import condemns
from vault_tools.redaction.keywords import Named, strength_of
from vault_tools.redaction.labels import Finding

_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*\Z")
_DECORATION = " \t*_~`\"'"
_LONGEST_NAME = 40

Cell = tuple[int, int]


def find_cells(lines: Sequence[str]) -> Iterator[tuple[int, Finding]]:
    """Yield (line number from 0, finding) for every table cell that a name condemns."""
    columns: list[Named | None] = []
    for number, line in enumerate(lines):
        if "|" not in line:
            columns = []
        elif _RULE.match(line):
            header = lines[number - 1] if number else ""
            columns = [_named(header, cell) for cell in _cells(header)]
        elif _RULE.match(lines[number + 1] if number + 1 < len(lines) else ""):
            columns = []
        elif columns or line.lstrip(" \t>").startswith("|"):
            yield from ((number, found) for found in _row(line, columns))


def _cells(line: str) -> list[Cell]:
    """List the (start, end) of the cells of a row, the space around them left out."""
    body = len(line) - len(line.lstrip(" \t>"))
    ends = [match.start() for match in _PIPE.finditer(line, body)]
    bounds = zip([body, *(end + 1 for end in ends)], [*ends, len(line)], strict=True)
    cells = [_trimmed(line, start, end) for start, end in bounds]
    return cells[1:] if line.startswith("|", body) else cells


def _trimmed(line: str, start: int, end: int) -> Cell:
    text = line[start:end]
    left = len(text) - len(text.lstrip(_DECORATION))
    return start + left, start + max(left, len(text.rstrip(_DECORATION)))


def _named(line: str, cell: Cell) -> Named | None:
    name = line[slice(*cell)]
    if len(name) > _LONGEST_NAME or "«" in name:
        return None
    return strength_of(name.rstrip(": "))


def _row(line: str, columns: list[Named | None]) -> Iterator[Finding]:
    cells = _cells(line)
    for cell, named in zip(cells, columns, strict=False):
        yield from _judged(line, cell, named)
    if not any(columns):
        for cell, following in pairwise(cells):
            yield from _judged(line, following, _named(line, cell))


def _judged(line: str, cell: Cell, named: Named | None) -> Iterator[Finding]:
    if named and condemns(named[0], line[slice(*cell)]):
        yield Finding(*cell, named[1])
