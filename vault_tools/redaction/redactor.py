"""Take secrets out of text: blocks, then a cheap line gate, named formats, names, disorder.

Redaction is a net under the rules that keep secrets apart, not the boundary itself: an unnamed
key inside a link, path or hash context passes (see `entropy`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from vault_tools.redaction import assignments, blocks, entropy, formats, keywords, tables
from vault_tools.redaction.labels import Finding, joined, label, label_spans, replaced

_ROUNDS = 4
_RUN = re.compile(r"(?<![A-Za-z0-9_.+/=~-])[A-Za-z0-9_.+/=~-]{20,}", re.ASCII)
_SHORTEST_RUN = 20
_SHORT_PREFIXES = {
    prefix.lower()
    for _, prefixes, _, least in formats.PROVIDERS
    for prefix in prefixes.split()
    if len(prefix) + least < _SHORTEST_RUN
}
_CUES = tuple(
    cue
    for cue in sorted(
        {*keywords.CUES, *_SHORT_PREFIXES, "basic", "-u", "--user", "@", "hook", "mysql"}
    )
    if not any(other != cue and other in cue for other in keywords.CUES)
)
_LOWERED_LONGER = "İ"  # the one character whose lower case has another length


def redact(text: str) -> str:
    """Replace every secret of a text by a mark such as «REDACTED:github_token».

    Lines keep their number and their endings, a redacted text redacts to itself, and time grows
    with the length of the text (spec 05 points 4 and 5).
    """
    lines, ends = _split(text)
    for number, found in _found(lines):
        lines[number] = _settled(lines[number], found)
    return "".join(line + end for line, end in zip(lines, ends, strict=True))


def report(text: str) -> tuple[tuple[str, int], ...]:
    """Count the secrets of a text as (kind, count), kinds in order; a key block counts its lines.

    A redacted text reports nothing.
    """
    counts = Counter(one.kind for _, found in _found(_split(text)[0]) for one in found)
    return tuple(sorted(counts.items()))


def contains_secret(text: str) -> tuple[str, ...]:
    """List the kinds of secrets in a text, without repeats and in order; empty when clean."""
    return tuple(kind for kind, _ in report(text))


def _split(text: str) -> tuple[list[str], list[str]]:
    """Split a text into lines and their endings, at every break that any reader counts."""
    whole = text.splitlines(keepends=True)
    lines = [line.splitlines()[0] for line in whole]
    return lines, [line[len(body) :] for line, body in zip(whole, lines, strict=True)]


def _found(lines: list[str]) -> Iterator[tuple[int, list[Finding]]]:
    """Yield (line number from 0, findings) for the lines that hold secrets."""
    text = "\n".join(lines)
    lower = _lowered(text)
    spanning: dict[int, list[Finding]] = {}
    for number, found in _spanning(lines, lower):
        spanning.setdefault(number, []).append(found)
    for number in sorted({*spanning, *_candidates(lines, text, lower)}):
        findings = _outside_labels(
            lines[number], [*spanning.get(number, ()), *_in_line(lines[number])]
        )
        if findings:
            yield number, findings


def _lowered(text: str) -> str:
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace(_LOWERED_LONGER, "I").lower()


def _spanning(lines: list[str], lower: str) -> Iterator[tuple[int, Finding]]:
    if any(cue in lower for cue in blocks.CUES):
        yield from blocks.find_blocks(lines)
    if "|" in lower:
        yield from tables.find_cells(lines)


def _candidates(lines: list[str], text: str, lower: str) -> set[int]:
    """Find the lines worth a closer look: those with a cue or a long run."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    seen: set[int] = set()
    for cue in _CUES:
        at = lower.find(cue)
        while at >= 0:
            number = bisect_right(starts, at) - 1
            seen.add(number)
            at = lower.find(cue, starts[number + 1])
    seen.update(bisect_right(starts, run.start()) - 1 for run in _RUN.finditer(text))
    return seen


def _in_line(line: str) -> Iterator[Finding]:
    yield from formats.find_formats(line, _lowered(line))
    yield from assignments.find_assignments(line)
    yield from entropy.find_disorder(line)


def _outside_labels(line: str, findings: list[Finding]) -> list[Finding]:
    """Unite findings, drop what lies in a mark, and widen what cuts one."""
    marks = label_spans(line)
    if not marks:
        return joined(findings)
    kept = [
        found
        for found in findings
        if not any(start <= found.start and found.end <= end for start, end in marks)
    ]
    cut = [
        Finding(start, end, found.kind)
        for found in kept
        for start, end in marks
        if start < found.end and found.start < end
    ]
    return joined([*kept, *cut])


def _settled(line: str, findings: list[Finding]) -> str:
    """Replace findings until none is left; a line that does not settle is masked whole."""
    for _ in range(_ROUNDS):
        line = replaced(line, findings)
        findings = _outside_labels(line, list(_in_line(line)))
        if not findings:
            return line
    return label("line")
