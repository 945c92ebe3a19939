"""A decision, bound to the digest of the item that was shown (spec 02, spec 11 §Deciding)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Decision(StrEnum):
    """What a person decided about an item."""

    APPROVE = "approve"
    REJECT = "reject"
    SNOOZE = "snooze"
    UNDO = "undo"


class Way(StrEnum):
    """How a decision reached us."""

    TERMINAL = "terminal"
    HEADLESS = "headless"


@dataclass(frozen=True, slots=True)
class Approver:
    """Who decided, as far as the operating system can tell."""

    name: str
    uid: int
    host: str
    way: Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One decision; `nonce` makes it spendable once, `expires_at` is UTC ms.

    `allow_global` and `trust_assistant` record the flags of spec 02 §What apply checks, point 4.
    `seal` is an Ed25519 signature over `signed_part` once a key is set, else empty.
    """

    vault_id: str
    bundle_id: str
    bundle_digest: str
    item_id: str
    item_digest: str
    decision: Decision
    approver: Approver
    at: int
    expires_at: int
    nonce: str
    allow_global: bool = False
    trust_assistant: bool = False
    choice: str = ""
    seal: str = ""
