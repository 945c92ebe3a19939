"""Propose to remember what a changed note states (spec 11 §What is proposed)."""

from __future__ import annotations

from dataclasses import dataclass

from vault_tools.core.citation import Citation
from vault_tools.core.item import (
    Effects,
    Evidence,
    Item,
    ItemType,
    Needs,
    Precondition,
    RowDraft,
    gist,
)
from vault_tools.core.memory import MAX_SOURCE, Category
from vault_tools.core.note import lines_of, split_front_matter
from vault_tools.core.risk import Risk
from vault_tools.core.scope import Scope
from vault_tools.core.trust import SourceRole, Trust
from vault_tools.core.visible import storable
from vault_tools.review.proposers.frame import Frame
from vault_tools.review.proposers.statements import (
    Statement,
    may_state,
    statements,
)
from vault_tools.vault.notes import Note, read_note

_PAST = frozenset({"superseded", "deprecated", "rejected", "überholt", "verworfen", "ersetzt"})
_IMPORTANCE = {Category.DECISION: 800, Category.PREFERENCE: 700, Category.FACT: 600}
_KIND = {
    Category.DECISION: "decision",
    Category.PREFERENCE: "preference",
    Category.FACT: "fact",
}


@dataclass(frozen=True, slots=True)
class NoteItems:
    """The proposals of one note, best first, and how many more it would have made."""

    items: tuple[Item, ...]
    left_out: int


def note_items(path: str, data: bytes, frame: Frame, *, most: int = 3) -> NoteItems:
    """Propose at most `most` memories from a note; the citation's hash covers these very bytes."""
    note = read_note(path, data)
    if not (may_state(note.text) and _wanted(note) and _is_text(path)):
        return NoteItems((), 0)
    # What is stored and sealed is text: bytes that are none become U+FFFD here and in the quote.
    text = frame.redact(data.decode("utf-8", errors="replace"))
    front = split_front_matter(text)
    lines = [text[line.start : line.end] for line in lines_of(text)]
    skipped = front.lines if front else 0
    found = statements(lines[skipped:], first_line=skipped + 1)
    ranked = sorted(found, key=lambda statement: (-statement.weight, statement.first_line))
    items = tuple(_item(path, note, statement, frame) for statement in ranked[:most])
    return NoteItems(items, max(0, len(ranked) - most))


def _is_text(path: str) -> bool:
    """Tell whether a path can be cited; a name that is not UTF-8 cannot."""
    return not any("\ud800" <= char <= "\udfff" for char in path)


def _wanted(note: Note) -> bool:
    """Honour the owner's `vault-tools: ignore`, and leave out what a note says is superseded."""
    if note.properties.get("vault-tools") == "ignore" or note.names("superseded-by"):
        return False
    return str(note.properties.get("status", "")).casefold() not in _PAST


def _source(citation: Citation) -> str:
    whole = str(citation)
    return whole if len(whole) <= MAX_SOURCE else citation.place()[:MAX_SOURCE]


def _place(name: str, heading: str, note: Note) -> str:
    below = f" under “{gist(heading)[1:-1]}”" if heading and heading != name else ""
    dates = (*note.names("date"), *note.names("created"))
    return f"in your note “{name}”{below}{f' of {dates[0][:10]}' if dates else ''}"


def _item(path: str, note: Note, statement: Statement, frame: Frame) -> Item:
    citation = Citation(path, statement.first_line, statement.last_line, note.sha256)
    words, _ = storable(statement.text)
    kind = _KIND[statement.category]
    name = path.rpartition("/")[2].removesuffix(".md")
    draft = RowDraft(
        text=words,
        category=statement.category,
        importance=_IMPORTANCE[statement.category],
        scope=Scope.AGENT_PRIVATE,
        trust=Trust.CANDIDATE,
        evidence=statement.quote,
        source=_source(citation),
        source_role=SourceRole.NOTE,
    )
    return Item(
        type=ItemType.NOTE_IMPORT_CANDIDATE,
        agent_id=frame.agent_id,
        workspace_key=frame.workspace_key,
        vault_id=frame.vault_id,
        target=f"note:{path}:{statement.first_line}-{statement.last_line}",
        title=f"Remember: {gist(words)}",
        shown=words,
        reason=f"It reads like a {kind} {_place(name, statement.heading, note)}, "
        "and no memory says it yet.",
        if_rejected="The note stays as it is, and agents do not learn this from it.",
        proposed_by=frame.proposed_by,
        profile=frame.profile,
        created_at=frame.now,
        effects=Effects(drafts=(draft,)),
        evidence=(Evidence(statement.quote, str(citation), SourceRole.NOTE),),
        preconditions=(Precondition(Needs.SOURCE_SHA256, path, note.sha256),),
        labelled=Risk.MEDIUM,
        scope_after=Scope.AGENT_PRIVATE,
        trust_after=Trust.CANDIDATE,
        template_digest=frame.template_digest,
        rank=statement.weight,
    )
