from __future__ import annotations

import json
import re
from datetime import date

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.render.payloads import PAYLOADS, TEMPLATER, live_triggers
from vault_tools.core.block import check_body
from vault_tools.render.filters import (
    Markdown,
    cell,
    fenced,
    inert,
    is_linkable,
    json_text,
    quoted,
    scalar,
    shown,
    visible,
    wikilink,
)

SYNTAX = "\\`*_{}[]<>#^$|~&@!%=:-+.()\"' \n\tabwsm1\u200b\u202e¨é漢"
texts = st.text(st.sampled_from(SYNTAX), max_size=60) | st.text(max_size=60)


def parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def words_of(markdown: str) -> str:
    """Give the text that a reader sees of one line of Markdown, tags included if any were made."""
    children = parser().parseInline(markdown)[0].children or []
    return "".join(
        f"<{c.type}>" if c.type not in ("text", "text_special") else c.content for c in children
    )


def one_line(text: str) -> str:
    return " ".join(visible(text.strip()).replace("\n", " ↵ ").split())


@given(texts)
def test_inert_text_reads_back_as_exactly_its_characters(text: str) -> None:
    assert words_of(inert(text)) == one_line(text)


@given(texts)
def test_inert_text_keeps_its_words_in_a_heading_a_quote_and_a_list(text: str) -> None:
    for frame in ("### 1 · {}", "> {}", "- {}", "**Why:** {}", "{}"):
        tokens = parser().parse(frame.format(inert(text)))
        inline = [token for token in tokens if token.type == "inline"]
        assert len(inline) <= 1
        blocks = {t.type for t in tokens if t.nesting >= 0} - {"inline", "paragraph_open"}
        assert blocks <= {"heading_open", "blockquote_open", "bullet_list_open", "list_item_open"}
        assert len(blocks) <= 2


@given(st.lists(texts, min_size=1, max_size=4))
def test_table_cells_stay_as_many_as_they_were(row: list[str]) -> None:
    head = "|" + " x |" * len(row)
    rule = "|" + " - |" * len(row)
    line = "|" + "".join(f" {cell(text)} |" for text in row)
    tokens = parser().parse(f"{head}\n{rule}\n{line}\n")
    assert sum(token.type == "td_open" for token in tokens) == len(row)
    seen = [words_of(t.content) for t in tokens if t.type == "inline"][len(row) :]
    assert seen == [one_line(text) for text in row]


@given(st.text(st.sampled_from(SYNTAX + "~`" * 20), max_size=200) | st.text(max_size=200))
def test_fenced_text_is_exactly_one_fence_with_exactly_its_characters(text: str) -> None:
    for markdown in (fenced(text), quoted(fenced(text))):
        tokens = [t for t in parser().parse(markdown) if "blockquote" not in t.type]
        assert [(t.type, t.info) for t in tokens] == [("fence", "text")]
    content = parser().parse(fenced(text))[0].content
    expected = visible(text)
    query = re.match(r"\s*(\$?=)", expected)
    if query:
        expected = expected[: query.start(1)] + f"⟨{query[1]}⟩" + expected[query.end(1) :]
    assert content == expected + "\n"


@pytest.mark.parametrize("text", ["= 1 + 1", "$= dv.x", " \n = 1", "\u00a0$=1"])
def test_no_code_block_begins_like_a_dataview_query(text: str) -> None:
    assert not re.match(r"\s*\$?=", parser().parse(fenced(text))[0].content)


def test_a_fence_outgrows_the_longest_run_of_backticks() -> None:
    assert fenced("````js").startswith("`````text\n")


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    assert fenced("x" * 7000).endswith("*… 1000 characters hidden*")
    assert inert("y" * 310).endswith(" … ⟨10 characters hidden⟩")
    assert "hidden" not in fenced("x" * 6000)
    assert fenced("a\n" * 200).count("\na") == 119 + 1


def test_hidden_characters_are_shown_not_dropped() -> None:
    assert visible("a\u202eb") == "a⟨U+202E⟩b"
    assert "⟨U+200B⟩" in inert("a\u200bb")
    assert "⟨U+200B⟩" in fenced("a\u200bb")
    assert "⟨U+200B⟩" in scalar("a\u200bb")


def test_a_text_cannot_hide_far_right_or_far_below() -> None:
    assert visible("a" + " " * 400 + "b") == "a ⟨400 spaces⟩ b"
    assert visible("a\n\n\n\n\n\n\nb") == "a\n⟨6 blank lines⟩\nb"


@pytest.mark.parametrize("text", PAYLOADS)
def test_no_filter_lets_a_templater_tag_or_a_marker_through(text: str) -> None:
    for ready in (inert(text), fenced(text), cell(text), scalar(text), shown(text)):
        assert "<%" not in ready
        check_body(ready)


@pytest.mark.parametrize("text", PAYLOADS)
def test_no_payload_is_live_in_a_sentence_a_table_or_a_fence(text: str) -> None:
    note = (
        f"### 1 · {inert(text)}\n\n> [!note] {inert(text)}\n> - {inert(text)}\n\n{inert(text)}\n\n"
        f"| x |\n| - |\n| {cell(text)} |\n\n{fenced(text)}\n\n> x\n>\n{quoted(fenced(text))}\n"
    )
    assert live_triggers(note, (), ()) == []


def test_the_scan_finds_payloads_that_are_written_as_they_are() -> None:
    live = [text for text in PAYLOADS if live_triggers(f"x\n\n{text}\n", (), ())]
    assert len(live) > 80
    assert {*TEMPLATER} <= {*live, TEMPLATER[5]}  # a zero-width space inside is no tag as it stands


@pytest.mark.parametrize("text", PAYLOADS)
def test_a_payload_in_front_matter_stays_one_text_value(text: str) -> None:
    loaded = yaml.safe_load(f"key: {scalar(text)}\nnext: 1\n")
    assert list(loaded) == ["key", "next"]
    assert isinstance(loaded["key"], str | date)
    assert not re.search(r"\[\[|\w://|(?i:obsidian|javascript):", str(loaded["key"]))


@given(st.dictionaries(st.text(max_size=5), texts | st.integers() | st.none(), max_size=4))
def test_json_in_a_fence_parses_to_the_same_value(value: dict[str, object]) -> None:
    content = parser().parse(fenced(json_text(value), "json", 20_000))[0].content
    assert json.loads(content) == value


def test_wikilinks_name_real_paths_only() -> None:
    assert wikilink("Projects/Atlas.md") == "[[Projects/Atlas]]"
    assert wikilink("Projects/Atlas.md", "b-1") == "[[Projects/Atlas#^b-1|Projects/Atlas]]"
    assert wikilink("", "rbi-1", "7") == "[[#^rbi-1|7]]"
    assert wikilink("a.md", None, "Atlas") == "[[a|Atlas]]"


NO_PATHS = ["a]]b", "a|b", "a#b", "a^b", "<% x %>", "https://x.example", "../a", "a//b", " a", ""]


@pytest.mark.parametrize(
    "path", [*NO_PATHS, "a\u200bb", "a%%b", "`a`", "a\nb", "obsidian:x", "a" * 500]
)
def test_what_is_no_plain_path_comes_out_as_words(path: str) -> None:
    assert not is_linkable(path)
    assert "[[" not in wikilink(path)
    assert "[[" not in wikilink("Note.md", None, path or "]]")


def test_a_block_id_with_syntax_is_not_linked() -> None:
    assert "[[" not in wikilink("Note.md", "a b")


def test_scalars_keep_numbers_and_truth_and_quote_what_yaml_would_retype() -> None:
    assert [scalar(True), scalar(3), scalar("main")] == ["true", "3", "main"]
    assert yaml.safe_load(scalar("no")) == "no"
    assert yaml.safe_load(scalar("4.0.0")) == "4.0.0"


def test_ready_markdown_is_not_escaped_again() -> None:
    assert shown(Markdown("**x**")) == "**x**"
    assert shown("**x**") == "\\*\\*x\\*\\*"


def test_a_fence_language_is_a_word() -> None:
    with pytest.raises(ValueError, match="no language"):
        fenced("x", "text\n```")
