from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tools.core.digest import sha256_hex
from vault_tools.core.note import encode
from vault_tools.vault.notes import Problem, read_note


def _problems(data: bytes) -> list[Problem]:
    return [finding.problem for finding in read_note("n.md", data).findings]


def test_scalars_keep_their_text() -> None:
    note = read_note(
        "n.md",
        b"---\na: no\nb: 01234\nc: 12:30\nd: 1.10\ne: 2023_0129\nf: 2024-13-45\ng:\n"
        b"2024: y\ncontent: x\nhandler: y\n---\n",
    )
    assert note.properties == {
        "a": "no", "b": "01234", "c": "12:30", "d": "1.10", "e": "2023_0129", "f": "2024-13-45",
        "g": "", "2024": "y", "content": "x", "handler": "y",
    }  # fmt: skip
    assert note.findings == ()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_byte_order_mark_and_line_ends_do_not_hide_properties(newline: str) -> None:
    lines = ["\ufeff---", "tags:", "  - a", "  - b", "aliases: one", "---", "body"]
    note = read_note("n.md", newline.join(lines).encode())
    assert note.names("tags") == ("a", "b")
    assert note.names("aliases") == ("one",)
    assert note.text[note.body :] == "body"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xff", Problem.NOT_UTF8),
        (b"a\0", Problem.HOLDS_NUL),
        (b"---\na: 1\n", Problem.UNCLOSED_FRONT_MATTER),
        (b"---\na: 1\n---\n---\nb: 2\n---\n", Problem.SECOND_FRONT_MATTER),
        (b"---\na: [\n---\n", Problem.BROKEN_YAML),
        (b"---\na: @x\n---\n", Problem.BROKEN_YAML),
        (b"---\na: Foo: Bar\n---\n", Problem.BROKEN_YAML),
        (b"---\n\ta: 1\n---\n", Problem.BROKEN_YAML),
        (b"---\n{{x}}\n---\n", Problem.BROKEN_YAML),
        (b"---\na: [[A]], [[B]]\n---\n", Problem.BROKEN_YAML),
        (b"---\na: &a [*a]\n---\n", Problem.BROKEN_YAML),
        (b"---\n" + b"- " * 20_000 + b"\n---\n", Problem.BROKEN_YAML),
        (b"---\na: " + b"[" * 20_000 + b"\n---\n", Problem.BROKEN_YAML),
        (b"---\njust text\n---\n", Problem.NOT_A_MAP),
        (b"---\n- a\n---\n", Problem.NOT_A_MAP),
        (b"---\na: 1\na: 2\n---\n", Problem.REPEATED_KEY),
        (b"---\na: " + b"x" * 70_000 + b"\n---\n", Problem.HUGE_FRONT_MATTER),
    ],
)
def test_a_broken_note_is_a_finding(data: bytes, problem: Problem) -> None:
    assert problem in _problems(data)


def test_an_alias_bomb_is_a_finding() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefg", "bcdefgh", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]")
    data = "\n".join(["---", *lines, "---", ""]).encode()
    assert _problems(data) == [Problem.HUGE_FRONT_MATTER]


@pytest.mark.parametrize(
    "data", [b"", b"---\n---\n", b"---\n# c\n---", b"text", b"\n---\na: 1\n---\n"]
)
def test_a_plain_note_has_no_findings(data: bytes) -> None:
    note = read_note("n.md", data)
    assert (note.findings, dict(note.properties)) == ((), {})


_bytes = st.binary(max_size=80)


@given(st.one_of(_bytes, _bytes.map(lambda data: b"---\n" + data + b"\n---\n")))
def test_no_bytes_raise_or_change(data: bytes) -> None:
    note = read_note("n.md", data)
    assert encode(note.text) == data
    assert note.sha256 == sha256_hex(data)
