"""What the acting agent may do with its memory: store, recall, forget, cite and propose.

Nothing here approves, applies, undoes, or changes scope or trust (spec 06).
"""

from __future__ import annotations

from vault_tools.citations.reader import CitedFiles
from vault_tools.core.citation import SourceState, parse_citation
from vault_tools.core.memory import Memory
from vault_tools.engine.forgetting import ForgetAction, ForgetOutcome, forget
from vault_tools.engine.recall import RecallResult, recall
from vault_tools.engine.storing import StoreAction, StoreOutcome, StoreRequest, store
from vault_tools.errors import VaultToolsError
from vault_tools.redaction.redactor import redact
from vault_tools.review.proposers.frame import Frame
from vault_tools.review.proposers.rows import promotion, tombstone
from vault_tools.workspace import Workspace


class AgentMemory:
    """The memory of the agent that a workspace's settings name."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def remember(self, request: StoreRequest, *, dry_run: bool = False) -> StoreOutcome:
        """Store a memory, or with `dry_run` say what would become of it."""
        return store(
            request,
            viewer=self._workspace.settings.viewer,
            store=self._workspace.store,
            embedder=self._workspace.embedder,
            redact=redact,
            now=self._workspace.clock.now(),
            memory_id=self._workspace.new_id(),
            summary_max_words=self._workspace.settings.config.summary_max_words,
            dry_run=dry_run,
        )

    def recall(
        self, query: str, *, limit: int, min_score: float | None, explain: bool
    ) -> RecallResult:
        """Find the memories that answer a query."""
        lowest = (
            self._workspace.settings.config.recall_min_score if min_score is None else min_score
        )
        return recall(
            query,
            viewer=self._workspace.settings.viewer,
            store=self._workspace.store,
            embedder=self._workspace.embedder,
            now=self._workspace.clock.now(),
            limit=limit,
            min_score=lowest,
            explain=explain,
        )

    def forget(self, target: str, *, dry_run: bool) -> ForgetOutcome:
        """Archive a memory, or say that a person has to decide."""
        return forget(
            target,
            viewer=self._workspace.settings.viewer,
            store=self._workspace.store,
            embedder=self._workspace.embedder,
            now=self._workspace.clock.now(),
            threshold=self._workspace.settings.config.forget_threshold,
            dry_run=dry_run,
        )

    def source_state(self, memory: Memory) -> SourceState | None:
        """Tell whether the note that a memory quotes is still what was quoted."""
        citation = parse_citation(memory.source)
        if citation is None or self._workspace.settings.vault is None:
            return None
        try:
            return CitedFiles(self._workspace.files).state(citation)
        except VaultToolsError:
            # A note that cannot be read now is not checked; the memory still answers.
            return SourceState.UNCHECKED

    def propose_scope(self, outcome: StoreOutcome) -> list[str]:
        """Propose the wider scope that a store asked for; gives the proposal's id."""
        if outcome.wanted_scope is None or outcome.action is not StoreAction.STORED:
            return []
        item = promotion(
            outcome.memory,
            self._frame(),
            scope=outcome.wanted_scope,
            reason="The agent asked for it when it stored this.",
        )
        return [self._workspace.ledger.propose(item, at=self._workspace.clock.now())]

    def propose_tombstone(self, outcome: ForgetOutcome) -> str | None:
        """Propose to forget what an agent may not forget alone; gives the proposal's id."""
        if outcome.action is not ForgetAction.NEEDS_APPROVAL or outcome.memory is None:
            return None
        reason = f"The agent {self._workspace.settings.agent} asked to forget it."
        item = tombstone(outcome.memory, self._frame(), reason)
        return self._workspace.ledger.propose(item, at=self._workspace.clock.now())

    def _frame(self) -> Frame:
        return Frame(
            vault_id=self._workspace.known_vault.id,
            workspace_key=self._workspace.settings.workspace_key,
            agent_id=self._workspace.settings.agent,
            proposed_by=self._workspace.settings.agent,
            profile="standard",
            now=self._workspace.clock.now(),
            redact=redact,
            template_digest=self._workspace.publisher.template_digest(),
        )
