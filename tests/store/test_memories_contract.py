from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.memory_world import MAIN, NOW, SCOUT, FixedClock, row, uid
from vault_tools.core.memory import Memory, Status
from vault_tools.core.ports import MemoryStore, Operation
from vault_tools.core.scope import Scope, Viewer
from vault_tools.engine.tokens import index_tokens, query_tokens, query_words
from vault_tools.errors import InvalidInput, MemoryNotFound, StalePrecondition, StoreError
from vault_tools.providers.hashing import HashingEmbedder
from vault_tools.store.in_memory import InMemoryMemories
from vault_tools.store.memories import LanceMemories

EMBEDDER = HashingEmbedder()
INJECTIONS = (
    "x' OR '1'='1",
    "' OR 1=1 --",
    "'; DELETE FROM memories; --",
    'id" OR "1"="1',
    "%",
    "_" * 36,
    "\x00",
    "../main",
    "00000000-0000-0000-0000-00000000000_",
)


def _lance(folder: Path) -> MemoryStore:
    return LanceMemories(
        folder, identity=EMBEDDER.identity, indexer=index_tokens, clock=FixedClock()
    )


def _in_memory(folder: Path) -> MemoryStore:
    return InMemoryMemories(indexer=index_tokens, clock=FixedClock())


@pytest.fixture(params=[_lance, _in_memory], ids=["lance", "in-memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryStore:
    make: Callable[[Path], MemoryStore] = request.param
    return make(tmp_path / "base")


def put(store: MemoryStore, memory: Memory) -> Memory:
    viewer = Viewer(memory.stored_by, memory.workspace_key, memory.owner_id)
    return store.insert(viewer, memory, EMBEDDER.embed_query(memory.text), reason="test")


def tokens(text: str) -> list[str]:
    return query_tokens(query_words(text))


def test_a_row_reads_back_with_every_field(store: MemoryStore) -> None:
    memory = row(
        1,
        "Größe 日本 “quoted” 'single' \n\t🙂",
        summary="s",
        importance=333,
        merged_from=(uid(8), uid(9)),
        expires_at=NOW + 5,
        evidence="e",
        source="Notes/A.md:3",
        turn_id="t",
        session_id="se'ssion",
        sequence=7,
        updated_at=NOW,
        review_after=NOW + 9,
        version=3,
    )
    assert put(store, memory) == memory
    assert store.find(MAIN, memory.id) == memory
    assert list(store.rows(MAIN)) == [memory]


@pytest.mark.parametrize("importance", [0, 1, 29, 333, 570, 999, 1000])
def test_importance_survives_the_table_to_the_thousandth(
    store: MemoryStore, importance: int
) -> None:
    put(store, row(1, "x", importance=importance))
    found = store.find(MAIN, uid(1))
    assert found is not None
    assert found.importance == importance


def test_inserting_the_same_row_again_changes_nothing(store: MemoryStore) -> None:
    put(store, row(1, "tea"))
    version = store.version("main")
    put(store, row(1, "tea"))
    assert store.version("main") == version
    assert len(store.history(MAIN, uid(1))) == 1


def test_another_row_under_a_taken_id_is_refused(store: MemoryStore) -> None:
    put(store, row(1, "tea"))
    with pytest.raises(StoreError):
        put(store, row(1, "coffee"))
    assert [m.text for m in store.rows(MAIN)] == ["tea"]


def test_replace_changes_a_row_and_keeps_its_vector(store: MemoryStore) -> None:
    before = put(store, row(1, "tea without sugar"))
    after = replace(before, status=Status.ARCHIVED, version=2)
    assert store.replace(MAIN, before.row_hash, after, reason="why") == after
    back = replace(after, status=Status.ACTIVE, version=3)
    store.replace(MAIN, after.row_hash, back, reason="back")
    near = store.nearest(MAIN, EMBEDDER.embed_query("tea without sugar"), limit=5, now=NOW)
    assert [n.memory for n in near] == [back]
    assert near[0].cosine == pytest.approx(1.0, abs=1e-5)


def test_replace_with_a_stale_hash_is_refused(store: MemoryStore) -> None:
    before = put(store, row(1, "tea"))
    changed = store.replace(MAIN, before.row_hash, replace(before, version=2), reason="a")
    with pytest.raises(StalePrecondition):
        store.replace(MAIN, before.row_hash, replace(before, version=9), reason="b")
    assert store.find(MAIN, before.id) == changed


def test_replaying_a_replace_is_a_no_op(store: MemoryStore) -> None:
    before = put(store, row(1, "tea"))
    after = replace(before, version=2)
    store.replace(MAIN, before.row_hash, after, reason="a")
    assert store.replace(MAIN, before.row_hash, after, reason="a") == after
    assert len(store.history(MAIN, before.id)) == 2


def test_remove_takes_a_row_out_and_history_keeps_it(store: MemoryStore) -> None:
    memory = put(store, row(1, "tea"))
    store.remove(MAIN, memory.row_hash, memory.id, reason="undo")
    store.remove(MAIN, memory.row_hash, memory.id, reason="undo")
    assert store.find(MAIN, memory.id) is None
    entries = store.history(MAIN, memory.id)
    assert [e.operation for e in entries] == [Operation.STORED, Operation.REMOVED]
    assert [e.sequence for e in entries] == [1, 2]
    assert entries[0].after == memory
    assert entries[1].after is None


def test_a_removed_row_can_be_stored_again(store: MemoryStore) -> None:
    memory = put(store, row(1, "tea"))
    store.remove(MAIN, memory.row_hash, memory.id, reason="undo")
    put(store, memory)
    assert store.find(MAIN, memory.id) == memory


def test_remove_with_a_stale_hash_is_refused(store: MemoryStore) -> None:
    memory = put(store, row(1, "tea"))
    with pytest.raises(StalePrecondition):
        store.remove(MAIN, "0" * 64, memory.id, reason="undo")
    assert store.find(MAIN, memory.id) == memory


def test_rows_come_by_age_then_id_and_only_with_the_wanted_status(store: MemoryStore) -> None:
    put(store, row(3, "a", created_at=NOW))
    put(store, row(2, "b", created_at=NOW))
    put(store, row(1, "c", created_at=NOW + 1))
    put(store, row(4, "d", status=Status.TOMBSTONED))
    assert [m.text for m in store.rows(MAIN)] == ["b", "a", "c"]
    assert [m.text for m in store.rows(MAIN, statuses=[Status.TOMBSTONED])] == ["d"]
    assert list(store.rows(MAIN, statuses=[])) == []
    assert store.count(MAIN) == 3


def test_expired_and_inactive_rows_are_neither_near_nor_matching(store: MemoryStore) -> None:
    put(store, row(1, "green tea", expires_at=NOW))
    put(store, row(2, "green tea", status=Status.ARCHIVED))
    put(store, row(3, "green tea", expires_at=NOW + 1))
    vector = EMBEDDER.embed_query("green tea")
    assert [n.memory.id for n in store.nearest(MAIN, vector, limit=9, now=NOW)] == [uid(3)]
    found = store.matching(MAIN, tokens("green"), limit=9, now=NOW)
    assert [m.memory.id for m in found] == [uid(3)]


def test_equal_scores_are_ordered_by_id(store: MemoryStore) -> None:
    for number in (5, 2, 9):
        put(store, row(number, "green tea", created_at=NOW))
    vector = EMBEDDER.embed_query("green tea")
    ids = [n.memory.id for n in store.nearest(MAIN, vector, limit=9, now=NOW)]
    assert ids == [uid(2), uid(5), uid(9)]


def test_matching_without_tokens_gives_nothing(store: MemoryStore) -> None:
    put(store, row(1, "tea"))
    assert store.matching(MAIN, [], limit=5, now=NOW) == []


def test_pairs_come_once_with_the_smaller_id_first(store: MemoryStore) -> None:
    put(store, row(2, "the printer is on the second floor"))
    put(store, row(1, "the printer is on the third floor"))
    put(store, row(3, "whales sleep with half a brain"))
    pairs = list(store.pairs(MAIN, minimum=0.6, limit=5, now=NOW))
    assert [(p.first.id, p.second.id) for p in pairs] == [(uid(1), uid(2))]


def test_same_content_ignores_case_and_white_space(store: MemoryStore) -> None:
    put(store, row(1, "Green  Tea"))
    found = store.same_content(MAIN, row(2, "green tea").content_hash)
    assert [m.id for m in found] == [uid(1)]
    assert store.same_content(MAIN, "' OR '1'='1") == []


@pytest.mark.parametrize("hostile", INJECTIONS)
def test_hostile_ids_and_words_find_and_change_nothing(store: MemoryStore, hostile: str) -> None:
    kept = put(store, row(1, "tea"))
    assert store.find(MAIN, hostile) is None
    assert store.history(MAIN, hostile) == []
    store.remove(MAIN, kept.row_hash, hostile, reason="attack")
    with pytest.raises(MemoryNotFound):
        store.replace(MAIN, kept.row_hash, replace(kept, id=hostile), reason="attack")
    with pytest.raises(InvalidInput):
        put(store, replace(kept, id=hostile))
    assert [m for m in store.matching(MAIN, [hostile], limit=5, now=NOW)] == []
    assert list(store.rows(MAIN)) == [kept]


@pytest.mark.parametrize("hostile", INJECTIONS)
def test_hostile_text_in_every_field_is_only_text(store: MemoryStore, hostile: str) -> None:
    memory = row(1, f"a {hostile}", session_id=hostile, sequence=2, source=hostile)
    put(store, memory)
    put(store, row(2, "b", session_id=hostile, sequence=3))
    assert store.find(MAIN, uid(1)) == memory
    assert store.count(MAIN) == 2


AGENTS = (
    MAIN,
    SCOUT,
    Viewer("stranger", "elsewhere", "owner-2"),
)


def _expected(viewer: Viewer, owner: Viewer, scope: Scope) -> bool:
    if viewer.agent_id == owner.agent_id:
        return True
    if scope is Scope.WORKSPACE_SHARED:
        return viewer.workspace_key == owner.workspace_key
    return scope is Scope.GLOBAL_USER and viewer.owner_id == owner.owner_id


def test_every_read_path_shows_each_agent_only_what_its_scope_allows(store: MemoryStore) -> None:
    stored: list[tuple[Viewer, Memory]] = []
    for number, (owner, scope) in enumerate(itertools.product(AGENTS, Scope), 1):
        memory = row(
            number,
            "the canary sings",
            stored_by=owner.agent_id,
            scope=scope,
            workspace_key=owner.workspace_key,
            owner_id=owner.owner_id,
        )
        stored.append((owner, put(store, memory)))
    vector = EMBEDDER.embed_query("the canary sings")
    for viewer in AGENTS:
        wanted = {m.id for owner, m in stored if _expected(viewer, owner, m.scope)}
        assert {m.id for _, m in stored if store.find(viewer, m.id)} == wanted
        assert {m.id for m in store.rows(viewer)} == wanted
        assert {n.memory.id for n in store.nearest(viewer, vector, limit=99, now=NOW)} == wanted
        found = store.matching(viewer, tokens("canary"), limit=99, now=NOW)
        assert {m.memory.id for m in found} == wanted
        assert {m.id for m in store.same_content(viewer, stored[0][1].content_hash)} == wanted
        pairs = store.pairs(viewer, minimum=0.5, limit=99, now=NOW)
        assert {i for p in pairs for i in (p.first.id, p.second.id)} == wanted
        own = {m.id for owner, m in stored if owner == viewer}
        assert {m.id for m in store.rows(viewer, own_only=True)} == own
        assert {m.id for _, m in stored if store.history(viewer, m.id)} == own


def test_a_foreign_row_cannot_be_changed_and_looks_unknown(store: MemoryStore) -> None:
    shared = put(store, row(1, "tea", scope=Scope.WORKSPACE_SHARED))
    put(store, row(2, "coffee", stored_by="scout"))
    with pytest.raises(MemoryNotFound) as foreign:
        store.replace(SCOUT, shared.row_hash, replace(shared, version=2), reason="x")
    with pytest.raises(MemoryNotFound) as missing:
        store.replace(SCOUT, shared.row_hash, replace(shared, id=uid(77)), reason="x")
    assert str(foreign.value).replace(uid(1), "") == str(missing.value).replace(uid(77), "")
    store.remove(SCOUT, shared.row_hash, shared.id, reason="x")
    assert store.find(MAIN, shared.id) == shared


def test_storing_in_another_agents_name_is_refused(store: MemoryStore) -> None:
    with pytest.raises(StoreError):
        store.insert(SCOUT, row(1, "tea"), EMBEDDER.embed_query("tea"), reason="x")
    assert store.agents() == []


def test_widening_shows_a_row_to_others_and_narrowing_hides_it_again(store: MemoryStore) -> None:
    private = put(store, row(1, "tea"))
    shared = replace(private, scope=Scope.WORKSPACE_SHARED, version=2)
    everywhere = replace(private, scope=Scope.GLOBAL_USER, version=3)
    outside = Viewer("scout", "elsewhere", "owner-1")
    store.replace(MAIN, private.row_hash, shared, reason="widen")
    assert store.find(SCOUT, private.id) == shared
    assert store.find(outside, private.id) is None
    store.replace(MAIN, shared.row_hash, everywhere, reason="widen")
    assert store.find(outside, private.id) == everywhere
    narrowed = replace(private, version=4)
    store.replace(MAIN, everywhere.row_hash, narrowed, reason="narrow")
    assert store.find(SCOUT, private.id) is None
    assert store.find(outside, private.id) is None


def test_a_removed_shared_row_is_gone_for_every_reader(store: MemoryStore) -> None:
    shared = put(store, row(1, "tea", scope=Scope.WORKSPACE_SHARED))
    store.remove(MAIN, shared.row_hash, shared.id, reason="undo")
    assert store.find(SCOUT, shared.id) is None
    assert list(store.rows(SCOUT)) == []
