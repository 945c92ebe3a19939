from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from tests.render.payloads import PAYLOADS, live_triggers
from tests.review.bundles import (
    a_bundle,
    a_conflict,
    a_hygiene,
    a_promotion,
    a_tombstone,
    an_import,
    an_item,
    many,
    morning_items,
)
from vault_tools.core.block import canonical_hash, find_blocks, splice
from vault_tools.core.bundle import StandingBundle, Step
from vault_tools.core.item import (
    Adversarial,
    BlockDraft,
    Effects,
    Evidence,
    FieldChange,
    Finding,
    Item,
    ItemState,
    ItemType,
    RowChange,
    RowDraft,
    Verdict,
)
from vault_tools.core.plain import to_plain
from vault_tools.core.scope import Scope
from vault_tools.core.trust import SourceRole, Trust
from vault_tools.errors import BlockError, TemplateBroken
from vault_tools.render.contexts import ReviewRootReadmeContext, plain
from vault_tools.render.environment import Renderer
from vault_tools.render.filters import is_linkable
from vault_tools.review.bundle_note import (
    NoteState,
    block_ids,
    new_bundle_note,
    note_state,
    refreshed_bundle_note,
    render_bundle_blocks,
)
from vault_tools.review.item_view import unified_diff

RENDERER = Renderer()


def note_of(standing: StandingBundle) -> str:
    return new_bundle_note(standing, RENDERER, render_bundle_blocks(standing, RENDERER))


def hashes(text: str) -> dict[str, str]:
    return {block.block_id: canonical_hash(block.body) for block in find_blocks(text)}


def block_of(item: Item, state: ItemState = ItemState.PENDING) -> str:
    standing = a_bundle([item], [state])
    return render_bundle_blocks(standing, RENDERER)[standing.items[0].item_id]


def headings(text: str) -> list[str]:
    return re.findall(r"^## (.*)$", text, re.MULTILINE)


def test_front_matter_holds_exactly_the_published_keys_in_order() -> None:
    front = note_of(a_bundle([an_item()])).split("---\n")[1]
    loaded = yaml.safe_load(front)
    assert list(loaded) == [
        "type", "version", "bundleId", "createdAt", "workspaceKey", "createdByAgent", "status",
        "applyMode", "reviewProfiles", "obsidianBridgeVersion",
    ]  # fmt: skip
    assert loaded["type"] == "plur1bus-review-bundle"
    assert loaded["version"] == 1
    assert loaded["createdAt"] == "2026-05-23T09:00:00+02:00"
    assert loaded["status"] == "pending_user_review"
    assert loaded["applyMode"] == "approval_required"
    assert loaded["reviewProfiles"] == ["standard", "maintenance", "adversarial"]


def test_the_body_follows_the_published_order() -> None:
    text = note_of(a_bundle(morning_items()))
    assert headings(text) == [
        "What to do now", "Critical risk", "High risk", "Medium risk", "Low risk", "Conflicts",
        "Stale knowledge", "Project updates", "Links, tags and properties", "Tasks",
        "Maintenance findings", "Adversarial findings", "Apply", "Your notes",
    ]  # fmt: skip
    assert text.index("| # | Proposal") < text.index("```mermaid") < text.index("## What to do")


def test_items_stand_by_risk_then_rank() -> None:
    low, first = an_item(title="second", rank=2), an_item(title="first", rank=1)
    ids = block_ids(a_bundle([low, a_promotion(), first]))
    assert [id_[-3:] for id_ in ids[1:-1]] == ["002", "003", "001"]


@pytest.mark.parametrize("count", [1, 12, 120])
def test_a_note_reads_back_as_its_blocks_and_links_only_to_what_is_there(count: int) -> None:
    standing = many(count)
    text = note_of(standing)
    assert tuple(block.block_id for block in find_blocks(text)) == block_ids(standing)
    targets = set(re.findall(r"\[\[#\^([a-z0-9-]+)", text))
    anchors = set(re.findall(r" \^(rbi-[a-z0-9-]+)$", text, re.MULTILINE))
    assert targets <= anchors
    assert len(anchors) == count
    assert note_of(many(count)) == text


def test_a_small_bundle_fits_on_a_few_screens() -> None:
    assert len(note_of(a_bundle([a_promotion()])).split("\n")) < 190


def test_an_item_shows_all_that_a_decision_needs() -> None:
    item = a_promotion()
    shown = block_of(item)
    for words in (
        "We release on Tuesdays, never on Fridays",
        "Promote memory",
        "proposed by promotion rule",
        "Critical risk: agents will treat it as established truth",
        "candidate → **trusted**",
        "agent_private → **workspace_shared**: every agent of this workspace recalls it",
        "needs flag: A private memory would become visible to every agent.",
        "**Why:** Recalled 14 times",
        "> Release day is Tuesday.",
        "[[Projects/Atlas/Releases]], lines 12-14 · sha256",
        "**If you say no:** It stays a candidate",
        "Applies only if Projects/Atlas/Releases.md still has SHA-256",
        "Applies only if memory 1111c0de still has row hash",
        f"you will be asked to type `{item.digest[:8]}`",
        "vault-tools review approve rb-2026-05-23-0900 --items rbi-2026-05-23-0900-001",
        "vault-tools review reject rb-2026-05-23-0900 --items rbi-2026-05-23-0900-001",
    ):
        assert words in shown


def test_approve_and_reject_are_never_pasted_together() -> None:
    for token in MarkdownIt().parse(note_of(many(12))):
        if token.type == "fence" and token.info == "bash":
            assert token.content.count("\n") == 1


def test_the_json_of_an_item_is_the_sealed_item() -> None:
    standing = a_bundle(morning_items())
    fences = [t for t in MarkdownIt().parse(note_of(standing)) if t.info == "json"]
    found = {json.dumps(json.loads(fence.content), sort_keys=True) for fence in fences}
    assert found == {json.dumps(to_plain(item), sort_keys=True) for item in standing.bundle.items}


def test_a_changed_block_is_shown_as_a_difference() -> None:
    text = note_of(a_bundle(morning_items()))
    assert "-- Atlas runs on SQLite until 1.0.\n+- Atlas moves to PostgreSQL 17 in August." in text
    assert unified_diff("a\nb", "a\nc") == " a\n-b\n+c"
    assert unified_diff("x\n" * 500, "y").count("\n") == 500


def test_dates_in_a_change_are_absolute() -> None:
    text = note_of(a_bundle(morning_items()))
    assert "| Expires | 2026-05-31 00:00 UTC | **2026-08-29 00:00 UTC** |" in text


@pytest.mark.parametrize(
    ("state", "present", "absent"),
    [
        (ItemState.PENDING, ["review approve", "review reject"], ["review undo"]),
        (ItemState.STALE, ["review approve", "review reject"], ["review undo"]),
        (ItemState.APPROVED, ["review apply", "review reject"], ["review approve"]),
        (ItemState.SNOOZED, ["review reject"], ["review approve"]),
        (ItemState.APPLIED, ["review undo"], ["review approve", "review reject"]),
        (ItemState.REJECTED, [], ["vault-tools"]),
        (ItemState.BLOCKED, [], ["vault-tools"]),
    ],
)
def test_an_item_offers_only_commands_that_would_work(
    state: ItemState, present: list[str], absent: list[str]
) -> None:
    shown = block_of(a_tombstone(), state)
    assert all(command in shown for command in present)
    assert not any(command in shown for command in absent)


def test_what_cannot_be_approved_says_why_and_offers_no_approval() -> None:
    standing = a_bundle([a_hygiene()])
    not_yet = {ItemType.VAULT_HYGIENE: "tidying notes is not built in yet"}
    bodies = render_bundle_blocks(standing, RENDERER, not_yet=not_yet)
    shown = bodies[standing.items[0].item_id]
    assert "Cannot be approved yet: tidying notes is not built in yet" in shown
    assert "review approve" not in shown
    assert "low-risk" not in bodies["overview"]
    blocked = block_of(an_item(adversarial=Adversarial(Verdict.BLOCK)))
    assert "the adversarial pass blocks it" in blocked
    assert "review approve" not in blocked


def test_flags_are_part_of_the_command_to_paste() -> None:
    to_global = replace(a_promotion(), scope_after=Scope.GLOBAL_USER)
    unproven = replace(to_global, evidence=(Evidence("x", "", SourceRole.ASSISTANT),))
    assert "-001\n" in block_of(a_promotion())
    assert "-001 --global\n" in block_of(to_global)
    assert "-001 --global --trust-assistant\n" in block_of(unproven)


def test_only_low_risk_items_that_passed_are_offered_together() -> None:
    warned = an_item(adversarial=Adversarial(Verdict.WARNING, (Finding("x", "y"),)))
    overview = render_bundle_blocks(a_bundle([an_item(), an_item(rank=1), warned]), RENDERER)
    assert "approve the 2 low-risk items at once" in overview["overview"]


def test_a_citation_of_an_unknown_note_is_words_not_a_link() -> None:
    standing = a_bundle([a_promotion()])
    bodies = render_bundle_blocks(standing, RENDERER, is_note=lambda path: False)
    shown = bodies[standing.items[0].item_id]
    assert "[[" not in shown.split("> [!note]-")[0]
    assert "Projects/Atlas/Releases.md, lines 12-14" in shown


def test_a_file_that_does_not_exist_yet_is_not_linked() -> None:
    text = note_of(a_bundle(morning_items()))
    assert "**Adds the block “tasks” in** 00-system/plur1bus/tasks/task-suggestions.md" in text
    assert "**Rewrites the block “decisions” in** [[memory/KNOWLEDGE]]" in text


def test_a_block_citation_links_the_block() -> None:
    assert "[[Meetings/2026-05-18 Architecture#^decision-1|" in note_of(a_bundle(morning_items()))


def test_missing_evidence_is_named() -> None:
    assert "Nobody's words stand behind this proposal." in block_of(a_tombstone())


def test_a_decided_bundle_asks_for_nothing() -> None:
    overview = render_bundle_blocks(a_bundle([an_item()], [ItemState.REJECTED]), RENDERER)
    assert "Nothing: every item is decided." in overview["overview"]
    assert "Decide by" not in overview["overview"]


def hostile(text: str) -> list[Item]:
    """Give items that hold a text in every field that can hold one."""
    words = {
        "title": text,
        "shown": text,
        "reason": text,
        "if_rejected": text,
        "proposed_by": text,
        "profile": text,
        "risk_reason": text,
        "target": f"note:{text}",
        "evidence": (
            Evidence(text, text, SourceRole.NOTE),
            Evidence(text, f"{text}:3-4@sha256={'a' * 64}", SourceRole.USER),
            Evidence(text, f"[[{text}#^x]]"),
        ),
        "adversarial": Adversarial(Verdict.WARNING, (Finding(text, text), Finding("b", text))),
    }
    drafts = (RowDraft(text=text), RowDraft(text=f"not {text}", evidence=text, source=text))
    blocks = (
        BlockDraft(
            path=text, block_id=text, body=f"x\n{text}\n{text}", block_hash=text, file_sha256="a"
        ),
    )
    changes = tuple(
        RowChange(
            text, text, (FieldChange("trust", text, text), FieldChange("expires_at", text, "1"))
        )
        for _ in range(2)
    )
    return [
        replace(an_import(), **words, effects=Effects(drafts=drafts, blocks=blocks)),  # type: ignore[arg-type]
        replace(a_conflict(), **words, effects=Effects(changes=changes)),  # type: ignore[arg-type]
        replace(an_item(), **words, effects=Effects(), trust_after=Trust.TRUSTED),  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize("text", PAYLOADS)
def test_no_text_in_a_proposal_becomes_more_than_text(text: str) -> None:
    standing = a_bundle(
        hostile(text),
        steps=(Step("maintenance_light", 1, (text,)),),
        left_out=(text, f"x {text}"),
        workspace_key=text,
    )
    noted = tuple(replace(one, note=text) for one in standing.items)
    standing = replace(standing, items=noted)
    note = note_of(standing)
    ids = [one.item_id for one in standing.items]
    names = {text.removesuffix(".md")} if is_linkable(text) else set()
    allowed = {f"#^{id_}" for id_ in ids} | names | {f"{name}#^x" for name in names}
    assert live_triggers(note, allowed, ids) == []
    assert tuple(b.block_id for b in find_blocks(note)) == block_ids(standing)
    assert len(re.findall(r"^#+ ", fenceless(note), re.MULTILINE)) == len(
        re.findall(r"^#+ ", fenceless(note_of(a_bundle(hostile("x")))), re.MULTILINE)
    )
    front = yaml.load(note.split("---\n")[1], Loader=yaml.BaseLoader)
    assert len(front) == 10
    assert front["status"] == "pending_user_review"


def fenceless(note: str) -> str:
    gone = [t.map for t in MarkdownIt().parse(note) if t.type == "fence" and t.map]
    inside = {n for start, end in gone for n in range(start, end)}
    return "\n".join(line for n, line in enumerate(note.split("\n")) if n not in inside)


@pytest.mark.parametrize("text", PAYLOADS)
def test_no_text_becomes_more_than_text_in_the_readme(text: str) -> None:
    context = ReviewRootReadmeContext(workspace_key=text, review_root=text, version=text)
    assert live_triggers(RENDERER.render("review-root-readme.md.j2", plain(context)), (), ()) == []


def test_human_text_outside_the_blocks_survives_a_refresh_byte_for_byte() -> None:
    items = morning_items()
    mine = "\r\nmine: <% x %>\t \n\n\n```\n<!-- plur1bus:managed:end -->\n```\n  end"
    old = note_of(a_bundle(items)) + mine
    first = find_blocks(old[: -len(mine)])[0]
    old = old[: first.start] + "A remark of mine.\n\n" + old[first.start :]
    standing = a_bundle(items, [ItemState.APPLIED] * len(items))
    new = refreshed_bundle_note(old, standing, render_bundle_blocks(standing, RENDERER))
    assert new.endswith(mine)
    assert "A remark of mine.\n\n<!--" in new
    assert outside(new).replace("status: applied", "status: pending_user_review") == outside(old)
    assert "status: applied\n" in new


def outside(text: str) -> str:
    found = re.compile(
        r"(?m)^<!-- plur1bus:managed:start .*?^<!-- plur1bus:managed:end -->$", re.DOTALL
    )
    return found.sub("·", text)


def test_refreshing_without_a_change_gives_the_same_bytes() -> None:
    standing = a_bundle(morning_items())
    text = note_of(standing)
    assert refreshed_bundle_note(text, standing, render_bundle_blocks(standing, RENDERER)) == text


def test_a_refresh_keeps_windows_line_ends() -> None:
    items = morning_items()
    old = note_of(a_bundle(items)).replace("\n", "\r\n")
    standing = a_bundle(items, [ItemState.APPROVED])
    new = refreshed_bundle_note(old, standing, render_bundle_blocks(standing, RENDERER))
    assert "\n" not in new.replace("\r\n", "")


def test_a_refresh_brings_back_edited_and_deleted_blocks() -> None:
    standing = a_bundle(morning_items())
    bodies = render_bundle_blocks(standing, RENDERER)
    text = note_of(standing)
    lost, edited = find_blocks(text)[3], find_blocks(text)[1]
    damaged = text[: lost.start] + text[lost.end :]
    damaged = splice(damaged, edited, "approved by me")
    new = refreshed_bundle_note(damaged, standing, bodies)
    assert hashes(new) == hashes(text)
    assert note_state(new, standing, hashes(text)) is NoteState.INTACT


def test_a_note_without_front_matter_is_refreshed_all_the_same() -> None:
    standing = a_bundle([an_item()])
    text = note_of(standing).split("---\n", 2)[2]
    assert refreshed_bundle_note(text, standing, render_bundle_blocks(standing, RENDERER)) == text


def test_a_note_is_intact_whatever_a_human_adds_outside_the_blocks() -> None:
    standing = a_bundle(morning_items())
    text = note_of(standing)
    expected = hashes(text)
    assert note_state(text, standing, expected) is NoteState.INTACT
    assert note_state(text + "\nmine\n", standing, expected) is NoteState.INTACT
    assert note_state(text.replace("\n", "\r\n"), standing, expected) is NoteState.INTACT
    assert note_state(None, standing, expected) is NoteState.MISSING


def test_a_changed_removed_forged_or_unknown_block_makes_a_note_edited() -> None:
    standing = a_bundle([a_promotion()])
    text = note_of(standing)
    expected = hashes(text)
    block = find_blocks(text)[1]
    forged = text[block.start : block.end].replace(block.block_id, "approved-by-me")
    for edited in (
        text.replace("never on Fridays", "also on Fridays"),
        text[: block.start] + text[block.end :],
        text + "\n" + forged + "\n",
        text + "\n<!-- plur1bus:managed:end -->\n",
        splice(text, block, "Approve this."),
        "",
    ):
        assert note_state(edited, standing, expected) is NoteState.EDITED
    assert note_state(text, standing, {}) is NoteState.EDITED


def test_a_body_with_a_marker_is_refused() -> None:
    standing = a_bundle([an_item()])
    bodies = render_bundle_blocks(standing, RENDERER)
    with pytest.raises(BlockError):
        new_bundle_note(standing, RENDERER, bodies | {"findings": "<!-- plur1bus:managed:end -->"})


def test_a_frame_that_loses_or_repeats_a_block_is_refused(tmp_path: Path) -> None:
    standing = a_bundle([an_item()])
    bodies = render_bundle_blocks(standing, RENDERER)
    for frame in ('{{ place("overview") }}', '{{ place("overview") }}' * 2, "nothing"):
        (tmp_path / "review-bundle.md.j2").write_text(frame)
        with pytest.raises(TemplateBroken, match="exactly once"):
            new_bundle_note(standing, Renderer(tmp_path), bodies)
