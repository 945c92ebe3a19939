"""The engine: every agent's database opened, every row verified, secrets counted by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from vault_tools.core.health import AgentHealth
from vault_tools.core.memory import Memory
from vault_tools.errors import ModelMismatch
from vault_tools.redaction.redactor import report
from vault_tools.reports.checkup.finding import Sheet, names

MANY_VERSIONS = 1_000

Examine = Callable[[str, Callable[[Memory], None]], AgentHealth]


def check_engine(sheet: Sheet, agents: Iterable[str], examine: Examine) -> None:
    """Look at the database of each agent."""
    sheet.checks["engine"] = {}
    for agent in agents:
        secrets: Counter[str] = Counter()
        health = examine(agent, _counting(secrets))
        sheet.checks["engine"][agent] = {
            "rows": health.rows,
            "damaged": len(health.damaged),
            "versions": health.kept_versions,
            "secrets": dict(sorted(secrets.items())),
        }
        _tell_refusals(sheet, health)
        _tell_rows(sheet, health)
        _tell_history(sheet, health)
        _tell_secrets(sheet, agent, secrets)


def _counting(secrets: Counter[str]) -> Callable[[Memory], None]:
    def count(memory: Memory) -> None:
        # What was redacted when it was stored carries marks and reports nothing.
        for kind, found in report("\n".join((memory.text, memory.summary, memory.evidence))):
            secrets[kind] += found

    return count


def _tell_refusals(sheet: Sheet, health: AgentHealth) -> None:
    for error in health.refusals:
        is_model = isinstance(error, ModelMismatch)
        sheet.refused("model_mismatch" if is_model else "engine_refused", error)


def _tell_rows(sheet: Sheet, health: AgentHealth) -> None:
    agent = health.agent_id
    if health.damaged:
        sheet.error(
            "row_damaged",
            f"{len(health.damaged)} memories of {agent} do not match their hash and are never "
            f"recalled: {names(health.damaged)}",
            f"`vault-tools memory history ID --agent {agent}` shows what they were; restore them "
            "from a backup.",
        )
    if health.repeated:
        sheet.error(
            "row_repeated",
            f"{len(health.repeated)} memories of {agent} stand more than once: "
            f"{names(health.repeated)}",
            "Restore the database of this agent from a backup.",
        )
    if health.is_older_form:
        sheet.inform(
            "older_form",
            f"the database of {agent} has an older form; its rows were not verified",
            f"`vault-tools memory list --agent {agent}` brings it up to date.",
        )
    if health.kept_versions > MANY_VERSIONS:
        sheet.warn(
            "compaction_failing",
            f"the database of {agent} keeps {health.kept_versions} former versions: its "
            "compaction fails or is put off",
            "Free some disk space and store another memory; compaction follows by itself.",
        )


def _tell_history(sheet: Sheet, health: AgentHealth) -> None:
    agent = health.agent_id
    if health.is_behind or health.missing:
        sheet.error(
            "rows_lost",
            f"the history of {agent} knows {len(health.missing)} memories that its database "
            f"lacks: {names(health.missing) or 'it lost its last commits'}",
            "Restore the database from a backup; the history beside it has every text.",
        )
    elif health.unrecorded:
        sheet.inform(
            "history_behind",
            f"{len(health.unrecorded)} memories of {agent} are not in its history yet",
            "The next store of this agent records them.",
        )


def _tell_secrets(sheet: Sheet, agent: str, secrets: Counter[str]) -> None:
    if secrets:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(secrets.items()))
        sheet.warn(
            "secret_stored",
            f"memories of {agent} hold what looks like secrets: {kinds}",
            f"Find them with `vault-tools memory list --agent {agent}`, forget them, and change "
            "the secrets.",
        )
