from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tools.core.inline import parse_link, scan
from vault_tools.core.marks import (
    BlockId,
    Callout,
    Comment,
    Field,
    Link,
    Mark,
    Tag,
    Task,
)


def links(text: str) -> list[str]:
    return [
        f"{'!' * mark.embed}{mark.target}{'#' + mark.sub if mark.sub else ''}"
        for mark in scan(text)
        if isinstance(mark, Link)
    ]


def marks(text: str, kind: type[Mark]) -> list[str]:
    return [text[mark.start : mark.end] for mark in scan(text) if isinstance(mark, kind)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[Note]]", ["Note"]),
        ("a [[b/Note#H1#H2|shown]] z", ["b/Note#H1#H2"]),
        ("[[Note#^id-1]]", ["Note#^id-1"]),
        ("[[#Heading]]", ["#Heading"]),
        ("![[p.png|640x480]]", ["!p.png"]),
        ("![[X.base#View]]", ["!X.base#View"]),
        ("[[Sq]uare]]", ["Sq]uare"]),
        ("[[a [[b]]", ["b"]),
        ("[[[x]]]", ["x"]),
        ("[[[draft]-x]]", ["[draft]-x"]),
        ("[[https://example.org]]", ["https://example.org"]),
        ("| [[a\\|b]] |", ["a"]),
        ("[[a]] [[b]][[c]]", ["a", "b", "c"]),
        ("[[a\nb]]", []),
        ("[[]] [[ ]] [[|x]]", []),
        (r"\[[no]]", []),
        ("`[[no]]` ``a ` [[no]]`` [[yes]]", ["yes"]),
        ("a ` b\n- [[yes]] ` c", ["yes"]),
        ("one `two\nthree [[no]]` four", []),
        ("%% [[no]] %% [[yes]]", ["yes"]),
        ("%%\n[[no]]\n\n[[no]]\n%%\n[[yes]]", ["yes"]),
        ("100%% sure [[yes]]\n\n%% [[no]] %%\n[[yes]]", ["yes", "yes"]),
        ("%% never closed [[yes]]", ["yes"]),
        ("<!-- [[no]]\n\n[[no]] --> [[yes]]", ["yes"]),
        ("<!-- never closed [[yes]]", ["yes"]),
        ("$a[[no]]b$ costs $5 [[yes]] and $6", ["yes"]),
        ("$$\n[[no]]\n$$\n[[yes]]", ["yes"]),
        ("$$ never closed [[yes]]", ["yes"]),
        ("---\nup: '[[no]]'\n---\n[[yes]]", ["yes"]),
        ("\ufeff---\r\nup: '[[no]]'\r\n---\r\n[[yes]]\r\n", ["yes"]),
        ("[x](My%20Note.md)", ["My Note.md"]),
        ("[x](<My Note.md> 'title')", ["My Note.md"]),
        ('[x](a.md "title")', ["a.md"]),
        ("[x](a%23b.md#H%201)", ["a#b.md#H 1"]),
        ("[x](a_(b).md)", ["a_(b).md"]),
        (r"[x](a\)b.md)", ["a)b.md"]),
        ("[x](my note.md)", []),
        ("[x]()", []),
        ("[x](#H)", ["#H"]),
        ("![alt|100](i.png)", ["!i.png"]),
        ("[![alt](i.png)](t.md)", ["t.md", "!i.png"]),
        ("[a [b](c.md) d](e.md)", ["c.md"]),
        ("[soft\nbreak](a.md)", ["a.md"]),
        ("[[Foo]](bar)", ["Foo"]),
        ("[x](Gl%C3%BChofen.md) [y](Glühofen.md)", ["Glühofen.md", "Glühofen.md"]),
        ("[x](bad%ffbyte.md)", ["bad\udcffbyte.md"]),
        ("[[日记/笔记]]", ["日记/笔记"]),
    ],
)
def test_links_are_found_where_obsidian_sees_them(text: str, found: list[str]) -> None:
    assert links(text) == found


def test_opaque_lines_hold_no_marks() -> None:
    text = "[[a]]\n```\n[[b]] #b\n- [ ] b ^b\nk:: b\n%%\n```\n[[c]]\n"
    assert [text[mark.start : mark.end] for mark in scan(text, range(1, 7))] == ["[[a]]", "[[c]]"]


def test_a_web_address_is_an_external_link() -> None:
    web, mail, note = scan("[a](https://x.org/#y) [b](mailto:a@b.ch) [c](a%3Ab.md)")
    assert isinstance(web, Link)
    assert isinstance(mail, Link)
    assert isinstance(note, Link)
    assert (web.external, web.target) == (True, "https://x.org/#y")
    assert (mail.external, note.external) == (True, False)


def test_display_and_size_are_read() -> None:
    wiki, image, plain = scan(r"[[a|b|c]] ![x|64x48](i.png) [a \[b\]](c.md)")
    assert isinstance(wiki, Link)
    assert isinstance(image, Link)
    assert isinstance(plain, Link)
    assert (wiki.display, wiki.size) == ("b|c", None)
    assert image.size == (64, 48)
    assert plain.display == "a [b]"
    embed = parse_link("![[i.png|64]]")
    assert embed is not None
    assert embed.size == (64, None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#tag (#in-brackets) *#bold*", ["#tag", "#in-brackets", "#bold"]),
        ("#Brühwürfel/süß #日记 #வணக்கம் #🔥hot", ["#Brühwürfel/süß", "#日记", "#வணக்கம்", "#🔥hot"]),
        ("#1984 #y1984 #1-2", ["#y1984", "#1-2"]),
        ("# Heading\n## Two", []),
        (r"a#b \#c ##d https://x.org/#e `#f`", []),
        ("#标签，后面 #tag.", ["#标签", "#tag"]),
        ("[[Note#Heading]] [x](#heading)", []),
    ],
)
def test_tags_are_of_any_script_with_one_character_that_is_no_digit(
    text: str, found: list[str]
) -> None:
    assert marks(text, Tag) == found


@pytest.mark.parametrize(
    ("line", "status", "text"),
    [
        ("- [ ] a", " ", "a"),
        ("* [x] a", "x", "a"),
        ("  + [/] a [[b]]", "/", "a [[b]]"),
        ("12. [>] a", ">", "a"),
        ("3) [ ] a", " ", "a"),
        ("> - [-] a", "-", "a"),
        ("\t- [✓] a", "✓", "a"),
        ("- [ ]", " ", ""),
    ],
)
def test_tasks_have_one_character_of_status(line: str, status: str, text: str) -> None:
    (task,) = [mark for mark in scan(f"x\n{line}\r\ny") if isinstance(mark, Task)]
    assert (task.status, task.text, task.checked) == (status, text, status != " ")


@pytest.mark.parametrize(
    "line", ["- [] a", "- [xx] a", "-[ ] a", "- [x](a.md)", "[ ] a", "`- [ ] a`"]
)
def test_what_only_looks_like_a_task_is_none(line: str) -> None:
    assert marks(line, Task) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("due:: 2026-01-01", [("due", "2026-01-01")]),
        ("- **Long key**:: v", [("Long key", "v")]),
        ("a [k:: v] b (z::w)", [("k", "v"), ("z", "w")]),
        ("[k:: [[Note]] and (x)] (z:: f(1))", [("k", "[[Note]] and (x)"), ("z", "f(1)")]),
        ("Größe:: 3", [("Größe", "3")]),
        ("std::vector", []),
        ("a `k:: v` b", []),
        ("- [ ] a k:: v", []),
        ("- [ ] a [k:: v]", [("k", "v")]),
        ("key::", [("key", "")]),
    ],
)
def test_inline_fields_are_read(text: str, found: list[tuple[str, str]]) -> None:
    assert [(m.key, m.value) for m in scan(text) if isinstance(m, Field)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("text ^id-1", ["^id-1"]),
        ("^alone\n", ["^alone"]),
        ("> quote\n> ^q1  ", ["^q1"]),
        ("- item ^a\r\n- other ^b", ["^a", "^b"]),
        ("x^2 and 2 ^", []),
        ("a ^no more", []),
        ("`a ^no", ["^no"]),
        ("`a ^no`", []),
    ],
)
def test_block_ids_end_a_line(text: str, found: list[str]) -> None:
    assert marks(text, BlockId) == found


def test_callouts_are_read_with_their_nesting() -> None:
    text = "> [!TIP]- A *title*\n> > [!my kind|wide]\n> text\n> [!no]\n\n- > [!note]\n"
    found = [(m.kind, m.fold, m.title, m.depth) for m in scan(text) if isinstance(m, Callout)]
    assert found == [("tip", "-", "A *title*", 1), ("my kind", "", "", 2), ("note", "", "", 1)]


def test_comments_are_given_with_their_marks() -> None:
    text = "a %%b%% <!-- c --> d\n%%\ne\n%%"
    assert marks(text, Comment) == ["%%b%%", "<!-- c -->", "%%\ne\n%%"]


SIGNS = (
    "[[ ]] ![[ [ ] ( ) ]( | # ^ ` `` $ $$ %% <!-- --> \\ - * > 1. "
    ":: key:: [!note] #tag [x] --- é 标"
)
PIECES = st.sampled_from(
    [*SIGNS.split(), *"\n\r\t \u2028\ufeff\x00", "a", "b/c.md", "https://x", "---\n", "- [ ] "]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60)


@given(TEXTS, st.sets(st.integers(0, 8)))
def test_any_text_is_scanned_and_every_span_is_what_was_written(
    text: str, opaque: set[int]
) -> None:
    for mark in scan(text, opaque):
        assert 0 <= mark.start < mark.end <= len(text)
        written = text[mark.start : mark.end]
        if isinstance(mark, Tag):
            assert written == f"#{mark.name}"
        if isinstance(mark, BlockId):
            assert written == f"^{mark.name}"
        if isinstance(mark, Task):
            assert written.endswith(mark.text)
        if isinstance(mark, Field):
            assert mark.key in written
            assert mark.value in written
        if isinstance(mark, Comment):
            assert written.startswith(("%%", "<!--"))
        if isinstance(mark, Link):
            assert written.startswith("!" * mark.embed + ("[" if mark.markdown else "[["))
            assert written.endswith(")" if mark.markdown else "]]")


@given(TEXTS)
def test_marks_of_one_kind_never_cross(text: str) -> None:
    open_ends: list[int] = []
    for mark in scan(text):
        if isinstance(mark, Link | Tag | Comment):
            while open_ends and open_ends[-1] <= mark.start:
                open_ends.pop()
            assert not open_ends or mark.end <= open_ends[-1]
            open_ends.append(mark.end)


@given(st.text(alphabet="ab é标#|^", min_size=1, max_size=12))
def test_a_wikilink_reads_back_alone_and_inside_a_sentence(name: str) -> None:
    link = parse_link(f"[[{name}]]")
    inside = [mark for mark in scan(f"so [[{name}]].") if isinstance(mark, Link)]
    assert (link is None) == (not inside)
    if link and inside:
        assert (link.target, link.sub, link.display) == (
            inside[0].target,
            inside[0].sub,
            inside[0].display,
        )


UNITS = [
    "[[", "[", "![", "[a](", "[a](<", '[a](b "', "[a](b '", "[[[x", "[k:: ", "(k:: ", "[[a]",
    "`", "``a`", "$a ", "$$ ", "%%", "%% ", "<!--", "#a", "^a ", "\\", ">", "> ", "- ", "* [",
    "k::", "*", "_", " ", "\t", "\n", "\r", "> [!a\n", "- [ ] \n", "1", "%%\n", "$$\n", "`\n",
    "[[\n", "![[", "]", "]]", "[a]()", "![](x)[", ">\n", "((", "[a](((", " ^",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_repetition_ends_soon(unit: str) -> None:
    """At 60,000 characters anything quadratic would run for many seconds, not for a fraction."""
    scan(unit * (60_000 // len(unit)))


def test_nesting_that_closes_ends_soon() -> None:
    for opening, closing in [
        ("[", "]"),
        ("[k:: ", "]"),
        ("![", "](x)"),
        ("[", "](x)"),
        ("(k:: ", ")"),
    ]:
        scan(opening * 30_000 + "a" + closing * 30_000)
    scan("".join("`" * n + "a" for n in range(1, 600)))
    scan(">" * 50_000 + " $$" * 50_000)
    scan("%%\n" + "a `%%` $$ <!-- \n" * 10_000)
