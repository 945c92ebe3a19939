"""Memories as lines for a terminal and as published JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vault_tools.cli.row_text import change_lines, moment, row_document
from vault_tools.core.citation import SourceState, parse_citation
from vault_tools.core.memory import Memory, Origin
from vault_tools.core.plain import to_plain
from vault_tools.core.visible import show_hidden

if TYPE_CHECKING:
    from vault_tools.core.ports import HistoryEntry
    from vault_tools.engine.forgetting import ForgetOutcome
    from vault_tools.engine.recall import Hit
    from vault_tools.engine.storing import StoreOutcome


def memory_line(row: Memory) -> str:
    """Show a row in one line."""
    text = " ".join(show_hidden(row.summary or row.text).split())
    shown = text if len(text) <= 100 else f"{text[:99]}…"
    state = "" if row.status.value == "active" else f", {row.status.value}"
    return f"{row.id}  [{row.category.value}] {shown} ({row.trust.value}, {row.scope.value}{state})"


def hit_document(
    hit: Hit, state: SourceState | None, *, full_text: bool, explain: bool
) -> dict[str, Any]:
    """Shape a hit as its published JSON object."""
    row = hit.memory
    document: dict[str, Any] = {
        "id": row.id,
        "category": row.category.value,
        "origin": row.origin.value,
        "summary": row.summary or row.text,
        "score": round(hit.score, 4),
        "scope": row.scope.value,
        "trust": row.trust.value,
        "storedBy": row.stored_by,
        "createdAt": row.created_at,
        "expiresAt": row.expires_at,
    }
    if full_text:
        document["text"] = row.text
    if row.source:
        document["source"] = _source(row.source, state)
    if explain:
        document["breakdown"] = to_plain(hit.parts)
    return document


def _source(source: str, state: SourceState | None) -> dict[str, Any]:
    citation = parse_citation(source)
    known = (state or SourceState.UNCHECKED).value
    if citation is None:
        return {"url": source, "state": known}
    return {
        "path": citation.path,
        "lines": [citation.start, citation.end],
        "sha256": citation.sha256 or None,
        "state": known,
    }


def hit_lines(hit: Hit, state: SourceState | None, *, full_text: bool, explain: bool) -> list[str]:
    """Show a hit as the line of the seed, its source below."""
    row = hit.memory
    origin = "" if row.origin is Origin.DM else f"|{row.origin.value}"
    text = show_hidden(row.text if full_text else row.summary or row.text)
    lines = [f"[{row.category.value}{origin}] {text} (score: {hit.score:.2f}, ID: {row.id})"]
    citation = parse_citation(row.source)
    if citation:
        lines.append(f"    from {citation.place()} ({(state or SourceState.UNCHECKED).value})")
    elif row.source:
        lines.append(f"    from {show_hidden(row.source)}")
    if explain:
        parts = to_plain(hit.parts).items()
        lines.append("    " + ", ".join(f"{name} {_number(value)}" for name, value in parts))
    return lines


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def signals_document(signals: Sequence[str]) -> dict[str, Any]:
    """Shape what a caller has to know about how hits were found."""
    document: dict[str, Any] = {"reranker": "disabled"}
    if signals:
        document |= {"degraded": True, "reason": ", ".join(signals)}
    return document


def stored_document(
    outcome: StoreOutcome, proposed: Sequence[str], *, dry_run: bool
) -> dict[str, Any]:
    """Shape a store as its published JSON object; a dry run has no id and adds the text."""
    row = outcome.memory
    stored = outcome.action.value == "stored"
    document: dict[str, Any] = {
        "action": outcome.action.value,
        "id": None if dry_run and stored else row.id,
        "summary": row.summary,
        "category": row.category.value,
        "redacted": outcome.redacted,
        "removedCharacters": outcome.removed_characters,
        "dryRun": dry_run,
    }
    if dry_run:
        document["text"] = row.text
    if outcome.action.value == "rejected_duplicate":
        document["duplicateOf"] = row.id
    if proposed:
        document["proposed"] = list(proposed)
    return document


def stored_lines(outcome: StoreOutcome, proposed: Sequence[str], *, dry_run: bool) -> list[str]:
    """Say what became of a store."""
    row = outcome.memory
    kind = f"[{row.category.value}|{row.origin.value}]"
    lines = {
        "stored": [f"Stored {kind}: {row.summary} ({row.id})"],
        "rejected_duplicate": [f"Known already: {row.summary} ({row.id})"],
        "tombstoned": [f"Not stored: the same text was tombstoned as {row.id}"],
    }[outcome.action.value]
    if dry_run and outcome.action.value == "stored":
        lines = [f"Would store {kind}:", *row.text.split("\n")]
    if outcome.redacted:
        lines.append("A secret in it was masked.")
    if outcome.removed_characters:
        lines.append(f"{outcome.removed_characters} control characters were removed.")
    if proposed:
        lines.append(f"The wider scope waits for the reviewer: {', '.join(proposed)}")
    return lines


def forgotten_document(
    outcome: ForgetOutcome, proposed: str | None, *, dry_run: bool
) -> dict[str, Any]:
    """Shape a forget as its published JSON object."""
    document: dict[str, Any] = {
        "action": outcome.action.value,
        "ids": [outcome.memory.id] if outcome.memory else [],
        "dryRun": dry_run,
    }
    if outcome.candidates:
        document["candidates"] = [
            {"id": hit.memory.id, "summary": hit.memory.summary, "score": round(hit.score, 4)}
            for hit in outcome.candidates
        ]
    if proposed:
        document["proposed"] = [proposed]
    return document


def forgotten_lines(outcome: ForgetOutcome, proposed: str | None, *, dry_run: bool) -> list[str]:
    """Say what became of a forget."""
    did = "Would forget" if dry_run else "Forgotten"
    if outcome.action.value == "not_found":
        return ["No matching memory found."]
    if outcome.action.value == "ambiguous":
        lines = ["More than one memory could be meant; forget one by its id:"]
        return lines + [f"  {memory_line(hit.memory)}" for hit in outcome.candidates]
    assert outcome.memory is not None
    if outcome.action.value == "needs_approval":
        waits = f" It waits for the reviewer as {proposed}." if proposed else ""
        return [f"{outcome.memory.id} is shared or trusted: a person decides.{waits}"]
    return [f"{did}: {memory_line(outcome.memory)}"]


def history_document(entry: HistoryEntry) -> dict[str, Any]:
    """Shape one change of a row."""
    return {
        "sequence": entry.sequence,
        "at": entry.at,
        "operation": entry.operation.value,
        "memoryId": entry.memory_id,
        "reason": entry.reason,
        "beforeHash": entry.before_hash or None,
        "after": row_document(entry.after) if entry.after else None,
    }


def history_lines(entries: Sequence[HistoryEntry]) -> list[str]:
    """Show the changes of a row, one line each, with what changed."""
    lines = []
    before: Memory | None = None
    for entry in entries:
        changed = change_lines(before, entry.after) if before else []
        told = f" ({'; '.join(changed)})" if changed else ""
        lines.append(f"{moment(entry.at)}  {entry.operation.value}  {entry.reason}{told}")
        before = entry.after
    return lines
