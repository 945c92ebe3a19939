"""What every proposal of one review has in common."""

from __future__ import annotations

from dataclasses import dataclass

from vault_tools.core.ports import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Workspace, moment and author of the proposals; `now` is UTC ms."""

    vault_id: str
    workspace_key: str
    agent_id: str
    proposed_by: str
    profile: str
    now: int
    redact: Redactor
    template_digest: str = ""
