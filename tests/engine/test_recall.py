from __future__ import annotations

import subprocess
import sys

import pytest

from tests.engine.memory_world import MAIN, NOW, SCOUT, filled, row, uid
from vault_tools.core.memory import MAX_TEXT, Status
from vault_tools.core.ports import Embedder
from vault_tools.core.scope import Scope
from vault_tools.engine.recall import DEGRADED, RecallResult, recall
from vault_tools.errors import InvalidInput
from vault_tools.providers.hashing import HashingEmbedder

STORED = (
    """
Der Bäcker öffnet morgens um sechs.|Unsere Katze schläft am liebsten auf der Heizung.
Die Steuererklärung muss bis Ende Juli abgegeben werden.|Im Keller steht ein altes Klavier.
Der Zug nach Hamburg fährt von Gleis neun.|Die Datenbank wird jede Nacht gesichert.
Für das Gulasch brauche ich Paprika und Zwiebeln.|Mein Bruder lernt Portugiesisch.
Das Passwort läuft nach neunzig Tagen ab.|Am Wochenende wandern wir im Schwarzwald.
Der Vertrag mit dem Vermieter wurde verlängert.|Bienen finden ihren Stock am Geruch.
Der neue Drucker steht im zweiten Stock.|Sie mag keinen Koriander.
Die Sitzung des Vorstands ist öffentlich.|Der Hausmeister heißt Herr Yilmaz.
Die Heizung wird im Oktober eingeschaltet.|Lena ist allergisch gegen Erdnüsse.
Unser Budget für Werbung beträgt 40.000 Euro.|Das Auto braucht neue Winterreifen.
Am Dienstag ist Teambesprechung um zehn Uhr.|Wir verwenden PostgreSQL als Datenbank.
Der Nutzer bevorzugt kurze Antworten.|Das Büro schließt um 18 Uhr.
Der WLAN-Schlüssel hängt am Kühlschrank.|The server room needs a new air conditioner.
She prefers tea without sugar.|Our quarterly report is due on Friday.
The museum shows paintings from the sixteenth century.|He broke his arm while skiing.
We decided to write the parser in Rust.|Tomatoes grow best in full sun.
The landlord has not answered the letter.|My daughter plays the cello in an orchestra.
The invoice was paid twice by mistake.|Whales sleep with half of their brain awake.
The bridge is closed for repairs until spring.|Please send the slides as a PDF.
Chess openings take years to master.|The user prefers dark mode in every editor.
The deploy script lives in the infra repository.|Maria moved to Lisbon last spring.
The dentist appointment is on the twelfth.|Backups are kept for thirty days.
The team uses Kanban boards for planning.|Our customers are mostly small bakeries.
The old laptop has a broken hinge.|Tom is responsible for the newsletter.
The API limit is five hundred requests per minute.|The choir rehearses in the town hall.
""".strip()
    .replace("\n", "|")
    .split("|")
)
UNRELATED = (
    """
What is the capital of France?|Wie hoch ist der Mount Everest?|Who won the world cup in 1998?
Welche Farbe hat der Mars?|How do I change a bicycle tyre?|Wie lange kocht man Eier?
quantum entanglement|Wer schrieb Faust?|Rezept für Apfelkuchen|Wie alt werden Schildkröten?
What is the boiling point of nitrogen?|best hiking boots|Wann wurde Rom gegründet?
Explain the French Revolution|Was kostet ein Flug nach Tokio?|How do vaccines work?
Wie repariere ich einen tropfenden Wasserhahn?|What rhymes with orange?
""".strip()
    .replace("\n", "|")
    .split("|")
)
PARAPHRASED = (
    ("What does she drink?", "She prefers tea without sugar."),
    ("Wo finde ich den Drucker?", "Der neue Drucker steht im zweiten Stock."),
    (
        "Welche Programmiersprache nehmen wir für den Parser?",
        "We decided to write the parser in Rust.",
    ),
    (
        "Wann muss ich die Steuern einreichen?",
        "Die Steuererklärung muss bis Ende Juli abgegeben werden.",
    ),
    ("Which instrument does my child play?", "My daughter plays the cello in an orchestra."),
    (
        "How much do we spend on advertising?",
        "Unser Budget für Werbung beträgt 40.000 Euro.",
    ),
    ("Which database do we use?", "Wir verwenden PostgreSQL als Datenbank."),
    ("Welche Nüsse verträgt Lena nicht?", "Lena ist allergisch gegen Erdnüsse."),
    ("Wann habe ich Zahnarzt?", "The dentist appointment is on the twelfth."),
    ("What language is my brother studying?", "Mein Bruder lernt Portugiesisch."),
)


def texts(result: RecallResult) -> list[str]:
    return [hit.memory.text for hit in result.hits]


@pytest.mark.parametrize("size", [1, 2, 50])
def test_an_unrelated_query_returns_nothing(size: int, embedded: Embedder) -> None:
    for start in range(0, min(50, 8 * size), size):
        chosen = STORED[start : start + size]
        store = filled(embedded, *(row(n, text) for n, text in enumerate(chosen, 1)))
        for query in UNRELATED:
            found = recall(query, viewer=MAIN, store=store, embedder=embedded, now=NOW)
            assert (query, texts(found)) == (query, [])


def test_a_paraphrase_in_either_language_is_found_first(embedded: Embedder) -> None:
    store = filled(embedded, *(row(n, text) for n, text in enumerate(STORED, 1)))
    for query, wanted in PARAPHRASED:
        found = recall(query, viewer=MAIN, store=store, embedder=embedded, now=NOW)
        assert (query, texts(found)[:1]) == (query, [wanted])


@pytest.mark.parametrize("query", ["", "  \n", "\x00\x07"])
def test_an_empty_query_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        recall(query, viewer=MAIN, store=filled(HashingEmbedder()), embedder=None, now=NOW)


def test_an_over_long_query_is_refused_with_the_limit() -> None:
    store = filled(HashingEmbedder())
    with pytest.raises(InvalidInput, match="32768"):
        recall("x" * (MAX_TEXT + 1), viewer=MAIN, store=store, embedder=None, now=NOW)


def test_an_id_gives_exactly_its_memory() -> None:
    embedder = HashingEmbedder()
    store = filled(embedder, row(1, "tea"), row(2, "coffee"))
    found = recall(f" {uid(2).upper()} ", viewer=MAIN, store=store, embedder=embedder, now=NOW)
    assert [(h.memory.id, h.score) for h in found.hits] == [(uid(2), 1.0)]


def test_the_id_of_an_archived_or_expired_memory_recalls_nothing() -> None:
    embedder = HashingEmbedder()
    gone = row(1, "tea", status=Status.ARCHIVED), row(2, "coffee", expires_at=NOW)
    store = filled(embedder, *gone)
    for memory in gone:
        assert not recall(memory.id, viewer=MAIN, store=store, embedder=embedder, now=NOW).hits


def test_a_foreign_private_id_behaves_as_unknown() -> None:
    embedder = HashingEmbedder()
    store = filled(embedder, row(1, "tea"))
    assert not recall(uid(1), viewer=SCOUT, store=store, embedder=embedder, now=NOW).hits


def test_without_a_model_words_still_find_and_the_signal_says_so() -> None:
    store = filled(HashingEmbedder(), row(1, "The printer is on the second floor."))
    found = recall("Where is the printer?", viewer=MAIN, store=store, embedder=None, now=NOW)
    assert texts(found) == ["The printer is on the second floor."]
    assert found.signals == (DEGRADED,)


def test_stopwords_alone_match_nothing() -> None:
    store = filled(HashingEmbedder(), row(1, "It is what it is and that is that."))
    assert not recall("what is it", viewer=MAIN, store=store, embedder=None, now=NOW).hits


def test_an_exact_rare_name_is_found_whatever_the_cosine(embedded: Embedder) -> None:
    rows = [row(n, text) for n, text in enumerate(STORED, 1)]
    store = filled(embedded, *rows, row(99, "Ticket ZX-4711 waits for Krummbiegel."))
    for query in ("Krummbiegel", "ZX-4711"):
        found = recall(query, viewer=MAIN, store=store, embedder=embedded, now=NOW)
        assert found.hits[0].memory.id == uid(99)


def test_an_identical_fact_under_two_ids_is_shown_once() -> None:
    embedder = HashingEmbedder()
    store = filled(
        embedder,
        row(1, "Anna pays Ben"),
        row(2, "anna  pays ben."),
        row(3, "Ben pays Anna"),
    )
    found = recall("who pays Anna", viewer=MAIN, store=store, embedder=embedder, now=NOW)
    assert [h.memory.id for h in found.hits] == [uid(1), uid(3)]


def test_importance_breaks_near_ties_and_never_a_clear_lead() -> None:
    embedder = HashingEmbedder()
    store = filled(
        embedder,
        row(1, "green tea in the kitchen", importance=0),
        row(2, "green tea in the office", importance=1000),
        row(3, "tea", importance=1000),
    )
    found = recall("green tea", viewer=MAIN, store=store, embedder=embedder, now=NOW)
    assert [h.memory.id for h in found.hits][:2] == [uid(2), uid(1)]


def test_the_same_query_gives_the_same_order_every_time() -> None:
    embedder = HashingEmbedder()
    rows = [row(n, f"green tea number {n}", created_at=NOW) for n in range(1, 30)]
    answers = {
        tuple(
            h.memory.id
            for h in recall(
                "green tea", viewer=MAIN, store=store, embedder=embedder, now=NOW, limit=9
            ).hits
        )
        for store in (filled(embedder, *rows), filled(embedder, *reversed(rows)))
    }
    assert len(answers) == 1


def test_a_shared_memory_of_another_agent_is_recalled() -> None:
    embedder = HashingEmbedder()
    shared = row(1, "green tea", stored_by="scout", scope=Scope.WORKSPACE_SHARED)
    store = filled(embedder, shared, row(2, "green tea leaves", stored_by="scout"))
    found = recall("green tea", viewer=MAIN, store=store, embedder=embedder, now=NOW)
    assert [h.memory for h in found.hits] == [shared]


def test_explanations_name_every_part_of_the_score() -> None:
    embedder = HashingEmbedder()
    store = filled(embedder, row(1, "green tea"))
    found = recall("green tea", viewer=MAIN, store=store, embedder=embedder, now=NOW, explain=True)
    assert all(
        word in found.explanations[0] for word in ("lexical", "calibrated", "cosine", "importance")
    )


def test_the_engine_imports_neither_lancedb_nor_numpy() -> None:
    code = (
        "import sys, vault_tools.engine.recall, vault_tools.engine.storing, "
        "vault_tools.engine.forgetting, vault_tools.engine.contradictions, "
        "vault_tools.store.memories, vault_tools.providers.embedding\n"
        "print(sorted({'lancedb', 'numpy', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
