"""Paths that must never be written, and what may be read: none leaves the vault."""

from __future__ import annotations

import pytest

from vault_tools.core.note import check_inside, check_note_path, check_readable_path
from vault_tools.errors import PathRefused

_ESCAPES = [
    "", "/", "/etc/passwd", "//host/share", "..", "../x.md", "a/../x.md", "a/../../x.md", "a/..",
    ".", "./a.md", "a/./b.md", "a//b.md", "a/", "/a", "\\\\host\\share\\a", "\\a", "C:\\a.md",
    "C:/a.md", "c:", "a\0.md", "a\nb.md", "a\rb.md", "a\tb.md", "a\x7f.md", "a\x1b[0m.md",
    "a/\0/b.md", "..\0", "x/../.obsidian/app.json", "a" * 2000,
    "a\ud800.md", "\udfff",
]  # fmt: skip
_OBSIDIAN = [
    ".obsidian", ".obsidian/app.json", ".OBSIDIAN/app.json", ".Obsidian/x", "a/.obsidian/x",
    ".obsidian./x", ".obsidian /x", ".obsidian../x", ".obsidian. . /x", "OBSIDI~1/x", "obsidi~1/x",
    "obsidi~2/x", ".obsidian::$INDEX_ALLOCATION/x", ".obsidian:x", ".obs\u200bidian/x",
    "\u200b.obsidian/x", ".obsidian\u200d/x", ".\u2060obsidian/x", "\ufeff.obsidian/x",
    ".obsi\u00addian/x", "\uff0eobsidian/x", "\u2024obsidian/x", ".ob\u017fidian/x",
    ".\uff4fbsidian/x", ".obsid\u0131an/x".replace("\u0131", "i\ufe0f"), ".obsidian\u202e/x",
    ".obs\U000e0041idian/x", ".obs\u034fidian/x", ".obsidian\u3164/x", ".obs\u180eidian/x",
]  # fmt: skip
_HIDDEN = [
    ".hidden.md", "a/.git/config", ".trash/a.md", ".a/b.md", "..a/b.md", "...", "a/.b", ".",
    " .a/b.md", "\u200b.a/b.md", "\uff0ea/b.md", ".git", ".GIT/x", ".git ./x", "git~1/x",
    ".vault-tools.tmp",
]  # fmt: skip
_DEVICES = [
    "con", "nul", "prn", "aux", "com1", "com9", "lpt1", "lpt9", "com0", "lpt0", "CON", "Nul",
    "conin$", "conout$", "clock$", "com¹", "lpt²",
    "con.md", "NUL.txt", "a/aux.md", "com1.tar.gz", "aux .md", "nul..md", "a/PRN", "LPT³.md",
]  # fmt: skip
_NOT_PORTABLE = [
    "a:b.md", "note.md:stream", "note.md::$DATA", "a*.md", "a?.md", 'a".md', "a<b.md", "a>b.md",
    "a|b.md", "a\\b.md", "a\\..\\b.md", "..\\a.md", "a.", "a /b.md", "a. /b.md", "a ", "a./b.md",
    " a.md", "-rf", "-a.md", "a/-x.md", "~/a.md", "~root/a.md", "~", "NOTE~1.MD", "abcdef~12",
    "a\u200b.md", "a\u202eb.md", "a\u2066.md", "a\u00ad.md", "a\ufeff.md", "a\u2028b.md",
    "a\u2029.md", "a\x85.md", "a\ufe0f.md", "a\U000e0001.md", "a\u3164.md", "a\u2800.md",
    "a\uff0fb.md", "a\uff3cb.md", "cafe\u0301.md", "\u212b.md", "x" * 201, "\u00e4" * 101,
    "a\udc80.md", "a/" + "b" * 250 + ".md", "a\u115f.md", "a\u17b4.md", "a\u2061.md",
    "a\u061c.md", "a\u200e.md", "a\u200f.md", "a\u206a.md", "\u2060", "a\ue000.md", "a\ufff9.md",
    "a/\u200b/b.md", "a/ /b.md", "a/ b.md", "a/b .", "x\u00a0/\u200b.md", "a\ufdd0.md",
]  # fmt: skip
HOSTILE = [*_ESCAPES, *_OBSIDIAN, *_HIDDEN, *_DEVICES, *_NOT_PORTABLE]

FINE = [
    "a.md", "00-system/plur1bus/dashboards/Überblick.md", "a/b c/d (1).md", "日記/2026.md",
    "memory/KNOWLEDGE.md", "a/x.y.z.md", "console.md", "a-b_c+d=e,f.md", "مرحبا.md",
    "x" * 197 + ".md",
]  # fmt: skip


def test_the_corpus_is_large_enough() -> None:
    print(f"{len(set(HOSTILE))} hostile paths")
    assert len(set(HOSTILE)) >= 150


@pytest.mark.parametrize("path", HOSTILE, ids=ascii)
def test_a_hostile_path_is_never_written(path: str) -> None:
    with pytest.raises(PathRefused):
        check_note_path(path)


@pytest.mark.parametrize("path", [*_ESCAPES, *_OBSIDIAN], ids=ascii)
def test_a_path_that_escapes_or_enters_obsidian_is_never_read(path: str) -> None:
    with pytest.raises(PathRefused):
        check_readable_path(path)
    with pytest.raises(PathRefused):
        check_inside(path)


@pytest.mark.parametrize("path", FINE)
def test_a_plain_path_is_given_back(path: str) -> None:
    assert check_note_path(path) == path
    assert check_readable_path(path) == path


@pytest.mark.parametrize(
    "path", ["What?.md", 'The "x".md', "a: b.md", "con.md", "…and.md", "cafe\u0301.md", "y" * 230]
)
def test_names_of_real_vaults_can_be_read(path: str) -> None:
    assert check_readable_path(path) == path
