"""One handler per item type: preview, preconditions, apply, undo (spec 02 §Items).

A type without all four cannot be registered, and an item whose type has no handler here cannot be
approved; `not_yet` says so in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from vault_tools.core.item import Item, ItemType
from vault_tools.core.saga import Plan
from vault_tools.review.items.drafts import DraftHandler
from vault_tools.review.items.objection import Objection
from vault_tools.review.items.row_changes import RowChangeHandler
from vault_tools.review.world import World


class Handler(Protocol):
    """What a type of item can do."""

    def preview(self, item: Item) -> tuple[str, ...]:
        """Show the exact change as lines that begin with `-`, `+` or a space."""
        ...

    def preconditions(self, item: Item, world: World) -> tuple[Objection, ...]:
        """Name everything that no longer holds; empty means it may be applied."""
        ...

    def apply(self, item: Item, world: World) -> Plan:
        """Stage the change: every row and file before and after; nothing is written."""
        ...

    def undo(self, plan: Plan, world: World) -> Plan:
        """Stage the way back; raises StalePrecondition where the target has changed since."""
        ...


def _registered(handlers: Mapping[ItemType, Handler]) -> Mapping[ItemType, Handler]:
    for kind, handler in handlers.items():
        missing = [
            verb
            for verb in ("preview", "preconditions", "apply", "undo")
            if not callable(getattr(handler, verb, None))
        ]
        if missing:
            raise TypeError(f"the handler of {kind.value} lacks {', '.join(missing)}")
    return MappingProxyType(dict(handlers))


HANDLERS: Mapping[ItemType, Handler] = _registered(
    {
        ItemType.MEMORY_PROMOTION: RowChangeHandler(),
        ItemType.MEMORY_DEMOTION: RowChangeHandler(),
        ItemType.TOMBSTONE: RowChangeHandler(),
        ItemType.NOTE_IMPORT_CANDIDATE: DraftHandler(),
    }
)

_WHAT = {
    ItemType.KNOWLEDGE_UPDATE: "writing to KNOWLEDGE.md",
    ItemType.CONFLICT_RESOLUTION: "choosing between two memories",
    ItemType.MEMORY_MERGE: "merging memories",
    ItemType.VAULT_HYGIENE: "mending generated text",
    ItemType.PROJECT_HUB_UPDATE: "writing project hubs",
    ItemType.TASK_SUGGESTION: "writing task suggestions",
    ItemType.STALE_REVIEW: "extending or expiring a memory",
}


def not_yet(kind: ItemType) -> str:
    """Say why an item of this type cannot be approved yet; empty when it can."""
    if kind in HANDLERS:
        return ""
    return f"{_WHAT[kind]} is not built into this version of vault-tools"


NOT_YET: Mapping[ItemType, str] = MappingProxyType(
    {kind: not_yet(kind) for kind in ItemType if kind not in HANDLERS}
)
