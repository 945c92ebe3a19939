from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.memory_world import MAIN, NOW, SCOUT, FixedClock, row, uid
from vault_tools.core.memory import Memory
from vault_tools.core.scope import Scope, Viewer
from vault_tools.engine.tokens import index_tokens
from vault_tools.errors import ModelMismatch, RowDamaged, StoreUnavailable
from vault_tools.providers.hashing import HashingEmbedder
from vault_tools.store.history import History
from vault_tools.store.lance import create_table, open_table
from vault_tools.store.memories import LanceMemories
from vault_tools.store.projections import owner_folder, workspace_folder
from vault_tools.store.rows import VECTOR, IndexedRow

EMBEDDER = HashingEmbedder()
KILLS = int(os.environ.get("VAULT_TOOLS_KILLS", "5"))


def opened(base: Path) -> LanceMemories:
    return LanceMemories(base, identity=EMBEDDER.identity, indexer=index_tokens, clock=FixedClock())


def put(store: LanceMemories, memory: Memory) -> Memory:
    viewer = Viewer(memory.stored_by, memory.workspace_key, memory.owner_id)
    return store.insert(viewer, memory, EMBEDDER.embed_query(memory.text), reason="test")


def committed_behind_the_back(folder: Path, memory: Memory) -> None:
    """Do what a writer does that dies right after LanceDB's commit."""
    words = list(index_tokens(memory))
    vector = EMBEDDER.embed_query(memory.text)
    open_table(folder).upsert([IndexedRow(memory, vector, words, words).record()])


def test_reading_an_agent_without_a_database_creates_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path / "base")
    assert store.find(MAIN, uid(1)) is None
    assert list(store.rows(MAIN)) == []
    assert store.nearest(MAIN, EMBEDDER.embed_query("x"), limit=5, now=NOW) == []
    assert store.matching(MAIN, ["x"], limit=5, now=NOW) == []
    assert (store.count(MAIN), store.version("main"), store.agents()) == (0, 0, [])
    store.remove(MAIN, "", uid(1), reason="x")
    assert not (tmp_path / "base").exists()


def test_a_second_store_sees_what_the_first_wrote(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    put(first, row(1, "tea"))
    assert second.count(MAIN) == 1
    put(first, row(2, "coffee"))
    assert [m.text for m in second.rows(MAIN)] == ["coffee", "tea"]
    put(second, row(3, "water"))
    assert first.count(MAIN) == 3
    assert [e.sequence for e in History(tmp_path / "main").entries()] == [1, 2, 3]


def test_the_version_read_from_file_names_is_the_tables(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for number in range(1, 4):
        put(store, row(number, "tea"))
        assert store.version("main") == open_table(tmp_path / "main").version


def test_a_table_of_another_model_is_refused_by_name(tmp_path: Path) -> None:
    put(opened(tmp_path), row(1, "tea"))
    other = replace(EMBEDDER.identity, model="other-model")
    store = LanceMemories(tmp_path, identity=other, indexer=index_tokens, clock=FixedClock())
    with pytest.raises(ModelMismatch, match=r"ngrams-1.*other-model"):
        store.find(MAIN, uid(1))


def test_a_vector_of_another_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelMismatch, match="3 dimensions"):
        opened(tmp_path).insert(MAIN, row(1, "tea"), [0.0, 1.0, 0.0], reason="x")
    assert opened(tmp_path).count(MAIN) == 0


def test_without_a_model_rows_are_read_but_none_is_stored(tmp_path: Path) -> None:
    put(opened(tmp_path), row(1, "tea"))
    store = LanceMemories(tmp_path, identity=None, indexer=index_tokens, clock=FixedClock())
    assert store.count(MAIN) == 1
    with pytest.raises(StoreUnavailable, match="no embedding model"):
        put(store, row(2, "coffee"))


def test_a_changed_row_is_named_when_found_and_counted_when_streamed(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, row(1, "tea"))
    put(store, row(2, "coffee"))
    table = open_table(tmp_path / "main")
    bad = table.by_id(uid(1), with_vector=True)
    assert bad is not None
    table.upsert([{**bad, "text": "poison", "contentHash": ""}])
    with pytest.raises(RowDamaged):
        store.find(MAIN, uid(1))
    assert [m.id for m in store.rows(MAIN)] == [uid(2)]
    assert store.damaged == 1


@pytest.mark.parametrize("value", ["admin", "", "TRUSTED"])
def test_an_impossible_value_counts_as_damage(tmp_path: Path, value: str) -> None:
    store = opened(tmp_path)
    put(store, row(1, "tea"))
    table = open_table(tmp_path / "main")
    bad = table.by_id(uid(1), with_vector=True)
    assert bad is not None
    table.upsert([{**bad, "trust": value}])
    with pytest.raises(RowDamaged):
        store.find(MAIN, uid(1))


def test_a_commit_that_history_missed_is_caught_up_by_the_next_writer(tmp_path: Path) -> None:
    store = opened(tmp_path)
    first = put(store, row(1, "tea"))
    lost = row(2, "coffee", scope=Scope.WORKSPACE_SHARED)
    committed_behind_the_back(tmp_path / "main", lost)
    committed_behind_the_back(tmp_path / "main", replace(first, version=2))
    assert store.history(MAIN, lost.id) == []
    put(store, row(3, "water"))
    assert [e.after for e in store.history(MAIN, lost.id)] == [lost]
    assert [e.after for e in store.history(MAIN, first.id)] == [first, replace(first, version=2)]
    assert store.find(SCOUT, lost.id) == lost
    assert [e.sequence for e in History(tmp_path / "main").entries()] == [1, 2, 3, 4]


def test_a_removal_that_history_missed_is_caught_up(tmp_path: Path) -> None:
    store = opened(tmp_path)
    shared = put(store, row(1, "tea", scope=Scope.GLOBAL_USER))
    open_table(tmp_path / "main").delete(shared.id)
    put(store, row(2, "coffee"))
    assert store.history(MAIN, shared.id)[-1].after is None
    assert store.find(SCOUT, shared.id) is None


def test_replaying_a_write_heals_a_projection_left_behind(tmp_path: Path) -> None:
    store = opened(tmp_path)
    shared = put(store, row(1, "tea", scope=Scope.WORKSPACE_SHARED))
    projection = workspace_folder(tmp_path, "studio")
    open_table(projection).delete(shared.id)
    assert store.find(SCOUT, shared.id) is None
    put(store, shared)
    assert store.find(SCOUT, shared.id) == shared
    private = store.replace(
        MAIN, shared.row_hash, replace(shared, scope=Scope.AGENT_PRIVATE), reason="narrow"
    )
    committed_behind_the_back(projection, shared)
    assert store.find(SCOUT, shared.id) == shared
    store.replace(MAIN, shared.row_hash, private, reason="narrow")
    assert store.find(SCOUT, shared.id) is None


def test_a_database_older_than_its_history_refuses_to_store(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, row(1, "tea"))
    history = History(tmp_path / "main")
    history.note_version(99)
    with pytest.raises(StoreUnavailable, match="older than its history"):
        put(store, row(2, "coffee"))
    assert store.count(MAIN) == 1


def test_a_torn_last_history_line_is_cut_and_its_change_recorded_again(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, row(1, "tea"))
    put(store, row(2, "coffee"))
    path = tmp_path / "main" / "history.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert [e.memory_id for e in History(tmp_path / "main").entries()] == [uid(1)]
    put(store, row(3, "water"))
    ids = [e.memory_id for e in History(tmp_path / "main").entries()]
    assert ids == [uid(1), uid(2), uid(3)]
    for line in path.read_bytes().splitlines():
        json.loads(line)


def test_a_damaged_middle_line_of_history_is_an_error(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, row(1, "tea"))
    put(store, row(2, "coffee"))
    path = tmp_path / "main" / "history.jsonl"
    path.write_bytes(path.read_bytes().replace(b'{"sequence":1', b'{"sequenc!":1'))
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        store.history(MAIN, uid(1))


def test_a_table_of_the_first_form_gains_columns_hashes_and_words(tmp_path: Path) -> None:
    import lancedb
    import pyarrow as pa

    from vault_tools.store.identity import write_identity

    folder = tmp_path / "main"
    folder.mkdir()
    write_identity(folder, EMBEDDER.identity)
    size = EMBEDDER.identity.dimensions
    old = pa.table(
        {
            "id": pa.array([uid(1)]),
            "text": ["green tea"],
            "summary": [""],
            "origin": ["group"],
            "importance": [0.7],
            "category": ["fact"],
            "createdAt": [NOW],
            "mergedFrom": ["[]"],
            "expiresAt": [0],
            "storedBy": ["main"],
            VECTOR: pa.array([EMBEDDER.embed_query("green tea")], pa.list_(pa.float32(), size)),
        }
    )
    lancedb.connect(str(folder)).create_table("memories", old)
    store = opened(tmp_path)
    found = store.find(MAIN, uid(1))
    assert found is not None
    assert (found.text, found.importance, found.scope) == ("green tea", 700, Scope.AGENT_PRIVATE)
    assert [m.memory.id for m in store.matching(MAIN, ["tea"], limit=5, now=NOW)] == [uid(1)]
    put(store, row(2, "coffee"))
    assert store.count(MAIN) == 2


def test_neighbours_of_a_session_are_found_by_each_others_words(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, row(1, "zebra crossing", session_id="s", sequence=1))
    put(store, row(2, "it was striped", session_id="s", sequence=2))
    put(store, row(3, "something else", session_id="other", sequence=2))
    ids = [m.memory.id for m in store.matching(MAIN, ["zebra"], limit=5, now=NOW)]
    assert ids == [uid(1), uid(2)]


def test_many_single_stores_leave_few_files_and_lose_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for number in range(1, 104):
        put(store, row(number, f"note {number}"))
    assert store.count(MAIN) == 103
    assert store.compaction_failures == 0
    assert len(list((tmp_path / "main" / "memories.lance" / "_versions").iterdir())) > 0
    heads = History(tmp_path / "main").head()
    assert heads.sequence == 103
    assert heads.table_version == store.version("main")


def test_a_failing_compaction_is_counted_and_never_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vault_tools.store.lance import LanceTable

    def refuse(table: LanceTable) -> None:
        raise StoreUnavailable("commit conflict")

    monkeypatch.setattr(LanceTable, "compact", refuse)
    store = opened(tmp_path)
    for number in range(1, 53):
        put(store, row(number, "tea"))
    assert store.compaction_failures == 3
    assert store.count(MAIN) == 52


def test_owners_with_alike_names_have_projections_of_their_own(tmp_path: Path) -> None:
    names = ["Ada", "ada", "a d a", "../ada", "Ada" * 200, "ädä", "owner"]
    folders = {owner_folder(tmp_path, name) for name in names}
    assert len(folders) == len(names)
    assert all(folder.parent == tmp_path / "_shared" for folder in folders)
    keys = ["main", "owner-x", "../main", "MAIN", "key-1"]
    spaces = {workspace_folder(tmp_path, key) for key in keys}
    assert len(spaces) == len(keys)
    assert all(folder.parent == tmp_path / "_shared" for folder in spaces)


def test_an_unopenable_table_is_an_error_with_a_hint(tmp_path: Path) -> None:
    put(opened(tmp_path), row(1, "tea"))
    for path in (tmp_path / "main" / "memories.lance" / "_versions").iterdir():
        path.write_bytes(b"")
    with pytest.raises(StoreUnavailable) as caught:
        opened(tmp_path).find(MAIN, uid(1))
    assert "doctor" in caught.value.hint


def test_creating_a_table_twice_keeps_its_rows(tmp_path: Path) -> None:
    put(opened(tmp_path), row(1, "tea"))
    create_table(tmp_path / "main", EMBEDDER.identity.dimensions)
    assert opened(tmp_path).count(MAIN) == 1


_WRITER = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.engine.memory_world import row
from tests.store.test_lance_memories import opened, put
from vault_tools.core.scope import Scope
store = opened(Path({base!r}))
for number in range({start}, {start} + 1000):
    scope = Scope.WORKSPACE_SHARED if number % 2 else Scope.AGENT_PRIVATE
    {steps}
"""
_STORE = 'put(store, row(number, f"note {number}", scope=scope))'
_ACKNOWLEDGE = "print(number, flush=True)"
_HONEST, _NAIVE = f"{_STORE}; {_ACKNOWLEDGE}", f"{_ACKNOWLEDGE}; {_STORE}"


def _killed_after(base: Path, start: int, lines: int, steps: str = _HONEST) -> list[int]:
    root = str(Path(__file__).parents[2])
    code = _WRITER.format(root=root, base=str(base), start=start, steps=steps)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(lines)]
        process.kill()
        acknowledged += [int(line) for line in process.stdout.read().splitlines()]
    return acknowledged


@pytest.mark.slow
def test_killed_writers_lose_no_acknowledged_row(tmp_path: Path) -> None:
    acknowledged: list[int] = []
    for kill in range(KILLS):
        acknowledged += _killed_after(tmp_path, 1 + kill * 1000, 1 + kill % 3)
    store = opened(tmp_path)
    put(store, row(999_999, "after the kills"))
    ids = [m.id for m in store.rows(MAIN)]
    assert len(ids) == len(set(ids))
    assert {uid(number) for number in acknowledged} <= set(ids)
    recorded = {key for key, after in History(tmp_path / "main").latest().items() if after}
    assert recorded == set(ids)
    shared = {m.id for m in store.rows(MAIN) if m.scope is Scope.WORKSPACE_SHARED}
    assert {m.id for m in store.rows(SCOUT)} == shared
    assert store.damaged == 0


@pytest.mark.slow
def test_the_kills_catch_a_writer_that_acknowledges_too_early(tmp_path: Path) -> None:
    acknowledged = _killed_after(tmp_path, 1, 3, _NAIVE)
    standing = {m.id for m in opened(tmp_path).rows(MAIN)}
    assert not {uid(number) for number in acknowledged} <= standing
