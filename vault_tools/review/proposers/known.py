"""Compare what notes state with what the agents remember: the same, or the opposite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vault_tools.core.digest import sha256_hex
from vault_tools.core.item import Adversarial, Finding, Item, ItemType, Verdict, gist
from vault_tools.core.memory import Memory, normalised
from vault_tools.engine.contradictions import CONTRADICTION_MINIMUM, opposition
from vault_tools.engine.duplicates import same_fact
from vault_tools.engine.scoring import calibrated
from vault_tools.review.world import World

_NEIGHBOURS = 5
_COMPARED = 200


def remembered(item: Item, world: World) -> bool:
    """Tell whether the engine holds the same words already, whatever became of them."""
    content = sha256_hex(normalised(item.shown))
    return bool(world.store.same_content(world.viewer(item.agent_id), content))


def compared(items: Sequence[Item], world: World) -> list[Item]:
    """Drop imports that a memory states in other words, and warn of those it contradicts.

    Looks at the 200 best imports; a bundle never holds more.
    """
    imports = [item for item in items if item.type is ItemType.NOTE_IMPORT_CANDIDATE]
    best = sorted(imports, key=lambda item: -item.rank)[:_COMPARED]
    near = dict(zip((item.key for item in best), _neighbours(best, world), strict=True))
    return list(_judged(items, near))


def _judged(items: Sequence[Item], near: dict[str, list[Memory]]) -> Iterator[Item]:
    for item in items:
        memories = near.get(item.key, [])
        if any(same_fact(memory.text, item.shown) for memory in memories):
            continue
        opposed = [memory for memory in memories if opposition(memory.text, item.shown)]
        yield _warned(item, opposed[0]) if opposed else item


def _neighbours(items: Sequence[Item], world: World) -> list[list[Memory]]:
    if not items:
        return []
    embedder, now = world.embedder(), world.clock.now()
    vectors = embedder.embed_documents([item.shown for item in items])
    found = []
    for item, vector in zip(items, vectors, strict=True):
        viewer = world.viewer(item.agent_id)
        rows = world.store.nearest(viewer, vector, limit=_NEIGHBOURS, now=now)
        scored = [(row.memory, calibrated(row.cosine, embedder.identity)) for row in rows]
        found.append([memory for memory, score in scored if score >= CONTRADICTION_MINIMUM])
    return found


def _warned(item: Item, memory: Memory) -> Item:
    finding = Finding(
        "contradicts_memory",
        f"The agent {memory.stored_by} remembers otherwise: {gist(memory.text)}",
    )
    verdict = item.adversarial.verdict
    raised = Verdict.WARNING if verdict is Verdict.PASS else verdict
    return replace(item, adversarial=Adversarial(raised, (*item.adversarial.findings, finding)))
