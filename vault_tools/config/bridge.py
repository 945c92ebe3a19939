"""The section of the vault bridge: review and reports (spec 08)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from vault_tools.config import checks
from vault_tools.config.keys import Key


class Pass(StrEnum):
    """How thorough a maintenance or adversarial pass is."""

    LIGHT = "light"
    DEEP = "deep"


class Profile(StrEnum):
    """How cautious the review of an agent's proposals is; effects, never rights."""

    STANDARD = "standard"
    CONSERVATIVE = "conservative"
    ADVERSARIAL = "adversarial"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """`[obsidian_bridge.agents]`: whom the review covers."""

    include: Annotated[tuple[str, ...], Key(comment='Agents in the review; "*" is all')] = ("*",)
    equal_capabilities: Annotated[
        bool,
        Key(
            comment="Always true",
            fixed="Profiles change how proposals are judged, never what an agent may do.",
        ),
    ] = True
    default_profiles: Annotated[
        Mapping[str, Profile],
        Key(
            comment="AGENT = standard, conservative, adversarial or maintenance",
            check=checks.agent_keys,
        ),
    ] = field(default_factory=lambda: MappingProxyType({"main": Profile.STANDARD}))


@dataclass(frozen=True, slots=True, kw_only=True)
class MorningReview:
    """`[obsidian_bridge.morning_review]`: the schedule; the command itself always works."""

    enabled: Annotated[bool, Key(comment="Whether the schedule is meant to run")] = False
    cron: Annotated[str, Key(comment="minute hour day month weekday", check=checks.cron)] = (
        "0 9 * * *"
    )
    timezone: Annotated[
        str | None,
        Key(
            comment="IANA name; unset: the system's",
            check=checks.time_zone,
            example="Europe/Zurich",
        ),
    ] = None
    delivery: Annotated[
        str,
        Key(comment="OpenClaw: announce or none", check=checks.one_of("announce", "none")),
    ] = "announce"
    session: Annotated[
        str, Key(comment="OpenClaw: isolated or main", check=checks.one_of("isolated", "main"))
    ] = "isolated"
    write_review_bundle: Annotated[
        bool, Key(comment="false: the morning run reports only, and writes no bundle")
    ] = True
    apply_mode: Annotated[
        str, Key(comment="Always manual", fixed="A morning run proposes; applying is a command.")
    ] = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """`[obsidian_bridge.maintenance]`."""

    daily: Annotated[Pass, Key(comment="light or deep")] = Pass.LIGHT
    weekly: Annotated[Pass, Key(comment="light or deep")] = Pass.DEEP


@dataclass(frozen=True, slots=True, kw_only=True)
class Adversarial:
    """`[obsidian_bridge.adversarial]`."""

    daily: Annotated[Pass, Key(comment="light or deep")] = Pass.LIGHT
    weekly: Annotated[Pass, Key(comment="light or deep")] = Pass.DEEP


@dataclass(frozen=True, slots=True, kw_only=True)
class DashboardLayer:
    """`[obsidian_bridge.dashboard_layer]`: a part that is off is not written."""

    enabled: Annotated[bool, Key(comment="The whole layer")] = True
    records: Annotated[bool, Key(comment="One note per record")] = True
    markdown_dashboards: Annotated[bool, Key(comment="Overviews in plain Markdown")] = True
    bases: Annotated[bool, Key(comment="Obsidian Bases files")] = False
    dataview: Annotated[bool, Key(comment="Queries for the Dataview plugin")] = False
    tasks: Annotated[bool, Key(comment="Lines for the Tasks plugin")] = False
    auto_link_suggestions: Annotated[bool, Key(comment="Suggest links; notes stay unedited")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticGraph:
    """`[obsidian_bridge.semantic_graph]`."""

    enabled: Annotated[bool, Key(comment="Look for contradictions, duplicates and links")] = True
    proposal_only: Annotated[
        bool, Key(comment="Always true", fixed="An analysis proposes; only apply changes memory.")
    ] = True
    mutate_memory: Annotated[
        bool, Key(comment="Always false", fixed="An analysis proposes; only apply changes memory.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObsidianBridge:
    """`[obsidian_bridge]`: review and reports in the vault."""

    enabled: Annotated[bool, Key(comment="`vault-tools init` switches this on")] = False
    mode: Annotated[
        str, Key(comment="Always augment", fixed="The bridge adds to the vault, nothing else.")
    ] = "augment"
    vault_path: Annotated[
        Path | None, Key(comment="The vault that `init` was run in", example="~/Notes")
    ] = None
    workspace_root: Annotated[
        Path | None,
        Key(
            comment="Folder with memory/ and SOUL.MD; unset: the vault",
            example="~/.openclaw/workspace",
        ),
    ] = None
    review_root: Annotated[
        str, Key(comment="The one folder of the vault we write to", check=checks.vault_folder)
    ] = "00-system/plur1bus"
    require_user_approval: Annotated[
        bool, Key(comment="Always true", fixed="Nothing is trusted without a person's approval.")
    ] = True
    apply_approved_only: Annotated[
        bool, Key(comment="Always true", fixed="Apply writes exactly what was approved.")
    ] = True
    write_managed_blocks: Annotated[
        bool, Key(comment="false: only whole generated files, no blocks in other notes")
    ] = True
    allow_write: Annotated[bool, Key(comment="false: nothing is written in the vault")] = True
    allow_dot_obsidian_write: Annotated[
        bool, Key(comment="true: .obsidian may be written as well")
    ] = False
    in_place_writes: Annotated[
        bool, Key(comment="true: write into files, not replace them (hard links, OneDrive)")
    ] = False
    source_of_truth: Annotated[
        str, Key(comment="Always the engine", fixed="The vault holds views, never the memory.")
    ] = "plur1bus-lancedb"
    recall_authority: Annotated[
        str, Key(comment="Always the engine", fixed="Recall answers from the engine alone.")
    ] = "lancedb-reranked-vector"
    capability_pack: Annotated[
        str, Key(comment="Always full", fixed="There is one set of commands for every agent.")
    ] = "full"
    agents: Annotated[Agents, Key(comment="Whom the review covers")] = Agents()
    morning_review: Annotated[MorningReview, Key(comment="The schedule")] = MorningReview()
    maintenance: Annotated[Maintenance, Key(comment="How thorough upkeep is")] = Maintenance()
    adversarial: Annotated[Adversarial, Key(comment="How hard items are attacked")] = Adversarial()
    dashboard_layer: Annotated[DashboardLayer, Key(comment="What is generated")] = DashboardLayer()
    semantic_graph: Annotated[SemanticGraph, Key(comment="The analyses")] = SemanticGraph()
