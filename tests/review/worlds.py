"""A whole review world in a temporary folder: real vault, real ledger, the in-memory engine."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path

from vault_tools.core.approval import Approval, Approver, Decision, Way
from vault_tools.core.bundle import Profile, StandingBundle
from vault_tools.core.memory import Category, Memory
from vault_tools.core.ports import MemoryStore
from vault_tools.core.trust import SourceRole, Trust
from vault_tools.engine.tokens import index_tokens
from vault_tools.providers.hashing import HashingEmbedder
from vault_tools.redaction.redactor import redact
from vault_tools.render.environment import Renderer
from vault_tools.review.approvals import Flags, decision_on, record
from vault_tools.review.prepare import Prepared, Request, prepare
from vault_tools.review.proposers.engine_rows import items_from_rows
from vault_tools.review.publishing import Publisher
from vault_tools.review.world import World
from vault_tools.store.account import SqliteLedger
from vault_tools.store.in_memory import InMemoryMemories
from vault_tools.store.ledger import LedgerFile
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.manifest import Manifest, scan
from vault_tools.vault.undo import UndoStore

MONDAY = 1_796_029_200_000
DAY = 86_400_000
REVIEW_ROOT = "00-system/plur1bus"
PERSON = Approver("mirjam", 1000, "atelier", Way.TERMINAL)


@dataclass
class SettableClock:
    """A clock that stands still until it is set."""

    at: int = MONDAY

    def now(self) -> int:
        return self.at


@dataclass
class ReviewWorld:
    """What a test holds in its hands."""

    vault: Path
    clock: SettableClock
    store: MemoryStore
    world: World
    publisher: Publisher
    manifest: Manifest = field(default_factory=Manifest)
    embedder: HashingEmbedder = field(default_factory=HashingEmbedder)

    def note(self, path: str, text: str) -> Path:
        place = self.vault / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return place

    def remember(self, text: str, **columns: object) -> Memory:
        values: dict[str, object] = {
            "stored_by": "main",
            "category": Category.FACT,
            "created_at": self.clock.at - DAY,
            "updated_at": self.clock.at - DAY,
            "trust": Trust.CANDIDATE,
            "evidence": text[:100],
            "source_role": SourceRole.USER,
            "owner_id": "owner",
        }
        values.update(columns)
        number = next(_NUMBERS)
        row = Memory(id=f"00000000-0000-4000-8000-{number:012d}", text=text, **values)  # type: ignore[arg-type]
        vector = self.embedder.embed_documents([text])[0]
        viewer = self.world.viewer(row.stored_by)
        return self.store.insert(viewer, row, vector, reason="given")

    def row(self, memory: Memory) -> Memory | None:
        return self.store.find(self.world.viewer(memory.stored_by), memory.id)

    def rows(self) -> list[Memory]:
        from vault_tools.core.memory import Status

        return [
            row
            for agent in self.store.agents()
            for row in self.store.rows(
                self.world.viewer(agent), statuses=tuple(Status), own_only=True
            )
        ]

    def prepare(self, *, max_items: int = 40, profile: Profile = Profile.STANDARD) -> Prepared:
        def save(manifest: Manifest) -> None:
            self.manifest = manifest

        request = Request(
            agent_id="main",
            profiles=[profile],
            zone="Europe/Zurich",
            max_items=max_items,
            per_note=3,
            expires_after_days=7,
            scan=lambda previous: scan(
                self.vault, previous, now=self.clock.at, review_root=REVIEW_ROOT
            ),
            load_manifest=lambda: self.manifest,
            save_manifest=save,
            find_in_rows=lambda frame: items_from_rows(
                self.world, frame, self.store.agents(), self.embedder
            ),
        )
        return prepare(self.world, self.publisher, request)

    def bundle(self) -> StandingBundle:
        standing = self.prepare().standing
        assert standing is not None
        return standing

    def approve(
        self, standing: StandingBundle, *item_ids: str, flags: Flags | None = None
    ) -> list[Approval]:
        chosen = [item for item in standing.items if item.item_id in item_ids]
        decisions = [
            decision_on(self.world, standing, item, Decision.APPROVE, PERSON, flags=flags)
            for item in chosen
        ]
        record(self.world, decisions)
        return decisions

    def undo_decisions(self, standing: StandingBundle, *item_ids: str) -> list[Approval]:
        chosen = [item for item in standing.items if item.item_id in item_ids]
        return [decision_on(self.world, standing, item, Decision.UNDO, PERSON) for item in chosen]

    def files(self) -> dict[str, bytes]:
        """Give every file of the vault outside the review root."""
        return {
            str(path.relative_to(self.vault)): path.read_bytes()
            for path in sorted(self.vault.rglob("*"))
            if path.is_file() and REVIEW_ROOT not in path.as_posix()
        }


_NUMBERS = itertools.count(1)


def make_world(place: Path, *, store: MemoryStore | None = None) -> ReviewWorld:
    """Build a world below a folder."""
    vault, state = place / "vault", place / "state"
    vault.mkdir(parents=True, exist_ok=True)
    clock = SettableClock()
    undo = UndoStore(state / "undo")
    engine = store or InMemoryMemories(indexer=index_tokens, clock=clock)
    embedder = HashingEmbedder()
    nonces = itertools.count(1)
    world = World(
        vault_id="11111111-1111-4111-8111-111111111111",
        workspace_key="main",
        owner_id="owner",
        open_store=lambda: engine,
        ledger=SqliteLedger(
            LedgerFile(
                state / "ledger.sqlite",
                vault_id="11111111-1111-4111-8111-111111111111",
                workspace_key="main",
            )
        ),
        files=VaultFiles(vault, REVIEW_ROOT, undo=undo, lock_dir=place / "locks"),
        undo=undo,
        embedder=lambda: embedder,
        redact=redact,
        clock=clock,
        new_nonce=lambda: f"nonce-{next(nonces)}",
        review_root=REVIEW_ROOT,
    )
    publisher = Publisher(world, Renderer(), is_note=lambda path: (vault / path).is_file())
    return ReviewWorld(vault, clock, engine, world, publisher)
