"""The bundle note: a rendering of the ledger for a human, never a source of decisions (spec 02).

Three kinds of managed blocks: `overview`, one per item under the item's id, and `findings`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from vault_tools.core.block import (
    ManagedBlock,
    canonical,
    canonical_hash,
    check_splice,
    find_blocks,
    format_block,
    insert_block,
    splice,
)
from vault_tools.core.bundle import BRIDGE_VERSION, EXPIRES_AFTER_DAYS, StandingBundle, StandingItem
from vault_tools.core.item import ItemState, ItemType, Verdict
from vault_tools.core.note import split_front_matter
from vault_tools.core.risk import Risk
from vault_tools.errors import BlockError, BlockMalformed, TemplateBroken
from vault_tools.render.contexts import (
    BundleFindingsContext,
    BundleNoteContext,
    BundleOverviewContext,
    Command,
    Group,
    Objection,
    Slice,
    Subject,
    plain,
)
from vault_tools.render.environment import Renderer
from vault_tools.render.filters import PLACES
from vault_tools.review.item_view import (
    STATES,
    VERDICTS,
    IsNote,
    item_context,
    number_of,
    summary_row,
)
from vault_tools.vault.markdown import opaque_lines
from vault_tools.vault.properties import set_property

NOTE_TEMPLATE = "review-bundle.md.j2"
OVERVIEW_TEMPLATE = "blocks/bundle-overview.md.j2"
ITEM_TEMPLATE = "blocks/bundle-item.md.j2"
FINDINGS_TEMPLATE = "blocks/bundle-findings.md.j2"
TEMPLATES = (NOTE_TEMPLATE, OVERVIEW_TEMPLATE, ITEM_TEMPLATE, FINDINGS_TEMPLATE)

OVERVIEW = "overview"
FINDINGS = "findings"

MOST_ROWS = 40
MOST_FINDINGS = 40


def any_note(_path: str) -> bool:
    """Say that every path is a note of this vault."""
    return True


class NoteState(StrEnum):
    """What became of a bundle note since it was written."""

    INTACT = "intact"
    EDITED = "edited"
    MISSING = "missing"


def render_bundle_blocks(
    standing: StandingBundle,
    renderer: Renderer,
    *,
    not_yet: Mapping[ItemType, str] | None = None,
    is_note: IsNote = any_note,
    expires_after_days: int = EXPIRES_AFTER_DAYS,
) -> dict[str, str]:
    """Render the body of every managed block, by block id, in the order of the note.

    `not_yet` says for an item type why it cannot be approved; `is_note` tells which vault paths
    may be linked. Time plays no part: the same standing bundle gives the same bytes.
    """
    ranked = ranked_items(standing.items)
    overview = _overview(standing, ranked, not_yet or {}, expires_after_days)
    bodies = {OVERVIEW: renderer.render(OVERVIEW_TEMPLATE, plain(overview))}
    for one in ranked:
        context = item_context(one, standing.bundle_id, not_yet or {}, is_note)
        bodies[one.item_id] = renderer.render(ITEM_TEMPLATE, plain(context))
    bodies[FINDINGS] = renderer.render(FINDINGS_TEMPLATE, plain(_findings(standing, ranked)))
    return {block_id: _spaced(body) for block_id, body in bodies.items()}


def ranked_items(items: Sequence[StandingItem]) -> list[StandingItem]:
    """Sort items for reading: highest risk first, then by rank, then as they were prepared."""
    return sorted(items, key=lambda one: (-one.item.risk.rank, one.item.rank))


def new_bundle_note(standing: StandingBundle, renderer: Renderer, bodies: Mapping[str, str]) -> str:
    """Write the whole note around rendered block bodies.

    Raises TemplateBroken when the frame does not place each block once, BlockError when the text
    would not read back as exactly these blocks (spec 07, B1).
    """
    frame = renderer.render(NOTE_TEMPLATE, plain(_frame(standing)))
    placed = PLACES.findall(frame)
    if sorted(placed) != sorted(bodies):
        raise TemplateBroken(
            f"{NOTE_TEMPLATE} does not place every block of {standing.bundle_id} exactly once.",
            "Place `overview`, each id of each group and `findings`, and nothing else.",
        )
    agents = _agents(standing)
    text = PLACES.sub(
        lambda at: format_block(at[1], agents[at[1]], standing.bundle_id, bodies[at[1]]), frame
    )
    _check_blocks(text, placed, bodies)
    return text


def refreshed_bundle_note(old: str, standing: StandingBundle, bodies: Mapping[str, str]) -> str:
    """Put rendered bodies and the present status into a note that exists.

    Nothing else changes: what a human wrote outside the blocks stays byte for byte. A block that
    was deleted comes back before the findings, or at the end. Raises BlockMalformed when the
    markers are in disorder.
    """
    agents = _agents(standing)
    found = {block.block_id: block for block in find_blocks(old, opaque_lines(old))}
    text = old
    for block in sorted(found.values(), key=lambda one: -one.start):
        if block.block_id in bodies:
            text = splice(text, block, bodies[block.block_id])
    for block_id in bodies:
        if block_id not in found:
            at = _place_of_lost(text)
            text = insert_block(
                text, at, block_id, agents[block_id], standing.bundle_id, bodies[block_id]
            )
    check_splice(old, text, dict(bodies), opaque_lines)
    return set_property(text, "status", standing.status.value) if split_front_matter(text) else text


def note_state(
    text: str | None, standing: StandingBundle, expected: Mapping[str, str]
) -> NoteState:
    """Tell whether a note still shows what was rendered.

    `expected` are the canonical hashes of the blocks as last written, by block id. A block more,
    a block less, another order of markers or a changed body is an edit; human text outside is not.
    """
    if text is None:
        return NoteState.MISSING
    try:
        found = find_blocks(text, opaque_lines(text))
    except BlockMalformed:
        return NoteState.EDITED
    intact = set(expected) == set(block_ids(standing)) == {block.block_id for block in found}
    same = intact and all(canonical_hash(b.body) == expected[b.block_id] for b in found)
    return NoteState.INTACT if same else NoteState.EDITED


def block_ids(standing: StandingBundle) -> tuple[str, ...]:
    """List the blocks of a bundle note in order."""
    return (OVERVIEW, *(one.item_id for one in ranked_items(standing.items)), FINDINGS)


def _spaced(body: str) -> str:
    """Keep a blank line inside either marker, so that a formatter has nothing to add."""
    return "\n" + body.strip("\n") + "\n\n"


def _agents(standing: StandingBundle) -> dict[str, str]:
    agents = {one.item_id: one.item.agent_id for one in standing.items}
    creator = standing.bundle.created_by_agent
    return {OVERVIEW: creator, FINDINGS: creator, **agents}


def _check_blocks(text: str, order: list[str], bodies: Mapping[str, str]) -> None:
    found = [(b.block_id, canonical(b.body)) for b in find_blocks(text, opaque_lines(text))]
    if found != [(block_id, canonical(bodies[block_id])) for block_id in order]:
        raise BlockError(
            "The bundle note would not read back as the blocks it was made of.",
            "Close every fence, comment and formula in the templates.",
        )


def _place_of_lost(text: str) -> int:
    last: ManagedBlock | None = None
    for block in find_blocks(text, opaque_lines(text)):
        if block.block_id == FINDINGS:
            last = block
    return last.start if last else len(text)


def _frame(standing: StandingBundle) -> BundleNoteContext:
    bundle = standing.bundle
    return BundleNoteContext(
        bundle_id=bundle.bundle_id,
        created_at=bundle.created_iso,
        workspace_key=bundle.workspace_key,
        created_by_agent=bundle.created_by_agent,
        status=standing.status.value,
        review_profiles=tuple(profile.value for profile in bundle.profiles),
        bridge_version=BRIDGE_VERSION,
        title=_title(bundle.created_iso),
        groups=tuple(_groups(standing)),
    )


def _title(created_iso: str) -> str:
    return datetime.fromisoformat(created_iso).strftime("Memory review of %Y-%m-%d, %H:%M")


def _groups(standing: StandingBundle) -> Iterator[Group]:
    for risk in sorted(Risk, key=lambda one: -one.rank):
        ids = [one.item_id for one in ranked_items(standing.items) if one.item.risk is risk]
        if ids:
            yield Group(f"{risk.value.capitalize()} risk", tuple(ids))


_COLOURS = {
    Risk.CRITICAL: "e5484d",
    Risk.HIGH: "f5a524",
    Risk.MEDIUM: "4c8dff",
    Risk.LOW: "2eb8a6",
}


def _overview(
    standing: StandingBundle,
    ranked: Sequence[StandingItem],
    not_yet: Mapping[ItemType, str],
    days: int,
) -> BundleOverviewContext:
    states = Counter(one.state for one in ranked)
    commands = tuple(_commands(standing.bundle_id, ranked, states, not_yet))
    return BundleOverviewContext(
        headline=_headline(len(ranked), states),
        next_step=_next_step(states),
        expires=_expires(standing.bundle.created_iso, days) if states[ItemState.PENDING] else "",
        rows=tuple(summary_row(one) for one in ranked[:MOST_ROWS]),
        rows_left=max(0, len(ranked) - MOST_ROWS),
        pie=_pie(ranked),
        commands=commands,
    )


def _headline(total: int, states: Mapping[ItemState, int]) -> str:
    parts = [_counted(states[state], state) for state in ItemState if states.get(state)]
    return f"{_plural(total, 'proposal')}: {', '.join(parts) or 'nothing to decide'}"


def _counted(count: int, state: ItemState) -> str:
    if state is ItemState.PENDING:
        return "1 waits for you" if count == 1 else f"{count} wait for you"
    return f"{count} {STATES[state]}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _next_step(states: Mapping[ItemState, int]) -> str:
    if states.get(ItemState.PENDING):
        return "Nothing changes until you approve it and apply what you approved."
    if states.get(ItemState.APPROVED):
        return "Everything is decided. What you approved takes effect when you apply it."
    if states.get(ItemState.STALE):
        return "What is stale was not applied, because its source has changed. Look at it again."
    return "Nothing in this bundle waits for you."


def _expires(created_iso: str, days: int) -> str:
    last = datetime.fromisoformat(created_iso) + timedelta(days=days)
    return (
        f"Decide by {last.strftime('%Y-%m-%d %H:%M')}. "
        "What is undecided then expires and is proposed anew if it still holds."
    )


def _pie(ranked: Sequence[StandingItem]) -> tuple[Slice, ...]:
    """Count items by risk, largest slice first: Mermaid hands out its colours in that order."""
    counts = Counter(one.item.risk for one in ranked)
    return tuple(Slice(risk.value, n, _COLOURS[risk]) for risk, n in counts.most_common())


def _commands(
    bundle_id: str,
    ranked: Sequence[StandingItem],
    states: Mapping[ItemState, int],
    not_yet: Mapping[ItemType, str],
) -> Iterator[Command]:
    if states.get(ItemState.PENDING) or states.get(ItemState.STALE):
        yield Command(
            "Decide one after the other; you are asked about each and may say no:",
            f"vault-tools review approve {bundle_id} --items all",
        )
    easy = sum(_is_low_risk(one) and one.item.type not in not_yet for one in ranked)
    if easy:
        what = "the one low-risk item" if easy == 1 else f"the {easy} low-risk items at once"
        line = f"vault-tools review approve {bundle_id} --items low-risk"
        yield Command(f"Or approve {what}:", line)
    if states.get(ItemState.PENDING) or states.get(ItemState.APPROVED):
        yield Command("Then do what you approved:", f"vault-tools review apply {bundle_id}")
    elif states.get(ItemState.APPLIED):
        yield Command("Take back what was applied:", f"vault-tools review undo {bundle_id}")


def _is_low_risk(one: StandingItem) -> bool:
    passed = one.item.adversarial.verdict is Verdict.PASS
    return one.state is ItemState.PENDING and one.item.risk is Risk.LOW and passed


_SUBJECTS = {
    ItemType.CONFLICT_RESOLUTION: "Conflicts",
    ItemType.STALE_REVIEW: "Stale knowledge",
    ItemType.PROJECT_HUB_UPDATE: "Project updates",
    ItemType.VAULT_HYGIENE: "Links, tags and properties",
    ItemType.TASK_SUGGESTION: "Tasks",
}


def _findings(standing: StandingBundle, ranked: Sequence[StandingItem]) -> BundleFindingsContext:
    subjects = tuple(_subjects(ranked))
    maintenance = [
        f"{step.name.replace('_', ' ')}: {finding}"
        for step in standing.bundle.steps
        for finding in step.findings
    ]
    left_out = standing.bundle.left_out
    return BundleFindingsContext(
        subjects=subjects,
        without=_without({subject.heading for subject in subjects}),
        left_out=left_out[:MOST_FINDINGS],
        left_out_more=max(0, len(left_out) - MOST_FINDINGS),
        maintenance=tuple(maintenance[:MOST_FINDINGS]),
        maintenance_more=max(0, len(maintenance) - MOST_FINDINGS),
        objections=tuple(_objections(ranked)),
        commands=tuple(_apply_commands(standing.bundle_id)),
    )


def _subjects(ranked: Sequence[StandingItem]) -> Iterator[Subject]:
    for type_, heading in _SUBJECTS.items():
        rows = tuple(summary_row(one) for one in ranked if one.item.type is type_)
        if rows:
            yield Subject(heading, rows)


def _without(present: Collection[str]) -> str:
    absent = [heading.lower() for heading in _SUBJECTS.values() if heading not in present]
    return f"Nothing on {', '.join(absent)}." if absent else ""


def _objections(ranked: Sequence[StandingItem]) -> Iterator[Objection]:
    for one in ranked:
        adversarial = one.item.adversarial
        if adversarial.verdict is not Verdict.PASS:
            messages = tuple(finding.message for finding in adversarial.findings)
            yield Objection(number_of(one), one.item_id, VERDICTS[adversarial.verdict], messages)


def _apply_commands(bundle_id: str) -> Iterator[Command]:
    yield Command("See the exact changes first:", f"vault-tools review apply {bundle_id} --dry-run")
    yield Command("Apply what you approved:", f"vault-tools review apply {bundle_id}")
    yield Command("Take it back:", f"vault-tools review undo {bundle_id}")
