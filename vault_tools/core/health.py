"""How one agent's database stands, as the doctor reads it."""

from __future__ import annotations

from dataclasses import dataclass

from vault_tools.errors import VaultToolsError


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentHealth:
    """What was found in one database: counts, and the ids of rows that are not as they should be.

    `missing` are in the history only, `unrecorded` in the table only; `is_behind` when the table is
    older than its history. `refusals` are the errors that kept a part from being read.
    """

    agent_id: str
    rows: int = 0
    damaged: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()
    is_behind: bool = False
    is_older_form: bool = False
    kept_versions: int = 0
    refusals: tuple[VaultToolsError, ...] = ()
