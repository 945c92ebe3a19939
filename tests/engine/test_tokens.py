from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.memory_world import NOW, row
from vault_tools.core.ports import EmbedderIdentity
from vault_tools.engine.scoring import calibrated, fused, lexical_score, raw_cosine
from vault_tools.engine.tokens import (
    index_tokens,
    query_tokens,
    query_words,
    text_forms,
)

IDENTITY = EmbedderIdentity("p", "m", 3, mean=84, spread=78)


def covered(query: str, text: str) -> float:
    return lexical_score(query_words(query), text_forms(text))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Häuser", "ein Haus"),
        ("haeuser", "HÄUSER"),
        ("Zurich", "in Zürich"),
        ("Straße", "strasse"),
        ("cafe", "the Café"),
        ("bakeries", "a bakery"),
        ("Datenbank", "der Datenbankserver"),
        ("Server", "Datenbankserver"),
        ("Versicherung", "Krankenversicherung"),
        ("Versicherungskarte", "die Versicherung"),
        ("数据库", "我们的数据库很大"),
        ("Ｔｅａ", "tea"),
        ("4711", "Ticket ZX-4711"),
    ],
)
def test_a_word_is_found_in_its_other_forms(query: str, text: str) -> None:
    assert covered(query, text) > 0
    found = set(index_tokens(row(1, text)))
    assert found & set(query_tokens(query_words(query)))


@pytest.mark.parametrize(
    ("query", "text"),
    [("Haus", "Maus"), ("4711", "4712"), ("what is it", "it is what it is"), ("🙂", "🙂")],
)
def test_another_word_is_not_found(query: str, text: str) -> None:
    assert covered(query, text) == 0


def test_a_word_the_text_lacks_counts_as_uncovered() -> None:
    assert covered("printer", "the printer") > covered("printer zebra", "the printer") > 0


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    assert covered("meeting Krummbiegel", "Krummbiegel") > covered("meeting Krummbiegel", "meeting")


def test_a_rows_date_and_source_are_among_its_words() -> None:
    tokens = index_tokens(row(1, "x", created_at=NOW, source="People/Jonas Brunner.md:10"))
    assert {"may", "mai", "2026"} <= set(tokens)
    assert "jona" in tokens or "jonas" in tokens


@given(st.text(max_size=200))
def test_tokens_hold_no_white_space_and_scores_stay_in_range(text: str) -> None:
    assert all(token.split() == [token] for token in index_tokens(row(1, text)))
    assert 0 <= covered(text, text) <= 1


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_calibration_keeps_order_and_range(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= calibrated(low, IDENTITY) <= calibrated(high, IDENTITY) <= 1


@given(st.floats(0.01, 1))
def test_raw_cosine_undoes_calibration(score: float) -> None:
    assert calibrated(raw_cosine(score, IDENTITY), IDENTITY) == pytest.approx(score)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1))
def test_a_weak_leg_never_pushes_a_strong_one_down(low: float, high: float, cosine: float) -> None:
    less, more = sorted((low, high))
    alone = fused(0.0, cosine, IDENTITY, 500).relevance
    assert (
        alone
        <= fused(less, cosine, IDENTITY, 500).relevance
        <= fused(more, cosine, IDENTITY, 500).relevance + 1e-12
    )
