"""Secrets that show by the name in front of them: `Passwort: …`, `"apiKey": "…"`, `--token …`.

Every look to the left and every rejected value is bounded, so a hostile line costs linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_tools.redaction.keywords import Named, Strength, strength_of, strength_within
from vault_tools.redaction.labels import Finding
from vault_tools.redaction.placeholders import (
    is_made_up,
    is_placeholder,
    is_prose,
    is_token_like,
)

_LOOK_BACK = 80
_QUOTE_REACH = 4096
_WORD_REACH = 4096
_PAIR_REACH = 160
_JUDGED = 256
_NAME_CHARS = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ÄÖÜäöüß_.- /&"  # no quotes
)
_AFTER_NAME = " \t*_~`\"'\\]?=“”"
_CLOSING = {'"': '"', "'": "'", "`": "`", "„": '“”"', "“": "”", "‚": "‘’", "‘": "’", "»": "«"}

_SEPARATOR = re.compile(
    r"(?P<sign>:?={1,3}>?|:{1,2}|->|→|⇒)"
    r"|(?P<verb>[ \t](?:is|ist|lautet|lauten|war|was|equals|heißt)(?=[ \t:]))"
    r"|(?P<dash>[ \t][-–—](?=[ \t]))"
    r"|(?P<call>[\"'],(?=[ \t]{0,4}[\"']))"
)
_GAP = re.compile(r"(?:[ \t*_~=:>]|</?(?:b|i|strong|em|code|span|kbd|t[dh])>){0,40}")
_PAIR_VALUE = re.compile(r"[^\s\"'`<>&;|«]+")
_FIRST_WORD = re.compile(r"[^\s\"`<>|«]+")
_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]{0,63})(?:\s[^<>]{0,200})?>([^<>«]{1,4096})</", re.ASCII)
_NAMED_VALUE = re.compile(
    r"(?:key|name)[\"']?\s{0,3}[=:]\s{0,3}[\"']([\w.:-]{1,64})[\"'],?\s{1,8}"
    r"[\"']?value[\"']?\s{0,3}[=:]\s{0,3}[\"']"
    r"([^\"'«]{1,4096})[\"']",
    re.ASCII | re.IGNORECASE,
)
_NAMED_CELL = re.compile(
    r"<t[dh]>\s{0,3}([\w .:-]{1,40})</t[dh]>\s{0,3}<td>([^<>«]{1,400})</td>", re.IGNORECASE
)
_FLAG = re.compile(
    r"(?<!\S)--?([A-Za-z][\w-]{1,40})[ \t]{1,4}([\"'`]?)([^\s\"'`«|]{3,4096})", re.ASCII
)
_BESIDE = re.compile(
    r"(?:password|passwort|kennwort|passphrase|passwd|pwd|(?<![\w-])pw)[ \t]{1,4}"
    r"([\"'`„“]?)([^\s\"'`“”„|«]{6,4096})",
    re.IGNORECASE,
)
_KEY_BESIDE = re.compile(
    r"(?:token|secret|api[ -]?key|api-schlüssel|access[ -]key)[ \t]{1,4}"
    r"[\"'`„“]?([\w.~+/=-]{12,4096})",
    re.IGNORECASE,
)
_PIN_BESIDE = re.compile(r"(?<!\w)(?:PIN|PUK)(?:-Code)?[ \t]{1,4}(\d{4,8})(?![\w.,:/-]?\w)")
_DIGITS = re.compile(r"\d[\d \t-]{1,14}\d(?!\w)", re.ASCII)
_TRAILING = " \t.,;)]}*_~`\"'”“\\"


def find_assignments(line: str) -> Iterator[Finding]:
    """Yield the secrets of a line that a German or English name announces."""
    yield from _separated(line)
    yield from _elements(line)
    yield from _beside(line)


def _separated(line: str) -> Iterator[Finding]:
    done = 0
    for separator in _SEPARATOR.finditer(line):
        if separator.start() < done:
            continue
        named = _name_before(line, separator.start())
        if named is None or line.startswith("//", separator.end()):
            continue
        if separator.lastgroup in ("verb", "dash", "call") and named[0] is not Strength.DIGITS:
            named = (_SOFTER[named[0]], named[1])
        found = _value_after(line, separator, named)
        if found:
            done = found.end
            yield found


_WHOLE = (Strength.STRONG, Strength.CODED)
_SOFTER = {
    Strength.STRONG: Strength.MEDIUM,
    Strength.CODED: Strength.MEDIUM,
    Strength.MEDIUM: Strength.WEAK,
    Strength.WEAK: Strength.WEAK,
}


def _name_before(line: str, at: int) -> Named | None:
    left = line[max(0, at - _LOOK_BACK) : at].rstrip(_AFTER_NAME)
    if left.endswith(")"):
        left = left[: max(left.rfind("("), 0)].rstrip(_AFTER_NAME)
    named = _name_at_end(left)
    if named is None and line[at - 1 : at] == "]" and "[" in left:
        named = _name_at_end(left[: left.rfind("[")].rstrip(_AFTER_NAME))
    return named


def _name_at_end(left: str) -> Named | None:
    name = left[len(left.rstrip(_NAME_CHARS)) :].strip(" .-/&")
    return (strength_of(name) or strength_within(name)) if name else None


def _value_after(line: str, separator: re.Match[str], named: Named) -> Finding | None:
    start, glued = separator.end(), True
    gap = _GAP.match(line, start)
    if gap:
        start, glued = gap.end(), gap.end() == separator.end()
    if start >= len(line):
        return None
    if line[start] == "\\" and line[start + 1 : start + 2] in "\"'":
        start += 1
    if line[start] in _CLOSING:
        return _quoted(line, start, named, separator.lastgroup == "call")
    if glued and "=" in separator.group():
        return _run(line, start, _PAIR_VALUE, named)
    return _unquoted(line, start, named)


def _quoted(line: str, start: int, named: Named, separator_is_comma: bool) -> Finding | None:
    quote = line[start]
    inner = start + 1
    while inner < len(line) and line[inner] == quote and inner < start + 3:
        inner += 1
    strong = named[0] in _WHOLE
    end = _closing(line, inner, _CLOSING[quote], None if strong else inner + _QUOTE_REACH)
    if end < 0 and not strong:
        return _unquoted(line, inner, named)
    if separator_is_comma and line[end + 1 : end + 9].lstrip().startswith(":"):
        return None
    return _judged(line, inner, len(line) if end < 0 else end, named)


def _closing(line: str, start: int, closers: str, reach: int | None) -> int:
    """Find the closing quote that no backslash escapes; -1 where there is none within reach."""
    ends = [n for n in (line.find(closer, start, reach) for closer in closers) if n >= 0]
    end = min(ends, default=-1)
    while end > start and line[end - 1] == "\\" and line[end - 2] != "\\" and closers == '"':
        after = line.find(closers, end + 1, reach)
        if after < 0:
            break
        end = after
    return end


def _unquoted(line: str, start: int, named: Named) -> Finding | None:
    if named[0] in _WHOLE:
        end = _end_of_value(line, start)
        found = _judged(line, start, end, named)
        if found:
            return found
        named = (Strength.MEDIUM, named[1])
    if named[0] is Strength.DIGITS:
        digits = _DIGITS.match(line, start)
        return _judged(line, start, digits.end(), named) if digits else None
    if len(line) - start <= _PAIR_REACH:
        end = _end_of_value(line, start)
        if _is_pair(line[start:end].rstrip(" \t*_`")):
            return _judged(line, start, end, (Strength.STRONG, named[1]))
    return _run(line, start, _FIRST_WORD, named)


def _run(line: str, start: int, run: re.Pattern[str], named: Named) -> Finding | None:
    """Judge a run by its beginning, so that what is let off was short, and take all of it."""
    first = run.match(line, start, start + _JUDGED)
    found = _judged(line, start, first.end(), named) if first else None
    if found is None or first is None or first.end() < start + _JUDGED:
        return found
    whole = run.match(line, start)
    return Finding(start, whole.end() if whole else found.end, found.kind)


def _end_of_value(line: str, start: int) -> int:
    end = len(line)
    if line[:8].lstrip(" >").startswith("|"):
        cell = line.find("|", start)
        end = cell if cell >= 0 else end
    for stop in (" <!--", "-->", "%%", "</"):
        at = line.find(stop, start, min(end, start + _WORD_REACH))
        end = at if at >= 0 else end
    return end


def _judged(line: str, start: int, end: int, named: Named) -> Finding | None:
    """Trim a value and keep it when its name condemns it."""
    value = line[start:end]
    trimmed = value.rstrip(" \t\\*_`\"',;" if named[0] in _WHOLE else _TRAILING)
    for opening, closing in ("[]", "()", "{}"):
        if trimmed.endswith(closing) and opening not in trimmed and opening in line[:start]:
            trimmed = trimmed[:-1].rstrip()
    if is_placeholder(value) or (value.startswith("[") and "](" in value[:200]):
        return None
    if condemns(named[0], trimmed):
        return Finding(start, start + len(trimmed), named[1])
    return None


def condemns(strength: Strength, value: str) -> bool:
    """Tell whether a name of this strength makes the value a secret."""
    if not value or is_placeholder(value):
        return False
    if strength is Strength.DIGITS:
        return 3 <= sum(map(str.isdigit, value)) <= 12 and not value.strip("0123456789 -\t")
    if strength in _WHOLE:
        coded = strength is Strength.STRONG or any(map(str.isdigit, value))
        return coded and not is_prose(value)
    if strength is Strength.MEDIUM:
        return is_made_up(value) or _is_pair(value)
    return is_token_like(value)


def _is_pair(value: str) -> bool:
    """Tell whether a value is "user / password", or a key written in groups of four."""
    if len(value) > _PAIR_REACH:
        return False
    user, slash, password = value.rpartition(" / ")
    if slash and len(user.split()) == 1 and is_made_up(password.strip()):
        return True
    groups = value.split()
    return (
        len(groups) > 3
        and {len(group) for group in groups[:-1]} == {4}
        and value.isascii()
        and "".join(groups).isalnum()
        and len(groups[-1]) <= 4
        and (value.isupper() or any(map(str.isdigit, value)))
    )


def _elements(line: str) -> Iterator[Finding]:
    if "</" in line:
        yield from _named_groups(line, _ELEMENT)
        yield from _named_groups(line, _NAMED_CELL)
    if "value" in line.lower():
        yield from _named_groups(line, _NAMED_VALUE)


def _named_groups(line: str, pattern: re.Pattern[str]) -> Iterator[Finding]:
    for match in pattern.finditer(line):
        named = strength_of(match.group(1))
        if named and condemns(named[0], match.group(2).strip()):
            yield Finding(*match.span(2), named[1])


def _beside(line: str) -> Iterator[Finding]:
    """Find a value that follows its name without a sign: flags, prose, netrc."""
    for match in _FLAG.finditer(line):
        named = strength_of(match.group(1))
        if named and not match.group(3).startswith("-") and condemns(named[0], match.group(3)):
            yield Finding(*match.span(3), named[1])
    for match in _BESIDE.finditer(line):
        value = match.group(2).rstrip(_TRAILING)
        if is_made_up(value) and (match.group(1) or any(map(str.isdigit, value))):
            yield Finding(match.start(2), match.start(2) + len(value), "password")
    for match in _KEY_BESIDE.finditer(line):
        value = match.group(1).rstrip(_TRAILING)
        if is_token_like(value) and any(map(str.isdigit, value)):
            yield Finding(match.start(1), match.start(1) + len(value), "token")
    for match in _PIN_BESIDE.finditer(line):
        yield Finding(*match.span(1), "pin")
