"""Make foreign text harmless in a note, and show every character of it (spec 07 rules 3 and 11).

Two ways of standing in a note: `inert` for a few words inside a sentence, heading or table, and
`fenced` for a text of its own. Signs in ⟨ ⟩ are ours: a hidden character, a run of blanks, a
trigger that was broken.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from vault_tools.core import note
from vault_tools.core.visible import show_hidden

INLINE_LIMIT = 300
CELL_LIMIT = 120
FENCE_LIMIT = 6_000
FENCE_LINES = 120


class Markdown(str):
    """Text that may stand in a note as it is, because a filter of this module made it."""

    __slots__ = ()


def shown(value: object) -> str:
    """Give what `{{ value }}` puts out: ready Markdown as it is, all else inert."""
    if isinstance(value, Markdown):
        return str(value)
    if value is None:
        return ""
    return str(value) if isinstance(value, bool | int) else inert(str(value))


_TEMPLATER = re.compile(r"<(?=%)")
_MARKER = re.compile(r"(?<=(.))[:\u2236\ufe13\ufe55\uff1a](?=(.))")
_OPENING = re.compile(r"(?m)^([ \t]*)([%$])(?=\2)")
_BLANKS = re.compile(r"[^\S\n]{24,}")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n){4,}")


def visible(text: str) -> str:
    """Show hidden characters and long runs of blanks; break Templater tags and our own markers.

    `<%` becomes `⟨<⟩%`, since Templater runs it wherever it stands (spec 07 rule 11). A line that
    opens a comment or a formula is broken too, so that whoever reads blocks need not know fences.
    """
    text = _TEMPLATER.sub("⟨<⟩", show_hidden(text))
    text = _MARKER.sub(lambda at: f"⟨{at[0]}⟩" if _in_marker(at) else at[0], text)
    text = _OPENING.sub(r"\1⟨\2⟩", text)
    text = _BLANKS.sub(lambda run: f" ⟨{len(run[0])} spaces⟩ ", text)
    return _BLANK_LINES.sub(lambda run: f"\n⟨{run[0].count(chr(10)) - 1} blank lines⟩\n", text)


def _in_marker(colon: re.Match[str]) -> bool:
    """Tell whether a colon may stand in `plur1bus:managed`, in whatever disguise (spec 07, B1)."""
    before, after = (unicodedata.normalize("NFKC", char).casefold() for char in colon.groups())
    return before.endswith("s") and after.startswith("m")


_SYNTAX = re.compile(
    r"[\\`*\[\]<>#^$|~&@]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # emphasis needs an edge of a word
    r"|%(?=%)|(?<=%)%|=(?==)|(?<==)="
    r"|:(?=[^\s\d])|(?<!\d):(?=\d)|(?<=:):"  # links and Dataview fields, but no time of day
    r"|(?i:(?<=\bwww)\.)"
)
_AT_START = re.compile(r"\A(?:[-+=]|\d+(?=[.)]))")


def inert(text: str, limit: int = INLINE_LIMIT) -> Markdown:
    """Escape a text so that a note shows its characters and nothing else, on one line.

    Line breaks become ↵. What is longer than `limit` characters is cut, and says by how much.
    """
    kept, hidden = text[:limit], len(text) - limit
    line = " ".join(_folded(kept).split())
    tail = f" … ⟨{hidden} characters hidden⟩" if hidden > 0 else ""
    return Markdown(_escaped(line) + tail)


def _folded(text: str) -> str:
    return visible(text.strip()).replace("\n", " ↵ ")


def _escaped(line: str) -> str:
    return _AT_START.sub(_guarded, _SYNTAX.sub(r"\\\g<0>", line))


def _guarded(start: re.Match[str]) -> str:
    return f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}"


def cell(value: object, limit: int = CELL_LIMIT) -> Markdown:
    """Write a value for a table cell: one line, no bare pipe."""
    ready = value if isinstance(value, Markdown) else inert(str(value), limit)
    return Markdown(re.sub(r"(?<!\\)\|", r"\\|", " ".join(ready.split())))


_QUERY = re.compile(r"\A(\s*)(\$?=)")


def fenced(text: str, language: str = "text", limit: int = FENCE_LIMIT) -> Markdown:
    """Put a text into a fence longer than any run of backticks in it, no line feed at the end.

    Dataview evaluates a code block that begins with `=` or `$=`, so that is broken visibly. What is
    longer than `limit` characters or 120 lines is cut, and a line below the fence says by how much.
    """
    if not re.fullmatch(r"[a-z]*", language):
        raise ValueError(f"{language!r} is no language of a fence")
    kept = _cut(text, limit)
    body = _QUERY.sub(r"\1⟨\2⟩", visible(kept))
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    hidden = len(text) - len(kept)
    notice = f"\n\n*… {hidden} characters hidden*" if hidden else ""
    return Markdown(f"{fence}{language}\n{body}\n{fence}{notice}")


def _cut(text: str, limit: int) -> str:
    lines = text[:limit].split("\n")
    return "\n".join(lines[:FENCE_LINES])


_IN_JSON = re.compile(r"[<>\u007f-\U0010ffff]")


def json_text(value: object) -> str:
    """Write JSON with one line per top-level key, sorted, that parses to exactly `value`.

    Everything that could be mistaken for a tag or a marker, or is not ASCII and hidden, is written
    as an escape, so nothing in it needs to be broken afterwards.
    """
    assert isinstance(value, Mapping)
    lines = (f"{_json(key)}: {_json(value[key])}" for key in sorted(value))
    return "{\n" + ",\n".join(lines) + "\n}"


def _json(value: object) -> str:
    plain = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    plain = _MARKER.sub(lambda at: f"\\u{ord(at[0]):04x}" if _in_marker(at) else at[0], plain)
    plain = _BLANKS.sub(lambda run: "\\u0020" * len(run[0]), plain)
    return _IN_JSON.sub(_json_escape, plain)


def _json_escape(match: re.Match[str]) -> str:
    char = match[0]
    if char not in "<>" and show_hidden(char) == char and not char.isspace():
        return char
    return json.dumps(char)[1:-1] if not char.isascii() else f"\\u{ord(char):04x}"


def quoted(text: str) -> Markdown:
    """Put a ready text into a quote or callout: every line begins with `>`."""
    ready = shown(text)
    return Markdown("\n".join(f"> {line}".rstrip() for line in ready.split("\n")))


_LINKING = re.compile(
    r"(?i)(?<=\w):(?=//)|(?<=\bobsidian):|(?<=\bjavascript):|(?<=\bdata):|(?<=\bfile):|"
    r"\[(?=\[)"
)


def scalar(value: str | int | bool) -> Markdown:
    """Write a YAML value that YAML 1.1 and 1.2 read as the same text (or number, or truth).

    Links in it are broken visibly: a property must not open what a memory names.
    """
    if isinstance(value, bool | int):
        return Markdown(note.scalar(value))
    return Markdown(note.scalar(_LINKING.sub(r"⟨\g<0>⟩", visible(value))))


_LINK_TARGET = re.compile(r"[^\[\]|#^\\<>`:*?\"{}$=~\x00-\x1f]+\Z")
_LONGEST_PATH = 400
_BLOCK_ID = re.compile(r"[A-Za-z0-9-]+\Z")


def is_linkable(path: str) -> bool:
    """Tell whether a vault path can be written as a wikilink and is nothing but a path."""
    parts = path.split("/")
    return (
        len(path) <= _LONGEST_PATH
        and bool(_LINK_TARGET.match(path))
        and visible(path) == path == path.strip()
        and "%%" not in path
        and not {"", ".", ".."} & set(parts)
    )


def wikilink(path: str, block: str | None = None, display: str | None = None) -> Markdown:
    """Link a note by its real name, or a block of it; an empty path means this note.

    What is no plain vault path, or a display text with syntax in it, comes out as inert words.
    """
    name = path.removesuffix(".md")
    block_fits = block is None or bool(_BLOCK_ID.match(block))
    shown_as = name if display is None else display
    if not (block_fits and is_linkable(shown_as) and (is_linkable(name) or (not path and block))):
        return inert(shown_as or path)
    anchor = f"#^{block}" if block else ""
    alias = "" if shown_as == name and not block else f"|{shown_as}"
    return Markdown(f"[[{name}{anchor}{alias}]]")


_PLACE = "\ue000"


def place(block_id: str) -> Markdown:
    """Mark where code will put a managed block; no foreign text can hold this sign."""
    return Markdown(f"{_PLACE}{block_id}{_PLACE}")


PLACES = re.compile(f"{_PLACE}([a-z0-9-]+){_PLACE}")


def joined(lines: Sequence[str]) -> str:
    """Join lines to one text, for a fence."""
    return "\n".join(lines)


FILTERS: dict[str, Callable[..., str]] = {
    "inert": inert,
    "cell": cell,
    "fenced": fenced,
    "quoted": quoted,
    "scalar": scalar,
    "lines": joined,
}
FUNCTIONS: dict[str, Callable[..., str]] = {"wikilink": wikilink, "place": place}
