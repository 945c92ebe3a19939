"""Pairs of memories that speak of the same and say the opposite, German and English."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from vault_tools.core.memory import Memory
from vault_tools.core.ports import EmbedderIdentity, MemoryStore
from vault_tools.core.scope import Viewer
from vault_tools.engine.facts import Facts, facts_of
from vault_tools.engine.scoring import calibrated, raw_cosine

CONTRADICTION_MINIMUM = 0.45
_PARTNERS = 10
_SAME_SHARE = 0.5

_OPPOSITE_WORDS = """
like/dislike likes/dislikes likes/hates like/hate loves/hates love/hate enable/disable
enabled/disabled on/off allow/forbid allowed/forbidden always/never before/after more/less
increase/decrease accept/reject accepted/rejected open/closed true/false online/offline
public/private mag/hasst liebt/hasst immer/nie an/aus vor/nach erlaubt/verboten
offen/geschlossen mehr/weniger aktiv/inaktiv aktiviert/deaktiviert angenommen/abgelehnt
offentlich/privat gestiegen/gesunken richtig/falsch
"""
_OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in _OPPOSITE_WORDS.split())


class Opposition(StrEnum):
    """In what two memories disagree."""

    NEGATION = "negation"
    NUMBER = "number"
    DATE = "date"
    OPPOSITE = "opposite"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that disagree; `score` is their calibrated cosine, 0–1."""

    first: Memory
    second: Memory
    score: float
    opposition: Opposition


def opposition(one: str, other: str) -> Opposition | None:
    """Tell in what two texts about the same thing disagree, None when in nothing we can see."""
    first, second = facts_of(one), facts_of(other)
    if first.negations % 2 != second.negations % 2:
        return Opposition.NEGATION
    if _differ(first.dates, second.dates):
        return Opposition.DATE
    if _differ(first.numbers, second.numbers):
        return Opposition.NUMBER
    replaced = _replaced(first.terms, second.terms)
    if any(frozenset(pair) in _OPPOSITES for pair in replaced):
        return Opposition.OPPOSITE
    return Opposition.VALUE if _one_value(first, second) else None


def contradictions(
    store: MemoryStore,
    *,
    viewer: Viewer,
    identity: EmbedderIdentity,
    now: int,
    minimum: float = CONTRADICTION_MINIMUM,
) -> Iterator[Contradiction]:
    """Find pairs of active memories, near in meaning, that disagree; nearest first."""
    raw = raw_cosine(minimum, identity)
    for pair in store.pairs(viewer, minimum=raw, limit=_PARTNERS, now=now):
        found = opposition(pair.first.text, pair.second.text)
        if found is not None:
            score = calibrated(pair.cosine, identity)
            yield Contradiction(pair.first, pair.second, score, found)


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether both name something and each names what the other does not."""
    return bool(one - other) and bool(other - one)


def _one_value(first: Facts, second: Facts) -> bool:
    """Tell whether two texts are equal but for one content word: "uses React" / "uses Vue"."""
    one, other = first.content, second.content
    replaced = _replaced(one, other)
    if len(replaced) != 1 or len(one) != len(other):
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= _SAME_SHARE


def _replaced(one: tuple[str, ...], other: tuple[str, ...]) -> list[tuple[str, str]]:
    """List the single words that stand in each other's place."""
    steps = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [
        (one[a], other[c])
        for kind, a, b, c, d in steps
        if kind == "replace" and b - a == 1 and d - c == 1
    ]
