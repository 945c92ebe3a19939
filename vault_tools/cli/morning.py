"""Run the steps of a preparation with a progress display."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vault_tools.cli.output import Output
from vault_tools.core.bundle import Profile
from vault_tools.core.memory import is_agent_id
from vault_tools.review.prepare import Prepared, Request, StepName, prepare
from vault_tools.workspace import Workspace

_SPOKEN = {
    StepName.SNAPSHOT_LOCK: "Taking a snapshot of the engine",
    StepName.MAINTENANCE_LIGHT: "Looking after earlier bundles",
    StepName.COLLECT_CHANGES: "Looking for changed notes",
    StepName.GENERATE: "Reading what changed",
    StepName.ADVERSARIAL_LIGHT: "Attacking each proposal",
    StepName.RISK_CLASSIFICATION: "Rating the risk",
    StepName.DEDUPLICATION: "Leaving out what is known",
    StepName.WRITE_BUNDLE: "Writing the bundle",
    StepName.NOTIFY: "Telling you",
    StepName.AWAIT: "Waiting for your approval",
}


def prepare_bundle(
    workspace: Workspace, output: Output, profiles: tuple[str, ...], *, dry_run: bool = False
) -> Prepared:
    """Prepare a bundle under the review lock, showing each step as it runs."""
    config = workspace.settings.config
    chosen = tuple(Profile(name) for name in profiles) or (_default_profile(workspace),)
    with workspace.review_lock() as left_behind, _progress(output) as announce:
        request = Request(
            agent_id=workspace.settings.agent,
            profiles=chosen,
            zone=workspace.settings.timezone,
            max_items=config.review.max_items,
            per_note=config.notes.max_candidates_per_note,
            expires_after_days=config.review.expires_after_days,
            scan=workspace.scan,
            load_manifest=workspace.load_manifest,
            save_manifest=workspace.save_manifest,
            find_in_rows=workspace.find_in_rows,
            taken_over=str(left_behind) if left_behind else "",
        )
        return prepare(
            workspace.world, workspace.publisher, request, announce=announce, dry_run=dry_run
        )


def _default_profile(workspace: Workspace) -> Profile:
    agents = workspace.settings.config.obsidian_bridge.agents
    assert is_agent_id(workspace.settings.agent)
    configured = agents.default_profiles.get(workspace.settings.agent)
    return Profile(configured.value) if configured else Profile.STANDARD


@contextmanager
def _progress(output: Output) -> Iterator[Any]:
    if output.as_json or output.quiet or not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("Starting") as status:
        yield lambda step: status.update(_SPOKEN[step])
