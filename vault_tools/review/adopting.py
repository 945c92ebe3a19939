"""Take over managed blocks that the ledger does not know: a restored vault, a new machine."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_tools.core.approval import Approver
from vault_tools.core.block import (
    BlockState,
    ManagedBlock,
    accepts,
    canonical,
    find_blocks,
    owned_block,
)
from vault_tools.core.ports import OwnedBlock
from vault_tools.errors import BlockError, PathRefused
from vault_tools.review.publishing import Publisher
from vault_tools.review.world import World
from vault_tools.vault.blocks import read_blocks
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.markdown import opaque_lines
from vault_tools.vault.names import is_note


@dataclass(frozen=True, slots=True)
class FoundBlock:
    """One managed block of the review root, and whose it is."""

    path: str
    block: ManagedBlock
    state: BlockState

    @property
    def is_whole(self) -> bool:
        """Tell whether the text is still what its own marker says."""
        return accepts(self.block)


@dataclass(frozen=True, slots=True)
class ClosedNote:
    """A note whose blocks cannot be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class BlockSurvey:
    """The managed blocks of a place, and the notes that were closed to us."""

    blocks: tuple[FoundBlock, ...]
    closed: tuple[ClosedNote, ...]


def survey(world: World, place: str = "") -> BlockSurvey:
    """Read every managed block of the review root, or of one note or folder in it."""
    blocks: list[FoundBlock] = []
    closed: list[ClosedNote] = []
    for path in review_notes(world.files, place or world.review_root):
        try:
            found = read_blocks(world.files, world.ledger, path)
        except (BlockError, PathRefused) as error:
            closed.append(ClosedNote(path, error.message))
            continue
        blocks += [FoundBlock(path, one.block, one.state) for one in found]
    return BlockSurvey(tuple(blocks), tuple(closed))


def review_notes(files: VaultFiles, place: str) -> Iterator[str]:
    """List the notes below a folder of the review root in order, or the one note named.

    Raises PathRefused for a place outside it, or where nothing is.
    """
    root = files.review_root
    if not f"{place}/".startswith(f"{root}/"):
        raise PathRefused(f"{place} lies outside the review root", f"Name a note below {root}/.")
    if is_note(place):
        if files.read(place) is None:
            raise PathRefused(f"there is no note {place}", f"Name a note below {root}/.")
        yield place
        return
    yield from _notes_below(files, place)


def _notes_below(files: VaultFiles, place: str) -> Iterator[str]:
    for name, found in files.entries(place):
        path = f"{place}/{name}"
        if name.startswith("."):
            continue
        if stat.S_ISDIR(found.st_mode):
            yield from _notes_below(files, path)
        elif is_note(name):
            yield path


def adopt(world: World, blocks: Sequence[FoundBlock], approver: Approver) -> None:
    """Take blocks over as they were shown to a person; the ledger records who decided."""
    owned = [owned_block(one.path, one.block) for one in blocks]
    world.ledger.adopt_blocks(owned, approver, at=world.clock.now())


def adopt_rendered(world: World, publisher: Publisher) -> list[OwnedBlock]:
    """Take over blocks of bundle notes that say exactly what the ledger's bundle would render."""
    adopted = [
        owned
        for standing in world.ledger.bundles()
        for owned in _as_rendered(world, publisher, standing.bundle_id)
    ]
    if adopted:
        world.ledger.adopt_blocks(adopted, None, at=world.clock.now())
    return adopted


def _as_rendered(world: World, publisher: Publisher, bundle_id: str) -> Iterator[OwnedBlock]:
    path = publisher.path(bundle_id)
    try:
        foreign = [
            one.block
            for one in read_blocks(world.files, world.ledger, path)
            if one.state is BlockState.FOREIGN and accepts(one.block)
        ]
        if not foreign:
            return
        _, fresh = publisher.preview(world.ledger.bundle(bundle_id))
    except (BlockError, PathRefused):
        # Markers in disorder or a link: nothing there is as we would render it.
        return
    ours = {block.block_id: block for block in find_blocks(fresh, opaque_lines(fresh))}
    for block in foreign:
        mine = ours.get(block.block_id)
        if mine is not None and canonical(block.body) == canonical(mine.body):
            yield owned_block(path, block)
