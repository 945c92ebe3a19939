"""`vault-tools memory …`: store, recall, forget and inspect memories."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from vault_tools.cli.options import Group, Run, dry_run, pass_run
from vault_tools.core.memory import is_memory_id
from vault_tools.errors import DONE, ERROR, NEEDS_HUMAN, ConfigError, InvalidInput, MemoryNotFound

if TYPE_CHECKING:
    from vault_tools.agent.memory import AgentMemory
    from vault_tools.core.memory import Memory
    from vault_tools.engine.recall import Hit
    from vault_tools.engine.storing import StoreOutcome, StoreRequest
    from vault_tools.workspace import Workspace


class _Share(click.FloatRange):
    """A number from 0 to 1; `nan` is smaller and greater than nothing and passes a plain range."""

    name = "number"

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail("nan is not a number from 0 to 1", param, ctx)
        return number


_CATEGORIES = ["preference", "fact", "decision", "entity", "other"]
_STDIN = "-"


@click.group(cls=Group)
def memory() -> None:
    """Store, recall, forget and inspect memories.

    \b
    For example:
      vault-tools memory store "The kiln is serviced every March"
      vault-tools memory recall "when is the kiln serviced?"
    """


def _text_of(argument: str) -> str:
    # What is not UTF-8 on the command line comes in as lone surrogates; so it goes back to bytes.
    data = os.fsencode(argument) if argument != _STDIN else sys.stdin.buffer.read()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the text is not UTF-8: {error}", "Convert it first.") from error


@memory.command()
@click.argument("text")
@click.option("--category", type=click.Choice(_CATEGORIES), help="Default: found by rules.")
@click.option("--importance", type=_Share(), default=0.5, show_default=True)
@click.option("--ttl", type=click.Choice(["session", "short"]), help="1 or 14 days; default ever.")
@click.option(
    "--scope",
    type=click.Choice(["agent_private", "workspace_shared", "global_user"]),
    default="agent_private",
    help="A wider scope is proposed to the reviewer.",
)
@click.option("--origin", type=click.Choice(["dm", "group", "cron", "internal"]), default="dm")
@click.option("--source-url", default="", help="Where it comes from.")
@click.option("--evidence-quote", default="", help="The words it rests on, at most 200 characters.")
@click.option("--role", type=click.Choice(["user", "assistant", "tool"]), help="Who said it.")
@dry_run
@pass_run
def store(run: Run, text: str, dry_run: bool, **given: Any) -> None:
    """Store a memory for the acting agent: private and untrusted until reviewed.

    TEXT may be `-` to read standard input.

    \b
    Example:
      vault-tools memory store "We fire the kiln on Thursdays" --category decision
    """
    from vault_tools.cli.memory_text import stored_document, stored_lines

    workspace = run.open()
    _repair(run, workspace)
    outcome = _acting(workspace).remember(_request(_text_of(text), given), dry_run=dry_run)
    proposed = [] if dry_run else _propose(run, workspace, outcome)
    run.output.result(
        stored_document(outcome, proposed, dry_run=dry_run),
        *stored_lines(outcome, proposed, dry_run=dry_run),
    )


def _acting(workspace: Workspace) -> AgentMemory:
    from vault_tools.agent.memory import AgentMemory

    return AgentMemory(workspace)


def _propose(run: Run, workspace: Workspace, outcome: StoreOutcome) -> list[str]:
    try:
        return _acting(workspace).propose_scope(outcome)
    except ConfigError as off:
        # The memory is stored; an error would make an agent store it again.
        run.output.warn(f"It stays private, there is nobody to ask: {off.message}. {off.hint}")
        return []


def _request(text: str, given: dict[str, Any]) -> StoreRequest:
    from vault_tools.core.memory import Category, Origin, Ttl
    from vault_tools.core.scope import Scope
    from vault_tools.core.trust import SourceRole
    from vault_tools.engine.storing import StoreRequest

    return StoreRequest(
        text=text,
        category=Category(given["category"]) if given["category"] else None,
        importance=round(given["importance"] * 1000),
        origin=Origin(given["origin"]),
        ttl=Ttl(given["ttl"]) if given["ttl"] else None,
        scope=Scope(given["scope"]),
        evidence=given["evidence_quote"],
        source=given["source_url"],
        source_role=SourceRole(given["role"] or ""),
    )


@memory.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True)
@click.option("--full-text", is_flag=True, help="The whole text instead of the summary.")
@click.option("--min-score", type=_Share(), help="Default: recall_min_score.")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@pass_run
def recall(
    run: Run, query: str, limit: int, full_text: bool, min_score: float | None, explain: bool
) -> None:
    """Find the memories that answer a question.

    QUERY may be `-` to read standard input, or a memory's id.

    \b
    Example:
      vault-tools memory recall "when do we fire the kiln?"
    """
    from vault_tools.cli.memory_text import hit_document, hit_lines, signals_document

    asked = _text_of(query)
    workspace = run.open()
    _repair(run, workspace)
    found = _acting(workspace).recall(asked, limit=limit, min_score=min_score, explain=explain)
    acting = _acting(workspace)
    states = {hit.memory.id: acting.source_state(hit.memory) for hit in found.hits}

    def document(hit: Hit) -> dict[str, Any]:
        return hit_document(hit, states[hit.memory.id], full_text=full_text, explain=explain)

    lines = [
        line
        for hit in found.hits
        for line in hit_lines(hit, states[hit.memory.id], full_text=full_text, explain=explain)
    ]
    for signal in found.signals:
        run.output.warn(f"Note: {signal}")
    run.output.result(
        {
            "query": asked,
            "hits": [document(hit) for hit in found.hits],
            "signals": signals_document(found.signals),
        },
        *(lines or ["No relevant memories found."]),
    )


@memory.command()
@click.argument("memory_id", required=False)
@click.option("--query", help="Forget the one memory that a query clearly means.")
@dry_run
@pass_run
def forget(run: Run, memory_id: str | None, query: str | None, dry_run: bool) -> int:
    """Archive a memory of the acting agent; what is shared or trusted is proposed instead.

    \b
    Example:
      vault-tools memory forget --query "the old kiln regulator"
    """
    from vault_tools.cli.memory_text import forgotten_document, forgotten_lines

    if bool(memory_id) == bool(query):
        raise InvalidInput(
            "give either an id or --query", "See `vault-tools memory forget --help`."
        )
    if memory_id and not is_memory_id(memory_id.strip().lower()):
        raise InvalidInput(
            f"{memory_id[:80]!r} is not the id of a memory",
            "`vault-tools memory list` shows the ids; --query forgets by meaning.",
        )
    workspace = run.open()
    _repair(run, workspace)
    outcome = _acting(workspace).forget(memory_id or query or "", dry_run=dry_run)
    proposed = None if dry_run else _acting(workspace).propose_tombstone(outcome)
    document = forgotten_document(outcome, proposed, dry_run=dry_run)
    run.output.result(document, *forgotten_lines(outcome, proposed, dry_run=dry_run))
    return {"ambiguous": NEEDS_HUMAN, "not_found": ERROR}.get(outcome.action.value, DONE)


@memory.command("list")
@click.option("--all-agents", is_flag=True, help="Every agent; wants a terminal.")
@click.option("--all-states", is_flag=True, help="Also archived, superseded and tombstoned.")
@pass_run
def list_memories(run: Run, all_agents: bool, all_states: bool) -> None:
    """List the memories that the acting agent stored.

    \b
    Example:
      vault-tools memory list --agent scout
    """
    from vault_tools.cli.memory_text import memory_line
    from vault_tools.cli.row_text import row_document

    workspace = run.open()
    _repair(run, workspace)
    if all_agents and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput(
            "--all-agents wants a person at a terminal", "List one agent with --agent ID."
        )
    agents = workspace.agents() if all_agents else [workspace.settings.agent]
    rows = [row for agent in agents for row in workspace.own_rows(agent, all_states=all_states)]
    damaged = workspace.store.damaged
    if damaged:
        run.output.warn(f"{damaged} damaged rows are left out. Run `vault-tools doctor`.")
    run.output.result(
        {"memories": [row_document(row) for row in rows], "damaged": damaged},
        *(memory_line(row) for row in rows),
        *(() if rows else ["No memories yet."]),
    )


@memory.command()
@click.argument("memory_id")
@pass_run
def show(run: Run, memory_id: str) -> None:
    """Show one memory with every field.

    \b
    Example:
      vault-tools memory show 0f6e9c1a-58d1-4c0b-9f0e-2f4d1f7a3b11
    """
    from vault_tools.cli.row_text import row_document, row_lines

    workspace = run.open()
    _repair(run, workspace)
    row = _row(workspace, memory_id)
    run.output.result({"memories": [row_document(row)]}, *row_lines(row))


@memory.command()
@click.argument("memory_id")
@pass_run
def history(run: Run, memory_id: str) -> None:
    """Show every committed change of a memory, oldest first.

    \b
    Example:
      vault-tools memory history 0f6e9c1a-58d1-4c0b-9f0e-2f4d1f7a3b11
    """
    from vault_tools.cli.memory_text import history_document, history_lines

    workspace = run.open()
    _repair(run, workspace)
    entries = workspace.store.history(workspace.settings.viewer, _row(workspace, memory_id).id)
    run.output.result(
        {"memories": [history_document(entry) for entry in entries]}, *history_lines(entries)
    )


def _row(workspace: Workspace, memory_id: str) -> Memory:
    row = workspace.store.find(workspace.settings.viewer, memory_id.strip().lower())
    if row is None:
        raise MemoryNotFound(
            f"there is no memory {memory_id} for the agent {workspace.settings.agent}",
            "`vault-tools memory list` shows its memories; --agent names another agent.",
        )
    return row


def _repair(run: Run, workspace: Workspace) -> None:
    for message in workspace.repair():
        run.output.warn(message)
