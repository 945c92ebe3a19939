from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine.memory_world import MAIN, NOW, SCOUT, filled, row, uid
from vault_tools.core.memory import DAY_MS, MAX_TEXT, Category, Status, Ttl
from vault_tools.core.ports import Embedder, MemoryStore
from vault_tools.core.scope import Scope
from vault_tools.core.trust import Trust
from vault_tools.engine.storing import StoreAction, StoreOutcome, StoreRequest
from vault_tools.engine.storing import store as store_memory
from vault_tools.errors import InvalidInput, StoreError
from vault_tools.providers.hashing import HashingEmbedder

HASHING = HashingEmbedder()


def masking(text: str) -> str:
    return text.replace("hunter2", "[REDACTED]")


def take(
    store: MemoryStore,
    request: StoreRequest | str,
    number: int = 50,
    embedder: Embedder = HASHING,
    now: int = NOW,
) -> StoreOutcome:
    asked = StoreRequest(text=request) if isinstance(request, str) else request
    return store_memory(
        asked,
        viewer=MAIN,
        store=store,
        embedder=embedder,
        redact=masking,
        now=now,
        memory_id=uid(number),
    )


def test_a_stored_memory_is_private_untrusted_and_read_back() -> None:
    store = filled(HASHING)
    outcome = take(store, "We decided to use Rust.")
    assert outcome.action is StoreAction.STORED
    assert store.find(MAIN, uid(50)) == outcome.memory
    stored = outcome.memory
    assert (stored.scope, stored.trust) == (Scope.AGENT_PRIVATE, Trust.UNTRUSTED)
    assert stored.category is Category.DECISION
    assert store.find(SCOUT, uid(50)) is None


def test_a_wider_scope_is_reported_and_not_given() -> None:
    store = filled(HASHING)
    outcome = take(store, StoreRequest(text="tea", scope=Scope.GLOBAL_USER))
    assert outcome.wanted_scope is Scope.GLOBAL_USER
    assert outcome.memory.scope is Scope.AGENT_PRIVATE


def test_secrets_are_masked_before_anything_is_stored() -> None:
    store = filled(HASHING)
    outcome = take(store, StoreRequest(text="my password is hunter2", evidence="hunter2!"))
    assert outcome.redacted
    assert outcome.memory.text == "my password is [REDACTED]"
    assert outcome.memory.evidence == "[REDACTED]!"
    assert outcome.memory.summary == outcome.memory.text


def test_control_characters_are_removed_and_counted() -> None:
    outcome = take(filled(HASHING), "te\x00a\ud800 time")
    assert (outcome.memory.text, outcome.removed_characters) == ("tea time", 2)


@pytest.mark.parametrize("text", ["", "  \n", "\x00", "x" * (MAX_TEXT + 1)])
def test_empty_and_over_long_texts_are_refused(text: str) -> None:
    store = filled(HASHING)
    with pytest.raises(InvalidInput):
        take(store, text)
    assert store.count(MAIN) == 0


@pytest.mark.parametrize(
    "request_",
    [
        StoreRequest(text="x", evidence="e" * 201),
        StoreRequest(text="x", source="s" * 501),
        StoreRequest(text="x", importance=1001),
        StoreRequest(text="x", importance=-1),
    ],
)
def test_fields_beyond_their_limits_are_refused(request_: StoreRequest) -> None:
    with pytest.raises(InvalidInput):
        take(filled(HASHING), request_)


def test_the_same_call_again_stores_once() -> None:
    store = filled(HASHING)
    first = take(store, "tea")
    again = take(store, "tea", now=NOW + 5)
    assert (again.action, again.memory) == (StoreAction.STORED, first.memory)
    assert store.count(MAIN) == 1


def test_another_text_under_a_used_id_is_refused() -> None:
    store = filled(HASHING)
    take(store, "tea")
    with pytest.raises(StoreError):
        take(store, "coffee")


@pytest.mark.parametrize(
    "again", ["the user likes tea", "The  User likes TEA", "The user likes tea.", "User likes tea!"]
)
def test_the_same_fact_is_rejected_naming_the_one_that_stands(
    again: str, embedded: Embedder
) -> None:
    store = filled(embedded, row(1, "The user likes tea"))
    outcome = take(store, again, embedder=embedded)
    assert outcome.action is StoreAction.REJECTED_DUPLICATE
    assert outcome.memory.id == uid(1)
    assert store.count(MAIN) == 1


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("The user likes React", "The user likes Vue"),
        ("Anna pays Ben", "Ben pays Anna"),
        ("The budget is 40k", "The budget is 60k"),
        ("The meeting is on Tuesday", "The meeting is on Thursday"),
        ("Das Treffen ist am Dienstag", "Das Treffen ist am Donnerstag"),
        ("Der Server ist erreichbar", "Der Server ist nicht erreichbar"),
        ("Der Hund beißt den Mann", "Den Hund beißt der Mann"),
    ],
)
def test_a_changed_value_is_a_new_memory(known: str, new: str, embedded: Embedder) -> None:
    store = filled(embedded, row(1, known))
    assert take(store, new, embedder=embedded).action is StoreAction.STORED
    assert store.count(MAIN) == 2


def test_what_is_near_but_not_equal_is_listed_for_a_proposal(embedded: Embedder) -> None:
    store = filled(embedded, row(1, "The meeting with the board is on Tuesday"))
    outcome = take(store, "The meeting with the board is on Thursday", embedder=embedded)
    assert [near.memory.id for near in outcome.near] == [uid(1)]
    assert outcome.near[0].score >= 0.7


def test_a_tombstoned_text_is_not_taken_in_again() -> None:
    store = filled(HASHING, row(1, "Tea", status=Status.TOMBSTONED))
    outcome = take(store, " tea ")
    assert outcome.action is StoreAction.TOMBSTONED
    assert store.count(MAIN) == 0


def test_an_expired_or_archived_memory_blocks_nothing() -> None:
    store = filled(HASHING, row(1, "tea", expires_at=NOW), row(2, "tea", status=Status.ARCHIVED))
    assert take(store, "tea").action is StoreAction.STORED


def test_a_lifetime_ends_when_it_should() -> None:
    session = take(filled(HASHING), StoreRequest(text="tea", ttl=Ttl.SESSION)).memory
    assert session.expires_at == NOW + DAY_MS
    assert take(filled(HASHING), "tea").memory.expires_at == 0


def test_a_private_duplicate_of_another_agent_stays_unseen() -> None:
    store = filled(HASHING, row(1, "tea", stored_by="scout"))
    outcome = take(store, "tea")
    assert outcome.action is StoreAction.STORED
    assert outcome.near == ()


def test_a_shared_duplicate_of_another_agent_is_enough() -> None:
    shared = replace(row(1, "tea"), stored_by="scout", scope=Scope.WORKSPACE_SHARED)
    assert take(filled(HASHING, shared), "tea").action is StoreAction.REJECTED_DUPLICATE
