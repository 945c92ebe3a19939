from __future__ import annotations

import pytest

from vault_tools.vault.markdown import opaque_lines

MARKER = "<!-- plur1bus:managed:end -->"


def _opaque(*lines: str) -> list[int]:
    return sorted(opaque_lines("\n".join(lines)))


def test_a_note_without_our_marker_is_not_parsed() -> None:
    assert opaque_lines("```\ncode\n```\n" * 3) == frozenset()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["text", MARKER, "text"], []),
        (["```", MARKER, "```", "x"], [0, 1, 2]),
        (["a", "", "    " + MARKER], [2]),
        (["<div>", MARKER, "</div>"], [0, 1, 2]),
        (["<pre>", "", MARKER, "</pre>"], [0, 1, 2, 3]),
        (["<!-- a", MARKER], [0, 1]),
        (["> q", "> " + MARKER, MARKER], [0, 1]),
        (["- a", "  " + MARKER, MARKER], [0, 1]),
        (["---", "a: '```'", "---", MARKER], []),
        (["\ufeff---", "a: 1", "---", "```", MARKER], [3, 4]),
        (["\ufeff```", MARKER, "```", MARKER], [0, 1, 2]),
        (["x\u2028y\x0bz\x85", "```", MARKER, "```"], [1, 2, 3]),
        (["> " * 60 + "deep " + MARKER, MARKER], [0]),
    ],
)
def test_opaque_lines(lines: list[str], expected: list[int]) -> None:
    assert _opaque(*lines) == expected


def test_every_line_end_counts_alike() -> None:
    lines = ["a", "```", MARKER, "```", MARKER]
    for newline in ("\n", "\r\n", "\r"):
        assert sorted(opaque_lines(newline.join(lines))) == [1, 2, 3]
