"""Items that change columns of existing rows: promotion, demotion, tombstone."""

from __future__ import annotations

from vault_tools.core.item import Item, Needs, RowChange, changed_row
from vault_tools.core.memory import Memory
from vault_tools.core.saga import Plan, RowStep
from vault_tools.errors import StalePrecondition
from vault_tools.review.items.objection import Objection, blocked, stale
from vault_tools.review.world import World


class RowChangeHandler:
    """Change trust, scope or status of rows, bound to the row hash that the reviewer saw."""

    def preview(self, item: Item) -> tuple[str, ...]:
        """Show each column before and after, below the memory's text."""
        lines = [f"  {line}" for line in item.shown.split("\n")]
        for change in item.effects.changes:
            for field in change.fields:
                lines += [f"- {field.name}: {field.before}", f"+ {field.name}: {field.after}"]
        return tuple(lines)

    def preconditions(self, item: Item, world: World) -> tuple[Objection, ...]:
        """Compare each row with the hash in the item; a missing precondition is a failed one."""
        bound = {p.subject: p.value for p in item.preconditions if p.needs is Needs.ROW_HASH}
        found = []
        for change in item.effects.changes:
            if bound.get(change.memory_id) != change.row_hash:
                found.append(blocked(f"the item is not bound to memory {change.memory_id}"))
                continue
            row = self._row(item, change, world)
            if row is None:
                found.append(stale(f"memory {change.memory_id} is gone"))
            elif row.row_hash != change.row_hash:
                found.append(
                    stale(
                        f"memory {change.memory_id} has changed: reviewed {change.row_hash[:8]}, "
                        f"now {row.row_hash[:8]}"
                    )
                )
        return tuple(found)

    def apply(self, item: Item, world: World) -> Plan:
        """Stage each row before and after."""
        at = world.clock.now()
        return Plan(
            rows=tuple(self._step(item, change, world, at) for change in item.effects.changes)
        )

    def undo(self, plan: Plan, world: World) -> Plan:
        """Put back the rows exactly, `version` and `updated_at` included."""
        return unchanged_since(plan, world).inverse()

    def _step(self, item: Item, change: RowChange, world: World, at: int) -> RowStep:
        row = self._row(item, change, world)
        if row is None:
            raise StalePrecondition(
                f"memory {change.memory_id} is gone", "Run `vault-tools review prepare` again."
            )
        return RowStep(item.agent_id, row.id, row, changed_row(row, change, at=at))

    def _row(self, item: Item, change: RowChange, world: World) -> Memory | None:
        row = world.store.find(world.viewer(item.agent_id), change.memory_id)
        return row if row is not None and row.stored_by == item.agent_id else None


def unchanged_since(plan: Plan, world: World) -> Plan:
    """Give the plan back if everything it wrote is still so; else raise StalePrecondition."""
    for step in plan.rows:
        now = world.store.find(world.viewer(step.agent_id), step.memory_id)
        if now != step.after:
            raise StalePrecondition(
                f"memory {step.memory_id} has changed since it was applied",
                "Look at it with `vault-tools memory history`; it is not taken back over that.",
            )
    for file in plan.files:
        if (world.files.sha256(file.path) or "") != file.after_sha256:
            raise StalePrecondition(
                f"{file.path} has changed since it was applied",
                "Your edit is kept; take the change back by hand if you want it gone.",
            )
    return plan
