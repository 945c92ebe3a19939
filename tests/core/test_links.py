from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tools.core.inline import parse_link, scan
from vault_tools.core.link_text import LinkForm, LinkStyle, link_style, written
from vault_tools.core.links import Found, Resolution, VaultNames, resolve
from vault_tools.core.marks import Link
from vault_tools.errors import InvalidInput, VaultToolsError

NFD = unicodedata.normalize("NFD", "Küche.md")


def resolved(files: str, from_path: str, link: str) -> Resolution:
    parsed = parse_link(link)
    assert parsed is not None
    return resolve(parsed, from_path, VaultNames(files.split(" | ")))


CASES = [
    # exact vault path
    ("Note.md", "a.md", "[[Note]]", "Note.md"),
    ("Note.md", "a.md", "[[Note.md]]", "Note.md"),
    ("b/Note.md | Note.md", "b/x.md", "[[Note]]", "Note.md"),
    ("b/Note.md | c/Note.md", "c/x.md", "[[b/Note]]", "b/Note.md"),
    ("c/b/Note.md | b/Note.md", "c/x.md", "[[b/Note]]", "b/Note.md"),
    ("b/Note.md | c/Note.md", "a.md", "[[/c/Note]]", "c/Note.md"),
    ("b/c/Note.md", "a.md", "[[/c/Note]]", None),
    # own folder, and only that one
    ("b/Note.md | zz/Note.md", "zz/x.md", "[[Note]]", "zz/Note.md"),
    ("b/Note.md | zzzz/Note.md", "zzzz/deep/x.md", "[[Note]]", "b/Note.md"),
    ("b/Note.md | zzzz/deep/Note.md", "zzzz/x.md", "[[Note]]", "b/Note.md"),
    ("q/s/Note.md | long/q/s/Note.md", "long/x.md", "[[s/Note]]", "q/s/Note.md"),
    ("q/s/Note.md | long/s/Note.md", "long/x.md", "[[s/Note]]", "long/s/Note.md"),
    # the shortest path string, not the fewest folders
    ("a/b/Note.md | Archive/Note.md", "x.md", "[[Note]]", "a/b/Note.md"),
    ("b/Note.md | a/b/Note.md", "x.md", "[[Note]]", "b/Note.md"),
    ("bb/Note.md | aa/Note.md", "x.md", "[[Note]]", "aa/Note.md"),
    ("deep/down/Note.md", "x.md", "[[Note]]", "deep/down/Note.md"),
    # the end of a path, at whole names
    ("a/b/Note.md | c/Note.md", "x.md", "[[b/Note]]", "a/b/Note.md"),
    ("a/bb/Note.md", "x.md", "[[b/Note]]", None),
    ("a/b/Note.md", "x.md", "[[c/Note]]", None),
    ("a/b/c/Note.md", "x.md", "[[a/c/Note]]", None),
    # case, `.MD`, Unicode form, blanks
    ("Note.md", "x.md", "[[nOTE]]", "Note.md"),
    ("SOUL.MD", "x.md", "[[soul]]", "SOUL.MD"),
    ("SOUL.MD", "x.md", "[[soul.md]]", "SOUL.MD"),
    ("Dir/Note.md", "x.md", "[[dir/note]]", "Dir/Note.md"),
    ("note.md | Note.md", "x.md", "[[Note]]", "Note.md"),
    ("note.md | Note.md", "x.md", "[[note]]", "note.md"),
    ("ÜBUNG.md", "x.md", "[[übung]]", "ÜBUNG.md"),
    (NFD, "x.md", "[[Küche]]", NFD),
    ("Küche.md", "x.md", f"[[{NFD}]]", "Küche.md"),
    ("a b.md", "x.md", "[[a\u00a0b]]", "a b.md"),
    ("Straße.md", "x.md", "[[Strasse]]", None),
    ("Note.md", "x.md", "[[ Note ]]", "Note.md"),
    ("日记/笔记.md", "x.md", "[[笔记]]", "日记/笔记.md"),
    # dotted names and other suffixes
    ("v1.2.md", "x.md", "[[v1.2]]", "v1.2.md"),
    ("image.png", "x.md", "![[image.png]]", "image.png"),
    ("image.png", "x.md", "[[image]]", None),
    ("image.png.md | image.png", "x.md", "[[image.png]]", "image.png"),
    ("image.png.md | image.png", "x.md", "[[image.png.md]]", "image.png.md"),
    ("media/clip.PNG", "x.md", "![[clip.png|100x50]]", "media/clip.PNG"),
    ("Board.canvas", "x.md", "[[Board]]", None),
    ("Board.canvas | Board.md", "x.md", "[[Board]]", "Board.md"),
    ("All.base", "x.md", "![[All.base#View]]", "All.base"),
    ("LICENSE | LICENSE.md", "x.md", "[[LICENSE]]", "LICENSE"),
    # the note itself and its parts
    ("x.md", "x.md", "[[#Heading]]", "x.md"),
    ("x.md", "x.md", "[[#^id]]", "x.md"),
    ("Note.md", "x.md", "[[Note#H1#H2|shown]]", "Note.md"),
    ("Note.md", "x.md", "[[Note#^id]]", "Note.md"),
    ("paper.pdf", "x.md", "[[paper.pdf#page=3]]", "paper.pdf"),
    # Markdown destinations are looked up in the whole vault
    ("Sub/My Note.md", "md1.md", "[y](My%20Note.md)", "Sub/My Note.md"),
    ("Sub/My Note.md", "md1.md", "[y](My%20Note)", "Sub/My Note.md"),
    ("Sub/My Note.md", "Sub/md2.md", "[z](Sub/My%20Note.md)", "Sub/My Note.md"),
    ("Sub/My Note.md", "md1.md", "[z](<Sub/My Note.md#H>)", "Sub/My Note.md"),
    ("a#b.md", "x.md", "[z](a%23b.md)", "a#b.md"),
    ("100%.md", "x.md", "[z](100%25.md)", "100%.md"),
    ("a%20b.md | a b.md", "x.md", "[z](a%2520b.md)", "a%20b.md"),
    ("img/p.png", "n/x.md", "![p](p.png)", "img/p.png"),
    ("x.md", "x.md", "[z](#heading)", "x.md"),
    # relative to the note, and then exactly there
    ("b/Note.md | c/Note.md", "b/x.md", "[[./Note]]", "b/Note.md"),
    ("b/Note.md | c/Note.md", "b/x.md", "[[../c/Note]]", "c/Note.md"),
    ("c/Note.md", "b/x.md", "[[./Note]]", None),
    ("Note.md", "b/x.md", "[z](../Note.md)", "Note.md"),
    ("Note.md", "b/x.md", "[z](../../Note.md)", None),
    # what is no file of the vault
    ("Note.md", "x.md", "[[Nothing]]", None),
    ("example.org.md", "x.md", "[[https://example.org]]", None),
    ("Note.md", "x.md", "[a](https://Note.md)", None),
    ("Note/x.md", "x.md", "[[Note]]", None),
    ("Note.md", "x.md", "[[Note/]]", None),
    ("we[ird].md", "x.md", "[w](we%5Bird%5D.md)", "we[ird].md"),
    ("[draft]-x.md", "x.md", "[[[draft]-x]]", "[draft]-x.md"),
]


@pytest.mark.parametrize(("files", "from_path", "link", "expected"), CASES)
def test_a_link_leads_where_obsidian_leads(
    files: str, from_path: str, link: str, expected: str | None
) -> None:
    assert resolved(files, from_path, link).path == expected


@pytest.mark.parametrize(
    ("files", "from_path", "link", "found", "ambiguous"),
    [
        ("a/N.md | b/N.md", "x.md", "[[N]]", Found.SHORTEST, True),
        ("a/N.md | b/N.md", "b/x.md", "[[N]]", Found.OWN_FOLDER, True),
        ("a/N.md | b/N.md", "b/x.md", "[[a/N]]", Found.EXACT, False),
        ("N.md | b/N.md", "b/x.md", "[[N]]", Found.EXACT, False),
        ("a/N.md", "x.md", "[[N]]", Found.SHORTEST, False),
        ("a/N.md | N.md", "a/x.md", "[[./N]]", Found.RELATIVE, False),
        ("N.md", "x.md", "[[#H]]", Found.SELF, False),
        ("N.md", "x.md", "[N](https://n.md)", Found.EXTERNAL, False),
        ("N.md", "x.md", "[[M]]", Found.UNRESOLVED, False),
    ],
)
def test_a_resolution_names_its_rule_and_doubt(
    files: str, from_path: str, link: str, found: Found, ambiguous: bool
) -> None:
    result = resolved(files, from_path, link)
    assert (result.found, result.ambiguous) == (found, ambiguous)


def test_headings_and_block_ids_are_kept() -> None:
    assert resolved("N.md", "x.md", "[[N#H1#H2]]").sub == "H1#H2"
    assert resolved("N.md", "x.md", "[[N#^id]]").sub == "^id"
    assert resolved("N.md", "x.md", "[n](n.md#A%20b)").sub == "A b"


def test_a_link_in_another_case_is_told_apart() -> None:
    assert resolved("a/Note.md", "x.md", "[[note]]").respelt
    assert not resolved("a/Note.md", "x.md", "[[Note]]").respelt
    assert not resolved("SOUL.MD", "x.md", "[[SOUL]]").respelt


def test_an_alias_resolves_nothing_but_is_suggested() -> None:
    names = VaultNames(["People/Lena Hofer.md"], [("Lena", "People/Lena Hofer.md")])
    result = resolve(Link(0, 0, "lena"), "x.md", names)
    assert result == Resolution(
        Found.UNRESOLVED, candidates=(), suggestions=("People/Lena Hofer.md",)
    )


def test_a_wrong_folder_suggests_the_notes_of_that_name() -> None:
    assert resolved("a/N.md | b/N.md", "x.md", "[[old/N]]").suggestions == ("a/N.md", "b/N.md")


def test_aliases_are_not_read_before_a_link_goes_unresolved() -> None:
    read = []

    def pairs() -> Iterator[tuple[str, str]]:
        read.append(True)
        yield "Nick", "N.md"

    names = VaultNames(["N.md"], pairs())
    resolve(Link(0, 0, "N"), "x.md", names)
    assert not read
    assert resolve(Link(0, 0, "nick"), "x.md", names).suggestions == ("N.md",)
    assert resolve(Link(0, 0, "NICK"), "x.md", names).suggestions == ("N.md",)


WIKI = LinkStyle()
WIKI_RELATIVE = LinkStyle(form=LinkForm.RELATIVE)
WIKI_ABSOLUTE = LinkStyle(form=LinkForm.ABSOLUTE)
MARKDOWN = LinkStyle(markdown=True)
MARKDOWN_RELATIVE = LinkStyle(markdown=True, form=LinkForm.RELATIVE)


@pytest.mark.parametrize(
    ("files", "from_path", "target", "style", "expected"),
    [
        ("a/Note.md", "x.md", "a/Note.md", WIKI, "[[Note]]"),
        ("a/Note.md | b/Note.md", "x.md", "b/Note.md", WIKI, "[[b/Note|Note]]"),
        ("a/Note.md | b/note.MD", "x.md", "a/Note.md", WIKI, "[[a/Note|Note]]"),
        ("Note.md | b/Note.md", "b/x.md", "Note.md", WIKI, "[[Note]]"),
        ("b/c/Note.md", "b/x.md", "b/c/Note.md", WIKI_ABSOLUTE, "[[b/c/Note|Note]]"),
        ("b/c/Note.md", "b/x.md", "b/c/Note.md", WIKI_RELATIVE, "[[c/Note|Note]]"),
        ("c/Note.md", "b/x.md", "c/Note.md", WIKI_RELATIVE, "[[../c/Note|Note]]"),
        ("Note.md | b/Note.md", "b/x.md", "b/Note.md", WIKI_RELATIVE, "[[b/Note|Note]]"),
        ("a/My Note.md", "x.md", "a/My Note.md", MARKDOWN, "[My Note](a/My%20Note.md)"),
        ("c/Übung.md", "b/x.md", "c/Übung.md", MARKDOWN_RELATIVE, "[Übung](../c/Übung.md)"),
        ("i/p.png", "x.md", "i/p.png", WIKI, "[[p.png]]"),
        ("SOUL.MD", "x.md", "SOUL.MD", WIKI, "[[SOUL]]"),
        ("image.png.md | image.png", "x.md", "image.png.md", WIKI, "[[image.png.md]]"),
        ("C# notes.md", "x.md", "C# notes.md", WIKI, r"[C\# notes](C%23%20notes.md)"),
        ("a|b.md", "x.md", "a|b.md", WIKI, r"[a\|b](a%7Cb.md)"),
        ("100%% [x].md", "x.md", "100%% [x].md", WIKI, r"[100\%\% \[x\]](100%25%25%20%5Bx%5D.md)"),
    ],
)
def test_a_link_is_written_in_the_style_of_the_vault(
    files: str, from_path: str, target: str, style: LinkStyle, expected: str
) -> None:
    names = VaultNames(files.split(" | "))
    assert written(target, from_path=from_path, style=style, names=names) == expected


@pytest.mark.parametrize(
    ("display", "sub", "style", "expected"),
    [
        ("shown", None, WIKI, "[[Note|shown]]"),
        ("Note", None, WIKI, "[[Note]]"),
        (None, "H1#H2", WIKI, "[[Note#H1#H2]]"),
        (None, "#Q: what? | why", WIKI, "[[Note#Q what? why]]"),
        ("x", "^id-1", WIKI, "[[Note#^id-1|x]]"),
        ("two\nlines", None, WIKI, "[[Note|two lines]]"),
        ("a]] b", None, WIKI, r"[a\]\] b](Note.md)"),
        ("a|b", None, WIKI, r"[a\|b](Note.md)"),
        ("k:: v", None, WIKI, r"[k\:\: v](Note.md)"),
        (None, "A b", MARKDOWN, "[Note > A b](Note.md#A%20b)"),
        ("*x* #t", "^id", MARKDOWN, r"[\*x\* \#t](Note.md#%5Eid)"),
    ],
)
def test_display_and_subpath_stand_where_they_belong(
    display: str | None, sub: str | None, style: LinkStyle, expected: str
) -> None:
    names = VaultNames(["Note.md"])
    link = written("Note.md", from_path="x.md", style=style, names=names, display=display, sub=sub)
    assert link == expected


def test_the_pipe_is_escaped_in_a_table() -> None:
    names = VaultNames(["Note.md"])
    link = written("Note.md", from_path="x.md", style=WIKI, names=names, display="n", in_table=True)
    assert link == r"[[Note\|n]]"


def test_a_part_of_the_same_note_needs_no_name() -> None:
    names = VaultNames(["a/x.md", "x.md"])
    assert written("a/x.md", from_path="a/x.md", style=WIKI, names=names, sub="H") == "[[#H]]"
    assert written("a/x.md", from_path="a/x.md", style=MARKDOWN, names=names, sub="H") == "[H](#H)"


@pytest.mark.parametrize("target", ["absent.md", "line\nbreak.md", "bell\x07.md"])
def test_what_no_link_can_name_is_refused(target: str) -> None:
    names = VaultNames(["line\nbreak.md", "bell\x07.md"])
    with pytest.raises(InvalidInput):
        written(target, from_path="x.md", style=WIKI, names=names)


def test_a_block_id_of_another_form_is_refused() -> None:
    with pytest.raises(InvalidInput):
        written("N.md", from_path="x.md", style=WIKI, names=VaultNames(["N.md"]), sub="^a b")


def test_the_style_is_read_from_the_settings_of_obsidian() -> None:
    settings = {"useMarkdownLinks": True, "newLinkFormat": "relative"}
    assert link_style(json.dumps(settings).encode()) == MARKDOWN_RELATIVE
    assert link_style(b"\xef\xbb\xbf{}") == LinkStyle()
    assert link_style(None) == LinkStyle()


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"newLinkFormat": "short"}', b"\xff"])
def test_broken_settings_are_said_to_be_broken(data: bytes) -> None:
    with pytest.raises(VaultToolsError, match=r"app\.json"):
        link_style(data)


NAMES = st.text(
    alphabet=st.sampled_from("aAbB Üü\u0308ß.#^[]|%!()`$\\&<>\"'*_~=:;?-日🔥\u00a0\u3000"),
    min_size=1,
    max_size=6,
).filter(lambda name: name.strip(".") != "")
PATHS = st.builds(
    lambda folders, name, suffix: "/".join([*folders, name + suffix]),
    st.lists(NAMES, max_size=2),
    NAMES,
    st.sampled_from([".md", ".md", ".md", ".MD", ".png", ""]),
)
STYLES = st.builds(LinkStyle, st.booleans(), st.sampled_from(LinkForm))
SUBS = (
    st.none()
    | st.just("^id-1")
    | st.text(alphabet="aB #|^[]:%`é\n", max_size=8).filter(
        lambda sub: not sub.removeprefix("#").startswith("^")
    )
)


@given(
    st.lists(PATHS, min_size=1, max_size=8, unique=True),
    st.data(),
    STYLES,
    st.none() | st.text(max_size=10),
    SUBS,
)
def test_a_written_link_leads_back_to_its_note(
    files: list[str], data: st.DataObject, style: LinkStyle, display: str | None, sub: str | None
) -> None:
    """From any note of any vault to any file of it, alone and inside a sentence and a table."""
    target, source = data.draw(st.sampled_from(files)), data.draw(st.sampled_from(files))
    names = VaultNames(files)
    for in_table in (False, True):
        text = written(
            target,
            from_path=source,
            style=style,
            names=names,
            display=display,
            sub=sub,
            in_table=in_table,
        )
        (link,) = [mark for mark in scan(f"| so {text} |") if isinstance(mark, Link)]
        assert (link.start, link.end) == (5, 5 + len(text))
        assert resolve(link, source, names).path == target
        assert "\n" not in text


@given(st.text(max_size=20).filter(lambda text: text.isprintable() and text.strip()))
def test_the_text_shown_is_the_text_asked_for(display: str) -> None:
    names = VaultNames(["Note.md"])
    for style in (WIKI, MARKDOWN):
        text = written("Note.md", from_path="x.md", style=style, names=names, display=display)
        link = parse_link(text)
        assert link is not None
        assert (link.display or link.target) == display.strip()


@given(st.lists(PATHS, max_size=8), PATHS, st.text(max_size=12))
def test_any_link_in_any_vault_is_resolved_or_not_but_never_fails(
    files: list[str], source: str, target: str
) -> None:
    names = VaultNames(files)
    result = resolve(Link(0, 0, target), source, names)
    assert result.path is None or result.path in names.paths or result.found is Found.SELF
