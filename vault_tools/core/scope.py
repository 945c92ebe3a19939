"""Who may recall a memory, and what widening needs (spec 01, spec 02 §What apply checks)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """Who may recall a memory, narrowest first."""

    AGENT_PRIVATE = "agent_private"
    WORKSPACE_SHARED = "workspace_shared"
    GLOBAL_USER = "global_user"

    @property
    def width(self) -> int:
        """Rank the scope: 0 private, 1 workspace, 2 global."""
        return list(Scope).index(self)

    def widens_to(self, other: Scope) -> bool:
        """Tell whether `other` lets more readers in."""
        return other.width > self.width


@dataclass(frozen=True, slots=True)
class Viewer:
    """The acting agent, with the workspace and owner it acts for."""

    agent_id: str
    workspace_key: str
    owner_id: str


def may_recall(
    viewer: Viewer, *, scope: Scope, stored_by: str, workspace_key: str, owner_id: str
) -> bool:
    """Decide whether a row is visible to the acting agent (spec 07 rule 4)."""
    if stored_by == viewer.agent_id:
        return True
    if scope is Scope.WORKSPACE_SHARED:
        return bool(workspace_key) and workspace_key == viewer.workspace_key
    if scope is Scope.GLOBAL_USER:
        return bool(owner_id) and owner_id == viewer.owner_id
    return False
