"""A prototype of sealed approvals, to measure what a seal guarantees before the product has one.

An approval is signed with an Ed25519 key (RFC 8032) over its canonical JSON without `seal`. The
private key is encrypted with AES-256-GCM under scrypt of the reviewer's passphrase (RFC 7914); the
public key is an event of the ledger's chain, and each further key is signed by the one before.
`pinned` is the public key as kept where the attacker cannot write; without it, it is only as
trustworthy as the ledger file.
"""

from __future__ import annotations

import getpass
import os
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from vault_tools.config import Options, settings
from vault_tools.core.approval import Approval, Approver, Decision, Way
from vault_tools.core.bundle import StandingItem
from vault_tools.core.digest import canonical_json, short
from vault_tools.core.item import Item, ItemState, changed_row
from vault_tools.core.memory import Memory
from vault_tools.core.plain import to_plain
from vault_tools.core.saga import Plan, Saga
from vault_tools.core.scope import Scope
from vault_tools.core.trust import Trust
from vault_tools.errors import NotApproved, VaultToolsError
from vault_tools.review.apply import Applied, apply
from vault_tools.review.approvals import Flags, decision_on, record
from vault_tools.review.items import HANDLERS
from vault_tools.review.saga import recover
from vault_tools.store.ledger import LedgerFile
from vault_tools.workspace import Workspace

APPROVAL = b"vault-tools approval 1\n"
KEY = b"vault-tools key 1\n"
BASELINE = b"vault-tools baseline 1\n"


class SealRefused(VaultToolsError):
    """A seal is missing or does not verify."""


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A reviewer's key as it stands in the chain; all values are hex."""

    public: str
    salt: str
    nonce: str
    box: str
    previous: str = ""
    signature: str = ""

    def signed_part(self) -> bytes:
        """Give what the previous key signs."""
        return KEY + canonical_json(to_plain(replace(self, signature="")))


def _wrapping_key(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=32, n=2**15, r=8, p=1).derive(passphrase.encode())


def new_key(passphrase: str, previous: Ed25519PrivateKey | None = None) -> KeyRecord:
    """Make a key, locked by a passphrase and signed by the key before it, if there was one."""
    private, salt, nonce = Ed25519PrivateKey.generate(), os.urandom(16), os.urandom(12)
    box = AESGCM(_wrapping_key(passphrase, salt)).encrypt(nonce, private.private_bytes_raw(), KEY)
    before = previous.public_key().public_bytes_raw().hex() if previous else ""
    public = private.public_key().public_bytes_raw().hex()
    key = KeyRecord(public, salt.hex(), nonce.hex(), box.hex(), before)
    if previous is None:
        return key
    return replace(key, signature=previous.sign(key.signed_part()).hex())


def unlock(key: KeyRecord, passphrase: str) -> Ed25519PrivateKey:
    """Open the private key; raises SealRefused for a wrong passphrase."""
    cipher = AESGCM(_wrapping_key(passphrase, bytes.fromhex(key.salt)))
    try:
        raw = cipher.decrypt(bytes.fromhex(key.nonce), bytes.fromhex(key.box), KEY)
    except InvalidTag:
        raise SealRefused("the passphrase does not open the key", "Nothing was decided.") from None
    return Ed25519PrivateKey.from_private_bytes(raw)


def _verifies(public: str, signature: str, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(
            bytes.fromhex(signature), message
        )
    except (InvalidSignature, ValueError):
        return False
    return True


def _signed_part(approval: Approval) -> bytes:
    plain = to_plain(approval)
    del plain["seal"]
    return APPROVAL + canonical_json(plain)


def sealed(approval: Approval, private: Ed25519PrivateKey) -> Approval:
    """Sign a decision."""
    return replace(approval, seal=private.sign(_signed_part(approval)).hex())


def is_sealed(approval: Approval | None, public: str) -> bool:
    """Tell whether a decision carries a seal that verifies."""
    return approval is not None and _verifies(public, approval.seal, _signed_part(approval))


class SealedReview:
    """Key, approve, apply and audit over the ledger of a workspace."""

    def __init__(self, workspace: Workspace, *, pinned: str = "") -> None:
        self.workspace = workspace
        self.world = workspace.world
        self._pinned = pinned
        self.file = LedgerFile(
            workspace.state_folder / "ledger.sqlite",
            vault_id=workspace.known_vault.id,
            workspace_key=workspace.settings.workspace_key,
        )

    # The key

    def set_key(self, passphrase: str, old: str = "") -> KeyRecord:
        """Chain a key, and with the first one a signed list of what is trusted or shared now."""
        before = self._events("key")
        previous = unlock(self.key(), old) if before else None
        key = new_key(passphrase, previous)
        self._append("key", to_plain(key))
        if not before:
            rows = {row.id: row.row_hash for row in self._weighty_rows()}
            signature = unlock(key, passphrase).sign(BASELINE + canonical_json(rows)).hex()
            self._append("baseline", {"rows": rows, "signature": signature})
        return key

    def key(self) -> KeyRecord:
        """Give the key that counts; raises SealRefused when its succession does not hold."""
        last: KeyRecord | None = None
        for event in self._events("key"):
            key = KeyRecord(**event)
            by_last = last and _verifies(last.public, key.signature, key.signed_part())
            if last is not None and not (key.previous == last.public and by_last):
                raise SealRefused("a key in the chain was not signed by the key before it", "")
            last = key
        if last is None:
            raise SealRefused("no key was set in this ledger", "")
        if self._pinned and last.public != self._pinned:
            raise SealRefused("the ledger's key is not the pinned one", "")
        return last

    def _events(self, kind: str) -> list[dict[str, Any]]:
        import json

        rows = self.file.all("select body from events where kind = ? order by seq", kind)
        return [json.loads(row[0]) for row in rows]

    def _append(self, kind: str, body: dict[str, Any]) -> None:
        with self.file.transaction():
            self.file.append_event(kind, body, at=self.world.clock.now())

    # Deciding and applying

    def approve(self, bundle_id: str, item_id: str, passphrase: str, flags: Flags) -> Approval:
        """Approve one item under the reviewer's seal."""
        standing = self.world.ledger.bundle(bundle_id)
        (item,) = (one for one in standing.items if one.item_id == item_id)
        private = unlock(self.key(), passphrase)
        who = Approver(getpass.getuser(), os.getuid(), os.uname().nodename, Way.TERMINAL)
        plain = decision_on(self.world, standing, item, Decision.APPROVE, who, flags=flags)
        approval = sealed(plain, private)
        record(self.world, [approval])
        return approval

    def apply(self, bundle_id: str) -> Applied:
        """Apply what was approved under the seal; one item without it stops everything."""
        with self.workspace.review_lock():
            self.world.ledger.verify()
            public = self.key().public
            for saga in self.world.ledger.unfinished():
                self._check_saga(saga, public)
            for item in self.world.ledger.bundle(bundle_id).items:
                if item.state is ItemState.APPROVED:
                    self._check_sealed(item, public)
            recover(self.world)
            return apply(self.world, bundle_id)

    def _check_sealed(self, item: StandingItem, public: str) -> None:
        approval = self.world.ledger.approval(item.item_id)
        if not is_sealed(approval, public):
            raise SealRefused(f"the approval of {item.item_id} carries no valid seal", "")

    def _check_saga(self, saga: Saga, public: str) -> None:
        """A change that a crash left behind must be what a sealed approval allowed."""
        items = {one.item_id: one for one in self.world.ledger.bundle(saga.bundle_id).items}
        item = items[saga.item_id]
        self._check_sealed(item, public)
        plan = saga.plan if saga.goal is ItemState.APPLIED else saga.plan.inverse()
        if item.digest != saga.item_digest or not self._serves(plan, item.item):
            raise SealRefused(f"the change left behind is not what {item.item_id} proposes", "")

    def _serves(self, plan: Plan, item: Item) -> bool:
        if item.effects.drafts:
            return _timeless(plan) == _timeless(HANDLERS[item.type].apply(item, self.world))
        rows, changes = plan.rows, item.effects.changes
        return len(rows) == len(changes) and all(
            row.before is not None
            and row.after is not None
            and row.before.row_hash == change.row_hash
            and row.after == changed_row(row.before, change, at=row.after.updated_at)
            for row, change in zip(rows, changes, strict=True)
        )

    # Looking back

    def audit(self) -> list[str]:
        """List memories that are trusted or shared without a seal behind them."""
        (baseline,) = self._events("baseline")
        message = BASELINE + canonical_json(baseline["rows"])
        first = KeyRecord(**self._events("key")[0]).public
        if not _verifies(first, baseline["signature"], message):
            raise SealRefused("the list made when the key was set does not verify", "")
        allowed = set(baseline["rows"].items()) | set(self._sealed_rows(self.key().public))
        rows = [(row.id, row.row_hash) for row in self._weighty_rows()]
        return [memory_id for memory_id, digest in rows if (memory_id, digest) not in allowed]

    def _sealed_rows(self, public: str) -> Iterator[tuple[str, str]]:
        for bundle in self.world.ledger.bundles():
            for item in bundle.items:
                saga = self.world.ledger.applied_saga(item.item_id)
                if saga is None or not self._has_seal(item, public):
                    continue
                for row in saga.plan.rows if self._serves(saga.plan, item.item) else ():
                    if row.after is not None:
                        yield row.memory_id, row.after.row_hash

    def _has_seal(self, item: StandingItem, public: str) -> bool:
        from vault_tools.core.plain import from_plain

        bodies = self.file.all(
            "select body from approvals where item_id = ? and decision = 'approve'", item.item_id
        )
        import json

        approvals = [from_plain(Approval, json.loads(body)) for (body,) in bodies]
        return any(
            is_sealed(approval, public) and approval.item_digest == item.digest
            for approval in approvals
        )

    def _weighty_rows(self) -> Iterator[Memory]:
        from vault_tools.core.memory import Status

        for agent in self.world.store.agents():
            for row in self.world.store.rows(
                self.world.viewer(agent), statuses=tuple(Status), own_only=True
            ):
                if row.trust is Trust.TRUSTED or row.scope is not Scope.AGENT_PRIVATE:
                    yield row


def _timeless(plan: Plan) -> list[object]:
    return [
        (row.before, row.after and replace(row.after, created_at=0, updated_at=0))
        for row in plan.rows
    ]


def open_review(home: Path, vault: Path, *, pinned: str = "") -> SealedReview:
    """Open the sealed review of a vault."""
    opened = settings(Options(home=home, vault=vault), {}, Path.cwd())
    return SealedReview(Workspace(opened), pinned=pinned)


def main(arguments: list[str]) -> int:
    """Run `key|approve HOME VAULT [BUNDLE ITEM] [--passphrase-stdin]`."""
    from_stdin = "--passphrase-stdin" in arguments
    verb, home, vault, *rest = (one for one in arguments if one != "--passphrase-stdin")
    review = open_review(Path(home), Path(vault))
    if verb == "approve":
        items = {one.item_id: one for one in review.world.ledger.bundle(rest[0]).items}
        _ask_digest(items[rest[1]], asked=not from_stdin)
    passphrase = sys.stdin.readline().strip() if from_stdin else getpass.getpass("Passphrase: ")
    try:
        if verb == "key":
            print(review.set_key(passphrase).public)
        else:
            flags = Flags(allow_global=True, trust_assistant=True)
            review.approve(rest[0], rest[1], passphrase, flags)
            print(f"{rest[1]} approved under the seal")
    except VaultToolsError as error:
        print(f"Error: {error.message}")
        return error.exit_code
    return 0


def _ask_digest(item: StandingItem, *, asked: bool) -> None:
    print(f"{item.item.title}\ndigest: {short(item.digest)}")
    if asked and input("Type the digest (8 characters): ") != short(item.digest):
        raise NotApproved("the digest was not typed", "")


def new_passphrase() -> str:
    """Make a passphrase for an experiment."""
    return secrets.token_urlsafe(18)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
