"""A ReviewBundle: items prepared together, their ids, and how the bundle stands (spec 02)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from vault_tools.core.digest import digest_of
from vault_tools.core.item import Item, ItemState

BRIDGE_VERSION = "4.0.0"
EXPIRES_AFTER_DAYS = 7
BUNDLE_ID = re.compile(r"rb-\d{4}-\d{2}-\d{2}-\d{4}(-[1-9]\d{0,3})?\Z", re.ASCII)


class BundleStatus(StrEnum):
    """How a bundle stands."""

    PENDING = "pending_user_review"
    REVIEWED = "reviewed"
    APPLIED = "applied"
    PARTIALLY_APPLIED = "partially_applied"
    EXPIRED = "expired"


class Profile(StrEnum):
    """How carefully a bundle is prepared; profiles have effects, never rights."""

    STANDARD = "standard"
    CONSERVATIVE = "conservative"
    ADVERSARIAL = "adversarial"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True)
class Step:
    """One named step of the morning review and what it found."""

    name: str
    milliseconds: int
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewBundle:
    """What was prepared together, sealed; states and decisions live beside it in the ledger."""

    bundle_id: str
    created_at: int
    created_iso: str
    vault_id: str
    workspace_key: str
    created_by_agent: str
    profiles: tuple[Profile, ...]
    items: tuple[Item, ...]
    steps: tuple[Step, ...] = ()
    left_out: tuple[str, ...] = ()
    snapshot: str = ""

    @property
    def digest(self) -> str:
        """Seal the bundle: SHA-256 over vault id and item digests, without the display id."""
        return digest_of({"vaultId": self.vault_id, "items": [item.digest for item in self.items]})

    def item_id(self, position: int) -> str:
        """Name the item at a position, counting from 0: `rbi-<bundle stamp>-001`."""
        return f"rbi-{self.bundle_id.removeprefix('rb-')}-{position + 1:03d}"


@dataclass(frozen=True, slots=True)
class StandingItem:
    """An item of a bundle with its id and its present state."""

    item_id: str
    item: Item
    digest: str
    state: ItemState
    note: str = ""


@dataclass(frozen=True, slots=True)
class StandingBundle:
    """A bundle as the ledger has it now."""

    bundle: ReviewBundle
    digest: str
    status: BundleStatus
    items: tuple[StandingItem, ...]

    @property
    def bundle_id(self) -> str:
        """Give the display id."""
        return self.bundle.bundle_id


def bundle_stamp(moment: datetime) -> str:
    """Format the stamp of a bundle id in the workspace's time zone: `2026-05-23-0900`."""
    return moment.strftime("%Y-%m-%d-%H%M")


def status_of(states: Iterable[ItemState], *, expired: bool = False) -> BundleStatus:
    """Derive how a bundle stands from its items."""
    known = list(states)
    if any(state in (ItemState.PENDING, ItemState.APPROVED) for state in known) and not expired:
        applied = any(state is ItemState.APPLIED for state in known)
        return BundleStatus.PARTIALLY_APPLIED if applied else BundleStatus.PENDING
    if any(state is ItemState.APPLIED for state in known):
        left = any(state in (ItemState.STALE, ItemState.INVALID) for state in known)
        return BundleStatus.PARTIALLY_APPLIED if left else BundleStatus.APPLIED
    return BundleStatus.EXPIRED if expired else BundleStatus.REVIEWED
