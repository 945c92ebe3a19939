"""The composition root: from settings to opened stores, vault, renderer and clock."""

from __future__ import annotations

import platform
import secrets
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vault_tools.config import EmbeddingProvider, Settings
from vault_tools.core.item import Item
from vault_tools.core.memory import Memory, Status
from vault_tools.core.ports import Clock, Embedder, Ledger
from vault_tools.core.scope import Viewer
from vault_tools.errors import (
    BridgeDisabled,
    ConfigError,
    LedgerError,
    ProviderError,
    VaultToolsError,
)
from vault_tools.home.durable import private_folder, write_private
from vault_tools.home.lock import LockOwner, locked
from vault_tools.home.vaults import KnownVault, VaultRegistry
from vault_tools.redaction.redactor import redact
from vault_tools.vault.exclusion import Excluded, exclusion, ignore_filters
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.manifest import Manifest, ScanResult, scan
from vault_tools.vault.settling import QUIET_SECONDS
from vault_tools.vault.undo import UndoStore

if TYPE_CHECKING:
    from vault_tools.render.environment import Renderer
    from vault_tools.review.proposers.frame import Frame
    from vault_tools.review.publishing import Publisher
    from vault_tools.review.world import World
    from vault_tools.store.memories import LanceMemories

LOCK_WAIT_SECONDS = 60.0


class SystemClock:
    """The system's clock."""

    def now(self) -> int:
        """Give UTC milliseconds."""
        return time.time_ns() // 1_000_000


class Workspace:
    """One workspace with everything it works on; each part is opened when first asked for."""

    def __init__(self, settings: Settings, *, clock: Clock | None = None) -> None:
        self.settings = settings
        self.clock: Clock = clock or SystemClock()

    # The engine

    @cached_property
    def store(self) -> LanceMemories:
        """Open the engine; raises ConfigError for a location this version cannot open."""
        from vault_tools.engine.tokens import index_tokens
        from vault_tools.store.memories import LanceMemories

        base = self.settings.config.base_db_path
        if "://" in base:
            raise ConfigError(
                f"base_db_path = {base!r}: object stores are not built into this version",
                "Name a folder; the default is `memory` in the home.",
            )
        return LanceMemories(
            private_folder(Path(base)),
            identity=self.embedder.identity,
            indexer=index_tokens,
            clock=self.clock,
        )

    @cached_property
    def embedder(self) -> Embedder:
        """Open the configured embedding provider; its model is loaded when first used."""
        from vault_tools.providers.embedding import embedded_embedder

        provider = self.settings.config.embedding.provider
        if provider is not EmbeddingProvider.EMBEDDED:
            raise ProviderError(
                f"the embedding provider {provider.value!r} is not built into this version",
                'Set embedding.provider = "embedded", which works without a key or network.',
            )
        return embedded_embedder(private_folder(self.settings.home / "cache" / "embedding"))

    # The vault and what we know of it

    @cached_property
    def vault(self) -> Path:
        """Give the vault that review and reports work in; raises BridgeDisabled before `init`."""
        return self.settings.bridged_vault()

    @cached_property
    def known_vault(self) -> KnownVault:
        """Find the vault in the registry; raises ConfigError when it was moved or never set up."""
        found = VaultRegistry(self.settings.home).find(self.vault)
        if found is None:
            raise ConfigError(
                f"the vault {self.vault.name!r} is not registered in this home",
                "Run `vault-tools init`, or `vault-tools init --moved-from OLD` for a moved vault.",
            )
        if found.host != platform.node():
            raise ConfigError(
                f"the review root of this vault belongs to another computer ({found.host})",
                "Decide and apply there: here the vault is read-only for vault-tools. Or make this "
                "computer the owner: `vault-tools blocks adopt --take-over`.",
            )
        return found

    @property
    def state_folder(self) -> Path:
        """Give the folder of ledger, manifest and undo store, outside every vault."""
        return self.settings.home / "state" / self.known_vault.id / self.settings.workspace_key

    @cached_property
    def undo(self) -> UndoStore:
        """Open the store of replaced bytes."""
        return UndoStore(self.state_folder / "undo")

    @cached_property
    def files(self) -> VaultFiles:
        """Open the one writer of vault files."""
        return VaultFiles(
            self.vault,
            self.settings.config.obsidian_bridge.review_root,
            undo=self.undo,
            lock_dir=self.settings.home / "locks",
            started=self.iso_now(),
            wait_seconds=LOCK_WAIT_SECONDS,
            in_place=self.settings.config.obsidian_bridge.in_place_writes,
            quiet_seconds=QUIET_SECONDS,
        )

    @cached_property
    def ledger(self) -> Ledger:
        """Open the ledger of this workspace."""
        from vault_tools.store.account import SqliteLedger
        from vault_tools.store.ledger import LedgerFile

        self._refuse_lost_ledger()
        return SqliteLedger(
            LedgerFile(
                self.state_folder / "ledger.sqlite",
                vault_id=self.known_vault.id,
                workspace_key=self.settings.workspace_key,
            )
        )

    def _refuse_lost_ledger(self) -> None:
        path = self.state_folder / "ledger.sqlite"
        held = path.is_file() and path.stat().st_size > 0
        if not held and (self.state_folder / "manifest.json").is_file():
            raise LedgerError(
                f"the ledger {path} is missing or empty, but this vault has been reviewed before",
                "Restore it from a backup. To begin anew and forget every decision, move the "
                f"folder {self.state_folder} aside.",
            )

    @cached_property
    def excluded(self) -> Excluded:
        """Say why a note is kept out: `notes.exclude` and Obsidian's own excluded files."""
        return excluded_notes(self.settings, self.vault)

    def scan(
        self, previous: Manifest, progress: Callable[[int], None] = lambda count: None
    ) -> ScanResult:
        """Compare the vault with what was known of it."""
        return scan(
            self.vault,
            previous,
            now=self.clock.now(),
            review_root=self.settings.config.obsidian_bridge.review_root,
            excluded=self.excluded,
            progress=progress,
        )

    def load_manifest(self) -> Manifest:
        """Give what was known of the vault after the last review."""
        path = self.state_folder / "manifest.json"
        try:
            return Manifest.load(path.read_bytes()) if path.is_file() else Manifest()
        except VaultToolsError as damaged:
            raise VaultToolsError(f"{path}: {damaged.message}", damaged.hint) from damaged

    def save_manifest(self, manifest: Manifest) -> None:
        """Remember the vault as it was when the bundle was written."""
        write_private(self.state_folder / "manifest.json", manifest.dump())

    # The review

    @cached_property
    def world(self) -> World:
        """Gather what the review works on."""
        from vault_tools.review.world import World

        settings = self.settings
        return World(
            vault_id=self.known_vault.id,
            workspace_key=settings.workspace_key,
            owner_id=settings.owner_id,
            open_store=lambda: self.store,
            ledger=self.ledger,
            files=self.files,
            undo=self.undo,
            embedder=lambda: self.embedder,
            redact=redact,
            clock=self.clock,
            new_nonce=lambda: secrets.token_hex(16),
            review_root=settings.config.obsidian_bridge.review_root,
        )

    @cached_property
    def renderer(self) -> Renderer:
        """Open the templates."""
        from vault_tools.render.environment import Renderer

        override = self.settings.config.templates.override_dir
        return Renderer(override)

    @cached_property
    def publisher(self) -> Publisher:
        """Give the writer of bundle notes."""
        from vault_tools.review.publishing import Publisher

        return Publisher(
            self.world,
            self.renderer,
            is_note=lambda path: self.files.read(path) is not None,
            expires_after_days=self.settings.config.review.expires_after_days,
        )

    @contextmanager
    def review_lock(self) -> Iterator[LockOwner | None]:
        """Hold the workspace's one review lock; yields the owner of a lock left behind."""
        path = self.state_folder / "review.lock"
        with locked(path, started=self.iso_now(), wait_seconds=LOCK_WAIT_SECONDS) as left_behind:
            yield left_behind

    def find_in_rows(self, frame: Frame) -> Iterator[Item]:
        """Propose from the rows of every agent that the configuration includes."""
        from vault_tools.review.proposers.engine_rows import items_from_rows

        yield from items_from_rows(self.world, frame, self.included_agents(), self.embedder)

    def welcome(self) -> None:
        """Create the review root with its README; an existing one is left as it is."""
        from vault_tools.review.welcome import write_readme

        write_readme(self.world, self.renderer)

    def adopt_rendered(self) -> int:
        """Take over blocks that stand as we would render them, and count them."""
        from vault_tools.review.adopting import adopt_rendered

        with self.review_lock():
            return len(adopt_rendered(self.world, self.publisher))

    def seed(self, data: bytes) -> int:
        """Put the memories of a sample vault into the engine as they are, and count them."""
        from vault_tools.store.seeding import read_seed_file, seed_rows

        rows = read_seed_file(data, self.clock.now(), owner_id=self.settings.owner_id)
        return len(seed_rows(self.store, rows, self.embedder))

    def repair(self) -> list[str]:
        """Finish what a crash left behind, and say so; quiet where there is no review."""
        try:
            unfinished = self.ledger.unfinished()
        except (BridgeDisabled, ConfigError):
            return []
        if not unfinished:
            return []
        from vault_tools.review.saga import recover

        with self.review_lock():
            repaired = recover(self.world)
            for bundle_id in {one.bundle_id for one in repaired}:
                self.publisher.follow(bundle_id)
        return [one.message for one in repaired]

    # Small things everybody needs

    def agents(self) -> list[str]:
        """List the agents that have a database here."""
        return self.store.agents()

    def own_rows(self, agent_id: str, *, all_states: bool) -> Iterator[Memory]:
        """Stream the rows that an agent stored."""
        statuses = tuple(Status) if all_states else (Status.ACTIVE,)
        return self.store.rows(self.viewer(agent_id), statuses=statuses, own_only=True)

    def included_agents(self) -> list[str]:
        """List the agents that the review covers."""
        include = self.settings.config.obsidian_bridge.agents.include
        return [agent for agent in self.agents() if "*" in include or agent in include]

    def viewer(self, agent_id: str) -> Viewer:
        """Act as an agent of this workspace."""
        return Viewer(agent_id, self.settings.workspace_key, self.settings.owner_id)

    def iso_now(self) -> str:
        """Give the present moment as ISO 8601 in UTC."""
        return iso(self.clock.now())

    def new_id(self) -> str:
        """Make the id of a new memory."""
        return str(uuid.uuid4())

    def note_path(self, relative: str) -> Path:
        """Give the absolute path of a vault file, for showing it."""
        return self.vault / relative


def excluded_notes(settings: Settings, vault: Path) -> Excluded:
    """Say why a note of a vault is kept out: `notes.exclude` and Obsidian's own excluded files."""
    obsidian = vault / ".obsidian" / "app.json"
    own = ignore_filters(obsidian.read_bytes()) if obsidian.is_file() else ()
    return exclusion(settings.config.notes.exclude, own)


def iso(moment: int) -> str:
    """Format UTC milliseconds as ISO 8601 in UTC."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="seconds")
