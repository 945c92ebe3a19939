"""An item in words: everything its block in the bundle note shows (spec 02 §Bundle)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from vault_tools.core.bundle import StandingItem
from vault_tools.core.citation import Citation, parse_citation
from vault_tools.core.digest import short
from vault_tools.core.item import (
    BlockDraft,
    Evidence,
    Item,
    ItemState,
    ItemType,
    Needs,
    Precondition,
    RowChange,
    RowDraft,
    Verdict,
    may_become,
)
from vault_tools.core.plain import to_plain
from vault_tools.core.risk import Risk
from vault_tools.core.scope import Scope
from vault_tools.core.trust import SourceRole, Trust
from vault_tools.render.contexts import (
    BundleItemContext,
    Command,
    Difference,
    Proof,
    SummaryRow,
    Text,
)
from vault_tools.render.filters import is_linkable, json_text
from vault_tools.review.apply import flags_needed

IsNote = Callable[[str], bool]

KINDS = {
    ItemType.MEMORY_PROMOTION: "Promote memory",
    ItemType.MEMORY_DEMOTION: "Demote memory",
    ItemType.TOMBSTONE: "Tombstone memory",
    ItemType.KNOWLEDGE_UPDATE: "Update KNOWLEDGE.md",
    ItemType.CONFLICT_RESOLUTION: "Resolve conflict",
    ItemType.MEMORY_MERGE: "Merge memories",
    ItemType.VAULT_HYGIENE: "Tidy vault",
    ItemType.PROJECT_HUB_UPDATE: "Update project hub",
    ItemType.TASK_SUGGESTION: "Suggest task",
    ItemType.STALE_REVIEW: "Review stale memory",
    ItemType.NOTE_IMPORT_CANDIDATE: "Import from note",
}

STATES = {
    ItemState.PENDING: "waiting",
    ItemState.APPROVED: "approved",
    ItemState.REJECTED: "rejected",
    ItemState.SNOOZED: "snoozed",
    ItemState.APPLIED: "applied",
    ItemState.STALE: "stale",
    ItemState.BLOCKED: "blocked",
    ItemState.INVALID: "invalid",
    ItemState.UNDONE: "undone",
    ItemState.EXPIRED: "expired",
}

VERDICTS = {
    Verdict.PASS: "nothing found",
    Verdict.WARNING: "warning",
    Verdict.NEEDS_FLAG: "needs flag",
    Verdict.BLOCK: "blocked",
}

METERS = {Risk.LOW: "●○○○", Risk.MEDIUM: "●●○○", Risk.HIGH: "●●●○", Risk.CRITICAL: "●●●●"}
_CALLOUTS = {
    Risk.LOW: "tip",
    Risk.MEDIUM: "info",
    Risk.HIGH: "warning",
    Risk.CRITICAL: "danger",
}

_READERS = {
    Scope.AGENT_PRIVATE: "only this agent recalls it",
    Scope.WORKSPACE_SHARED: "every agent of this workspace recalls it",
    Scope.GLOBAL_USER: "every agent of this owner recalls it",
}

_SPEAKERS = {
    SourceRole.USER: "You said",
    SourceRole.ASSISTANT: "Only an assistant said",
    SourceRole.TOOL: "A tool reported",
    SourceRole.NOTE: "A note says",
    SourceRole.NONE: "Nobody is named for",
}

_OPEN = frozenset({ItemState.PENDING, ItemState.STALE})


def item_context(
    standing: StandingItem, bundle_id: str, not_yet: Mapping[ItemType, str], is_note: IsNote
) -> BundleItemContext:
    """Put one item into the words of `blocks/bundle-item.md.j2`."""
    item = standing.item
    cannot = _cannot(standing, not_yet)
    chosen = f"{bundle_id} --items {standing.item_id}"
    return BundleItemContext(
        number=number_of(standing),
        item_id=standing.item_id,
        digest=short(standing.digest),
        title=item.title,
        kind=KINDS[item.type],
        agent_id=item.agent_id,
        proposed_by=item.proposed_by,
        profile=item.profile,
        created=moment(item.created_at),
        state=STATES[standing.state],
        state_note=standing.note,
        risk=item.risk.value,
        meter=METERS[item.risk],
        callout=_CALLOUTS[item.risk],
        risk_reason=item.risk_reason or "nobody gave a reason",
        scope=_difference("Scope", item.scope_before, item.scope_after),
        scope_reads=_READERS[item.scope_after] if item.scope_after else "",
        trust=_difference("Trust", item.trust_before, item.trust_after),
        verdict=VERDICTS[item.adversarial.verdict],
        findings=tuple(finding.message for finding in item.adversarial.findings),
        cannot=cannot,
        texts=tuple(_texts(item, is_note)),
        differences=tuple(_differences(item)),
        reason=item.reason,
        if_rejected=item.if_rejected,
        proofs=tuple(_proof(evidence, is_note) for evidence in item.evidence),
        approve=_approve(chosen, standing, cannot),
        reject=_reject(chosen, standing.state),
        further=_further(chosen, bundle_id, standing.state),
        type_digest=item.wants_digest_typed,
        target=item.target,
        preconditions=tuple(dict.fromkeys(map(_in_words, _preconditions(item)))),
        json=json_text(to_plain(item)),
    )


def summary_row(standing: StandingItem) -> SummaryRow:
    """Put one item into one line."""
    item = standing.item
    return SummaryRow(
        number=number_of(standing),
        item_id=standing.item_id,
        title=item.title,
        kind=KINDS[item.type],
        risk=item.risk.value,
        meter=METERS[item.risk],
        verdict="–"
        if item.adversarial.verdict is Verdict.PASS
        else VERDICTS[item.adversarial.verdict],
        state=STATES[standing.state],
    )


def number_of(standing: StandingItem) -> int:
    """Give the number at the end of an item id."""
    return int(standing.item_id.rpartition("-")[2])


def moment(milliseconds: int) -> str:
    """Write UTC milliseconds as an absolute date and time."""
    try:
        at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{milliseconds} ms"
    return at.strftime("%Y-%m-%d %H:%M UTC")


def _cannot(standing: StandingItem, not_yet: Mapping[ItemType, str]) -> str:
    if standing.state not in _OPEN:
        return ""
    if standing.item.adversarial.verdict is Verdict.BLOCK:
        return "the adversarial pass blocks it"
    return not_yet.get(standing.item.type, "")


def _approve(chosen: str, standing: StandingItem, cannot: str) -> str:
    if standing.state not in _OPEN or cannot:
        return ""
    return " ".join((f"vault-tools review approve {chosen}", *flags_needed(standing.item)))


def _reject(chosen: str, state: ItemState) -> str:
    open_to_no = may_become(state, ItemState.REJECTED)
    return f"vault-tools review reject {chosen}" if open_to_no else ""


def _further(chosen: str, bundle_id: str, state: ItemState) -> Command | None:
    if state is ItemState.APPROVED:
        return Command("Apply it:", f"vault-tools review apply {bundle_id}")
    if state is ItemState.APPLIED:
        return Command("Take it back:", f"vault-tools review undo {chosen}")
    return None


def _difference(
    name: str, before: Scope | Trust | None, after: Scope | Trust | None
) -> Difference | None:
    return Difference(name, before.value if before else "", after.value) if after else None


def _texts(item: Item, is_note: IsNote) -> Iterator[Text]:
    if not item.effects.drafts and not item.effects.blocks:
        if item.shown:
            yield Text("Memory" if item.effects.changes else "About", item.shown)
        return
    for draft in item.effects.drafts:
        merged = item.type is ItemType.MEMORY_MERGE
        yield _changed("Merged memory" if merged else "New memory", item, draft.text)
    for block in item.effects.blocks:
        linked = bool(block.file_sha256) and _may_link(block.path, is_note)
        text = _changed(_block_label(block), item, block.body)
        yield replace(text, path=block.path, linked=linked)


def _changed(label: str, item: Item, text: str) -> Text:
    """Show a text alone when nothing else stood there, else the difference line by line."""
    if item.shown.strip() in ("", text.strip()):
        return Text(label, text)
    return Text(label, unified_diff(item.shown, text), language="diff")


def _block_label(block: BlockDraft) -> str:
    return f"{'Rewrites' if block.block_hash else 'Adds'} the block “{block.block_id}” in"


_MOST_LINES = 400


def unified_diff(before: str, after: str) -> str:
    """Show what goes (-) and what comes (+), with two lines around each change."""
    old, new = before.strip("\n").split("\n"), after.strip("\n").split("\n")
    if max(len(old), len(new)) > _MOST_LINES:  # comparing takes quadratic time
        return "\n".join([f"-{line}" for line in old] + [f"+{line}" for line in new])
    lines = list(difflib.unified_diff(old, new, n=2, lineterm=""))[3:]
    return "\n".join(" …" if line.startswith("@@") else line for line in lines)


_COLUMNS = {
    "trust": "Trust",
    "scope": "Scope",
    "status": "Status",
    "superseded_by": "Superseded by",
    "expires_at": "Expires",
    "review_after": "Review after",
}


def _differences(item: Item) -> Iterator[Difference]:
    for change in item.effects.changes:
        yield from _column_changes(change, alone=len(item.effects.changes) == 1)
    for draft in item.effects.drafts:
        yield from _draft_columns(draft)


def _column_changes(change: RowChange, *, alone: bool) -> Iterator[Difference]:
    for field in change.fields:
        if alone and field.name in ("trust", "scope"):
            continue  # the callout above says it
        name = _COLUMNS.get(field.name, field.name)
        label = name if alone else f"{change.memory_id[:8]}: {name.lower()}"
        yield Difference(label, _worded(field.name, field.before), _worded(field.name, field.after))


def _draft_columns(draft: RowDraft) -> Iterator[Difference]:
    if draft.expires_at:
        yield Difference("Expires", "not stored", moment(draft.expires_at))


def _worded(column: str, value: str) -> str:
    if column in ("expires_at", "review_after") and re.fullmatch(r"\d{1,16}", value):
        return moment(int(value)) if int(value) else "never"
    if column == "superseded_by":
        return value[:8] or "none"
    return value or "none"


_BLOCK_LINK = re.compile(r"\[\[([^\]|#^]+)#\^([A-Za-z0-9-]+)\]\]\Z")


def _proof(evidence: Evidence, is_note: IsNote) -> Proof:
    speaker = _SPEAKERS[evidence.role]
    cited = parse_citation(evidence.citation)
    if cited is not None:
        linked = _may_link(cited.path, is_note)
        return Proof(
            evidence.quote,
            speaker,
            cited.path,
            linked,
            lines=_lines(cited),
            sha256=short(cited.sha256),
        )
    block = _BLOCK_LINK.match(evidence.citation)
    if block and _may_link(block[1], is_note):
        return Proof(evidence.quote, speaker, block[1], True, block[2])
    return Proof(evidence.quote, speaker, evidence.citation, False)


def _may_link(path: str, is_note: IsNote) -> bool:
    return is_linkable(path) and is_note(path)


def _lines(cited: Citation) -> str:
    return f"line {cited.start}" if cited.start == cited.end else f"lines {cited.start}-{cited.end}"


def _preconditions(item: Item) -> Iterator[Precondition]:
    yield from item.preconditions
    for change in item.effects.changes:
        yield Precondition(Needs.ROW_HASH, change.memory_id, change.row_hash)
    for block in item.effects.blocks:
        yield Precondition(Needs.FILE_SHA256, block.path, block.file_sha256)


def _in_words(precondition: Precondition) -> str:
    if precondition.needs is Needs.ROW_HASH:
        return f"memory {precondition.subject[:8]} still has row hash {short(precondition.value)}"
    if not precondition.value:
        return f"{precondition.subject} does not exist yet"
    return f"{precondition.subject} still has SHA-256 {short(precondition.value)}"
