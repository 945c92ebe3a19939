"""Citations: a path, a line range and the SHA-256 of the whole source file (spec 05 point 9)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, unquote

_SAFE = "/ ._-()+,&=@!'~"
_FORM = re.compile(
    r"(?P<path>[^:@#\]|^]+):(?P<start>[1-9]\d{0,8})(-(?P<end>[1-9]\d{0,8}))?"
    r"(@sha256=(?P<sha>[0-9a-f]{64}))?\Z"
)


class SourceState(StrEnum):
    """Whether a cited source is still what was cited."""

    CURRENT = "current"
    CHANGED = "changed"
    MISSING = "missing"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in a source file; lines count from 1 and include both ends."""

    path: str
    start: int
    end: int
    sha256: str = ""

    def place(self) -> str:
        """Format as `path:line` or `path:start-end`, unsafe characters percent-encoded."""
        lines = str(self.start) if self.start == self.end else f"{self.start}-{self.end}"
        return f"{_encoded(self.path)}:{lines}"

    def __str__(self) -> str:
        return f"{self.place()}@sha256={self.sha256}" if self.sha256 else self.place()


def _encoded(path: str) -> str:
    return "".join(char if ord(char) > 127 else quote(char, safe=_SAFE) for char in path)


def parse_citation(text: str) -> Citation | None:
    """Read a citation, or None when the text is something else (a URL, prose)."""
    match = _FORM.match(text)
    if match is None:
        return None
    start = int(match["start"])
    end = int(match["end"] or start)
    return (
        Citation(unquote(match["path"]), start, end, match["sha"] or "") if end >= start else None
    )
