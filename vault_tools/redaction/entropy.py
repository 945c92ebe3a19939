"""Unnamed keys, told from ordinary text by where they stand first and by disorder second.

Left alone wherever they stand in a wikilink, URL, link target, data URI, file path or UUID, or
after a word that announces a hash. A bare key in such a place passes here; the named formats and
the assignments still look there.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from vault_tools.redaction.labels import Finding
from vault_tools.redaction.placeholders import is_word_like

_RUN = re.compile(r"(?<![A-Za-z0-9_+/=.~-])[A-Za-z0-9_+/=.~-]{24,}", re.ASCII)
_PIECE = re.compile(r"[A-Za-z0-9_+/=-]{24,}", re.ASCII)
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{32,}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_HASH_CUE = re.compile(
    r"(?:sha-?\d{0,3}|md5|blake\d?\w?|crc\w*|hash\w*|commit\w*|digest\w*|integrity|etag|checksum\w*"
    r"|rev(?:ision)?|fingerprint|fingerabdruck|prüfsumme|streuwert|tree|parent|merge|blob|cid|uuid"
    r"|git|seal|version|ref)[^A-Za-z0-9]{0,6}(?:(?:is|ist|of|von|lautet)\W{1,3})?\Z",
    re.IGNORECASE,
)
_NAMED_HASH = re.compile(r"(?:sha\d{1,3}|md5|blake\d\w?)[-=_]", re.ASCII | re.IGNORECASE)
_CUE_REACH = 24
_CONTEXTS = (
    ("[[", re.compile(r"\[\[[^\[\]]*\]\]")),
    ("](", re.compile(r"\]\([^()\s]*")),
    ("]:", re.compile(r"\A[ \t]{0,3}\[[^\[\]]{1,200}\]:\s*\S+")),
    ("data:", re.compile(r"data:[\w/+.-]{0,80}[;,]\S*")),
    ("://", re.compile(r"(?<=://)[^\s\"'<>`]+")),
    ("www.", re.compile(r"(?<!\w)www\.\S+")),
    ("![", re.compile(r"!\[[^\[\]]*\]")),
)
_SUM_OF_FILE = re.compile(r"[ \t]*[\\]?[0-9a-f]{32,128}[ \t]+[*]?\S", re.ASCII)
_SEPARATORS = re.compile(r"[-_/+=]")


def find_disorder(line: str) -> Iterator[Finding]:
    """Yield the runs of a line that look like a generated key, context first (spec 05 point 5)."""
    if _SUM_OF_FILE.match(line):
        return
    contexts: list[tuple[int, int]] | None = None
    for run in _RUN.finditer(line):
        for start, end in _keys_of(line, run):
            if contexts is None:
                contexts = _context_spans(line)
            if not any(left <= start < right for left, right in contexts):
                yield Finding(start, end, "high_entropy")


def _context_spans(line: str) -> list[tuple[int, int]]:
    return [m.span() for cue, pattern in _CONTEXTS if cue in line for m in pattern.finditer(line)]


def _keys_of(line: str, run: re.Match[str]) -> Iterator[tuple[int, int]]:
    if _is_path(run.group()):
        return
    for piece in _PIECE.finditer(line, run.start(), run.end()):
        start, end = _without_name(line, *piece.span())
        if _is_key(line[start:end]) and not _after_hash_cue(line, start):
            yield start, end


def _without_name(line: str, start: int, end: int) -> tuple[int, int]:
    """Leave out a `name=` in front of the value."""
    sign = line.find("=", start, end)
    return (sign + 1, end) if sign >= 0 and line[sign:end].strip("=") else (start, end)


def _after_hash_cue(line: str, start: int) -> bool:
    return _HASH_CUE.search(line[max(0, start - _CUE_REACH) : start]) is not None


def _is_path(run: str) -> bool:
    parts = [part for part in run.split("/") if part]
    if len(parts) < 2:
        return run.startswith(("/", "./", "~/")) and is_word_like(run)
    named = sum(len(part) for part in parts if len(part) < 3 or is_word_like(part))
    return named * 2 >= sum(map(len, parts)) or run.startswith(("./", "../", "~/"))


def _is_key(value: str) -> bool:
    if (
        _UUID.search(value)
        or _NAMED_HASH.match(value)
        or value.isdigit()
        or not value.strip("=-_+/")
    ):
        return False
    if _HEX.fullmatch(value):
        return _disorder(value) >= 3.0
    if len(value) < 24 or is_word_like(value):
        return False
    has_digit = any(map(str.isdigit, value))
    one_case = value.islower() or value.isupper()
    if not has_digit and (one_case or _SEPARATORS.search(value.strip("="))):
        return False
    disorder = _disorder(value)
    bare = not _SEPARATORS.search(value.rstrip("="))
    return disorder >= 4.0 or (disorder >= 3.5 and has_digit and bare)


def _disorder(value: str) -> float:
    """Compute the Shannon entropy of a text in bits per character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())
