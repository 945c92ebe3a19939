from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from vault_tools.core.note import decode, encode, split_front_matter
from vault_tools.errors import InvalidInput, VaultToolsError
from vault_tools.vault.notes import read_note
from vault_tools.vault.properties import remove_property, set_property

NOTE = (
    '\ufeff---\r\ntitle: "A: b"  # mine\r\ntags:\r\n  - x\r\nempty:\r\nn: 01\r\n'
    "done: false\r\nlinks: [a, b] # two\r\nfolded: >\r\n  one\r\n  two\r\n\r\n"
    "作者: 张\r\n---\r\nBody \u2028 \0\r\n"
)


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("title", "New", '"A: b"', "New"),
        ("empty", "full", "empty:", "empty: full"),
        ("n", 7, "n: 01", "n: 7"),
        ("n", "no", "n: 01", 'n: "no"'),
        ("done", True, "done: false", "done: true"),
        ("作者", "李: 四", "张", '"李: 四"'),
        ("tags", ["x", "yes"], "  - x", '  - x\r\n  - "yes"'),
        ("tags", "x", "tags:\r\n  - x", "tags: x"),
        ("tags", [], "tags:\r\n  - x", "tags: []"),
        ("links", ["a"], "links: [a, b] # two", "links: # two\r\n  - a"),
        ("links", "[[A]]", "[a, b] #", '"[[A]]" #'),
        ("empty", ["a b"], "empty:", "empty:\r\n  - a b"),
        ("folded", "one", ">\r\n  one\r\n  two\r\n", "one\r\n"),
        ("added", True, "---\r\nBody", "added: true\r\n---\r\nBody"),
        ("added", ["a", "#b"], "---\r\nBody", 'added:\r\n  - a\r\n  - "#b"\r\n---\r\nBody'),
        ("Datum 2", "2026-11-30", "---\r\nBody", "Datum 2: 2026-11-30\r\n---\r\nBody"),
    ],
)
def test_setting_a_property_changes_its_lines_only(
    key: str, value: str | int | bool | Sequence[str], old: str, new: str
) -> None:
    assert set_property(NOTE, key, value) == NOTE.replace(old, new)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("title", "A: b"),
        ("n", "01"),
        ("empty", ""),
        ("done", False),
        ("done", "false"),
        ("tags", ["x"]),
        ("links", ("a", "b")),
        ("folded", "one two\n"),
        ("作者", "张"),
    ],
)
def test_setting_what_is_there_changes_nothing(
    key: str, value: str | int | bool | Sequence[str]
) -> None:
    assert set_property(NOTE, key, value) == NOTE


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("title", 'title: "A: b"  # mine\r\n'),
        ("tags", "tags:\r\n  - x\r\n"),
        ("folded", "folded: >\r\n  one\r\n  two\r\n"),
        ("empty", "empty:\r\n"),
        ("absent", ""),
    ],
)
def test_removing_a_property_takes_its_lines(key: str, gone: str) -> None:
    assert remove_property(NOTE, key) == NOTE.replace(gone, "")


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("", "---\na: x\n---\n"),
        ("Body", "---\na: x\n---\nBody"),
        ("\ufeffBody\r\n", "\ufeff---\r\na: x\r\n---\r\nBody\r\n"),
        ("one\rtwo", "---\ra: x\r---\rone\rtwo"),
        ("---\n---\n", "---\na: x\n---\n"),
        ("---\n# c\n---", "---\n# c\na: x\n---"),
        ("---\r---", "---\ra: x\r---"),
        ("---\n  b: 1\n---\n", "---\n  b: 1\n  a: x\n---\n"),
        ("---\nb: |\n  x\n\n---\n", "---\nb: |\n  x\n\na: x\n---\n"),
        ("---\nb: one\n  two\n---\n", "---\nb: one\n  two\na: x\n---\n"),
        ("---\na: one\n  two\nb: 1\n---\n", "---\na: x\nb: 1\n---\n"),
        ("---\na:\n  y\n---\n", "---\na: x\n---\n"),
        ("---\na:\n- y\n-\n# c\nb: 1\n---\n", "---\na: x\n# c\nb: 1\n---\n"),
        ("---\na: {{date}}\n---\n", "---\na: x\n---\n"),
        ("---\na:   y\t# c\n---\n", "---\na:   x\t# c\n---\n"),
        ("---\nb: \u2028\x85\x00\n---\n", "---\nb: \u2028\x85\x00\na: x\n---\n"),
    ],
)
def test_a_property_finds_its_place(text: str, new: str) -> None:
    assert set_property(text, "a", "x") == new
    assert set_property(new, "a", "x") == new


def test_a_list_keeps_how_far_it_stands_in() -> None:
    text = "---\ntags:\n- a\n- b\nlast: 1\n---\n"
    assert set_property(text, "tags", ["a", "c"]) == text.replace("- b", "- c")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\na: 1\n", "never closes"),
        ("---", "never closes"),
        ("\n---\nb: 1\n---\n", "opens no block"),
        ("---- \ntext", "opens no block"),
        (" ---\nb: 1\n---\n", "opens no block"),
        ("--- x\nb: 1\n---\n", "opens no block"),
        ("---\na: 1\n---\n---\nb: 2\n---\n", "second block"),
        ("---\nb: 1\nb: 2\n---\n", "b stands twice"),
        ("---\na: 1\na: 2\n---\n", "a stands twice"),
        ("---\nb: [\n---\n", "no valid YAML"),
        ("---\nb: @x\n---\n", "no valid YAML"),
        ("---\n{{template}}\na: 1\n---\n", "no valid YAML"),
        ("---\n\tb: 1\n---\n", "no valid YAML"),
        ("---\n<% tp.date %>\n---\n", "a text"),
        ("---\n- a\n---\n", "a list"),
        ("---\n{a: 1}\n---\n", "in braces"),
        ("---\nb: &x y\n---\n", "anchors"),
        ("---\nb: &x y\nc: *x\n---\n", "anchors"),
        ("---\n? b\n: 1\n---\n", "line of its own"),
        ("---\n{{b}}: 1\n---\n", "no plain text"),
        ("---\nb: 1\n...\n---\n", "valid YAML"),
        ("---\na:\n  b: 1\n---\n", "properties of its own"),
        ("---\na:\n  # mine\n  - b\n---\n", "comment"),
        ("---\na: # mine\n  - b\n---\n", "comment"),
        ("---\nb: " + "y" * 70_000 + "\n---\n", "more than"),
        ("---\nb: " + "[" * 20_000 + "\n---\n", "no valid YAML"),
    ],
)
def test_a_note_that_cannot_be_edited_safely_is_refused_with_its_problem(
    text: str, problem: str
) -> None:
    with pytest.raises(VaultToolsError, match=problem):
        set_property(text, "a", "new")


@pytest.mark.parametrize("key", ["", " ", "a\nb", "a\u2028b", "\ud800"])
def test_a_name_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput):
        set_property("", key, "x")


@pytest.mark.parametrize("value", ["\udc80", ["a", "\ud800"]])
def test_a_value_that_is_no_text_is_refused(value: str | Sequence[str]) -> None:
    with pytest.raises(InvalidInput):
        set_property("", "a", value)


def test_bytes_that_are_not_utf8_survive_an_edit() -> None:
    data = b"---\nb: \xff\xfe\n---\n\xe9\0"
    new = encode(set_property(decode(data), "a", 1))
    assert new == b"---\nb: \xff\xfe\na: 1\n---\n\xe9\0"


_names = st.sampled_from(["a", "b", "tags", "on", "作者", "date created"])
_values = st.one_of(
    st.text(max_size=12), st.integers(), st.booleans(), st.lists(st.text(max_size=6), max_size=3)
)
_fragments = st.lists(
    st.sampled_from(
        ["a: 1", "b: x # c", "tags:", "  - y", "- z", "'on': |", "  text", "# c", "", "a:", " ",
         "作者: [p, q]", "b: 'q", "q'", "date created: 2026-11-30", "{{x}}", "b: {k: v}", "---"]
    ),
    max_size=8,
)  # fmt: skip
_bodies = st.text(alphabet="ab-: #\n\r\u2028\0'\"", max_size=20)


@given(_fragments, _bodies, st.sampled_from(["\n", "\r\n", "\r"]), _names, _values)
@example(["tags:", "  - y", "  "], "", "\n", "tags", ["z"])
def test_an_edit_moves_nothing_else(
    fragments: list[str], body: str, newline: str, key: str, value: str | Sequence[str]
) -> None:
    text = newline.join(["---", *fragments, "---", body])
    try:
        new = set_property(text, key, value)
    except VaultToolsError:
        assume(False)
        return
    before, after = read_note("n.md", encode(text)), read_note("n.md", encode(new))
    assert after.findings == before.findings
    assert new[after.body :] == text[before.body :]
    front = split_front_matter(text)
    assert front is not None
    mine = {name: kept for name, kept in after.properties.items() if name != key}
    assert mine == {name: kept for name, kept in before.properties.items() if name != key}
    wanted = value if isinstance(value, str) else str(value).lower()
    assert after.properties[key] == (list(value) if isinstance(value, list) else wanted)
    assert set_property(new, key, value) == new
    assert key not in read_note("n.md", encode(remove_property(new, key))).properties
    if key not in before.properties:
        assert remove_property(new, key) == text


@given(st.text(max_size=60), _names, _values)
def test_any_text_is_edited_or_refused(text: str, key: str, value: str | Sequence[str]) -> None:
    try:
        new = set_property(text, key, value)
    except VaultToolsError:
        return
    before, after = read_note("n.md", encode(text)), read_note("n.md", encode(new))
    assert new[after.body :] == text[before.body :]
    assert set_property(new, key, value) == new
