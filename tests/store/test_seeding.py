from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.engine.memory_world import NOW, FixedClock
from vault_tools.core.memory import DAY_MS, Category
from vault_tools.core.scope import Scope, Viewer
from vault_tools.core.trust import Trust
from vault_tools.engine.tokens import index_tokens
from vault_tools.errors import InvalidInput
from vault_tools.providers.hashing import HashingEmbedder
from vault_tools.store.in_memory import InMemoryMemories
from vault_tools.store.seeding import read_seed_file, seed_rows


def seed(*entries: dict[str, object]) -> bytes:
    return json.dumps({"memories": entries}).encode()


def test_an_entry_becomes_the_row_it_describes() -> None:
    entry = {
        "agent": "scout",
        "text": "password is plain here",
        "category": "decision",
        "importance": 0.85,
        "ageDays": 2,
        "expiresInDays": -1,
        "scope": "workspace_shared",
        "trust": "trusted",
    }
    (row,) = read_seed_file(seed(entry), NOW)
    assert (row.stored_by, row.importance, row.category) == ("scout", 850, Category.DECISION)
    assert (row.created_at, row.expires_at) == (NOW - 2 * DAY_MS, NOW - DAY_MS)
    assert (row.scope, row.trust) == (Scope.WORKSPACE_SHARED, Trust.TRUSTED)
    assert row.text == "password is plain here"


def test_a_missing_id_follows_from_the_text() -> None:
    one, again, other = read_seed_file(seed({"text": "a"}, {"text": "a"}, {"text": "b"}), NOW)
    assert one.id == again.id != other.id


@pytest.mark.parametrize(
    "entry",
    [{}, {"text": "x", "scope": "everyone"}, {"text": "x", "colour": 1}, {"text": "x", "id": "7"}],
)
def test_a_wrong_entry_is_named_by_its_place(entry: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=r"memories\[1\]"):
        read_seed_file(seed({"text": "fine"}, entry), NOW)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff"])
def test_a_file_of_another_form_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="not a seed file"):
        read_seed_file(data, NOW)


def test_the_sample_vaults_memories_can_be_seeded_twice() -> None:
    path = Path(__file__).parents[2] / "sample-vault" / "memory" / "seed-memories.json"
    if not path.exists():
        pytest.skip("the sample vault has no seed file")
    rows = read_seed_file(path.read_bytes(), NOW, owner_id="owner-1")
    store = InMemoryMemories(indexer=index_tokens, clock=FixedClock())
    seed_rows(store, rows, HashingEmbedder())
    seed_rows(store, rows, HashingEmbedder())
    viewers = [Viewer(agent, "main", "owner-1") for agent in store.agents()]
    assert sum(store.count(viewer) for viewer in viewers) == len(rows)
