from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vault_tools.core.note import (
    decode,
    encode,
    lines_of,
    newline_of,
    plain_name,
    scalar,
    split_front_matter,
)
from vault_tools.errors import InvalidInput


@given(st.binary(max_size=200))
def test_any_bytes_survive_decoding_and_encoding(data: bytes) -> None:
    assert encode(decode(data)) == data


def test_half_a_surrogate_pair_cannot_be_written() -> None:
    with pytest.raises(InvalidInput):
        encode("a\ud800b")


def test_lines_end_with_lf_crlf_and_cr_only() -> None:
    text = "a\u2028b\x0bc\x85\r\nd\re\n\nlast"
    assert [text[line.start : line.end] for line in lines_of(text)] == [
        "a\u2028b\x0bc\x85",
        "d",
        "e",
        "",
        "last",
    ]
    assert newline_of(text) == "\r\n"


@given(st.text(alphabet="ab\r\n\u2028", max_size=40))
def test_lines_cover_the_text_without_gaps(text: str) -> None:
    lines = list(lines_of(text))
    assert "".join(text[line.start : line.next] for line in lines) == text
    assert [line.number for line in lines] == list(range(len(lines)))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("---\na: 1\n---\nbody", "a: 1\n"),
        ("\ufeff---\r\na: 1\r\n---\r\nbody", "a: 1\r\n"),
        ("---\ra: 1\r---\rbody", "a: 1\r"),
        ("---\n---\n", ""),
        ("---  \na: 1\n---\t", "a: 1\n"),
        ("---\na: 1\n---", "a: 1\n"),
    ],
)
def test_front_matter_is_found(text: str, content: str) -> None:
    front = split_front_matter(text)
    assert front is not None
    assert text[front.content : front.close] == content
    assert text[front.body :] in ("body", "")


@pytest.mark.parametrize(
    "text",
    ["", "\n---\na: 1\n---\n", " ---\na\n---\n", "----\na\n---\n", "---\na: 1\n", "---\na\n--- x"],
)
def test_what_obsidian_takes_for_body_is_no_front_matter(text: str) -> None:
    assert split_front_matter(text) is None


@given(st.text(max_size=40))
def test_a_scalar_reads_back_as_it_is(value: str) -> None:
    read = yaml.load(f"title: {scalar(value)}\n", Loader=yaml.CBaseLoader)
    assert read == {"title": value}


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("status", "status"),
        ("作者", "作者"),
        ("date created", "date created"),
        ("on", '"on"'),
        ("2024", '"2024"'),
        ("a: b", '"a: b"'),
    ],
)
def test_a_property_name_is_quoted_where_yaml_would_read_another(name: str, written: str) -> None:
    assert plain_name(name) == written
    assert yaml.load(f"{written}: x\n", Loader=yaml.CBaseLoader) == {name: "x"}
