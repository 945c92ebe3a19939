"""The engine's sections of the configuration (spec 08)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

from vault_tools.config import checks
from vault_tools.config.keys import Key

_TIMEOUT = {"low": 0.1, "high": 600.0}


class EmbeddingProvider(StrEnum):
    """Who turns texts into vectors."""

    EMBEDDED = "embedded"
    OPENAI = "plur1bus-openai"
    OPENAI_COMPATIBLE = "plur1bus-openai-compatible"
    MINILM = "minilm"
    E5_SMALL = "plur1bus-e5-small"
    HASHING = "hashing"

    @classmethod
    def _missing_(cls, value: object) -> EmbeddingProvider | None:
        # The seed's example writes the two remote providers without their prefix.
        names = {"openai": cls.OPENAI, "openai-compatible": cls.OPENAI_COMPATIBLE}
        return names.get(str(value))


class RerankerProvider(StrEnum):
    """Who sorts the candidates of a recall."""

    DISABLED = "disabled"
    COHERE = "cohere"
    LOCAL = "local"


def empty_table() -> Mapping[str, str]:
    """Give the default of a table of free names."""
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """`[embedding]`: the vectors of the engine."""

    provider: Annotated[
        EmbeddingProvider,
        Key(comment="embedded (local), plur1bus-openai[-compatible], minilm, plur1bus-e5-small"),
    ] = EmbeddingProvider.EMBEDDED
    model: Annotated[
        str | None,
        Key(comment="Model of a remote provider", example="text-embedding-3-large"),
    ] = None
    dimensions: Annotated[
        int | None,
        Key(comment="Asked of an OpenAI model; else detected", low=1, high=16384, example=3072),
    ] = None
    api_key: Annotated[
        str | None,
        Key(comment="Write a reference, not the key", secret=True, example="${OPENAI_API_KEY}"),
    ] = None
    base_url: Annotated[
        str | None,
        Key(
            comment="Address of an OpenAI-compatible endpoint",
            check=checks.base_url,
            example="http://127.0.0.1:11434/v1",
        ),
    ] = None
    timeout_seconds: Annotated[float, Key(comment="Deadline of one request", **_TIMEOUT)] = 60.0
    headers: Annotated[
        Mapping[str, str], Key(comment="Further request headers, NAME = VALUE", secret=True)
    ] = field(default_factory=empty_table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """`[chat]`: an OpenAI-compatible model for summaries and merges; both do without one."""

    model: Annotated[str | None, Key(comment="Unset: no chat model", example="gpt-4.1-mini")] = None
    api_key: Annotated[
        str | None,
        Key(comment="Write a reference, not the key", secret=True, example="${OPENAI_API_KEY}"),
    ] = None
    base_url: Annotated[
        str | None,
        Key(
            comment="Address of the endpoint",
            check=checks.base_url,
            example="http://127.0.0.1:11434/v1",
        ),
    ] = None
    timeout_seconds: Annotated[float, Key(comment="Deadline of one answer", **_TIMEOUT)] = 10.0
    headers: Annotated[
        Mapping[str, str], Key(comment="Further request headers, NAME = VALUE", secret=True)
    ] = field(default_factory=empty_table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """`[merging]`: near memories of the same agent."""

    enabled: Annotated[bool, Key(comment="Look for near memories when one is stored")] = True
    min_score: Annotated[float, Key(comment="Where the merge band begins", low=0, high=1)] = 0.70
    max_score: Annotated[float, Key(comment="Where the merge band ends", low=0, high=1)] = 0.94


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranker:
    """`[reranker]`: the last sort of a recall."""

    enabled: Annotated[bool, Key(comment="false switches every reranker off")] = True
    provider: Annotated[
        RerankerProvider | None,
        Key(
            comment="cohere, local or disabled; unset: cohere once a key is set, else disabled",
            example="local",
        ),
    ] = None
    api_key: Annotated[
        str | None,
        Key(comment="Write a reference, not the key", secret=True, example="${COHERE_API_KEY}"),
    ] = None
    model: Annotated[str, Key(comment="Model of the cohere reranker")] = "rerank-v3.5"
    candidates: Annotated[
        int, Key(comment="How many hits are sorted before the limit cuts", low=1, high=1000)
    ] = 100
    timeout_seconds: Annotated[float, Key(comment="Deadline of one request", **_TIMEOUT)] = 5.0

    @property
    def chosen(self) -> RerankerProvider:
        """Give the provider in force: cohere without a key counts as disabled."""
        provider = self.provider or RerankerProvider.COHERE
        keyless = provider is RerankerProvider.COHERE and not self.api_key
        return provider if self.enabled and not keyless else RerankerProvider.DISABLED


@dataclass(frozen=True, slots=True, kw_only=True)
class Gc:
    """`[gc]`: care of expired rows."""

    enabled: Annotated[bool, Key(comment="Archive, then remove expired memories")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """`[recall]`: what one recall gives."""

    limit: Annotated[int, Key(comment="Hits of a recall when none are named", low=1, high=100)] = 5
    auto_limit: Annotated[
        int, Key(comment="Summaries put before a prompt at most", low=1, high=20)
    ] = 5
    auto_deadline_seconds: Annotated[
        float, Key(comment="A slower auto-recall injects nothing", low=0.05, high=60)
    ] = 2.0
