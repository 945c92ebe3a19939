"""Find the marks of a note outside code, math, comments and front matter.

One pass, every character read a bounded number of times, whatever the text: what looks ahead
remembers what it found (`_Ahead`), and what nests has a limit.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from vault_tools.core.line_marks import LIST_MARKER, line_marks
from vault_tools.core.marks import (
    Comment,
    Field,
    Link,
    Mark,
    Tag,
    markdown_link,
    shown_key,
    wikilink,
)
from vault_tools.core.note import Line, lines_of, split_front_matter, text_start

_MAX_PARENTHESES = 32

_KEY = r"[^\[\]()\r\n:|`#]{1,80}"
_TOKEN = re.compile(rf"\\[^\r\n]|`+|\$\$?|%%|<!--|!?\[\[|!?\[|\]|\#|\((?=[ \t]*(?:{_KEY})::(?!:))")
_KEY_AHEAD = re.compile(rf"[ \t]*({_KEY})::(?!:)")
# Obsidian ends a tag at blanks, ASCII and general punctuation; we do at full-width ones too.
_TAG = re.compile(
    r"[^\s!-,.:-@\[-^`{-~\x00-\x1f\x7f-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf"
    r"\u2000-\u206f\u2e00-\u2e7f\u3000-\u3003\u3008-\u3011\u3014-\u301f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3d\uff5b-\uff65]+"
)
_TAG_MAY_FOLLOW = frozenset(("", "\ufeff", *"([{*_~|>"))
_CLOSING_DOLLAR = re.compile(r"(?<![\s\\$])\$(?![\d$])")
_TICKS = re.compile(r"`+")
_DESTINATION_STOP = re.compile(r"[()\\ \t\r\n]")
_ANGLED = re.compile(r"<([^<>\r\n]*)>")
_TITLE_AND_CLOSE = re.compile(r"""(?:[ \t]+(?:"[^"\r\n]*"|'[^'\r\n]*'))?[ \t]*\)""")
_PARENTHESIS = re.compile(r"[()\r\n]")
_BLANKS = re.compile(r"[ \t]*")
_REST_IS_BLANK = re.compile(r"[ \t]*(?=[\r\n]|\Z)")
_CONTENT = re.compile(r"[ \t>]*")
_OWN_BLOCK = re.compile(rf"[ \t]*(?:[>#|]|{LIST_MARKER}[ \t])")


def scan(text: str, opaque_lines: Collection[int] = ()) -> tuple[Mark, ...]:
    """Find the marks of a note in the order of their beginnings; marks may lie in one another.

    `opaque_lines` are the lines (from 0) of fences, indented code and HTML, where nothing is one.
    Never raises. A `key:: value` line wants a blank behind the colons, as Dataview documents it.
    """
    return _Scan(text, frozenset(opaque_lines)).marks()


def parse_link(text: str) -> Link | None:
    """Read a text that is exactly one link, as in a property; None for anything else."""
    for mark in scan(text):
        if isinstance(mark, Link) and (mark.start, mark.end) == (0, len(text)):
            return mark
    return None


class _Ahead:
    """Find the next place of a pattern from ever later offsets, passing every place once."""

    def __init__(self, text: str, pattern: str | re.Pattern[str]) -> None:
        self._text = text
        self._pattern = re.compile(re.escape(pattern)) if isinstance(pattern, str) else pattern
        self._hit = -1

    def find(self, start: int, end: int) -> int | None:
        """Give where it begins in `start:end`, None when it does not."""
        if self._hit < start:
            match = self._pattern.search(self._text, start)
            self._hit = match.start() if match else len(self._text) + 1
        return self._hit if self._hit < end else None


@dataclass(frozen=True, slots=True)
class _Opener:
    start: int
    image: bool
    key_end: int
    key: str


class _Brackets:
    """The open brackets; a link, an image or a field never lies in another of its kind."""

    def __init__(self) -> None:
        self._open: list[_Opener] = []
        self._closed = {"link": 0, "image": 0, "field": 0}

    def push(self, opener: _Opener) -> None:
        self._open.append(opener)

    def pop(self) -> tuple[_Opener, bool, bool] | None:
        """Give the opener, whether it may be a link (or image), and whether a field."""
        if not self._open:
            return None
        opener = self._open.pop()
        depth = len(self._open)
        kind = "image" if opener.image else "link"
        may_link = depth >= self._closed[kind]
        may_field = bool(opener.key) and depth >= self._closed["field"]
        for name, floor in self._closed.items():
            self._closed[name] = min(floor, depth)
        return opener, may_link, may_field

    def close(self, kind: str) -> None:
        self._closed[kind] = len(self._open)


class _Scan:
    def __init__(self, text: str, opaque: frozenset[int]) -> None:
        self._text = text
        self._opaque = opaque
        front = split_front_matter(text)
        start, first = (front.body, front.lines) if front else (text_start(text), 0)
        self._lines = list(lines_of(text, start, first))
        self._starts = [line.start for line in self._lines]
        self._found: list[Mark] = []
        self._hidden: list[tuple[int, int]] = []
        self._percents: list[int] | None = None
        self._wiki_end = _Ahead(text, "]]")
        self._html_end = _Ahead(text, "-->")
        self._math_end = _Ahead(text, "$$")
        self._dollar_end = _Ahead(text, _CLOSING_DOLLAR)
        self._ticks: dict[int, list[int]] | None = None
        self._brackets = _Brackets()
        self._run_end = 0
        self._content = (-1, -1)

    def marks(self) -> tuple[Mark, ...]:
        position = 0
        for start, end in self._runs():
            position = self._run(max(start, position), end)
        plain = [line for line in self._lines if line.number not in self._opaque]
        self._found.extend(line_marks(self._text, plain, self._seen))
        return tuple(sorted(self._found, key=lambda mark: (mark.start, -mark.end)))

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Yield the stretches of text that a code span or a link text may cross lines in."""
        start = end = -1
        for line in self._lines:
            content = _CONTENT.match(self._text, line.start, line.end)
            blank = line.number in self._opaque or (content and content.end() == line.end)
            if start >= 0 and (blank or _OWN_BLOCK.match(self._text, line.start, line.end)):
                yield start, end
                start = -1
            if not blank:
                start, end = (line.start if start < 0 else start), line.end
        if start >= 0:
            yield start, end

    def _run(self, position: int, end: int) -> int:
        self._run_end, self._ticks, self._brackets = end, None, _Brackets()
        while match := _TOKEN.search(self._text, position, end):
            position = self._token(match)
        return position

    def _token(self, match: re.Match[str]) -> int:
        token = match[0]
        if token[0] == "\\":
            return match.end()
        if token[0] == "`":
            return self._code(match)
        if token[0] == "$":
            return self._math(match)
        if token == "%%":
            return self._comment(match.start(), self._percent_end(match.start()), 2)
        if token == "<!--":
            end = self._html_end.find(match.end(), len(self._text))
            return self._comment(match.start(), end, 3)
        if token.endswith("[["):
            return self._wikilink(match)
        return self._single(token, match)

    def _single(self, token: str, match: re.Match[str]) -> int:
        if token == "#":
            return self._tag(match.start())
        if token == "(":
            return self._field_in_parentheses(match)
        if token == "]":
            return self._close(match.start())
        return self._open(match.start(), image=token[0] == "!")

    def _line_of(self, position: int) -> Line:
        return self._lines[max(0, bisect_right(self._starts, position) - 1)]

    def _code(self, match: re.Match[str]) -> int:
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self._text, match.start(), self._run_end):
                self._ticks.setdefault(len(run[0]), []).append(run.start())
        closers = self._ticks.get(len(match[0]), [])
        at = bisect_left(closers, match.end())
        return self._hide(match, closers[at] + len(match[0]) if at < len(closers) else None)

    def _hide(self, match: re.Match[str], end: int | None) -> int:
        if end is None:
            return match.end()
        self._hidden.append((match.start(), end))
        return end

    def _math(self, match: re.Match[str]) -> int:
        start, line = match.start(), self._line_of(match.start())
        if match[0] == "$":
            end = self._dollar_end.find(start + 2, line.end)
            opens = self._text[start + 1 : start + 2].strip(" \t\r\n")
            return self._hide(match, end + 1 if opens and end is not None else None)
        block = self._opens_line(line, start)
        end = self._math_end.find(match.end(), len(self._text) if block else line.end)
        if end is not None and self._line_of(end).number in self._opaque:
            end = None
        return self._hide(match, None if end is None else end + 2)

    def _opens_line(self, line: Line, position: int) -> bool:
        if self._content[0] != line.start:
            content = _CONTENT.match(self._text, line.start, line.end)
            self._content = (line.start, content.end() if content else line.start)
        return self._content[1] == position

    def _percent_end(self, start: int) -> int | None:
        """Find the closing `%%`: on the line, or, for one that opens a line, further below.

        A stray `%%` pairs with nothing, or it would hide every other stretch of the note.
        """
        if self._percents is None:
            places = (match.start() for match in re.finditer("%%", self._text))
            self._percents = [at for at in places if self._line_of(at).number not in self._opaque]
        at = bisect_left(self._percents, start + 2)
        if at == len(self._percents):
            return None
        end, line = self._percents[at], self._line_of(start)
        if end < line.end:
            return end
        if not self._opens_line(line, start):
            return None
        alone = _REST_IS_BLANK.match(self._text, start + 2)
        return end if alone or _REST_IS_BLANK.match(self._text, end + 2) else None

    def _comment(self, start: int, end: int | None, closing: int) -> int:
        if end is None:
            return start + 2
        self._hidden.append((start, end + closing))
        self._found.append(Comment(start, end + closing))
        return end + closing

    def _wikilink(self, match: re.Match[str]) -> int:
        start, opening = match.start(), match.end()
        close = self._wiki_end.find(opening, self._line_of(start).end)
        if close is None:
            image = match[0][0] == "!"
            self._open(start, image=image)
            return start + (2 if image else 1)
        content = self._text[opening:close]
        if content.count("[") > content.count("]"):
            # `[[a [[b]]` and `[[[b]]]` link to b: the last opening before the end counts.
            inner = self._text.rfind("[[", opening - 1, close)
            if inner >= opening - 1:
                opening = inner + 2
                start = inner - (self._text[inner - 1] == "!" and inner > start)
                content = self._text[opening:close]
        embed = self._text[start] == "!"
        link = wikilink(start, close + 2, content, embed=embed)
        if link:
            self._found.append(link)
        return close + 2

    def _open(self, start: int, *, image: bool) -> int:
        key = None if image else _KEY_AHEAD.match(self._text, start + 1, self._run_end)
        found = (key.end(), key[1]) if key else (0, "")
        self._brackets.push(_Opener(start, image, *found))
        return start + (2 if image else 1)

    def _close(self, end: int) -> int:
        popped = self._brackets.pop()
        if popped is None:
            return end + 1
        opener, may_link, may_field = popped
        if may_link and self._text.startswith("(", end + 1):
            destination = self._destination(end + 2)
            link = destination and markdown_link(
                opener.start,
                destination[1],
                destination[0],
                self._text[opener.start + 1 + opener.image : end],
                embed=opener.image,
            )
            if link:
                self._found.append(link)
                self._brackets.close("image" if opener.image else "link")
                return link.end
        if may_field and end < self._line_of(opener.start).end:
            self._field(opener.start, end + 1, opener.key, opener.key_end, end)
            self._brackets.close("field")
        return end + 1

    def _destination(self, start: int) -> tuple[str, int] | None:
        """Read `path "title")`, giving the path and the end behind the parenthesis."""
        blanks = _BLANKS.match(self._text, start)
        start = blanks.end() if blanks else start
        angled = _ANGLED.match(self._text, start)
        end = angled.end() if angled else self._plain_end(start)
        if end is None:
            return None
        close = _TITLE_AND_CLOSE.match(self._text, end)
        if not close or close.end() > self._run_end:
            return None
        return angled[1] if angled else self._text[start:end], close.end()

    def _plain_end(self, start: int) -> int | None:
        depth, position = 0, start
        while match := _DESTINATION_STOP.search(self._text, position, self._run_end):
            position = match.end()
            if match[0] == "\\":
                position += 1
            elif match[0] == "(":
                depth += 1
                if depth > _MAX_PARENTHESES:
                    return None
            elif match[0] == ")" and depth:
                depth -= 1
            else:
                return match.start() if not depth else None
        return None

    def _tag(self, start: int) -> int:
        before = self._text[start - 1 : start]
        match = _TAG.match(self._text, start + 1, self._run_end)
        if not match or not (before in _TAG_MAY_FOLLOW or before.isspace()):
            return start + 1
        if not all(char.isnumeric() for char in match[0]):
            self._found.append(Tag(start, match.end(), match[0]))
        return match.end()

    def _field_in_parentheses(self, match: re.Match[str]) -> int:
        key = _KEY_AHEAD.match(self._text, match.end(), self._run_end)
        if key is None:
            return match.end()
        depth = 1
        for found in _PARENTHESIS.finditer(self._text, key.end(), self._run_end):
            depth += {"(": 1, ")": -1}.get(found[0], _MAX_PARENTHESES)
            if depth == 0:
                self._field(match.start(), found.end(), key[1], key.end(), found.start())
            if depth == 0 or depth > _MAX_PARENTHESES:
                break
        return match.end()

    def _field(self, start: int, end: int, key: str, value: int, value_end: int) -> None:
        if shown := shown_key(key):
            self._found.append(Field(start, end, shown, self._text[value:value_end].strip(" \t")))

    def _seen(self, position: int) -> bool:
        at = bisect_right(self._hidden, (position, len(self._text) + 1)) - 1
        return at < 0 or position >= self._hidden[at][1]
