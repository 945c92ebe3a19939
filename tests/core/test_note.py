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
    scalar,
    set_scalar,
    split_front_matter,
)
from vault_tools.errors import InvalidInput, VaultToolsError


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


NOTE = '\ufeff---\r\ntitle: "A: b"  # mine\r\ntags:\r\n  - x\r\nempty:\r\nn: 01\r\n---\r\nBody\r\n'


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("title", "New", '"A: b"', "New"),
        ("empty", "full", "empty:", "empty: full"),
        ("n", 7, "n: 01", "n: 7"),
        ("n", "no", "n: 01", 'n: "no"'),
        ("added", True, "---\r\nBody", "added: true\r\n---\r\nBody"),
    ],
)
def test_setting_a_property_changes_one_line(
    key: str, value: str | int | bool, old: str, new: str
) -> None:
    assert set_scalar(NOTE, key, value) == NOTE.replace(old, new)


@pytest.mark.parametrize(("key", "value"), [("title", "A: b"), ("n", "01")])
def test_setting_what_is_there_changes_nothing(key: str, value: str) -> None:
    assert set_scalar(NOTE, key, value) == NOTE


@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "---\na: 1\na: 2\n---\n",
        "---\na: |\n  x\n---\n",
        "---\na: [1, 2]\n---\n",
        "---\na:\n- x\n---\n",
        "---\na: one\n  two\n---\n",
        "---\na: &x y\n---\n",
        '---\nb: "open\na: 1"\n---\n',
        "---\nb: [1,\na: 2]\n---\n",
        "---\n{{template}}\na: 1\n---\n",
    ],
)
def test_a_property_that_is_not_one_plain_line_is_refused(text: str) -> None:
    with pytest.raises(VaultToolsError):
        set_scalar(text, "a", "new")


@given(st.text(max_size=40))
def test_a_scalar_reads_back_and_cannot_break_out(value: str) -> None:
    text = set_scalar("---\nstatus: pending\n---\n", "title", value)
    front = split_front_matter(text)
    assert front is not None
    read = yaml.load(text[front.content : front.close], Loader=yaml.CBaseLoader)
    assert read == {"status": "pending", "title": value}
    assert scalar(value) in text
