from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tools.core.note import check_note_path
from vault_tools.errors import VaultToolsError
from vault_tools.vault.exclusion import exclusion, ignore_filters
from vault_tools.vault.names import is_conflict_copy, is_note, placeholder_for, safe_file_name


@given(st.text(max_size=300))
def test_any_title_gives_a_portable_name(title: str) -> None:
    name = safe_file_name(title)
    assert check_note_path(name) == name
    assert "/" not in name
    assert not set("#^[]|") & set(name)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Über: a/b?", "Über a b.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ("CON", "note CON.md"),
        ("", "note.md"),
        (".obsidian", "obsidian.md"),
        ("[[x]] #y ^z", "x y z.md"),
    ],
)
def test_names_stay_readable(title: str, name: str) -> None:
    assert safe_file_name(title) == name


@pytest.mark.parametrize(
    "name",
    [
        "a (Conflicted copy Pixel 7 202405012117).md",
        "a.sync-conflict-20240501-211713-H7G5LYY.md",
        "a-LAPTOP-safeBackup-0001.md",
        "a (Anna's conflicted copy 2024-05-01).md",
    ],
)
def test_conflict_copies_are_recognised(name: str) -> None:
    assert is_conflict_copy(name)


@pytest.mark.parametrize("name", ["a 2.md", "a 1.md", "conflicted copy.md", "Copy (1).md"])
def test_names_of_people_are_no_conflict_copies(name: str) -> None:
    assert not is_conflict_copy(name)


def test_placeholders_and_notes() -> None:
    assert placeholder_for(".Plan.md.icloud") == "Plan.md"
    assert placeholder_for("Plan.md") is None
    assert is_note("SOUL.MD")
    assert not is_note("a.mdx")


@pytest.mark.parametrize(
    ("globs", "path", "out"),
    [
        (["Private/**"], "Private/a/b.md", True),
        (["Private"], "x/private/a.md", True),
        (["/Private"], "x/Private/a.md", False),
        (["*.draft.md"], "a/b.draft.md", True),
        (["a/*.md"], "a/b/c.md", False),
        (["a/**/c.md"], "a/c.md", True),
        (["a?.md"], "ab.md", True),
        (["a.md"], "aXmd", False),
    ],
)
def test_globs(globs: list[str], path: str, out: bool) -> None:
    assert bool(exclusion(globs)(path)) is out


def test_obsidians_own_filters_are_honoured() -> None:
    filters = ignore_filters(b'\xef\xbb\xbf{"userIgnoreFilters":["Diary/","/\\\\d{4}-secret/"]}')
    excluded = exclusion(filters=filters)
    assert "Diary/" in excluded("diary/today.md")
    assert excluded("x/2024-secret.md")
    assert excluded("x/Diary/today.md") == ""
    assert ignore_filters(b"{}") == ()


@pytest.mark.parametrize("data", [b"", b"[]", b'{"userIgnoreFilters":3}', b"\xff"])
def test_settings_that_cannot_be_read_are_an_error(data: bytes) -> None:
    with pytest.raises(VaultToolsError):
        ignore_filters(data)


def test_an_unreadable_expression_is_an_error() -> None:
    with pytest.raises(VaultToolsError):
        exclusion(filters=["/(/"])
