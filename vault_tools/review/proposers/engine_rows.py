"""Go through the engine's rows, agent by agent, and propose what they call for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_tools.core.item import Item
from vault_tools.core.ports import Embedder
from vault_tools.redaction.redactor import contains_secret
from vault_tools.review.adversarial import orders_in
from vault_tools.review.proposers.frame import Frame
from vault_tools.review.proposers.pairs import pair_items
from vault_tools.review.proposers.rows import row_items
from vault_tools.review.world import World


def items_from_rows(
    world: World, frame: Frame, agents: Sequence[str], embedder: Embedder
) -> Iterator[Item]:
    """Propose from the active rows of the given agents; a pair two agents see comes once.

    What contradicts or repeats another memory is not proposed for promotion: that is settled first.
    """
    for agent in agents:
        viewer = world.viewer(agent)
        pairs = list(pair_items(world.store, viewer, frame, embedder.identity))
        yield from pairs
        unsettled = frozenset(need.subject for pair in pairs for need in pair.preconditions)
        yield from row_items(
            world.store.rows(viewer, own_only=True),
            frame,
            unsettled=unsettled,
            secrets_in=contains_secret,
            gives_orders=orders_in,
        )
