"""Managed blocks: find, hash, verify and splice the text between our markers (spec 03).

    <!-- plur1bus:managed:start id="…" agent="…" bundle="…" hash="sha256:…" -->
    …
    <!-- plur1bus:managed:end -->

Text in, text out. Disorder of any kind raises BlockMalformed: the whole file is then read-only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from vault_tools.core.digest import sha256_hex
from vault_tools.core.note import (
    BOM,
    Line,
    encode,
    lines_of,
    newline_of,
    split_front_matter,
    text_start,
)
from vault_tools.core.ports import OwnedBlock
from vault_tools.core.visible import is_hidden
from vault_tools.errors import BlockError, BlockMalformed, InvalidInput

MARKER = "plur1bus:managed"
END = f"<!-- {MARKER}:end -->"

_ATTRIBUTE = r'[A-Za-z][A-Za-z0-9_-]*="(?:(?!--|\[\[)[^">\r\n])*"'
_START_LINE = re.compile(
    rf" {{0,3}}<!--[ \t]+{MARKER}:start((?:[ \t]+{_ATTRIBUTE})*)[ \t]*-->[ \t]*"
)
_END_LINE = re.compile(rf" {{0,3}}<!--[ \t]+{MARKER}:end[ \t]*-->[ \t]*")
_LIKE_MARKER = re.compile(rf"[ \t]*<!--[ \t]*{MARKER}", re.IGNORECASE)
_PAIR = re.compile(r'([A-Za-z][A-Za-z0-9_-]*)="([^"]*)"')
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_SAFE_VALUE = re.compile(r"[A-Za-z0-9](?:-?[A-Za-z0-9._:@]){0,127}")


@dataclass(frozen=True, slots=True)
class ManagedBlock:
    """One block as found: `start` and `end` span marker to marker, `body_*` the text between.

    `hash` is 64 hex characters, empty when the marker has none; `line` counts from 1.
    """

    block_id: str
    agent: str
    bundle: str
    hash: str
    body: str
    start: int
    body_start: int
    body_end: int
    end: int
    line: int


class BlockState(StrEnum):
    """Whose the text of a block is."""

    OURS = "ours"
    TAMPERED = "tampered"
    FOREIGN = "foreign"


def find_blocks(text: str, opaque_lines: Collection[int] = ()) -> tuple[ManagedBlock, ...]:
    """Find the managed blocks of a note in order.

    `opaque_lines` are the lines (from 0) that a Markdown parser says are no plain text: fences,
    indented code, HTML, quotes, lists. Raises BlockMalformed for a repeated id, an unclosed,
    nested or unreadable marker, a stray end, or a marker swallowed inside a block.
    """
    if MARKER not in text:
        return ()
    hidden = frozenset(opaque_lines)
    hidden |= _own_opaque_lines(text, hidden)
    blocks: list[ManagedBlock] = []
    start: Line | None = None
    for line in lines_of(text, text_start(text)):
        content = text[line.start : line.end]
        if MARKER not in content or not _LIKE_MARKER.match(content):
            continue
        if line.number in hidden:
            _refuse_swallowed(start, line)
        elif _END_LINE.fullmatch(content):
            blocks.append(_block(text, start, line))
            start = None
        else:
            start = _opening(content, start, line)
    if start is not None:
        raise _malformed(start, "is never closed")
    _refuse_repeated(blocks)
    return tuple(blocks)


def _malformed(line: Line, what: str) -> BlockMalformed:
    return BlockMalformed(
        f"the block marker in line {line.number + 1} {what}",
        "Repair or remove the markers by hand; until then this file is only read.",
    )


def _refuse_swallowed(start: Line | None, line: Line) -> None:
    if start is not None:
        raise _malformed(line, "is swallowed by a code fence, a comment, a quote or a list")


def _opening(content: str, start: Line | None, line: Line) -> Line:
    match = _START_LINE.fullmatch(content)
    if not match:
        raise _malformed(line, "cannot be read")
    if start is not None:
        raise _malformed(line, "opens a block inside a block")
    pairs = _PAIR.findall(match[1])
    if len({key for key, _ in pairs}) < len(pairs) or not dict(pairs).get("id"):
        raise _malformed(line, "repeats an attribute or has no id")
    return line


def _block(text: str, start: Line | None, end: Line) -> ManagedBlock:
    if start is None:
        raise _malformed(end, "ends a block that never began")
    pairs = dict(_PAIR.findall(text[start.start : start.end]))
    known = _HASH.fullmatch(pairs.get("hash", ""))
    return ManagedBlock(
        block_id=pairs["id"],
        agent=pairs.get("agent", ""),
        bundle=pairs.get("bundle", ""),
        hash=known[1] if known else "",
        body=text[start.next : end.start],
        start=start.start,
        body_start=start.next,
        body_end=end.start,
        end=end.end,
        line=start.number + 1,
    )


def _refuse_repeated(blocks: list[ManagedBlock]) -> None:
    seen: set[str] = set()
    for block in blocks:
        if block.block_id in seen:
            raise BlockMalformed(
                f"two blocks are named {block.block_id!r}, the second in line {block.line}",
                "Remove one of them by hand; until then this file is only read.",
            )
        seen.add(block.block_id)


def _own_opaque_lines(text: str, hidden: frozenset[int]) -> frozenset[int]:
    """Find what no CommonMark parser knows: front matter, `%%` comments, `$$` maths; and lists."""
    front = split_front_matter(text)
    own = set(range(front.lines)) if front else set()
    first = front.lines if front else 0
    visible = [
        (line.number, text[line.start : line.end])
        for line in lines_of(text, text_start(text))
        if line.number >= first and line.number not in hidden
    ]
    own.update(_between(visible, "%%"))
    own.update(_between(visible, "$$"))
    own.update(_in_lists(visible))
    return frozenset(own)


def _between(visible: list[tuple[int, str]], sign: str) -> Iterator[int]:
    """Yield the lines between signs; one that is never closed hides nothing (people write `%%`)."""
    inside: list[int] | None = None
    for number, content in visible:
        odd = content.count(sign) % 2 == 1
        if inside is None:
            if odd and content.lstrip(" \t").startswith(sign):
                inside = [number]
            continue
        inside.append(number)
        if odd:
            yield from inside
            inside = None


_ITEM = re.compile(
    r"(?! {0,3}(?:(?:\* *){3,}|(?:- *){3,})$)( {0,3}(?:[-*+]|\d{1,9}[.)]))(?:[ \t]|$)"
)


def _in_lists(visible: list[tuple[int, str]]) -> Iterator[int]:
    indent = 0
    blank = False
    for number, content in visible:
        stripped = content.lstrip(" \t")
        if not stripped:
            blank = True
            continue
        width = len(content) - len(stripped)
        item = _ITEM.match(content)
        if indent and width >= indent:
            yield number
        elif item:
            indent = len(item[1]) + 1
        elif blank or stripped.startswith("<!--"):
            indent = 0
        blank = False


def canonical(body: str) -> str:
    """Give the form that spacing tools cannot change: LF, NFC, no trailing blanks, single blanks.

    A leading byte order mark and blank lines at both ends are dropped.
    """
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.rstrip(" \t") for line in text.split("\n")]
    kept = [line for n, line in enumerate(lines) if line or (n > 0 and lines[n - 1])]
    return unicodedata.normalize("NFC", "\n".join(kept).rstrip("\n").lstrip(BOM + "\n"))


def canonical_hash(body: str) -> str:
    """Hash the canonical form of a body to 64 hex characters."""
    return sha256_hex(encode(canonical(body)))


def exact_hash(body: str) -> str:
    """Hash the bytes of a body as they stand in the file."""
    return sha256_hex(encode(body))


def accepts(block: ManagedBlock) -> bool:
    """Tell whether the marker's hash fits the body; older writers hashed the last line end too."""
    plain = canonical(block.body)
    stored = block.body.replace("\r\n", "\n").replace("\r", "\n")
    open_ended = stored.removesuffix("\n")
    forms = (plain, plain + "\n", stored, open_ended, open_ended + "\n")
    return block.hash in {sha256_hex(encode(form)) for form in forms}


def verify(block: ManagedBlock, owned: OwnedBlock | None) -> BlockState:
    """Tell whether a block is as we last wrote it; only `owned` proves that it is ours at all."""
    if owned is None or owned.block_id != block.block_id or not block.hash:
        return BlockState.FOREIGN
    same = canonical_hash(block.body) == owned.canonical or exact_hash(block.body) == owned.exact
    return BlockState.OURS if same and accepts(block) else BlockState.TAMPERED


def owned_block(path: str, block: ManagedBlock) -> OwnedBlock:
    """Give what to remember of a block that we wrote."""
    return OwnedBlock(path, block.block_id, canonical_hash(block.body), exact_hash(block.body))


def check_body(body: str) -> str:
    """Give back a body that cannot forge or close a block; raises BlockError for one that could.

    Full-width, zero-width and other disguises of the marker are unmasked first (spec 07, B1).
    """
    encode(body)
    unmasked = "".join(char for char in unicodedata.normalize("NFKC", body) if not is_hidden(char))
    folded = unicodedata.normalize("NFKC", unmasked).casefold()
    if MARKER in folded:
        raise BlockError(
            "the text holds a block marker", "Remove it: text must not open or close a block."
        )
    return body


def format_block(block_id: str, agent: str, bundle: str, body: str, newline: str = "\n") -> str:
    """Write a block, markers and hash included, without a line end after the last marker.

    Raises InvalidInput for an unsafe attribute, BlockError for a body with a marker.
    """
    inner = _with_line_ends(check_body(body), newline)
    named = [("id", block_id), ("agent", agent), ("bundle", bundle)]
    pairs = [f'{name}="{_safe(name, value)}"' for name, value in named if value or name == "id"]
    pairs.append(f'hash="sha256:{canonical_hash(inner)}"')
    return f"<!-- {MARKER}:start {' '.join(pairs)} -->{newline}{inner}{END}"


def _with_line_ends(body: str, newline: str) -> str:
    lines = body.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    return lines.replace("\n", newline) + newline if lines else ""


def _safe(name: str, value: str) -> str:
    if not _SAFE_VALUE.fullmatch(value):
        raise InvalidInput(
            f"{value!r} cannot stand as {name} of a managed block",
            "Use letters, digits and single . _ : @ - between them, at most 128.",
        )
    return value


def splice(text: str, block: ManagedBlock, body: str, *, agent: str = "", bundle: str = "") -> str:
    """Replace one block and nothing else; what is there already in another spacing stays as it is.

    Empty `agent` and `bundle` keep the block's own. Raises BlockError if anything outside moved.
    """
    agent, bundle = agent or block.agent, bundle or block.bundle
    same = (agent, bundle, canonical_hash(body)) == (block.agent, block.bundle, block.hash)
    if same and canonical(body) == canonical(block.body):
        check_body(body)
        return text
    newline = newline_of(text[block.start : block.body_start])
    written = format_block(block.block_id, agent, bundle, body, newline)
    new = text[: block.start] + written + text[block.end :]
    _check_alone(written, block.block_id, body)
    return new


def append_block(text: str, block_id: str, agent: str, bundle: str, body: str) -> str:
    """Add a block after a blank line at the end; the text before it stays as it is."""
    return insert_block(text, len(text), block_id, agent, bundle, body)


def insert_block(text: str, at: int, block_id: str, agent: str, bundle: str, body: str) -> str:
    """Add a block on lines of its own at a line boundary, with a blank line on either side."""
    newline = newline_of(text)
    written = format_block(block_id, agent, bundle, body, newline)
    _check_alone(written, block_id, body)
    before, after = text[:at], text[at:]
    gap = "" if before in ("", BOM) else _gap(before, newline)
    tail = newline if not after or after[:1] in "\r\n" else newline * 2
    return before + gap + written + tail + after


def _gap(before: str, newline: str) -> str:
    last = [text[-1:] for text in before.rsplit(newline, 2)][1:]
    if not before.endswith(("\n", "\r")):
        return newline * 2
    return "" if last == ["", ""] else newline


def take_out(text: str, block: ManagedBlock) -> str:
    """Remove a block, its line end and one blank line before it: the undo of an addition."""
    before, after = text[: block.start], text[block.end :]
    newline = newline_of(text)
    after = after.removeprefix(newline)
    if before.endswith(newline * 2):
        before = before.removesuffix(newline)
    return before + after


def _check_alone(written: str, block_id: str, body: str) -> None:
    found = find_blocks(written)
    if [(b.block_id, canonical(b.body)) for b in found] != [(block_id, canonical(body))]:
        raise BlockError(
            f"the text for block {block_id!r} would not read back as it was given",
            "Close every %% comment and $$ formula in it.",
        )


def check_splice(
    old: str,
    new: str,
    bodies: dict[str, str],
    opaque_lines: Callable[[str], Collection[int]],
) -> tuple[ManagedBlock, ...]:
    """Read a new text back: the given bodies stand in their blocks, every other block is as before.

    Raises BlockError otherwise, for instance when an open fence would swallow a marker.
    """
    before = {block.block_id: block.body for block in find_blocks(old, opaque_lines(old))}
    found = find_blocks(new, opaque_lines(new))
    wanted = {**before, **bodies}
    same = {b.block_id: canonical(b.body) for b in found} == {
        block_id: canonical(body) for block_id, body in wanted.items()
    }
    untouched = all(b.body == before[b.block_id] for b in found if b.block_id not in bodies)
    if not same or not untouched:
        raise BlockError(
            f"writing {', '.join(sorted(bodies))} would break another block or be swallowed",
            "Close every code fence and comment in the note and in the text, then try again.",
        )
    return found
