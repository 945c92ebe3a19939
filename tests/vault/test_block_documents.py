"""Documents built from segments whose truth is known: what is a block, and what only looks so."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from vault_world import Ownership, contents, make_files

from tests.campaign import SEED, sizes
from vault_tools.core import block as block_module
from vault_tools.core import note as note_module
from vault_tools.core.block import (
    ManagedBlock,
    canonical,
    find_blocks,
    format_block,
    owned_block,
    splice,
)
from vault_tools.core.note import decode, encode, newline_of
from vault_tools.errors import BlockMalformed, VaultToolsError
from vault_tools.vault.blocks import BlockWrite, staged_blocks, write_blocks
from vault_tools.vault.markdown import opaque_lines

Document = tuple[str, dict[str, list[str]]]
Finder = Callable[[str], tuple[ManagedBlock, ...]]
EVERY_PHASE = tuple(Phase)
FAKE = ['<!-- plur1bus:managed:start id="fake" -->', "x", "<!-- plur1bus:managed:end -->"]
ODD = ["\u2028", "\x0b", "\x0c", "\x85", "\0", "\u00a0", "\udcff", "ü", "日", "%% ", "$$ ", "#tag"]

_words = st.lists(st.sampled_from(["one", "two ", "thr  ", *ODD]), max_size=4).map("".join)
_line = _words.map(lambda words: f"w{words}")
_lines = st.lists(_line, min_size=1, max_size=3)


@dataclass(frozen=True)
class Segment:
    lines: list[str]
    body: list[str] | None = None


def _wrapped(before: list[str], prefix: str, after: list[str]) -> Segment:
    return Segment([*before, *(prefix + line for line in FAKE), *after])


_disguised = st.sampled_from(
    [
        _wrapped(["```text"], "", ["```"]),
        _wrapped(["~~~~"], "", ["~~~", "~~~~"]),
        _wrapped(["para", ""], "    ", [""]),
        _wrapped([], "> ", []),
        _wrapped(["> [!note] x"], ">", []),
        _wrapped(["- item"], "  ", [""]),
        _wrapped(["1. item", ""], "   ", ["", "para"]),
        _wrapped(["<div>"], "", ["</div>"]),
        _wrapped(["<pre>"], "", ["", "</pre>"]),
        _wrapped(["%%"], "", ["%%"]),
        _wrapped(["$$"], "", ["$$"]),
        Segment([f"Write `{FAKE[0]}` and `{FAKE[2]}`."]),
    ]
)
_segment = st.one_of(
    _lines.map(Segment),
    _disguised,
    _lines.map(lambda body: Segment([], body)),
    st.just(Segment([], [])),
)


def _after(before: str, fake: list[str]) -> list[str]:
    """Give lines whose markers are no block and not hidden either: the whole note is refused."""
    return [before, *fake, ""]


_AGAIN = format_block("b-again", "main", "", "x").split("\n")
_START, _TEXT, _END = FAKE
_disorder = st.sampled_from(
    [
        [*_AGAIN, "", *_AGAIN],
        _after("", [_END]),
        _after("", [_START, _TEXT]),
        _after("", [_START, _START, _TEXT, _END, _END]),
        _after("", [_START + " words", _END]),
        _after("", [_START.replace(' id="fake"', ""), _END]),
        _after("para", ["    " + _START, _TEXT, _END]),
        _after("", [_START, "```", _END, "```"]),
        _after("", [_START, "%%", _END, "%%", _END]),
    ]
)


@st.composite
def documents(draw: st.DrawFn, disorder: bool = False) -> Document:
    newlines = st.sampled_from(["\n", "\r\n", "\r"])
    newline = draw(newlines)
    mixed = draw(st.booleans())
    parts: list[str] = []
    truth: dict[str, list[str]] = {}
    if draw(st.booleans()):
        parts.append(newline.join(["---", "a: 1", *FAKE, "---"]))
    for number, segment in enumerate(draw(st.lists(_segment, max_size=7))):
        own = draw(newlines) if mixed else newline
        if segment.body is None:
            parts.append(own.join(segment.lines))
            continue
        block_id = f"b{number}"
        truth[block_id] = segment.body
        parts.append(format_block(block_id, "main", "rb", "\n".join(segment.body), own))
    if disorder:
        front = int(parts[:1] != [] and parts[0].startswith("---"))
        at = draw(st.integers(front, len(parts)))
        parts.insert(at, newline.join(draw(_disorder)))
    text = (newline * 2).join(parts) + draw(st.sampled_from(["", newline, newline * 3]))
    return draw(st.sampled_from(["", "\ufeff"])) + text, truth


def _canonical(body: list[str]) -> str:
    return canonical("\n".join(body))


def _ours(text: str) -> tuple[ManagedBlock, ...]:
    return find_blocks(text, opaque_lines(text))


def _each(
    count: int,
    promise: Callable[..., None],
    *given_by: st.SearchStrategy[object],
    phases: tuple[Phase, ...] = EVERY_PHASE,
) -> None:
    checks = list(HealthCheck)
    limits = settings(
        max_examples=count, deadline=None, suppress_health_check=checks, database=None,
        phases=phases, report_multiple_bugs=False,
    )  # fmt: skip
    seed(SEED)(limits(given(*given_by)(promise)))()


def _finds_the_truth(find: Finder) -> Callable[[Document], None]:
    def promise(document: Document) -> None:
        text, truth = document
        found = find(text)
        assert {block.block_id: canonical(block.body) for block in found} == {
            block_id: _canonical(body) for block_id, body in truth.items()
        }
        for block in found:
            marked = text[block.start : block.end]
            newline = newline_of(marked)
            again = format_block(block.block_id, block.agent, block.bundle, block.body, newline)
            assert again == marked

    return promise


def _refuses_disorder(find: Finder) -> Callable[[Document], None]:
    def promise(document: Document) -> None:
        with pytest.raises(BlockMalformed):
            find(document[0])

    return promise


EXAMPLES = sizes("VAULT_TOOLS_EXAMPLES", short=150, full=10_000)


@pytest.mark.parametrize("count", EXAMPLES)
def test_exactly_the_true_blocks_are_found_and_read_back_as_written(count: int) -> None:
    _each(count, _finds_the_truth(_ours), documents())


@pytest.mark.parametrize("count", EXAMPLES)
def test_one_disorder_anywhere_makes_a_document_read_only(count: int) -> None:
    _each(count, _refuses_disorder(_ours), documents(disorder=True))


def _splices_alone(document: Document, body: list[str], data: st.DataObject) -> None:
    text, truth = document
    blocks = _ours(text)
    if not blocks:
        return
    block = data.draw(st.sampled_from(blocks))
    assert splice(text, block, block.body) == text
    new = encode(splice(text, block, "\n".join(body)))
    assert new.startswith(encode(text[: block.start]))
    assert new.endswith(encode(text[block.end :]))
    expected = {**truth, block.block_id: body}
    assert {b.block_id: canonical(b.body) for b in _ours(decode(new))} == {
        block_id: _canonical(lines) for block_id, lines in expected.items()
    }


@pytest.mark.parametrize("count", EXAMPLES)
def test_a_splice_changes_only_the_bytes_of_its_block(count: int) -> None:
    _each(count, _splices_alone, documents(), _lines, st.data())


@pytest.mark.parametrize("count", EXAMPLES)
def test_writing_what_is_there_touches_nothing(count: int, tmp_path: Path) -> None:
    files = make_files(tmp_path)
    note = "00-system/plur1bus/note.md"
    path = files.root / note

    def promise(document: Document) -> None:
        text, _ = document
        path.write_bytes(encode(text))
        before = path.stat()
        blocks, ownership = _ours(text), Ownership()
        ownership.own_blocks([owned_block(note, block) for block in blocks])
        writes = [BlockWrite(b.block_id, b.body, b.agent, b.bundle) for b in blocks]
        change = write_blocks(files, ownership, note, writes, now=0)
        after = path.stat()
        assert not change.written
        assert not change.change.changed
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
        assert contents(files.root) == {note: encode(text)}

    _each(count, promise, documents())


_PIECES = ["```", "~~~", "%%", "$$", "- a", "  b", "> q", "    code", "<div>", "<!--", "-->", ""]
_MORE = ["w ", "---", "a: 1", "<pre>", "</pre>", "1. x", "  " + FAKE[0], "\ufeff", "\udcff\0"]
_pieces = st.sampled_from([*_PIECES, *_MORE, *FAKE])
_any_text = st.lists(st.tuples(_pieces, st.sampled_from(["\n", "\r\n", "\r"])), max_size=12).map(
    lambda lines: "".join(line + end for line, end in lines)
)


def _stages_or_refuses(text: str, body: str) -> None:
    try:
        staged = staged_blocks(text, [BlockWrite("new", body, "main")], {}, path="n.md")
    except VaultToolsError:
        return
    assert staged.text.startswith(text)
    found = {block.block_id: block for block in _ours(staged.text)}
    assert canonical(found["new"].body) == canonical(body)
    again = staged_blocks(
        staged.text, [BlockWrite("new", body, "main")], {"new": staged.blocks[0]}, path="n.md"
    )
    assert again.text == staged.text


@pytest.mark.parametrize("count", EXAMPLES)
def test_staging_into_any_text_keeps_it_or_refuses(count: int) -> None:
    _each(count * 2, _stages_or_refuses, _any_text, st.one_of(_any_text, _lines.map("\n".join)))


_ENDS = "elif _END_LINE.fullmatch(content):"
_STRAY_END = f"""{_ENDS[:-1]} and start is None:
            continue
        {_ENDS}"""
_LINE_ENDS = r"\r\n|\r|\n"
# What is wrong with the parser, and the piece of its source that is exchanged.
PARSER_FAULTS = {
    "fences hide no marker": ("frozenset(opaque_lines)", "frozenset()"),
    "two blocks may share a name": ("    _refuse_repeated(blocks)\n", ""),
    "a lone CR ends no line": (_LINE_ENDS, r"\r\n|\n"),
    "U+2028 ends a line": (_LINE_ENDS, _LINE_ENDS + "|\u2028"),
    "a marker may stand in by four": (" {{0,3}}<!--", " {{0,4}}<!--"),
    "an end without a start is passed over": (_ENDS, _STRAY_END),
    "a block may hold another": ('raise _malformed(line, "opens a block', '(line, "opens a block'),
    "a block may stay open": ('raise _malformed(start, "is never', '(start, "is never'),
    "a marker may be swallowed": ('raise _malformed(line, "is swallowed', '(line, "is swallowed'),
    "a byte order mark is text": ("lines_of(text, text_start(text))", "lines_of(text)"),
    "front matter hides no marker": ("set(range(front.lines)) if front", "set() if front"),
    "comments hide no marker": ('own.update(_between(visible, "%%"))', "pass"),
    "formulas hide no marker": ('own.update(_between(visible, "$$"))', "pass"),
}


def _with_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> Finder:
    """Build the parser anew from its source, with one piece of it exchanged."""
    old, new = PARSER_FAULTS[fault]
    exchanged = 0
    for module in (note_module, block_module):
        source = Path(module.__file__ or "").read_text("utf-8")
        exchanged += source.count(old)
        faulty = ModuleType(module.__name__)
        monkeypatch.setitem(sys.modules, module.__name__, faulty)
        exec(source.replace(old, new), vars(faulty))
    assert exchanged > 0
    return lambda text: faulty.find_blocks(text, opaque_lines(text))


@pytest.mark.parametrize("fault", PARSER_FAULTS)
def test_a_fault_in_the_parser_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find = _with_fault(fault, monkeypatch)
    searching = (Phase.generate,)

    def search() -> None:
        _each(500, _finds_the_truth(find), documents(), phases=searching)
        _each(500, _refuses_disorder(find), documents(disorder=True), phases=searching)

    with pytest.raises((AssertionError, BlockMalformed, pytest.fail.Exception)):
        search()


def _naive(text: str) -> tuple[ManagedBlock, ...]:
    pattern = r'<!-- plur1bus:managed:start id="([^"]*)".*?-->(.*?)<!-- plur1bus:managed:end -->'
    return tuple(
        ManagedBlock(at[1], "", "", "", at[2], at.start(), at.start(2), at.end(2), at.end(), 0)
        for at in re.finditer(pattern, text, re.DOTALL)
    )


def test_the_documents_catch_a_naive_parser() -> None:
    with pytest.raises(AssertionError):
        _each(300, _finds_the_truth(_naive), documents(), phases=(Phase.generate,))


@pytest.mark.parametrize("count", [2000, 8000])
def test_a_note_of_hostile_lines_is_read(count: int) -> None:
    for line in ("%%", "$$", "- x", "> y", "<!-- plur1bus:managed", " " * 50, "`", "<div>"):
        text = f"{FAKE[0]}\n\n" + f"{line}\n" * count
        with pytest.raises(BlockMalformed):
            find_blocks(text, opaque_lines(text))
