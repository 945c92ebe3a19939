"""Whether two memories state the same, and which ones nearly do.

A changed value ("Tuesday" for "Thursday") has a higher cosine than many true paraphrases, so
nearness alone never calls two rows equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vault_tools.core.memory import Memory, normalised
from vault_tools.core.ports import EmbedderIdentity, MemoryStore
from vault_tools.core.scope import Viewer
from vault_tools.engine.facts import facts_of
from vault_tools.engine.scoring import calibrated, raw_cosine

MERGE_MINIMUM = 0.70
_PARTNERS = 10


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two memories near in meaning; `score` is the calibrated cosine, 0–1."""

    first: Memory
    second: Memory
    score: float
    same: bool


def same_fact(one: str, other: str) -> bool:
    """Tell whether two texts state the same.

    They do when they are equal but for case and white space, or agree in every term, number,
    date, negation and name in the same order.
    """
    return normalised(one) == normalised(other) or facts_of(one) == facts_of(other)


def near_duplicates(
    store: MemoryStore,
    *,
    viewer: Viewer,
    identity: EmbedderIdentity,
    now: int,
    minimum: float = MERGE_MINIMUM,
) -> Iterator[NearDuplicate]:
    """Find pairs of active memories with a calibrated cosine of `minimum` or more, best first."""
    raw = raw_cosine(minimum, identity)
    for pair in store.pairs(viewer, minimum=raw, limit=_PARTNERS, now=now):
        score = calibrated(pair.cosine, identity)
        same = same_fact(pair.first.text, pair.second.text)
        yield NearDuplicate(pair.first, pair.second, score, same)
