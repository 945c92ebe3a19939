"""What kind of thing a text states, by ordered rules in German and English."""

from __future__ import annotations

import re

from vault_tools.core.memory import Category

_RULES: tuple[tuple[Category, re.Pattern[str]], ...] = (
    (
        Category.DECISION,
        re.compile(
            r"\b(?:we|i|they|team)\s+(?:have\s+)?(?:decided|agreed|chose|will use)\b"
            r"|\bdeci(?:ded|sion)\b|\bsettled on\b|\bgoing with\b|\bfrom now on\b"
            r"|\bentschieden\b|\bentscheidung\b|\bbeschlossen\b|\bbeschluss\b|\bab sofort\b"
            r"|\bfestgelegt\b|\bwir (?:nehmen|verwenden|nutzen|bleiben bei)\b|\beinigten? uns\b",
            re.IGNORECASE,
        ),
    ),
    (
        Category.PREFERENCE,
        re.compile(
            r"\bprefer(?:s|red|ence|ences)?\b|\b(?:likes?|loves?|hates?|dislikes?)\b"
            r"|\bfavou?rite\b|\bwould rather\b|\bwants? (?:me|you|us|it) to\b"
            r"|\bdon'?t (?:like|want)\b|\balways (?:use|write|answer|call)\b"
            r"|\bbevorzug\w*|\b(?:mag|mögen|liebt|hasst)\b|\blieblings\w*|\blieber\b"
            r"|\bam liebsten\b"
            r"|\bmöchte (?:immer|nie|keine?n?)\b|\bist (?:mir|ihm|ihr) lieber\b",
            re.IGNORECASE,
        ),
    ),
    (
        Category.ENTITY,
        re.compile(
            r"\b(?:is called|named|my name is|lives in|works at)\b"
            r"|\bis the (?:name|email|phone|address)\b"
            r"|\bheißt\b|\bheisst\b|\bwohnt in\b|\barbeitet (?:bei|für)\b|\bnamens\b"
            r"|[\w.+-]+@[\w-]+\.[\w.]+|\+\d[\d /-]{7,}",
            re.IGNORECASE,
        ),
    ),
    (
        Category.FACT,
        re.compile(
            r"\b(?:is|are|was|were|has|have|runs|uses|costs|contains|means|supports|needs|takes)\b"
            r"|\b(?:ist|sind|war|waren|hat|haben|läuft|nutzt|kostet|enthält|bedeutet|braucht|liegt|"
            r"dauert|beträgt|gehört|steht)\b",
            re.IGNORECASE,
        ),
    ),
)


def category_of(text: str) -> Category:
    """Give the category whose rule fits first, OTHER when none does."""
    for category, rule in _RULES:
        if rule.search(text):
            return category
    return Category.OTHER
