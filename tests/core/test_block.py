from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tools.core.block import (
    BlockState,
    accepts,
    append_block,
    canonical,
    canonical_hash,
    check_body,
    find_blocks,
    format_block,
    insert_block,
    owned_block,
    splice,
    take_out,
    verify,
)
from vault_tools.core.ports import OwnedBlock
from vault_tools.errors import BlockError, BlockMalformed, InvalidInput

START = '<!-- plur1bus:managed:start id="{}" -->'
END = "<!-- plur1bus:managed:end -->"
ONE = "# Title\n\n" + format_block("one", "main", "rb-1", "body\n") + "\n\ntail"


def test_a_block_is_found_with_its_attributes_in_any_order() -> None:
    text = (
        '  <!--  plur1bus:managed:start hash="sha256:' + "0" * 64 + '" bundle="b"'
        f' id="x"\tagent="a" -->  \nbody\n   {END}\t\n'
    )
    (block,) = find_blocks(text)
    assert (block.block_id, block.agent, block.bundle, block.hash) == ("x", "a", "b", "0" * 64)
    assert (block.body, block.line) == ("body\n", 1)
    assert text[block.body_start : block.body_end] == "body\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_are_tolerated(newline: str, bom: str) -> None:
    text = bom + format_block("x", "a", "b", "1\n\n2\u2028", newline) + newline
    (block,) = find_blocks(text)
    assert block.body == f"1{newline}{newline}2\u2028{newline}"
    assert accepts(block)


@pytest.mark.parametrize(
    "lines",
    [
        [START.format("a"), "x"],
        [END],
        [START.format("a"), END, END],
        [START.format("a"), START.format("b"), END, END],
        [START.format("a"), END, START.format("a"), END],
        ["<!-- plur1bus:managed:start -->", END],
        ['<!-- plur1bus:managed:start id="" -->', END],
        ['<!-- plur1bus:managed:start id="a" id="b" -->', END],
        ["<!-- plur1bus:managed:start id='a' -->", END],
        ['<!-- plur1bus:managed:start id="a--b" -->', END],
        ['<!-- plur1bus:managed:start id="[[a" -->', END],
        ['<!--plur1bus:managed:start id="a"-->', END],
        [START.format("a") + " text", END],
        [START.format("a"), "%%", END, "%%"],
        [START.format("a"), "$$", END, "$$", END],
        [START.format("a"), "%%", START.format("b"), "%%", END],
    ],
)
def test_disorder_makes_the_whole_file_read_only(lines: list[str]) -> None:
    with pytest.raises(BlockMalformed):
        find_blocks("\n".join(lines))


@pytest.mark.parametrize(
    "text",
    [
        f"`{END}` in a sentence",
        f"see {END}",
        f"> {START.format('a')}\n> {END}",
        f"- {START.format('a')}\n- {END}",
        f"- item\n  {START.format('a')}\n  {END}",
        f"1. item\n\n   {START.format('a')}\n   {END}",
        f"%%\n{START.format('a')}\n{END}\n%%",
        f"$$\n{START.format('a')}\n{END}\n$$",
        f"\ufeff%%\n{START.format('a')}\n{END}\n%%",
        f"---\n{START.format('a')}\n{END}\n---\n",
        "<!-- PLUR1BUS:managed:start id=x -->",
    ],
)
def test_what_is_no_block_is_left_alone(text: str) -> None:
    assert find_blocks(text) == ()


def test_lines_that_a_parser_found_opaque_hold_no_block() -> None:
    text = f"```\n{START.format('a')}\n{END}\n```\n"
    assert find_blocks(text, range(4)) == ()
    with pytest.raises(BlockMalformed):
        find_blocks(f"{START.format('a')}\n```\n{END}\n", [1, 2])


def test_an_open_comment_sign_hides_nothing() -> None:
    assert len(find_blocks("%% never closed\n" + ONE)) == 1
    assert len(find_blocks("costs $$ here\n" + ONE + "\nand $$ there")) == 1


def test_the_canonical_form_ignores_spacing_only() -> None:
    assert canonical("\ufeff\r\n a  \r\r\n\n\nb\t\n\n") == " a\n\nb"
    assert canonical("cafe\u0301") == canonical("caf\u00e9")
    assert canonical_hash("a b") != canonical_hash("a  b")
    assert canonical_hash("a\u200bb") != canonical_hash("ab")


@given(st.text(alphabet=" \t\r\n\ufeffae\u0301", max_size=12))
def test_the_canonical_form_is_its_own_canonical_form(body: str) -> None:
    assert canonical(canonical(body)) == canonical(body)


@pytest.mark.parametrize("stored", ["body\n", "body", "  body  \n\n\nx\n"])
def test_hashes_of_older_writers_are_accepted(stored: str) -> None:
    for hashed in (stored, stored.removesuffix("\n")):
        sha = hashlib.sha256(hashed.encode()).hexdigest()
        marker = f'<!-- plur1bus:managed:start id="a" hash="sha256:{sha}" -->'
        (block,) = find_blocks(f"{marker}\n{stored.removesuffix(chr(10))}\n{END}\n")
        assert accepts(block)
        assert verify(block, owned_block("n.md", block)) is BlockState.OURS


def _owned(body: str) -> OwnedBlock:
    return OwnedBlock("n.md", "one", canonical_hash(body), "")


def test_only_the_ledger_makes_a_block_ours() -> None:
    (block,) = find_blocks(ONE)
    assert verify(block, None) is BlockState.FOREIGN
    assert verify(block, _owned("body")) is BlockState.OURS
    assert verify(block, _owned("other")) is BlockState.TAMPERED


def test_an_edit_is_tampering_even_with_a_hash_that_fits() -> None:
    edited = ONE.replace("body", "edited")
    (block,) = find_blocks(edited)
    assert verify(block, _owned("body")) is BlockState.TAMPERED
    (forged,) = find_blocks(format_block("one", "main", "", "edited"))
    assert accepts(forged)
    assert verify(forged, _owned("body")) is BlockState.TAMPERED


def test_spacing_tools_cause_no_alarm() -> None:
    (block,) = find_blocks(ONE.replace("body\n", "\n\nbody  \n\n").replace("\n", "\r\n"))
    assert verify(block, _owned("body")) is BlockState.OURS


def test_a_missing_hash_makes_a_block_foreign() -> None:
    (block,) = find_blocks(f"{START.format('one')}\nbody\n{END}")
    assert verify(block, _owned("body")) is BlockState.FOREIGN


@pytest.mark.parametrize(
    "body",
    [
        END,
        START.format("x"),
        "a plur1bus:managed b",
        "PLUR1BUS:MANAGED",
        "plur1bus\uff1amanaged",
        "plur1bus:man\u200baged",
        "\uff50lur1bus:managed",
        "plur\U000e00611bus:managed",
        "plur1bus:mana\u00adged",
    ],
)
def test_a_body_with_a_marker_in_any_disguise_is_refused(body: str) -> None:
    with pytest.raises(BlockError):
        check_body(body)
    with pytest.raises(BlockError):
        append_block("", "x", "a", "b", body)


@pytest.mark.parametrize("value", ['a"b', "a--b", "a>b", "[[a", "a b", "a\nb", "-a", "a" * 200])
def test_an_attribute_cannot_break_the_marker(value: str) -> None:
    with pytest.raises(InvalidInput):
        format_block("x", value, "b", "body")


def test_splicing_changes_only_the_block() -> None:
    (block,) = find_blocks(ONE)
    new = splice(ONE, block, "new\n", bundle="rb-2")
    assert new == "# Title\n\n" + format_block("one", "main", "rb-2", "new") + "\n\ntail"


def test_splicing_what_is_there_already_changes_nothing() -> None:
    spaced = ONE.replace("body\n", "body  \n\n\n")
    (block,) = find_blocks(spaced)
    assert splice(spaced, block, "body") == spaced


def test_splicing_writes_a_current_hash_for_an_older_one() -> None:
    old = f"{START.format('one')}\nbody\n{END}"
    (block,) = find_blocks(old)
    assert splice(old, block, "body") == format_block("one", "", "", "body")


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\n\n", "a\r\nb", "---\nx: 1\n---\n", "\ufeff"])
def test_a_block_is_added_below_a_blank_line_and_taken_out_again(text: str) -> None:
    new = append_block(text, "one", "main", "", "body")
    (block,) = find_blocks(new)
    assert new.startswith(text)
    assert take_out(new, block).rstrip("\r\n") == text.rstrip("\r\n")


def test_a_block_is_inserted_between_lines() -> None:
    new = insert_block("a\n\nb\n", 3, "one", "main", "", "body")
    assert new == "a\n\n" + format_block("one", "main", "", "body") + "\n\nb\n"
