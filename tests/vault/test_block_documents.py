"""Documents built from segments whose truth is known: what is a block, and what only looks so."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_tools.core.block import canonical, find_blocks, format_block, splice
from vault_tools.core.note import decode, encode
from vault_tools.errors import BlockMalformed, VaultToolsError
from vault_tools.vault.blocks import BlockWrite, staged_blocks
from vault_tools.vault.markdown import opaque_lines

EXAMPLES = int(os.environ.get("VAULT_TOOLS_EXAMPLES", "150"))
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


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, list[str]]]:
    newline = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    parts: list[str] = []
    truth: dict[str, list[str]] = {}
    if draw(st.booleans()):
        parts.append(newline.join(["---", "a: 1", *FAKE, "---"]))
    for number, segment in enumerate(draw(st.lists(_segment, max_size=7))):
        if segment.body is None:
            parts.append(newline.join(segment.lines))
            continue
        block_id = f"b{number}"
        truth[block_id] = segment.body
        parts.append(format_block(block_id, "main", "rb", "\n".join(segment.body), newline))
    text = (newline * 2).join(parts) + draw(st.sampled_from(["", newline, newline * 3]))
    return draw(st.sampled_from(["", "\ufeff"])) + text, truth


def _canonical(body: list[str]) -> str:
    return canonical("\n".join(body))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_exactly_the_true_blocks_are_found(document: tuple[str, dict[str, list[str]]]) -> None:
    text, truth = document
    found = find_blocks(text, opaque_lines(text))
    assert {block.block_id: canonical(block.body) for block in found} == {
        block_id: _canonical(body) for block_id, body in truth.items()
    }


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), _lines, st.data())
def test_a_splice_changes_only_the_bytes_of_its_block(
    document: tuple[str, dict[str, list[str]]], body: list[str], data: st.DataObject
) -> None:
    text, truth = document
    blocks = find_blocks(text, opaque_lines(text))
    if not blocks:
        return
    block = data.draw(st.sampled_from(blocks))
    assert splice(text, block, block.body) == text
    new = encode(splice(text, block, "\n".join(body)))
    assert new.startswith(encode(text[: block.start]))
    assert new.endswith(encode(text[block.end :]))
    after = find_blocks(decode(new), opaque_lines(decode(new)))
    expected = {**truth, block.block_id: body}
    assert {b.block_id: canonical(b.body) for b in after} == {
        block_id: _canonical(lines) for block_id, lines in expected.items()
    }


_PIECES = ["```", "~~~", "%%", "$$", "- a", "  b", "> q", "    code", "<div>", "<!--", "-->", ""]
_MORE = ["w ", "---", "a: 1", "<pre>", "</pre>", "1. x", "  " + FAKE[0], "\ufeff", "\udcff\0"]
_pieces = st.sampled_from([*_PIECES, *_MORE, *FAKE])
_any_text = st.lists(st.tuples(_pieces, st.sampled_from(["\n", "\r\n", "\r"])), max_size=12).map(
    lambda lines: "".join(line + end for line, end in lines)
)


@settings(max_examples=EXAMPLES * 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(_any_text, st.one_of(_any_text, _lines.map("\n".join)))
def test_staging_into_any_text_keeps_it_or_refuses(text: str, body: str) -> None:
    try:
        staged = staged_blocks(text, [BlockWrite("new", body, "main")], {}, path="n.md")
    except VaultToolsError:
        return
    assert staged.text.startswith(text)
    blocks = find_blocks(staged.text, opaque_lines(staged.text))
    found = {block.block_id: block for block in blocks}
    assert canonical(found["new"].body) == canonical(body)
    again = staged_blocks(
        staged.text, [BlockWrite("new", body, "main")], {"new": staged.blocks[0]}, path="n.md"
    )
    assert again.text == staged.text


def _naive(text: str) -> dict[str, str]:
    pattern = r'<!-- plur1bus:managed:start id="([^"]*)".*?-->(.*?)<!-- plur1bus:managed:end -->'
    return {i: canonical(body) for i, body in re.findall(pattern, text, re.DOTALL)}


def test_the_documents_catch_a_naive_parser() -> None:
    caught = 0

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(documents())
    def run(document: tuple[str, dict[str, list[str]]]) -> None:
        nonlocal caught
        text, truth = document
        caught += _naive(text) != {i: _canonical(body) for i, body in truth.items()}

    run()
    print(f"{EXAMPLES} documents for ours; the naive parser was wrong on {caught} of its own")
    assert caught > 0


@pytest.mark.parametrize("count", [2000, 8000])
def test_a_note_of_hostile_lines_is_read(count: int) -> None:
    for line in ("%%", "$$", "- x", "> y", "<!-- plur1bus:managed", " " * 50, "`", "<div>"):
        text = f"{FAKE[0]}\n\n" + f"{line}\n" * count
        with pytest.raises(BlockMalformed):
            find_blocks(text, opaque_lines(text))
