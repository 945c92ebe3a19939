"""What a text states: its exact sequence of terms, its numbers, dates and negations (de, en)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from vault_tools.engine.tokens import fold
from vault_tools.engine.words import STOPWORDS

_TERM = re.compile(r"-?\d+(?:[.,:]\d+)*|[^\W_]+|[^\w\s]", re.UNICODE)
_SOFT = frozenset(".,;:!\"'()[]{}\u2026\u2013\u2014-_\u201e\u201c\u201d\u2018\u2019`")
_ARTICLES = frozenset({"the", "a", "an"})
_NEGATION_WORDS = """
not no never neither nor cannot without nothing nobody none nicht nie niemals ohne weder nirgends
nichts niemand kein keine keinen keinem keiner keines dont doesnt didnt isnt arent wasnt werent wont
cant couldnt shouldnt wouldnt hasnt havent mustnt
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_DAY_NAMES = """
monday montag | tuesday dienstag | wednesday mittwoch | thursday donnerstag | friday freitag |
saturday samstag sonnabend | sunday sonntag
"""
# "may" and "march" are verbs as often as months, so in English they date nothing.
_MONTH_NAMES = """
january januar | february februar | marz | april | mai | june juni | july juli | august |
september | october oktober | november | december dezember
"""
_COUNTS = """
zero null | one eins | two zwei | three drei | four vier | five funf | six sechs | seven sieben |
eight acht | nine neun | ten zehn | eleven elf | twelve zwolf
"""


def _numbered(names: str, prefix: str) -> dict[str, str]:
    groups = enumerate(names.split("|"))
    return {name: f"{prefix}{n}" for n, group in groups for name in group.split()}


_DATES = {**_numbered(_DAY_NAMES, "day "), **_numbered(_MONTH_NAMES, "month ")}
_NUMBER_WORDS = _numbered(_COUNTS, "")
_NUMBER = re.compile(r"-?\d+(?:[.,:]\d+)*[^\W\d_]*")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")


@dataclass(frozen=True, slots=True)
class Facts:
    """What two texts must agree in to state the same."""

    terms: tuple[str, ...]
    numbers: frozenset[str]
    dates: frozenset[str]
    negations: int

    @property
    def content(self) -> tuple[str, ...]:
        """Give the terms that carry meaning of their own, in order."""
        return tuple(t for t in self.terms if t not in STOPWORDS and t not in _NEGATIONS)


@lru_cache(maxsize=8_192)
def facts_of(text: str) -> Facts:
    """Read the facts of a text; case, articles in English and soft punctuation do not count."""
    composed = _APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).casefold())
    raw = [fold(term) for term in _TERM.findall(composed)]
    terms = tuple(t for t in raw if t not in _SOFT and t not in _ARTICLES)
    numbers = {_number(found) for found in _NUMBER.findall(composed)}
    numbers |= {_NUMBER_WORDS[t] for t in terms if t in _NUMBER_WORDS}
    dates = {_DATES[t] for t in terms if t in _DATES}
    return Facts(terms, frozenset(numbers), frozenset(dates), sum(t in _NEGATIONS for t in terms))


def _number(found: str) -> str:
    """Bring a number to one form: 40k and 40.000 and 40,000 are the same."""
    digits = re.sub(r"(?<=\d)[.,](?=\d{3}(?!\d))", "", found)
    if digits.endswith("k") and digits[:-1].isdecimal():
        return f"{digits[:-1]}000"
    return digits
