"""Scores between 0 and 1 that mean the same in a store of two rows and of fifty thousand.

The weight of a word comes from built-in counts, not from the store: in a two-row store every word
is rare. Both legs keep their own scale, and fusing never lets a weak leg push a strong one down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_tools.core.ports import EmbedderIdentity
from vault_tools.engine.tokens import QueryWord, fold
from vault_tools.engine.words import COMMON

_K1, _B, _USUAL_LENGTH = 0.9, 0.4, 20
_RARE, _COMMON, _STOP = 6.0, 1.5, 0.3
_PART_WEIGHT = 0.5
_BACKGROUND_SPREADS = 1.5
_LEXICAL_WEIGHT = 0.8
_DENSE_RANKING, _DEVIATIONS = 0.3, 6
_IMPORTANCE_SPAN = 0.03


@dataclass(frozen=True, slots=True)
class Score:
    """What a hit's score is made of.

    `relevance` (0–1) is what the thresholds compare and people see; `ranking` is what hits are
    ordered by. `dense` is the calibrated cosine, `cosine` the raw one (None without a model), and
    `importance` what it adds to the ranking: at most 0.015 either way.
    """

    relevance: float
    ranking: float
    lexical: float
    dense: float
    cosine: float | None
    importance: float


def calibrated(cosine: float, identity: EmbedderIdentity) -> float:
    """Map a raw cosine to 0–1: 0 for what unrelated texts reach, 1 for equal ones."""
    floor = (identity.mean + _BACKGROUND_SPREADS * identity.spread) / 1000
    return min(1.0, max(0.0, (cosine - floor) / (1.0 - floor)))


def raw_cosine(score: float, identity: EmbedderIdentity) -> float:
    """Give the raw cosine that has a calibrated score."""
    floor = (identity.mean + _BACKGROUND_SPREADS * identity.spread) / 1000
    return floor + score * (1.0 - floor)


def lexical_score(query: Sequence[QueryWord], forms: Sequence[frozenset[str]]) -> float:
    """Give BM25 of a text over the query's own upper bound, 0–1.

    `forms` are the forms of each word of the text. Words the text lacks count as uncovered; a
    text that shares stopwords only scores 0.
    """
    bound = sum(_weight(word) for word in query)
    counts = Counter(form for word in forms for form in word)
    saturated = _K1 * (1 - _B + _B * max(len(forms), _USUAL_LENGTH) / _USUAL_LENGTH)
    gained, meant = 0.0, False
    for word in query:
        times = _times(word, counts)
        meant = meant or (times > 0 and not word.is_stopword)
        gained += _weight(word) * min(1.0, times * (_K1 + 1) / (times + saturated))
    return gained / bound if meant and bound else 0.0


def fused(
    lexical: float, cosine: float | None, identity: EmbedderIdentity | None, importance: int
) -> Score:
    """Fuse both legs; `importance` in thousandths never overtakes a clearly better match.

    Either leg alone can make a hit relevant, and neither ever lowers what the other says.
    """
    boost = _IMPORTANCE_SPAN * (importance / 1000 - 0.5)
    if cosine is None or identity is None:
        return Score(_LEXICAL_WEIGHT * lexical, lexical + boost, lexical, 0.0, None, boost)
    dense = calibrated(cosine, identity)
    relevance = 1 - (1 - _LEXICAL_WEIGHT * lexical) * (1 - dense)
    # Uncut and on the scale of its own spread, so that it still orders what words cannot.
    deviation = (1000 * cosine - identity.mean) / identity.spread
    ranking = lexical + _DENSE_RANKING * deviation / _DEVIATIONS + boost
    return Score(relevance, ranking, lexical, dense, cosine, boost)


def _times(word: QueryWord, counts: Mapping[str, int]) -> float:
    whole = max((counts.get(form, 0) for form in word.whole), default=0)
    if whole:
        return whole
    part = max((counts.get(form, 0) for form in word.parts), default=0)
    return _PART_WEIGHT * part


def _weight(word: QueryWord) -> float:
    if word.is_stopword:
        return _STOP
    return _COMMON if {fold(word.surface), *word.whole} & COMMON else _RARE
