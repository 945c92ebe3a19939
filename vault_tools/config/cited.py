"""The section of cited retrieval (spec 05, 08)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from vault_tools.config.keys import Key


class CitationsMode(StrEnum):
    """What cited retrieval may do."""

    BOUNDED = "bounded"
    ENHANCED = "enhanced"


class Extraction(StrEnum):
    """How observations are found in a turn."""

    RULES = "rules"
    LLM = "llm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dreaming:
    """`[citations.dreaming]`."""

    notify: Annotated[bool, Key(comment="Let doctor say when the host's dreaming is off")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """`[citations.graph]`."""

    enabled: Annotated[bool, Key(comment="Extract and traverse relations")] = False
    edge_types: Annotated[tuple[str, ...], Key(comment="Relations to keep; empty: all")] = ()
    max_depth: Annotated[int, Key(comment="Steps of a traversal, a real cap", low=1, high=6)] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedRecall:
    """`[citations.recall]`."""

    semantic: Annotated[bool, Key(comment="Also search by meaning")] = False
    rerank: Annotated[bool, Key(comment="Fuse and rerank the hits")] = False
    snapshot_first: Annotated[bool, Key(comment="Answer from the snapshot while current")] = False
    intent_classifier: Annotated[bool, Key(comment="Let the kind of question weigh")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """`[citations.injection]`."""

    enabled: Annotated[bool, Key(comment="Put a snapshot before the prompt")] = False
    token_cap: Annotated[int, Key(comment="Its size, 4 characters a token", low=1, high=4000)] = (
        1300
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations:
    """`[citations.observations]`."""

    enabled: Annotated[bool, Key(comment="Turn statements into proposals")] = False
    model: Annotated[str | None, Key(comment="Chat model; unset: chat.model", example="…")] = None
    extraction: Annotated[Extraction, Key(comment="rules or llm")] = Extraction.RULES
    max_bytes: Annotated[
        int, Key(comment="Size of the observations file", low=1024, high=1 << 30)
    ] = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiBridge:
    """`[citations.wiki_bridge]`."""

    enabled: Annotated[bool, Key(comment="Write approved memories as claims of a wiki")] = False
    vault_path: Annotated[Path | None, Key(comment="The wiki's vault", example="~/Wiki")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Citations:
    """`[citations]`: bounded, redacted, cited retrieval."""

    mode: Annotated[CitationsMode, Key(comment="bounded or enhanced")] = CitationsMode.BOUNDED
    workspace: Annotated[
        Path | None,
        Key(comment="Where the roots lie; unset: the workspace", example="~/.openclaw/workspace"),
    ] = None
    allowed_roots: Annotated[
        tuple[str, ...], Key(comment="Replaces the default roots in full; empty: the default")
    ] = ()
    shared_mode: Annotated[
        bool, Key(comment="true: MEMORY.md and DREAMS.md leave the default roots")
    ] = False
    max_file_bytes: Annotated[
        int, Key(comment="Larger files are skipped and named", low=1, high=1 << 30)
    ] = 1 << 20
    dreaming: Annotated[Dreaming, Key(comment="Enhanced mode only")] = Dreaming()
    graph: Annotated[Graph, Key(comment="Enhanced mode only")] = Graph()
    recall: Annotated[CitedRecall, Key(comment="Enhanced mode only")] = CitedRecall()
    injection: Annotated[Injection, Key(comment="Enhanced mode only")] = Injection()
    observations: Annotated[Observations, Key(comment="Enhanced mode only")] = Observations()
    wiki_bridge: Annotated[WikiBridge, Key(comment="Enhanced mode only")] = WikiBridge()
