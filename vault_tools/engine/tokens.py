"""Words as they are searched: folded, German and English stems side by side, compounds opened.

A word of a query is a group of forms, any of which may meet any form of a row's word, so that a
text needs no language label. Parts of long words are marked and weigh less than whole words.
"""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache

from vault_tools.core.memory import Memory
from vault_tools.engine.words import STOPWORDS

PART = "~"
_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_LONG_WORD, _SHORTEST_PART, _LONGEST_WORD = 9, 4, 48
_MONTHS = (
    "january januar",
    "february februar",
    "march märz",
    "april",
    "may mai",
    "june juni",
    "july juli",
    "august",
    "september",
    "october oktober",
    "november",
    "december dezember",
)


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a query: the forms that match it fully, and those that match a part of it."""

    surface: str
    whole: frozenset[str]
    parts: frozenset[str]
    is_stopword: bool


def fold(text: str) -> str:
    """Fold case, compatibility forms and accents: Zürich, ZÜRICH and Zurich become zurich."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def words_of(text: str) -> list[str]:
    """Split a text into its words in order, composed and case-folded but with their accents."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def query_words(text: str) -> list[QueryWord]:
    """Give the distinct words of a query in order."""
    return [_query_word(word) for word in dict.fromkeys(_pieces(text))]


def query_tokens(words: Sequence[QueryWord]) -> list[str]:
    """Give the tokens to look rows up by: every form of every word that carries meaning."""
    carrying = [word for word in words if not word.is_stopword]
    return sorted({form for word in carrying for form in word.whole | word.parts})


@lru_cache(maxsize=4_096)
def text_forms(text: str) -> tuple[frozenset[str], ...]:
    """Give for each word of a text, in order, all forms it is found by."""
    return tuple(_forms(word) for word in _pieces(text))


def index_tokens(memory: Memory) -> list[str]:
    """Give the tokens of a row; this is the Indexer of the stores."""
    return [form for forms in text_forms(searchable_text(memory)) for form in sorted(forms)]


def searchable_text(memory: Memory) -> str:
    """Give what a row is found by: its text, its source's name, its written-out date."""
    return f"{memory.text}\n{_subject(memory)}\n{_date_words(memory.created_at)}"


def _subject(memory: Memory) -> str:
    name = re.sub(r"\.md(?::\d+(?:-\d+)?)?\Z", "", memory.source.rsplit("/", 1)[-1])
    return name if len(name) < 100 else ""


def _date_words(created_at: int) -> str:
    if created_at <= 0:
        return ""
    day = datetime.fromtimestamp(created_at / 1000, UTC)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


@lru_cache(maxsize=65_536)
def _query_word(word: str) -> QueryWord:
    folded = fold(word)
    stems = _stems(word)
    whole = {*stems, *(f"{PART}{form}" for form in {folded, *stems} if _may_be_part(form))}
    parts = frozenset(part.removeprefix(PART) for part in _compound_parts(folded))
    whole_words = frozenset(form for form in whole if not form.startswith(PART))
    weak = frozenset(whole - whole_words) | (parts - STOPWORDS)
    return QueryWord(word, whole_words, weak, folded in STOPWORDS)


def _may_be_part(form: str) -> bool:
    return len(form) >= _SHORTEST_PART


@lru_cache(maxsize=65_536)
def _forms(word: str) -> frozenset[str]:
    return frozenset({*_stems(word), *_compound_parts(fold(word))})


@lru_cache(maxsize=65_536)
def _stems(word: str) -> frozenset[str]:
    """Stem the accented word in German (ae, ä), the folded one in English."""
    if len(word) > _LONGEST_WORD or word.isdecimal():
        return frozenset({fold(word)})
    german, english = _stemmers()
    return frozenset({fold(german(word)), english(fold(word))})


def _compound_parts(folded: str) -> list[str]:
    """List the beginnings and ends of a long word that may be words of their own, marked."""
    if not _LONG_WORD <= len(folded) <= _LONGEST_WORD or not folded.isalpha():
        return []
    cuts = range(_SHORTEST_PART, len(folded) - _SHORTEST_PART + 1)
    return [f"{PART}{part}" for cut in cuts for part in (folded[:cut], folded[cut:])]


def _pieces(text: str) -> list[str]:
    return [piece for word in words_of(text) for piece in _cjk_pieces(word)]


def _cjk_pieces(word: str) -> list[str]:
    """Cut runs of Chinese, Japanese and Korean script into pairs; the rest stays as it is."""
    if word.isascii() or not _CJK.search(word):
        return [word]
    pieces = [rest for rest in _CJK.sub(" ", word).split() if rest]
    for run in _CJK.findall(word):
        pieces.extend(run[n : n + 2] for n in range(max(1, len(run) - 1)))
    return pieces


@cache
def _stemmers() -> tuple[Callable[[str], str], Callable[[str], str]]:
    german = importlib.import_module("snowballstemmer.german_stemmer").GermanStemmer()
    english = importlib.import_module("snowballstemmer.english_stemmer").EnglishStemmer()
    return german.stemWord, english.stemWord
