"""The sample vault is what a reader meets first: it must hold together as an Obsidian vault."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import frontmatter
import pytest
import yaml

from vault_tools.core.citation import parse_citation
from vault_tools.core.memory import MAX_EVIDENCE, MAX_SOURCE, Category, Origin, is_agent_id
from vault_tools.core.scope import Scope
from vault_tools.core.trust import SourceRole, Trust

VAULT = Path(__file__).parent.parent / "sample-vault"
REVIEW_ROOT = VAULT / "00-system"
SEED = VAULT / "memory" / "seed-memories.json"

WIKILINK = re.compile(r"\[\[([^\[\]|#]*)(#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
MARKDOWN_LINK = re.compile(r"(?<!\])\]\((?!\w+://)([^)#]+)(#[^)]*)?\)")
INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
SECRET_SHAPES = re.compile(
    r"gh[opsur]_\w{16,}|github_pat_\w+|\bsk-[\w-]{16,}|\bAKIA[0-9A-Z]{12,}|\bxox[abp]-\w+"
    r"|\bey[JK]\w{16,}\.|-----BEGIN|(?i:password|passwort|token|api.?key)\s*[:=]\s*\S"
)
MACHINE_PATHS = re.compile(r"/(?:home|Users|tmp|work|root|mnt)/|\b[A-Z]:\\")


def own_files() -> list[Path]:
    found = (path for path in VAULT.rglob("*") if path.is_file())
    return sorted(path for path in found if REVIEW_ROOT not in path.parents)


FILES = own_files()
PATHS = [path.relative_to(VAULT).as_posix() for path in FILES if ".obsidian" not in path.parts]
NOTES = [path for path in PATHS if path.lower().endswith(".md")]


def text_of(path: str) -> str:
    return (VAULT / path).read_text("utf-8")


def resolve(link: str, source: str) -> str | None:
    """Find a link's file as Obsidian does: exact path, own folder, then shortest path."""
    wanted = link.lower()
    names = (wanted, f"{wanted}.md")
    hits = [path for path in PATHS if any(f"/{path.lower()}".endswith(f"/{n}") for n in names)]
    folder = PurePosixPath(source).parent.as_posix()
    return min(
        hits,
        key=lambda path: (
            path.lower() not in names,
            PurePosixPath(path).parent.as_posix() != folder,
            len(path),
        ),
        default=None,
    )


def has_anchor(path: str, anchor: str) -> bool:
    wanted = anchor.removeprefix("#")
    if path.endswith(".base"):
        return any(view["name"] == wanted for view in yaml.safe_load(text_of(path))["views"])
    if wanted.startswith("^"):
        return re.search(rf"(?m)(?:^| ){re.escape(wanted)}$", text_of(path)) is not None
    return re.search(rf"(?m)^#+ {re.escape(wanted)}$", text_of(path)) is not None


def links_of(path: str) -> list[tuple[str, str]]:
    text = text_of(path)
    pairs = [(m[1], m[2] or "") for m in WIKILINK.finditer(text)]
    return pairs + [(unquote(m[1]), m[2] or "") for m in MARKDOWN_LINK.finditer(text)]


def seeds() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(SEED.read_text("utf-8"))["memories"]
    return loaded


@pytest.mark.parametrize("path", NOTES)
def test_every_link_leads_to_a_file_and_a_place_in_it(path: str) -> None:
    for link, anchor in links_of(path):
        target = resolve(link, path) if link else path
        assert target is not None, f"[[{link}]] in {path}"
        assert not anchor or has_anchor(target, anchor), f"[[{link}{anchor}]] in {path}"


def test_it_is_small_and_most_of_its_notes_lead_onwards() -> None:
    linked = sum(bool(links_of(path)) for path in NOTES)
    assert 25 <= len(NOTES) <= 40
    assert linked > len(NOTES) / 2


@pytest.mark.parametrize("path", [path for path in NOTES if not path.startswith("Templates/")])
def test_properties_are_flat_lists_and_scalars(path: str) -> None:
    properties = frontmatter.loads(text_of(path)).metadata
    for key, value in properties.items():
        for entry in value if isinstance(value, list) else [value]:
            assert not isinstance(entry, dict | list), f"{key} in {path}"
    assert all(isinstance(properties.get(key, []), list) for key in ("tags", "aliases", "people"))


def test_settings_and_canvas_are_json_with_nodes_that_exist() -> None:
    for path in VAULT.glob(".obsidian/*.json"):
        assert isinstance(json.loads(path.read_text("utf-8")), dict)
    board = json.loads(text_of("Projects/Glaze tests.canvas"))
    ids = {node["id"] for node in board["nodes"]}
    assert len(ids) == len(board["nodes"])
    assert all({edge["fromNode"], edge["toNode"]} <= ids for edge in board["edges"])
    for node in board["nodes"]:
        assert all(type(node[key]) is int for key in ("x", "y", "width", "height"))
        assert node["type"] != "file" or node["file"] in PATHS
        assert "subpath" not in node or has_anchor(node["file"], node["subpath"])


def test_the_base_uses_published_keys_and_formulas_that_exist() -> None:
    base = yaml.safe_load(text_of("Decisions/All decisions.base"))
    assert set(base) <= {"filters", "formulas", "properties", "summaries", "views"}
    for view in base["views"]:
        assert view["type"] in {"table", "cards", "list", "map"}
        used = {name.removeprefix("formula.") for name in view["order"] if "formula." in name}
        assert used <= set(base["formulas"])


def test_the_ways_of_keeping_a_note_out_are_all_shown() -> None:
    settings = json.loads((VAULT / ".obsidian/app.json").read_text("utf-8"))
    private = [n for n in NOTES if "vault-tools: ignore" in text_of(n)]
    assert settings["userIgnoreFilters"] == ["Archive/"]
    assert private == ["Notizen/Tagebuch.md"]
    assert any("{{date}}" in text_of(n) for n in NOTES if n.startswith("Templates/"))


def test_nothing_in_it_looks_like_a_secret_or_a_path_of_somebodys_computer() -> None:
    for path in FILES:
        text = path.read_text("utf-8")
        assert not SECRET_SHAPES.search(text), path
        assert not MACHINE_PATHS.search(text), path


def test_names_and_texts_are_composed_and_free_of_hidden_characters() -> None:
    for path in FILES:
        name = path.relative_to(VAULT).as_posix()
        assert not re.search(r'[\\:*?"<>|#^\[\]]', name)
        assert not INVISIBLE.search(path.read_text("utf-8")), name
        assert unicodedata.is_normalized("NFC", name + path.read_text("utf-8")), name


def test_every_seed_memory_has_the_form_of_a_row() -> None:
    rows = seeds()
    assert len({row["id"] for row in rows}) == len(rows) >= 30
    for row in rows:
        assert UUID(row["id"]).version == 4
        assert is_agent_id(row["agent"])
        assert row["text"]
        assert row["summary"]
        Category(row["category"]), Origin(row["origin"]), Scope(row["scope"]), Trust(row["trust"])
        SourceRole(row.get("sourceRole", ""))
        assert 0 <= row["importance"] <= 1
        assert row["ageDays"] >= 0
        assert len(row.get("evidence", "")) <= MAX_EVIDENCE
        assert len(row.get("source", "")) <= MAX_SOURCE


def test_every_quote_from_a_note_stands_in_the_cited_line() -> None:
    cited = [row for row in seeds() if not row.get("source", "https://").startswith("https://")]
    assert len(cited) > 10
    for row in cited:
        place = parse_citation(row["source"])
        assert place is not None
        assert place.start == place.end
        assert row["evidence"] in text_of(place.path).splitlines()[place.start - 1]


def test_the_seed_holds_one_of_each_special_case() -> None:
    rows = seeds()

    def matching(pattern: str) -> list[dict[str, Any]]:
        return [row for row in rows if re.search(pattern, row["text"])]

    assert {row["agent"] for row in rows} == {"main", "scout"}
    assert [row["expiresInDays"] for row in rows if row.get("expiresInDays", 0) > 0] == [5]
    assert len([row for row in rows if row.get("expiresInDays", 0) < 0]) == 1
    assert [row["trust"] for row in matching("Tonhandel Gerber")] == ["candidate", "candidate"]
    assert {row["agent"] for row in matching("releases happen")} == {"main", "scout"}
    assert len(matching(INVISIBLE.pattern)) == 1
    assert [row["sourceRole"] for row in matching("(?i)ignore all previous")] == ["tool"]
    assert len(matching(r"\{secret:github\}")) == 1
    claims = [row for row in rows if row.get("sourceRole") == "assistant"]
    assert [row["trust"] for row in claims].count("candidate") == 1
    backed = [r for r in rows if r["trust"] == "candidate" and r.get("sourceRole") == "user"]
    assert len(backed) >= 5


STATED = [
    ("Decisions/Recipe file format.md", "Decision: "),
    ("Decisions/Wholesale minimum.md", "We decided to "),
    ("Meetings/2026-09-21 Ofenwartung mit Zbinden.md", "- Entschieden: "),
    ("Meetings/2026-11-09 Kursplanung.md", "Entschieden: "),
    ("Areas/Working rhythm.md", "I prefer "),
    ("Notizen/Arbeitsweise mit den Agenten.md", "Ich bevorzuge "),
    ("Notizen/Ofen.md", "Merke: "),
    ("People/Priya Nair.md", "Remember: "),
]


@pytest.mark.parametrize(("path", "opening"), STATED)
def test_a_durable_statement_stands_alone_on_its_line(path: str, opening: str) -> None:
    assert sum(line.startswith(opening) for line in text_of(path).splitlines()) == 1
