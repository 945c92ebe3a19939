"""Secrets that take several lines: private keys and YAML block scalars under a secret name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vault_tools.redaction.keywords import Strength, strength_of
from vault_tools.redaction.labels import Finding, is_label

# Where every marker of a private key ends or a block scalar begins; absent from nearly all text.
CUES = ("private key", "private-lines", "|", ">")

_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}", re.ASCII)
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}", re.ASCII)
_PREFIX = re.compile(
    r"[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|"
    r"\[![\w-]{1,30}\][+-]?)[ \t]*){0,12}"
)
_HEAD_END = re.compile(r"[:=(,\[]\s{0,8}[brfu]?[\"'`(]{0,3}\Z|[\"'`(]\Z")
_REST = re.compile(r"[\s\"'`\\+,;)]*\Z")
_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}|[A-Za-z-]{3,20}: \S", re.ASCII)
_ESCAPED_BODY = re.compile(r"(?:\\+[nr]|\s)*[A-Za-z0-9+/=]{16}", re.ASCII)
_PAYLOAD = re.compile(r"[A-Za-z0-9+/=]{16}", re.ASCII)
_PUTTY = re.compile(r"Private-Lines: (\d{1,4})\s*\Z", re.ASCII)
_SCALAR = re.compile(
    r"(?P<indent>[ \t>]*(?:- +)?)[\"']?(?P<name>[\w.-]{1,64})[\"']?"
    r"[ \t]*:[ \t]+[|>][+-]?\d?[+-]?\s*\Z"
)
_KIND = "private_key"


def find_blocks(lines: Sequence[str]) -> Iterator[tuple[int, Finding]]:
    """Yield (line number from 0, finding) for every line of a secret that spans lines.

    Each line is judged once: a key that is never closed reaches to the end, an END without
    a BEGIN back to the last blank line.
    """
    number, blank = 0, -1
    while number < len(lines):
        line = lines[number]
        found = list(_block_at(lines, number, blank))
        yield from found
        if not line.strip(" \t>"):
            blank = number
        last = max((at for at, _ in found), default=number)
        if last > number or (found and _END.search(line)):
            blank = last
        number = max(number, last) + 1


def _block_at(lines: Sequence[str], number: int, blank: int) -> Iterator[tuple[int, Finding]]:
    line = lines[number]
    if "PRIVATE KEY" in line:
        begins = _BEGIN.search(line)
        if begins:
            yield from _key_from(lines, number, begins)
            return
        ends = _END.search(line)
        if ends and _is_alone(line, ends):
            yield from _masked(lines, range(blank + 1, number + 1))
    elif "Private-Lines: " in line and (putty := _PUTTY.search(line)):
        yield from _masked(lines, range(number + 1, number + 1 + int(putty.group(1))))
    elif (scalar := _SCALAR.match(line)) and _is_secret(scalar.group("name")):
        yield from _scalar_body(lines, number, len(scalar.group("indent")))


def _key_from(
    lines: Sequence[str], number: int, begins: re.Match[str]
) -> Iterator[tuple[int, Finding]]:
    line = lines[number]
    end = _END.search(line, begins.end())
    if end or _ESCAPED_BODY.match(line, begins.end()):
        if end is None:
            yield number, Finding(begins.start(), len(line), _KIND)
        elif _PAYLOAD.search(line, begins.end(), end.start()):
            yield number, Finding(begins.start(), end.end(), _KIND)
        return
    if not _opens(lines, number, begins):
        return
    yield number, Finding(begins.start(), len(line), _KIND)
    last = number + 1
    while last < len(lines) and not _END.search(lines[last]):
        last += 1
    yield from _masked(lines, range(number + 1, last + 1))


def _opens(lines: Sequence[str], number: int, begins: re.Match[str]) -> bool:
    """Tell whether a BEGIN opens a block, rather than being spoken of in a sentence."""
    line = lines[number]
    if not _REST.match(line, begins.end()):
        return False
    if _is_alone(line, begins):
        return True
    following = lines[number + 1].lstrip(" \t>") if number + 1 < len(lines) else ""
    head = line[max(0, begins.start() - 20) : begins.start()]
    return bool(_HEAD_END.search(head)) and bool(_BODY.match(following))


def _is_alone(line: str, marker: re.Match[str]) -> bool:
    prefix = _PREFIX.match(line)
    start = prefix.end() if prefix else 0
    return start == marker.start() and bool(_REST.match(line, marker.end()))


def _is_secret(name: str) -> bool:
    named = strength_of(name)
    return named is not None and named[0] in (Strength.STRONG, Strength.MEDIUM)


def _scalar_body(lines: Sequence[str], number: int, indent: int) -> Iterator[tuple[int, Finding]]:
    for at in range(number + 1, len(lines)):
        line = lines[at]
        if not line.strip(" \t>"):
            continue
        if len(line) - len(line.lstrip(" \t>")) <= indent:
            return
        yield from _masked(lines, range(at, at + 1), "password")


def _masked(
    lines: Sequence[str], numbers: range, kind: str = _KIND
) -> Iterator[tuple[int, Finding]]:
    """Mask whole lines, list, quote and callout prefixes aside; blank and masked ones stay."""
    for at in numbers:
        if at >= len(lines):
            return
        line = lines[at]
        prefix = _PREFIX.match(line)
        start = prefix.end() if prefix else 0
        if line[start:].strip() and not is_label(line[start:]):
            yield at, Finding(start, len(line.rstrip()), kind)
