"""The text of a note: its lines, its front matter, how a value is written, and its path.

Text in, text out. Lines end with LF, CRLF or CR only: `str.splitlines` also breaks at U+2028 and
friends, which would shift every later line (reference: markdown-it-py counts the same way).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from vault_tools.core.visible import is_hidden
from vault_tools.errors import InvalidInput, PathRefused

BOM = "\ufeff"
MAX_COMPONENT_BYTES = 200
MAX_PATH_BYTES = 1024

_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"---[ \t]*")


def decode(data: bytes) -> str:
    """Read note bytes as UTF-8; bytes that are not UTF-8 survive the way back through `encode`."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Give the bytes of a note; raises InvalidInput for half of a surrogate pair."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the text holds a lone surrogate at character {error.start + 1}",
            "Remove it: no file can hold it as UTF-8.",
        ) from None


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `number` from 0, offsets of its first character, its end, and the next line."""

    number: int
    start: int
    end: int
    next: int


def lines_of(text: str, start: int = 0, number: int = 0) -> Iterator[Line]:
    """Yield the lines from an offset on; a text that ends with a line end has no empty last one."""
    for match in _LINE_END.finditer(text, start):
        yield Line(number, start, match.start(), match.end())
        start, number = match.end(), number + 1
    if start < len(text):
        yield Line(number, start, len(text), len(text))


def text_start(text: str) -> int:
    """Give the offset behind a byte order mark."""
    return len(BOM) if text.startswith(BOM) else 0


def newline_of(text: str) -> str:
    """Give the first line end of a text, LF when it has none."""
    match = _LINE_END.search(text)
    return match[0] if match else "\n"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Where the front matter lies, in characters.

    `start` is the opening line (after a BOM), `content` to `close` the YAML, `body` the first
    character after the closing line; `lines` counts all its lines, fences included.
    """

    start: int
    content: int
    close: int
    body: int
    lines: int


def split_front_matter(text: str) -> FrontMatter | None:
    """Find the front matter: `---` as the very first line, up to the next `---` line.

    A block that never closes, or that follows a blank line, is no front matter, as in Obsidian.
    """
    start = text_start(text)
    if not text.startswith("---", start):
        return None
    lines = lines_of(text, start)
    opening = next(lines)
    if not _FENCE.fullmatch(text, opening.start, opening.end):
        return None
    for line in lines:
        if _FENCE.fullmatch(text, line.start, line.end):
            return FrontMatter(start, opening.next, line.start, line.next, line.number + 1)
    return None


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 _./+-]*(?<! )")
_PLAIN_NAME = re.compile(r"[^\W\d](?:[\w ./-]*[\w./-])?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2})?")
_WORDS_OF_YAML = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def scalar(value: str | int | bool) -> str:
    """Write a value so that YAML 1.1 and 1.2 both read it back as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if _DATE.fullmatch(value) or (_PLAIN.fullmatch(value) and value.lower() not in _WORDS_OF_YAML):
        return value
    return _quoted(value)


def plain_name(name: str) -> str:
    """Write the name of a property so that YAML 1.1 and 1.2 both read it back as it is."""
    plain = _PLAIN_NAME.fullmatch(name) and name.lower() not in _WORDS_OF_YAML
    return name if plain else _quoted(name)


def _quoted(text: str) -> str:
    return '"' + "".join(_escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char == "\n":
        return "\\n"
    if unicodedata.category(char) in ("Cc", "Cs") or char in "\u2028\u2029\ufeff\ufffe\uffff":
        return f"\\u{ord(char):04x}"
    return char


_RESERVED = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³])", re.IGNORECASE
)
_SHORT_NAME = re.compile(r"[^.]{1,6}~\d+(\.[^.]{0,3})?")
# Not those that stand for the bytes of a name that is no UTF-8.
_HALF_PAIR = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_WINDOWS_ONLY = frozenset('<>:"|?*\\')


def check_note_path(path: str) -> str:
    """Give back a vault path that is safe to write under on every system, else raise PathRefused.

    Relative, `/` between names, nothing hidden in any spelling, no device name, stream, short name
    or look-alike separator, names of at most 200 bytes in NFC (reference: reliability B10).
    """
    for name in _names(path):
        reason = _structural(name) or _hidden_name(name) or _not_portable(name)
        if reason:
            raise _refused(path, reason)
    return path


def check_readable_path(path: str) -> str:
    """Give back a vault path that cannot leave the vault or enter a hidden folder.

    Tolerates names that other programs made: `?`, `:`, long or decomposed names.
    """
    for name in _names(path):
        reason = _structural(name) or _plainly_hidden(name)
        if reason:
            raise _refused(path, reason)
    return path


def check_inside(path: str) -> str:
    """Give back a path that cannot leave its folder; hidden names pass (allow-listed files)."""
    for name in _names(path):
        reason = _structural(name) or _obsidian_name(name)
        if reason:
            raise _refused(path, reason)
    return path


def fold(name: str) -> str:
    """Fold a name the way file systems that ignore case and form would (NFC, casefold)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _refused(path: str, reason: str) -> PathRefused:
    return PathRefused(
        f"the path {path!r} is refused: {reason}", "Use a plain path inside the vault, a/b/note.md."
    )


def _names(path: str) -> list[str]:
    if not path:
        raise _refused(path, "it is empty")
    if path.startswith("/"):
        raise _refused(path, "it is absolute")
    if re.match(r"[A-Za-z]:([\\/]|$)", path) or path.startswith("\\"):
        raise _refused(path, "it names a drive or a share")
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise _refused(path, f"it is longer than {MAX_PATH_BYTES} bytes")
    return path.split("/")


def _structural(name: str) -> str:
    if name in ("", ".", ".."):
        return f"{name!r} is no name"
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in name):
        return "it holds a control character"
    if _HALF_PAIR.search(name):
        return "it is no Unicode text"
    return ""


def _plain_form(name: str) -> str:
    shown = "".join(char for char in unicodedata.normalize("NFKC", name) if not is_hidden(char))
    return unicodedata.normalize("NFKC", shown).casefold().strip(" ").rstrip(" .")


def _obsidian_name(name: str) -> str:
    plain = _plain_form(name.partition(":")[0])
    if plain.startswith((".obsidian", "obsidi~")):
        return "it is Obsidian's own folder"
    return ""


def _plainly_hidden(name: str) -> str:
    if name.startswith(".") or _plain_form(name) == ".trash":
        return "it is hidden"
    return _obsidian_name(name)


def _hidden_name(name: str) -> str:
    plain = unicodedata.normalize("NFKC", "".join(c for c in name if not is_hidden(c)))
    return "it is hidden" if plain.lstrip(" ").startswith(".") else _obsidian_name(name)


def _not_portable(name: str) -> str:
    if any(is_hidden(char) for char in name):
        return "it holds a character that cannot be seen"
    if name != unicodedata.normalize("NFC", name):
        return "it is not in Unicode form NFC"
    if _WINDOWS_ONLY.intersection(name) or {"/", "\\"} & set(unicodedata.normalize("NFKC", name)):
        return "it holds a character that some systems refuse"
    if name[0] in " -~" or name[-1] in " .":
        return "it begins or ends with a character that systems read differently"
    if _RESERVED.fullmatch(name.partition(".")[0].rstrip(" ")) or _SHORT_NAME.fullmatch(name):
        return "it is a reserved name"
    if len(name.encode("utf-8")) > MAX_COMPONENT_BYTES:
        return f"a name is longer than {MAX_COMPONENT_BYTES} bytes"
    return ""
