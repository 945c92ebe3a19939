from __future__ import annotations

import pytest

from tests.engine.memory_world import MAIN, NOW, SCOUT, filled, row, uid
from vault_tools.core.memory import Status
from vault_tools.core.ports import Embedder, MemoryStore
from vault_tools.core.scope import Scope, Viewer
from vault_tools.core.trust import Trust
from vault_tools.engine.forgetting import ForgetAction, ForgetOutcome, forget
from vault_tools.errors import InvalidInput
from vault_tools.providers.hashing import HashingEmbedder

HASHING = HashingEmbedder()


def ask(
    store: MemoryStore, target: str, embedder: Embedder | None = HASHING, viewer: Viewer = MAIN
) -> ForgetOutcome:
    return forget(target, viewer=viewer, store=store, embedder=embedder, now=NOW)


@pytest.mark.parametrize(
    "query", ["What is the capital of France?", "quantum entanglement", "Wer schrieb Faust?"]
)
def test_an_unrelated_query_forgets_nothing_in_a_store_of_one(
    query: str, embedded: Embedder
) -> None:
    store = filled(embedded, row(1, "She prefers tea without sugar."))
    assert ask(store, query, embedded).action is ForgetAction.NOT_FOUND
    assert store.count(MAIN) == 1


def test_by_id_a_row_is_archived_not_lost() -> None:
    memory = row(1, "tea")
    store = filled(HASHING, memory)
    outcome = ask(store, uid(1))
    assert outcome.action is ForgetAction.FORGOTTEN
    found = store.find(MAIN, uid(1))
    assert found is not None
    assert (found.status, found.text, found.version) == (Status.ARCHIVED, "tea", 2)
    assert ask(store, uid(1)).action is ForgetAction.NOT_FOUND


def test_a_query_that_means_one_memory_clearly_forgets_it(embedded: Embedder) -> None:
    store = filled(
        embedded, row(1, "She prefers tea without sugar."), row(2, "The bridge is closed.")
    )
    assert ask(store, "she prefers tea without sugar", embedded).memory is not None
    assert [m.id for m in store.rows(MAIN)] == [uid(2)]


def test_a_query_that_could_mean_two_lists_them(embedded: Embedder) -> None:
    store = filled(
        embedded, row(1, "The meeting is on Tuesday."), row(2, "The meeting is on Thursday.")
    )
    outcome = ask(store, "the meeting", embedded)
    assert outcome.action is ForgetAction.AMBIGUOUS
    assert {hit.memory.id for hit in outcome.candidates} == {uid(1), uid(2)}
    assert store.count(MAIN) == 2


@pytest.mark.parametrize(
    ("scope", "trust"),
    [
        (Scope.WORKSPACE_SHARED, Trust.UNTRUSTED),
        (Scope.GLOBAL_USER, Trust.CANDIDATE),
        (Scope.AGENT_PRIVATE, Trust.TRUSTED),
    ],
)
@pytest.mark.parametrize("target", [uid(1), "green tea"])
def test_shared_and_trusted_rows_need_an_approval(scope: Scope, trust: Trust, target: str) -> None:
    memory = row(1, "green tea", scope=scope, trust=trust)
    store = filled(HASHING, memory)
    outcome = ask(store, target)
    assert (outcome.action, outcome.memory) == (ForgetAction.NEEDS_APPROVAL, memory)
    assert list(store.rows(MAIN)) == [memory]


def test_another_agents_shared_row_needs_an_approval_and_its_private_one_is_unknown() -> None:
    shared, private = row(1, "tea", scope=Scope.WORKSPACE_SHARED), row(2, "coffee")
    store = filled(HASHING, shared, private)
    assert ask(store, uid(1), viewer=SCOUT).action is ForgetAction.NEEDS_APPROVAL
    assert ask(store, uid(2), viewer=SCOUT) == ask(store, uid(77), viewer=SCOUT)
    assert store.count(MAIN) == 2


@pytest.mark.parametrize("target", ["' OR '1'='1", "*", "%", "00000000' OR 1=1"])
def test_hostile_targets_forget_nothing(target: str) -> None:
    store = filled(HASHING, row(1, "tea"), row(2, "coffee"))
    ask(store, target)
    assert store.count(MAIN) == 2


def test_an_empty_target_is_refused() -> None:
    with pytest.raises(InvalidInput):
        ask(filled(HASHING), " ")
