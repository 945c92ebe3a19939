"""Keep a bundle's note in the vault in step with the ledger; the ledger is never read from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vault_tools.core.block import find_blocks, owned_block
from vault_tools.core.bundle import StandingBundle
from vault_tools.core.digest import sha256_hex
from vault_tools.core.note import decode, encode
from vault_tools.errors import BlockMalformed
from vault_tools.render.environment import Renderer
from vault_tools.review.bundle_note import (
    TEMPLATES,
    NoteState,
    new_bundle_note,
    note_state,
    refreshed_bundle_note,
    render_bundle_blocks,
)
from vault_tools.review.items import NOT_YET
from vault_tools.review.world import World
from vault_tools.vault.markdown import opaque_lines


@dataclass(frozen=True, slots=True)
class Publisher:
    """Writes bundle notes; `is_note` tells which vault paths may be linked."""

    world: World
    renderer: Renderer
    is_note: Callable[[str], bool]
    expires_after_days: int = 7

    def path(self, bundle_id: str) -> str:
        """Name the vault path of a bundle's note."""
        return f"{self.world.review_root}/review-bundles/{bundle_id}.md"

    def template_digest(self) -> str:
        """Hash the templates that draw what the reviewer reads."""
        return self.renderer.template_digest(TEMPLATES)

    def publish(self, standing: StandingBundle) -> str:
        """Write the note of a new bundle and give its path."""
        path = self.path(standing.bundle_id)
        text = new_bundle_note(standing, self.renderer, self._bodies(standing))
        self.world.files.write(path, encode(text), expected=None)
        self._own(path, text)
        return path

    def state(self, standing: StandingBundle) -> NoteState:
        """Tell whether the note still shows what was rendered."""
        path = self.path(standing.bundle_id)
        content = self.world.files.read(path)
        owned = self.world.ledger.owned_blocks(path)
        return note_state(
            None if content is None else decode(content),
            standing,
            {block_id: block.canonical for block_id, block in owned.items()},
        )

    def follow(self, bundle_id: str) -> NoteState:
        """Render the note anew after a decision; an edited or missing note is left as it is.

        Gives the state the note was found in.
        """
        standing = self.world.ledger.bundle(bundle_id)
        with self.world.files.hold():
            found = self.state(standing)
            if found is NoteState.INTACT:
                self._rewrite(standing)
        return found

    def refresh(self, bundle_id: str) -> tuple[NoteState, str]:
        """Render the note anew over edited blocks; the edited bytes go to the undo store first.

        Gives the state the note was found in and the hash its former bytes are kept under.
        Text outside the blocks stays. Raises BlockMalformed when the markers are in disorder.
        """
        standing = self.world.ledger.bundle(bundle_id)
        path = self.path(bundle_id)
        with self.world.files.hold():
            found = self.state(standing)
            content = self.world.files.read(path)
            if content is None:
                self.publish(standing)
                return found, ""
            kept = self.world.undo.put(content)
            try:
                self._rewrite(standing)
            except BlockMalformed as error:
                raise BlockMalformed(
                    error.message,
                    "Move that note out of the review root and refresh again: it is written anew.",
                ) from error
        return found, kept

    def preview(self, standing: StandingBundle) -> tuple[str | None, str]:
        """Give the note as it is, None when missing, and as rendering it anew would leave it."""
        content = self.world.files.read(self.path(standing.bundle_id))
        bodies = self._bodies(standing)
        if content is None:
            return None, new_bundle_note(standing, self.renderer, bodies)
        text = decode(content)
        return text, refreshed_bundle_note(text, standing, bodies)

    def _rewrite(self, standing: StandingBundle) -> None:
        path = self.path(standing.bundle_id)
        content = self.world.files.read(path) or b""
        text = refreshed_bundle_note(decode(content), standing, self._bodies(standing))
        self.world.files.write(path, encode(text), expected=sha256_hex(content))
        self._own(path, text)

    def _bodies(self, standing: StandingBundle) -> dict[str, str]:
        return render_bundle_blocks(
            standing,
            self.renderer,
            not_yet=NOT_YET,
            is_note=self.is_note,
            expires_after_days=self.expires_after_days,
        )

    def _own(self, path: str, text: str) -> None:
        blocks = find_blocks(text, opaque_lines(text))
        self.world.ledger.own_blocks([owned_block(path, block) for block in blocks])
