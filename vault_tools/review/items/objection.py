"""Why an approved item cannot be applied now (spec 02 §What apply checks)."""

from __future__ import annotations

from dataclasses import dataclass

from vault_tools.core.item import ItemState


@dataclass(frozen=True, slots=True)
class Objection:
    """A reason, and the state it puts the item in: STALE, INVALID or BLOCKED."""

    state: ItemState
    reason: str


def stale(reason: str) -> Objection:
    """Object that something is no longer what the reviewer saw."""
    return Objection(ItemState.STALE, reason)


def invalid(reason: str) -> Objection:
    """Object that the item does not hold together."""
    return Objection(ItemState.INVALID, reason)


def blocked(reason: str) -> Objection:
    """Object that a rule forbids the change."""
    return Objection(ItemState.BLOCKED, reason)
