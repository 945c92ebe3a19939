from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.memory_world import MAIN, NOW, filled, row, uid
from vault_tools.core.memory import DAY_MS, Category
from vault_tools.core.ports import Embedder
from vault_tools.engine.categories import category_of
from vault_tools.engine.contradictions import Opposition, contradictions, opposition
from vault_tools.engine.duplicates import near_duplicates, same_fact
from vault_tools.engine.expiry import expired, expiring
from vault_tools.engine.summaries import sentences, summary_of
from vault_tools.providers.hashing import HashingEmbedder


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("likes React", "likes Vue"),
        ("A pays B", "B pays A"),
        ("Anna pays Ben", "Ben pays Anna"),
        ("budget 40k", "budget 60k"),
        ("meeting Tuesday", "meeting Thursday"),
        ("Termin am Dienstag", "Termin am Donnerstag"),
        ("it is ready", "it is not ready"),
        ("don't call", "do call"),
        ("a flight from Bern to Rome", "a flight to Bern from Rome"),
        ("is vegan", "was vegan"),
        ("uses C", "uses C++"),
        ("-5 degrees", "5 degrees"),
        ("3.5 litres", "35 litres"),
        ("5 %", "5 €"),
        ("Is it approved?", "It is approved."),
        ("👍 for the plan", "👎 for the plan"),
        ("Der Hund beißt den Mann", "Den Hund beißt der Mann"),
        ("version 1.2", "version 12"),
    ],
)
def test_different_facts_are_not_the_same(one: str, other: str) -> None:
    assert not same_fact(one, other)
    assert not same_fact(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user likes tea.", "user likes the tea"),
        ("Zürich  ist schön!", "zürich ist schön"),
        ("It doesn't work", "It doesn’t work"),
        ("“Quoted” text", '"quoted" text'),
    ],
)
def test_form_alone_makes_no_new_fact(one: str, other: str) -> None:
    assert same_fact(one, other)


@given(st.text(max_size=80))
def test_every_text_states_the_same_as_itself(text: str) -> None:
    assert same_fact(text, text)
    assert opposition(text, text) is None


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("The server is reachable", "The server is not reachable", Opposition.NEGATION),
        ("Der Server ist erreichbar", "Der Server ist nicht erreichbar", Opposition.NEGATION),
        ("Das Treffen ist am Dienstag", "The meeting is on Thursday", Opposition.DATE),
        ("Budget is 40k", "Budget is 60k", Opposition.NUMBER),
        ("Das Budget beträgt 40.000 Euro", "The budget is 60,000 euros", Opposition.NUMBER),
        ("We meet at two", "We meet at three", Opposition.NUMBER),
        ("Anna likes coriander", "Anna hates coriander", Opposition.OPPOSITE),
        ("Das Fenster ist offen", "Das Fenster ist geschlossen", Opposition.OPPOSITE),
        ("The frontend team uses React", "The frontend team uses Vue", Opposition.VALUE),
    ],
)
def test_opposed_statements_are_recognised(one: str, other: str, found: Opposition) -> None:
    assert opposition(one, other) is found
    assert opposition(other, one) is found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Das Budget beträgt 40.000 Euro", "The budget is 40k euros"),
        ("Das Treffen ist am Dienstag", "The meeting is on Tuesday"),
        ("She prefers tea without sugar", "Sie trinkt Tee ohne Zucker"),
        ("The bridge is closed", "Whales sleep with half a brain"),
    ],
)
def test_agreeing_statements_are_not_opposed(one: str, other: str) -> None:
    assert opposition(one, other) is None


def test_contradictions_are_found_across_languages(embedded: Embedder) -> None:
    store = filled(
        embedded,
        row(1, "Die Teambesprechung ist am Dienstag um zehn Uhr."),
        row(2, "The team meeting is on Thursday at ten o'clock."),
        row(3, "Whales sleep with half of their brain awake."),
    )
    found = list(contradictions(store, viewer=MAIN, identity=embedded.identity, now=NOW))
    assert [(c.first.id, c.second.id, c.opposition) for c in found] == [
        (uid(1), uid(2), Opposition.DATE)
    ]


def test_near_duplicates_tell_equal_from_merely_near(embedded: Embedder) -> None:
    store = filled(
        embedded,
        row(1, "The user likes dark mode in all editors."),
        row(2, "user likes the dark mode in all editors"),
        row(3, "The user likes dark themes in all editors."),
        row(4, "Whales sleep with half of their brain awake."),
    )
    found = list(near_duplicates(store, viewer=MAIN, identity=embedded.identity, now=NOW))
    assert {(d.first.id, d.second.id) for d in found if d.same} == {(uid(1), uid(2))}
    assert any(not d.same and uid(3) in (d.first.id, d.second.id) for d in found)
    assert all(uid(4) not in (d.first.id, d.second.id) for d in found)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("We decided to use Rust", Category.DECISION),
        ("Wir haben uns für Rust entschieden", Category.DECISION),
        ("Ab sofort gilt das neue Format", Category.DECISION),
        ("The user prefers short answers", Category.PREFERENCE),
        ("Lena mag keinen Koriander", Category.PREFERENCE),
        ("Der Nutzer bevorzugt kurze Antworten", Category.PREFERENCE),
        ("Tom lives in Bern", Category.ENTITY),
        ("Der Hausmeister heißt Yilmaz", Category.ENTITY),
        ("The bridge is closed", Category.FACT),
        ("Das Budget beträgt 40.000 Euro", Category.FACT),
        ("hm ok", Category.OTHER),
    ],
)
def test_categories_follow_german_and_english_rules(text: str, category: Category) -> None:
    assert category_of(text) is category


def test_a_short_text_is_its_own_summary() -> None:
    assert summary_of("One  two\nthree.", max_words=5) == "One two three."


def test_a_summary_ends_where_a_sentence_ends() -> None:
    text = "Dr. Meier kommt am 3. Mai. Er bringt z. B. Kuchen mit. Danach fährt er heim."
    assert summary_of(text, max_words=13) == (
        "Dr. Meier kommt am 3. Mai. Er bringt z. B. Kuchen mit."
    )


def test_a_long_first_sentence_is_cut_at_a_word() -> None:
    assert summary_of("one two three four five", max_words=3) == "one two three…"


@given(st.text(max_size=300), st.integers(min_value=1, max_value=20))
def test_a_summary_never_exceeds_its_words(text: str, words: int) -> None:
    assert len(summary_of(text, max_words=words).split()) <= words


@given(st.text(max_size=200))
def test_sentences_lose_no_word(text: str) -> None:
    assert " ".join(sentences(text)).split() == text.split()


def test_expired_and_expiring_rows_are_told_apart() -> None:
    store = filled(
        HashingEmbedder(),
        row(1, "gone", expires_at=NOW),
        row(2, "soon", expires_at=NOW + DAY_MS),
        row(3, "later", expires_at=NOW + 9 * DAY_MS),
        row(4, "never"),
    )
    assert [m.text for m in expired(store, viewer=MAIN, now=NOW)] == ["gone"]
    assert [m.text for m in expiring(store, viewer=MAIN, now=NOW, days=7)] == ["soon"]
