"""Items that store new memories: a statement found in a note."""

from __future__ import annotations

import uuid

from vault_tools.core.citation import Citation, parse_citation
from vault_tools.core.digest import sha256_hex
from vault_tools.core.item import Item, Needs, RowDraft
from vault_tools.core.memory import Memory, Status
from vault_tools.core.saga import Plan, RowStep
from vault_tools.core.scope import Scope
from vault_tools.core.trust import Trust
from vault_tools.review.items.objection import Objection, blocked, invalid, stale
from vault_tools.review.items.row_changes import unchanged_since
from vault_tools.review.world import World

_NAMESPACE = uuid.UUID("9b9c2d0e-6f0a-4a43-9d4e-2f0f6b1f7a10")


class DraftHandler:
    """Store memories with their note as evidence; agent_private and at most candidate."""

    def preview(self, item: Item) -> tuple[str, ...]:
        """Show the memory that would be stored."""
        lines = []
        for draft in item.effects.drafts:
            lines += [f"+ {line}" for line in draft.text.split("\n")]
            lines += [
                f"+ category: {draft.category}",
                f"+ scope: {draft.scope}",
                f"+ trust: {draft.trust}",
                f"+ source: {draft.source}",
            ]
        return tuple(lines)

    def preconditions(self, item: Item, world: World) -> tuple[Objection, ...]:
        """Check the source's hash, the quote in it, and that nothing says the same by now."""
        found = [*self._sources(item, world)]
        for draft in item.effects.drafts:
            if draft.scope is not Scope.AGENT_PRIVATE or draft.trust is Trust.TRUSTED:
                found.append(blocked("an import is stored private and at most as a candidate"))
            found += self._known_already(item, draft, world)
        return tuple(found)

    def _sources(self, item: Item, world: World) -> list[Objection]:
        bound = [p for p in item.preconditions if p.needs is Needs.SOURCE_SHA256]
        if not bound:
            return [blocked("the item is not bound to the source it quotes")]
        found = []
        for need in bound:
            data = world.files.read(need.subject)
            now = sha256_hex(data) if data is not None else "missing"
            if now != need.value:
                found.append(
                    stale(f"{need.subject} has changed: reviewed {need.value[:8]}, now {now[:8]}")
                )
            elif data is not None:
                found += _quotes(item, need.subject, data, world)
        return found

    def _known_already(self, item: Item, draft: RowDraft, world: World) -> list[Objection]:
        wanted = _memory(item, 0, draft, world, at=0)
        for row in world.store.same_content(world.viewer(item.agent_id), wanted.content_hash):
            if row.status is Status.TOMBSTONED:
                return [blocked(f"the same text was tombstoned as memory {row.id}")]
            if row.status is Status.ACTIVE:
                return [stale(f"memory {row.id} says the same by now")]
        return []

    def apply(self, item: Item, world: World) -> Plan:
        """Stage one new row per draft; its id follows from the item's digest."""
        at = world.clock.now()
        rows = [
            _memory(item, position, draft, world, at=at)
            for position, draft in enumerate(item.effects.drafts)
        ]
        return Plan(rows=tuple(RowStep(item.agent_id, row.id, None, row) for row in rows))

    def undo(self, plan: Plan, world: World) -> Plan:
        """Take the rows out again; history keeps them."""
        return unchanged_since(plan, world).inverse()


def _quotes(item: Item, path: str, data: bytes, world: World) -> list[Objection]:
    """Look for each quote verbatim in its source, both sides redacted by the same rules."""
    text = world.redact(data.decode("utf-8", errors="replace")).replace("\r\n", "\n")
    for evidence in item.evidence:
        citation: Citation | None = parse_citation(evidence.citation)
        if citation and citation.path == path and world.redact(evidence.quote) not in text:
            return [invalid(f"the quoted words do not occur in {path}")]
    return []


def _memory(item: Item, position: int, draft: RowDraft, world: World, *, at: int) -> Memory:
    return Memory(
        id=str(uuid.uuid5(_NAMESPACE, f"{item.digest}:{position}")),
        text=draft.text,
        summary=draft.text,
        origin=draft.origin,
        importance=draft.importance,
        category=draft.category,
        created_at=at,
        expires_at=draft.expires_at,
        stored_by=item.agent_id,
        scope=draft.scope,
        trust=draft.trust,
        workspace_key=item.workspace_key,
        owner_id=world.owner_id,
        evidence=draft.evidence,
        source=draft.source,
        source_role=draft.source_role,
        updated_at=at,
    )
