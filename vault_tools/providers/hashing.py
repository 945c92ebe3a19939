"""A deterministic embedder made of hashed character n-grams; for tests, needs nothing installed."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from vault_tools.core.ports import EmbedderIdentity, Vector

_DIMENSIONS = 256
_SIZES = (3, 4)


class HashingEmbedder:
    """Embed texts by the n-grams of their words: equal spelling is near, meaning is unknown."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Name the hashing and its calibration."""
        return EmbedderIdentity(
            provider="hashing", model="ngrams-1", dimensions=_DIMENSIONS, mean=120, spread=60
        )

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts to be stored."""
        return [_embed(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        return _embed(text)


def _embed(text: str) -> Vector:
    folded = unicodedata.normalize("NFKC", text).casefold()
    vector = [0.0] * _DIMENSIONS
    for word in folded.split():
        for place, sign in _places(f"<{word}>"):
            vector[place] += sign
    norm = math.hypot(*vector)
    return [value / norm for value in vector] if norm else [1.0, *vector[1:]]


@lru_cache(maxsize=65_536)
def _places(word: str) -> tuple[tuple[int, float], ...]:
    grams = [word[n : n + size] for size in _SIZES for n in range(max(1, len(word) - size + 1))]
    return tuple(_place(gram) for gram in grams)


def _place(gram: str) -> tuple[int, float]:
    digest = hashlib.blake2b(gram.encode("utf-8", "replace"), digest_size=4).digest()
    number = int.from_bytes(digest, "big")
    return number % _DIMENSIONS, 1.0 if number & (1 << 31) else -1.0
