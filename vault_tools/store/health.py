"""Read an agent's database row by row without changing it, for the doctor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from vault_tools.core.health import AgentHealth
from vault_tools.core.memory import Memory, Status
from vault_tools.core.ports import EmbedderIdentity
from vault_tools.errors import RowDamaged, StoreError
from vault_tools.store.history import History
from vault_tools.store.identity import check_identity
from vault_tools.store.lance import LanceTable, kept_versions, newest_version, open_table
from vault_tools.store.rows import memory_of


def agent_health(
    base: Path,
    agent_id: str,
    identity: EmbedderIdentity | None,
    each: Callable[[Memory], None],
) -> AgentHealth:
    """Verify the hash of every row and compare table and history; intact rows go to `each`.

    Nothing is upgraded, caught up or locked: what another process writes meanwhile may show as
    `unrecorded`. With `identity` None the embedding model is not compared.
    """
    folder = base / agent_id
    health = AgentHealth(agent_id=agent_id, kept_versions=kept_versions(folder))
    refusals: list[StoreError] = []
    try:
        if identity is not None:
            check_identity(folder, identity)
    except StoreError as error:
        refusals.append(error)
    try:
        health = _with_rows(health, open_table(folder), each)
        health = _with_history(health, folder)
    except StoreError as error:
        refusals.append(error)
    return replace(health, refusals=tuple(refusals))


def _with_rows(
    health: AgentHealth, table: LanceTable, each: Callable[[Memory], None]
) -> AgentHealth:
    if not table.is_complete():
        return replace(health, is_older_form=True)
    ids = Counter(memory_id for memory_id, _, _ in table.seals())
    intact = set()
    for row in table.with_statuses(list(Status)):
        try:
            memory = memory_of(row, health.agent_id)
        except RowDamaged:
            continue
        intact.add(memory.id)
        each(memory)
    return replace(
        health,
        rows=ids.total(),
        # A row whose status is no status at all is not even found above.
        damaged=tuple(sorted(set(ids) - intact)),
        repeated=tuple(sorted(memory_id for memory_id, count in ids.items() if count > 1)),
        unrecorded=tuple(sorted(intact)),
    )


def _with_history(health: AgentHealth, folder: Path) -> AgentHealth:
    history = History(folder)
    if health.is_older_form:
        return health
    standing = {known for known, memory in history.latest().items() if memory is not None}
    present = {*health.unrecorded, *health.damaged}
    return replace(
        health,
        missing=tuple(sorted(standing - present)),
        unrecorded=tuple(sorted(set(health.unrecorded) - standing)),
        is_behind=newest_version(folder) < history.head().table_version,
    )
