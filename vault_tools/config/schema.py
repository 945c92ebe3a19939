"""Every published configuration key with its default, as frozen sections (spec 08).

The comment of a key is what `config init` writes above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from vault_tools.config import checks
from vault_tools.config.bridge import ObsidianBridge
from vault_tools.config.cited import Citations
from vault_tools.config.engine import (
    Chat,
    Embedding,
    Gc,
    Merging,
    Recall,
    Reranker,
    empty_table,
)
from vault_tools.config.keys import Key

RECORD_COLLECTIONS = (
    "memory_candidate",
    "review_item",
    "conflict",
    "stale_decision",
    "task",
    "decision",
    "project",
    "agent",
    "source",
    "provenance",
    "semantic_conflict",
    "duplicate_candidate",
    "impact_analysis",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """`[review]`: how proposals are decided."""

    allow_headless: Annotated[
        bool, Key(comment="true: decide without a terminal, with --approver NAME")
    ] = False
    expires_after_days: Annotated[int, Key(comment="Life of a bundle", low=1, high=365)] = 7
    max_items: Annotated[int, Key(comment="Items of one bundle at most", low=1, high=200)] = 40
    stale_after_days: Annotated[
        int, Key(comment="A decision this old is asked about again", low=1, high=3650)
    ] = 45
    notify_command: Annotated[
        tuple[str, ...],
        Key(comment="Program and arguments, run when a bundle waits", secret=True),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """`[notes]`: which human notes are read."""

    exclude: Annotated[tuple[str, ...], Key(comment='Globs such as "Private/**"')] = ()
    max_candidates_per_note: Annotated[
        int, Key(comment="Proposals from one note at most", low=0, high=40)
    ] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """`[records]`: which engine objects get a note."""

    collections: Annotated[
        tuple[str, ...],
        Key(
            comment="Collections shown in full besides the default selection",
            check=checks.one_of(*RECORD_COLLECTIONS),
        ),
    ] = ()
    max_notes: Annotated[int, Key(comment="Record notes at most", low=0, high=100_000)] = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """`[templates]`."""

    override_dir: Annotated[
        Path | None, Key(comment="Your templates, outside the vault", example="~/vault-templates")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redact:
    """`[redact]`."""

    gitleaks_toml: Annotated[
        Path | None, Key(comment="Further rules (extra: re2)", example="~/gitleaks.toml")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole configuration; engine keys stand at the top.

    `base_db_path` is an object-store address or, once loaded, an absolute folder. Strings may still
    hold `${VAR}`: providers resolve them on first use.
    """

    workspace_key: Annotated[
        str, Key(comment="Name of the workspace in scopes and ids", check=checks.agent_id)
    ] = "main"
    owner_id: Annotated[
        str | None, Key(comment="Owner of global memories; unset: the user's name", example="ada")
    ] = None
    base_db_path: Annotated[
        str,
        Key(
            comment="Engine folder (relative: in the home) or s3://, gs://, az://, db://",
            check=checks.store_location,
        ),
    ] = "memory"
    auto_recall: Annotated[bool, Key(comment="Put memories before each prompt")] = True
    auto_capture: Annotated[bool, Key(comment="Store what a turn states")] = True
    capture_max_chars: Annotated[
        int, Key(comment="Longest captured message", low=1, high=32_768)
    ] = 5000
    recall_min_score: Annotated[float, Key(comment="Lowest score of recall", low=0, high=1)] = 0.15
    auto_recall_min_score: Annotated[
        float, Key(comment="Lowest score before a prompt", low=0, high=1)
    ] = 0.2
    duplicate_threshold: Annotated[
        float, Key(comment="From here a text may be a duplicate", low=0, high=1)
    ] = 0.95
    forget_threshold: Annotated[
        float, Key(comment="Lowest score of forgetting by query", low=0, high=1)
    ] = 0.3
    summary_max_words: Annotated[int, Key(comment="Longest summary", low=1, high=1000)] = 150
    storage_options: Annotated[
        Mapping[str, str], Key(comment="For object stores, NAME = VALUE", secret=True)
    ] = field(default_factory=empty_table)
    embedding: Annotated[Embedding, Key(comment="Vectors")] = field(default_factory=Embedding)
    chat: Annotated[Chat, Key(comment="Optional model for summaries and merges")] = field(
        default_factory=Chat
    )
    merging: Annotated[Merging, Key(comment="Near memories")] = field(default_factory=Merging)
    reranker: Annotated[Reranker, Key(comment="The last sort of a recall")] = field(
        default_factory=Reranker
    )
    gc: Annotated[Gc, Key(comment="Expired memories")] = field(default_factory=Gc)
    recall: Annotated[Recall, Key(comment="What one recall gives")] = field(default_factory=Recall)
    obsidian_bridge: Annotated[ObsidianBridge, Key(comment="Review and reports in the vault")] = (
        field(default_factory=ObsidianBridge)
    )
    citations: Annotated[Citations, Key(comment="Cited retrieval")] = field(
        default_factory=Citations
    )
    review: Annotated[Review, Key(comment="How proposals are decided")] = Review()
    notes: Annotated[Notes, Key(comment="Which human notes are read")] = Notes()
    records: Annotated[Records, Key(comment="Which engine objects get a note")] = Records()
    templates: Annotated[Templates, Key(comment="Your own templates")] = Templates()
    redact: Annotated[Redact, Key(comment="Redaction of secrets")] = Redact()
