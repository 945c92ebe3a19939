"""Prepare a review bundle: the steps of the morning review, in their published order (spec 02).

It makes proposals and writes nothing but the bundle and its note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from vault_tools.core.bundle import (
    BundleStatus,
    Profile,
    ReviewBundle,
    StandingBundle,
    Step,
    bundle_stamp,
)
from vault_tools.core.item import Item, ItemState, Verdict, target_without_lines, with_risk_floor
from vault_tools.core.memory import DAY_MS
from vault_tools.core.risk import Risk
from vault_tools.errors import VaultToolsError
from vault_tools.review.adversarial import attack
from vault_tools.review.bundle_note import NoteState
from vault_tools.review.proposers.frame import Frame
from vault_tools.review.proposers.known import compared, remembered
from vault_tools.review.proposers.notes import note_items
from vault_tools.review.publishing import Publisher
from vault_tools.review.saga import Repaired, recover
from vault_tools.review.world import World
from vault_tools.vault.manifest import Manifest, ScanResult


class StepName(StrEnum):
    """The named steps, in order; progress display and JSON use these words."""

    SNAPSHOT_LOCK = "snapshot_lock"
    MAINTENANCE_LIGHT = "maintenance_light"
    COLLECT_CHANGES = "collect_changes"
    GENERATE = "generate_review_proposals"
    ADVERSARIAL_LIGHT = "adversarial_light"
    RISK_CLASSIFICATION = "risk_classification"
    DEDUPLICATION = "deduplication"
    WRITE_BUNDLE = "write_review_bundle"
    NOTIFY = "notify_user"
    AWAIT = "await_explicit_approval"


RowFinder = Callable[[Frame], Iterable[Item]]
Announce = Callable[[StepName], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to prepare and with which means.

    `scan` compares the vault with a manifest; `load_manifest` and `save_manifest` keep it between
    runs; `find_in_rows` proposes from engine rows. `zone` is an IANA time zone.
    """

    agent_id: str
    profiles: Sequence[Profile]
    zone: str
    max_items: int
    per_note: int
    expires_after_days: int
    scan: Callable[[Manifest], ScanResult]
    load_manifest: Callable[[], Manifest]
    save_manifest: Callable[[Manifest], None]
    find_in_rows: RowFinder
    taken_over: str = ""


@dataclass(slots=True)
class Prepared:
    """What a run did; `standing` is None when there was nothing new."""

    steps: list[Step] = field(default_factory=list)
    standing: StandingBundle | None = None
    note: str = ""
    repaired: list[Repaired] = field(default_factory=list)
    left_out: tuple[str, ...] = ()
    waiting: int = 0
    kept: tuple[Item, ...] = ()

    @property
    def nothing_new(self) -> bool:
        """Tell whether there was nothing to propose."""
        return not self.kept

    def looked_at(self) -> str:
        """Say in one line what was looked at."""
        found = {step.name: step.findings for step in self.steps}
        notes = found.get(StepName.COLLECT_CHANGES.value, ("no notes",))[0]
        engine = found.get(StepName.SNAPSHOT_LOCK.value, ("no engine",))[-1]
        return f"Looked at {notes}, {engine}."


def prepare(
    world: World,
    publisher: Publisher,
    request: Request,
    *,
    announce: Announce = lambda step: None,
    dry_run: bool = False,
) -> Prepared:
    """Run all steps; the caller holds the workspace's review lock."""
    done = Prepared()
    now = world.clock.now()
    frame = _frame(world, publisher, request, now)
    strict = Profile.CONSERVATIVE in request.profiles
    with _step(world, done, StepName.SNAPSHOT_LOCK, announce) as found:
        snapshot = _snapshot(world, request, found)
    with _step(world, done, StepName.MAINTENANCE_LIGHT, announce) as found:
        _maintain(world, publisher, done, found, now, dry_run=dry_run)
    with _step(world, done, StepName.COLLECT_CHANGES, announce) as found:
        scanned = _collect(request, found)
    with _step(world, done, StepName.GENERATE, announce) as found:
        from_notes, more, unread = _from_notes(world, frame, request, scanned)
        proposed = [*from_notes, *request.find_in_rows(frame), *_waiting(world)]
        found.append(f"{len(proposed)} proposals")
        found += unread
    with _step(world, done, StepName.ADVERSARIAL_LIGHT, announce) as found:
        attacked = compared([attack(item, strict=strict) for item in proposed], world)
        found += _verdicts(attacked)
    with _step(world, done, StepName.RISK_CLASSIFICATION, announce) as found:
        rated = [with_risk_floor(item) for item in attacked]
        found += _risks(rated)
    with _step(world, done, StepName.DEDUPLICATION, announce) as found:
        fresh = _fresh(world, rated, found)
        kept, surplus = _capped(world, fresh, request, found)
    done.kept = tuple(kept)
    done.left_out = (*_left_out(more, surplus, scanned), *_unread(unread))
    with _step(world, done, StepName.WRITE_BUNDLE, announce) as found:
        if kept and not dry_run:
            _write(world, publisher, request, done, kept, snapshot, now)
        if not dry_run:
            for item in surplus:
                world.ledger.propose(item, at=now)
            request.save_manifest(scanned.manifest)
        found.append(done.note or f"{len(kept)} items, nothing written")
    for last in (StepName.NOTIFY, StepName.AWAIT):
        with _step(world, done, last, announce):
            pass
    done.waiting = _open_items(world)
    return done


@contextmanager
def _step(world: World, done: Prepared, name: StepName, announce: Announce) -> Iterator[list[str]]:
    announce(name)
    began = world.clock.now()
    found: list[str] = []
    yield found
    done.steps.append(Step(name.value, max(0, world.clock.now() - began), tuple(found)))


def _frame(world: World, publisher: Publisher, request: Request, now: int) -> Frame:
    return Frame(
        vault_id=world.vault_id,
        workspace_key=world.workspace_key,
        agent_id=request.agent_id,
        proposed_by="morning review",
        profile=request.profiles[0].value if request.profiles else Profile.STANDARD.value,
        now=now,
        redact=world.redact,
        template_digest=publisher.template_digest(),
    )


def _snapshot(world: World, request: Request, found: list[str]) -> str:
    if request.taken_over:
        found.append(f"took over the lock of a dead process ({request.taken_over})")
    versions = {agent: world.store.version(agent) for agent in world.store.agents()}
    named = ", ".join(f"{agent}@{version}" for agent, version in sorted(versions.items()))
    found.append(f"engine {named or 'empty'}")
    return named


def _maintain(
    world: World,
    publisher: Publisher,
    done: Prepared,
    found: list[str],
    now: int,
    *,
    dry_run: bool,
) -> None:
    if dry_run:
        return
    done.repaired = recover(world)
    found += [repaired.message for repaired in done.repaired]
    for bundle_id in world.ledger.expire(now=now):
        publisher.follow(bundle_id)
        found.append(f"{bundle_id} has expired")
    for standing in world.ledger.bundles():
        waits = standing.status is BundleStatus.PENDING
        if waits and publisher.state(standing) is NoteState.MISSING:
            publisher.publish(standing)
            found.append(f"wrote the missing note of {standing.bundle_id} again")


def _collect(request: Request, found: list[str]) -> ScanResult:
    scanned = request.scan(request.load_manifest())
    if scanned.vault_missing:
        raise VaultToolsError(
            "the vault is empty now, but it held notes before; nothing was changed",
            "Mount or restore the vault, then run this again. "
            "If the notes are really gone, run `vault-tools init` anew.",
        )
    found.append(f"{len(scanned.new)} new and {len(scanned.changed)} changed notes")
    if scanned.skipped:
        found.append(f"{len(scanned.skipped)} files and folders left out")
    return scanned


def _from_notes(
    world: World, frame: Frame, request: Request, scanned: ScanResult
) -> tuple[list[Item], int, list[str]]:
    items: list[Item] = []
    left_out, unread = 0, []
    for path in dict.fromkeys((*scanned.new, *scanned.changed, *_returning(world, scanned))):
        try:
            data = world.files.read(path)
        except VaultToolsError as error:
            # One note that cannot be read never stops a review (spec 03).
            unread.append(error.message)
            continue
        if data is None:
            continue
        found = note_items(path, data, frame, most=request.per_note)
        items += found.items
        left_out += found.left_out
    return [item for item in items if not remembered(item, world)], left_out, unread


_MAY_RETURN = (ItemState.EXPIRED, ItemState.STALE, ItemState.INVALID)


def _returning(world: World, scanned: ScanResult) -> Iterator[str]:
    """Name the notes behind imports that ended without a decision: they may be proposed anew."""
    for bundle in world.ledger.bundles():
        for one in bundle.items:
            if one.state in _MAY_RETURN and one.item.target.startswith("note:"):
                path = target_without_lines(one.item.target).removeprefix("note:")
                if path in scanned.manifest.entries:
                    yield path


def _waiting(world: World) -> list[Item]:
    return world.ledger.proposals()


def _verdicts(items: Sequence[Item]) -> list[str]:
    counts = {verdict: 0 for verdict in Verdict}
    for item in items:
        counts[item.adversarial.verdict] += 1
    return [f"{count} {verdict.value}" for verdict, count in counts.items() if count]


def _risks(items: Sequence[Item]) -> list[str]:
    counts = {risk: 0 for risk in reversed(Risk)}
    for item in items:
        counts[item.risk] += 1
    return [f"{count} {risk.value}" for risk, count in counts.items() if count]


_SHOWN = 5

_SETTLED = (
    ItemState.PENDING,
    ItemState.APPROVED,
    ItemState.SNOOZED,
    ItemState.REJECTED,
    ItemState.APPLIED,
    ItemState.UNDONE,
)


def _fresh(world: World, items: Sequence[Item], found: list[str]) -> list[Item]:
    """Keep one item per key, and none that waits, was decided, or is blocked as before."""
    known = world.ledger.keys()
    fresh: dict[str, Item] = {}
    for item in items:
        states = known.get(item.key, frozenset())
        blocked_again = ItemState.BLOCKED in states and item.adversarial.verdict is Verdict.BLOCK
        if item.key not in fresh and not blocked_again and not states & set(_SETTLED):
            fresh[item.key] = item
    if len(fresh) < len(items):
        found.append(f"{len(items) - len(fresh)} known already")
    return list(fresh.values())


def _capped(
    world: World, items: Sequence[Item], request: Request, found: list[str]
) -> tuple[list[Item], list[Item]]:
    """Rank items and keep as many as a person has room for; the rest waits its turn."""
    room = max(0, request.max_items - _open_items(world))
    best = sorted(items, key=lambda item: (-item.risk.rank, -item.rank, item.target, item.key))
    kept = [replace(item, rank=place) for place, item in enumerate(best[:room])]
    surplus = best[room:]
    if surplus:
        found.append(f"{len(surplus)} wait for room in the queue")
    return kept, surplus


def _open_items(world: World) -> int:
    states = [item.state for bundle in world.ledger.bundles() for item in bundle.items]
    return sum(state in (ItemState.PENDING, ItemState.APPROVED) for state in states)


def _left_out(more: int, surplus: Sequence[Item], scanned: ScanResult) -> tuple[str, ...]:
    said = []
    if surplus:
        said.append(f"{len(surplus)} proposals of lower rank wait for the next bundle")
    if more:
        said.append(f"{more} further statements in notes that already gave their share")
    reasons = [skipped for skipped in scanned.skipped if skipped.path]
    if reasons:
        said.append(f"{len(reasons)} files and folders were not read (excluded or not notes)")
    return tuple(said)


def _unread(messages: Sequence[str]) -> list[str]:
    shown = [f"not read: {message}" for message in messages[:_SHOWN]]
    rest = len(messages) - len(shown)
    return [*shown, f"not read: {rest} more notes"] if rest else shown


def _write(
    world: World,
    publisher: Publisher,
    request: Request,
    done: Prepared,
    items: Sequence[Item],
    snapshot: str,
    now: int,
) -> None:
    moment = datetime.fromtimestamp(now / 1000, ZoneInfo(request.zone))
    bundle = ReviewBundle(
        bundle_id="",
        created_at=now,
        created_iso=moment.isoformat(timespec="seconds"),
        vault_id=world.vault_id,
        workspace_key=world.workspace_key,
        created_by_agent=request.agent_id,
        profiles=tuple(request.profiles),
        items=tuple(items),
        steps=tuple(done.steps),
        left_out=done.left_out,
        snapshot=snapshot,
    )
    blocked = {
        place: " ".join(finding.message for finding in item.adversarial.findings)
        for place, item in enumerate(items)
        if item.adversarial.verdict is Verdict.BLOCK
    }
    done.standing = world.ledger.open_bundle(
        bundle,
        stamp=bundle_stamp(moment),
        expires_at=now + request.expires_after_days * DAY_MS,
        blocked=blocked,
    )
    try:
        done.note = publisher.publish(done.standing)
    except VaultToolsError as error:
        raise VaultToolsError(
            f"{done.standing.bundle_id} is on the ledger, but its note is not written: "
            f"{error.message}",
            f"{error.hint} The next run writes the missing note.",
        ) from error
