"""The mark that stands where a secret stood, and the spans that lead to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LABEL = re.compile("«REDACTED:[a-z0-9_]{2,40}»")


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Hold one secret of a line: code point offsets, end exclusive, and its kind."""

    start: int
    end: int
    kind: str


def label(kind: str) -> str:
    """Write the mark of a kind.

    Guillemets, because square brackets would turn `[value]` into a wikilink and
    `value(text)` into a link.
    """
    return f"«REDACTED:{kind}»"


def label_spans(line: str) -> list[tuple[int, int]]:
    """List where marks stand in a line, as (start, end)."""
    if "«REDACTED:" not in line:
        return []
    return [match.span() for match in _LABEL.finditer(line)]


def is_label(value: str) -> bool:
    """Tell whether a value is nothing but marks and space."""
    return "«REDACTED:" in value and not _LABEL.sub("", value).strip()


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """Unite findings that overlap; the one given first names the union."""
    ranked = sorted(enumerate(findings), key=lambda pair: (pair[1].start, pair[0]))
    united: list[tuple[int, Finding]] = []
    for rank, found in ranked:
        if united and found.start < united[-1][1].end:
            first_rank, last = united[-1]
            kind = last.kind if first_rank <= rank else found.kind
            whole = Finding(last.start, max(last.end, found.end), kind)
            united[-1] = (min(first_rank, rank), whole)
        else:
            united.append((rank, found))
    return [found for _, found in united]


def replaced(line: str, findings: list[Finding]) -> str:
    """Put marks in place of sorted findings that do not overlap."""
    pieces: list[str] = []
    done = 0
    for found in findings:
        pieces += (line[done : found.start], label(found.kind))
        done = found.end
    return "".join([*pieces, line[done:]])
