"""Pairs of rows near each other in meaning, by blocked matrix products."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vault_tools.core.memory import Memory
from vault_tools.core.ports import Pair, Vector

_BLOCK = 512


def near_pairs(
    memories: Sequence[Memory], vectors: Mapping[str, Vector], minimum: float, limit: int
) -> Iterator[Pair]:
    """Give each pair with a cosine ≥ `minimum` once, best first, ties by ids.

    Only the `limit` nearest partners of each row are looked at.
    """
    import numpy as np

    if len(memories) < 2:
        return
    matrix = np.asarray([vectors[memory.id] for memory in memories], dtype=np.float32)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.where(norms == 0, 1, norms)
    found: dict[tuple[int, int], float] = {}
    kept = min(limit, len(memories) - 1)
    for start in range(0, len(memories), _BLOCK):
        cosines = matrix[start : start + _BLOCK] @ matrix.T
        here = np.arange(len(cosines))
        cosines[here, start + here] = -2.0
        best = np.argpartition(-cosines, kept - 1, axis=1)[:, :kept]
        close = cosines[here[:, None], best] >= minimum
        for row, column in zip(*np.nonzero(close), strict=True):
            partner = int(best[row, column])
            key = (min(start + int(row), partner), max(start + int(row), partner))
            found[key] = float(cosines[row, partner])
    yield from sorted(
        (_pair(memories[a], memories[b], cosine) for (a, b), cosine in found.items()),
        key=lambda pair: (-pair.cosine, pair.first.id, pair.second.id),
    )


def _pair(one: Memory, other: Memory, cosine: float) -> Pair:
    first, second = sorted((one, other), key=lambda memory: memory.id)
    return Pair(first, second, cosine)
