"""Short forms of a text without a language model: its leading sentences."""

from __future__ import annotations

import re

# A sentence ends at .!? before white space and something that starts anew; not after a number
# ("am 3. Mai"), an initial, or an abbreviation both languages use before a name or noun.
_END = re.compile(r"[.!?\u2026][\"'\u201c\u201d\u2019)\]]*(?=\s)|[\u3002\uff01\uff1f]|\n\s*\n")
_NO_END = re.compile(
    r"(?:\b(?:z\.\s?B|d\.\s?h|u\.\s?a|bzw|ca|usw|Nr|Dr|Prof|Hr|Fr|St|Str|vgl|inkl|evtl|ggf|"
    r"Mr|Mrs|Ms|vs|etc|e\.g|i\.e|approx|No|Inc|Jr)|\b\d{1,4}|\b[^\W\d_])\.\Z"
)
ELLIPSIS = "\u2026"


def summary_of(text: str, *, max_words: int = 40) -> str:
    """Take leading sentences of a text up to `max_words` words.

    A first sentence that is longer is cut at a word and ends in an ellipsis. Raises ValueError
    for `max_words` below 1.
    """
    if max_words < 1:
        raise ValueError("a summary has at least one word")
    flat = " ".join(text.split())
    if len(flat.split()) <= max_words:
        return flat
    taken: list[str] = []
    for sentence in sentences(text):
        if sum(len(s.split()) for s in taken) + len(sentence.split()) > max_words:
            break
        taken.append(sentence)
    return " ".join(taken) if taken else " ".join(flat.split()[:max_words]) + ELLIPSIS


def sentences(text: str) -> list[str]:
    """Split a text into sentences, white space folded."""
    found, start = [], 0
    for end in _END.finditer(text):
        if end.group().startswith(".") and _NO_END.search(text, start, end.start() + 1):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    found.append(text[start:])
    folded = [" ".join(sentence.split()) for sentence in found]
    return [sentence for sentence in folded if sentence]
