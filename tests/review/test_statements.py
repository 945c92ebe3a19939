"""Which sentences of a note are worth remembering, and which only look like it."""

from __future__ import annotations

import pytest

from vault_tools.core.memory import Category
from vault_tools.review.proposers.statements import may_state, plain_words, statements

STATED = [
    (Category.DECISION, "Decision: invoices go out on Fridays."),
    (Category.DECISION, "**Decision:** invoices go out on Fridays."),
    (Category.DECISION, "- Decided — we keep the old logo for good."),
    (Category.DECISION, "Entschieden: Rechnungen gehen freitags raus."),
    (Category.DECISION, "Entschieden am 3. Mai 2026: Wir bleiben im alten Haus."),
    (Category.DECISION, "Beschluss vom 3. Mai 2026: Wir bleiben im alten Haus."),
    (Category.DECISION, "After a long talk we decided to keep the old logo."),
    (Category.DECISION, "We have finally agreed on blue for the doors."),
    (Category.DECISION, "We settled on two coats of glaze."),
    (Category.DECISION, "Wir haben uns nach langem Hin und Her für Ofen zwei entschieden."),
    (Category.DECISION, "Gestern haben wir beschlossen, das Lager zu räumen."),
    (Category.DECISION, "Es ist beschlossen, dass der Laden montags zu bleibt."),
    (Category.PREFERENCE, "I prefer phone calls after lunch."),
    (Category.PREFERENCE, "I'd rather get one long mail than ten short ones."),
    (Category.PREFERENCE, "Ich bevorzuge kurze Antworten auf Deutsch."),
    (Category.PREFERENCE, "Mir ist ein Anruf am Nachmittag deutlich lieber."),
    (Category.FACT, "Remember: the gate code changes every January."),
    (Category.FACT, "1. Merke: Der Ofen zieht ab 1180 Grad nach."),
    (Category.FACT, "Wichtig: Jonas verträgt kein Latex."),
]

NOT_STATED = [
    "- [ ] Decision: buy more clay",
    "- [x] we decided to buy more clay",
    "Have we decided to keep the old logo?",
    "If we decided to move, we would need a van.",
    "Falls wir beschlossen hätten umzuziehen, bräuchten wir einen Wagen.",
    "We have not decided to keep the old logo.",
    "Darüber haben wir noch nichts entschieden.",
    "She thinks we decided to keep the old logo.",
    "Jonas sagt, wir haben uns für Ofen zwei entschieden.",
    "Jonas: «Ich bevorzuge es, wenn jemand den Ofen hütet.» Gelächter.",
    'The sign said "we decided to close" and nothing else.',
    "Maybe I prefer the green one after all.",
    "I prefer not to say anything about it.",
    "We agreed on who brings the lamp.",
    "Ich bevorzuge das helle Schema, aber nur diese Woche.",
    "> We decided to keep the old logo.",
    "%% We decided to keep the old logo. %%",
    "| We decided to keep the old logo. |",
    "```\nWe decided to keep the old logo.\n```",
    "%%\nWe decided to keep the old logo.\n%%",
    "`We decided to keep the old logo.`",
    "~~We decided to keep the old logo.~~",
    "Click the button to decide which vault you prefer to open.",
    "Decision: blue.",
]


@pytest.mark.parametrize(("category", "text"), STATED)
def test_what_the_owner_states_is_found(category: Category, text: str) -> None:
    (found,) = statements(text.split("\n"))
    assert found.category is category
    assert may_state(text)


@pytest.mark.parametrize("text", NOT_STATED)
def test_what_only_looks_like_a_statement_is_not(text: str) -> None:
    assert statements(text.split("\n")) == []


def test_the_paragraph_below_a_decision_heading_is_a_decision() -> None:
    lines = "# ADR 7\n\n## Decision\n\nEvery recipe is one plain file.\n\n## Why\n\nIt is simple."
    (found,) = statements(lines.split("\n"))
    assert found.text == "Every recipe is one plain file."
    assert (found.first_line, found.last_line) == (5, 5)


def test_lines_count_from_the_top_of_the_note_and_the_quote_is_verbatim() -> None:
    text = "Intro.\n\n- one\n- We decided to keep\n  the **old** logo [[Logo|for good]]. ^b1\n- two"
    (found,) = statements(text.split("\n"), first_line=5)
    assert (found.first_line, found.last_line) == (8, 9)
    assert found.quote in text
    assert found.text == "We decided to keep the old logo for good."


def test_of_a_long_paragraph_only_the_stating_sentence_is_kept() -> None:
    filler = "The weather was fine and nobody complained about anything at all. " * 8
    (found,) = statements([f"{filler}We decided to keep the old logo. {filler}"])
    assert found.text == "We decided to keep the old logo."


def test_the_nested_item_ends_its_parent() -> None:
    text = "- We decided to keep the old logo.\n  - because it is known\n- next"
    (found,) = statements(text.split("\n"))
    assert found.text == "We decided to keep the old logo."


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("[[Folder/Note]] and [[Note|that one]]", "Note and that one"),
        ("a **bold** and *light* and ==marked== word", "a bold and light and marked word"),
        ("[text](https://example.org/a) stays", "text stays"),
        ("snake_case_name stays", "snake_case_name stays"),
    ],
)
def test_markdown_becomes_words(markdown: str, words: str) -> None:
    assert plain_words(markdown) == words


def test_a_line_of_repeated_cues_costs_no_more_than_its_length() -> None:
    hostile = "we decided " * 20_000
    assert statements([hostile]) == []
