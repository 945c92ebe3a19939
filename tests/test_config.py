from __future__ import annotations

import string
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tools.config import (
    Config,
    EmbeddingProvider,
    Pass,
    Profile,
    RerankerProvider,
    commented_example,
    effective,
    load_config,
    with_bridge_enabled,
)
from vault_tools.config.keys import walk
from vault_tools.errors import ConfigError

HOME = Path("/home-of-vault-tools").absolute()

SEED_ENGINE = {
    "auto_recall": True,
    "auto_capture": True,
    "capture_max_chars": 5000,
    "recall_min_score": 0.15,
    "auto_recall_min_score": 0.2,
    "duplicate_threshold": 0.95,
    "forget_threshold": 0.3,
    "summary_max_words": 150,
    "gc.enabled": True,
    "merging.enabled": True,
    "merging.min_score": 0.70,
    "merging.max_score": 0.94,
    "reranker.enabled": True,
    "reranker.model": "rerank-v3.5",
}

SEED_BRIDGE = {
    "enabled": False,
    "mode": "augment",
    "vault_path": None,
    "workspace_root": None,
    "review_root": "00-system/plur1bus",
    "require_user_approval": True,
    "apply_approved_only": True,
    "write_managed_blocks": True,
    "allow_write": True,
    "allow_dot_obsidian_write": False,
    "source_of_truth": "plur1bus-lancedb",
    "recall_authority": "lancedb-reranked-vector",
    "capability_pack": "full",
    "agents.include": ("*",),
    "agents.equal_capabilities": True,
    "morning_review.enabled": False,
    "morning_review.cron": "0 9 * * *",
    "morning_review.delivery": "announce",
    "morning_review.session": "isolated",
    "morning_review.write_review_bundle": True,
    "morning_review.apply_mode": "manual",
    "maintenance.daily": Pass.LIGHT,
    "maintenance.weekly": Pass.DEEP,
    "adversarial.daily": Pass.LIGHT,
    "adversarial.weekly": Pass.DEEP,
    "dashboard_layer.enabled": True,
    "dashboard_layer.records": True,
    "dashboard_layer.markdown_dashboards": True,
    "dashboard_layer.bases": False,
    "dashboard_layer.dataview": False,
    "dashboard_layer.tasks": False,
    "dashboard_layer.auto_link_suggestions": True,
    "semantic_graph.enabled": True,
    "semantic_graph.proposal_only": True,
    "semantic_graph.mutate_memory": False,
}

SEED_CITATIONS = {
    "mode": "bounded",
    "workspace": None,
    "allowed_roots": (),
    "shared_mode": False,
    "max_file_bytes": 1_048_576,
    "dreaming.notify": True,
    "graph.enabled": False,
    "graph.max_depth": 3,
    "recall.semantic": False,
    "recall.rerank": False,
    "recall.snapshot_first": False,
    "recall.intent_classifier": False,
    "injection.enabled": False,
    "injection.token_cap": 1300,
    "observations.enabled": False,
    "observations.max_bytes": 1_048_576,
    "wiki_bridge.enabled": False,
}

OURS = {
    "workspace_key": "main",
    "embedding.provider": EmbeddingProvider.EMBEDDED,
    "reranker.provider": None,
    "reranker.candidates": 100,
    "base_db_path": str(HOME / "memory"),
    "obsidian_bridge.in_place_writes": False,
    "obsidian_bridge.morning_review.timezone": None,
    "review.allow_headless": False,
    "review.expires_after_days": 7,
    "review.max_items": 40,
    "notes.max_candidates_per_note": 3,
    "records.max_notes": 2000,
    "templates.override_dir": None,
}

DEFAULTS = (
    SEED_ENGINE
    | {f"obsidian_bridge.{path}": value for path, value in SEED_BRIDGE.items()}
    | {f"citations.{path}": value for path, value in SEED_CITATIONS.items()}
    | OURS
)


def load(text: str | None) -> Config:
    return load_config(text, home=HOME)


def at(config: Config, path: str) -> Any:
    value: Any = config
    for name in path.split("."):
        value = getattr(value, name)
    return value


def refusal(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(text)
    return caught.value


@pytest.mark.parametrize(("path", "value"), DEFAULTS.items())
def test_published_key_has_its_default(path: str, value: object) -> None:
    assert at(load(None), path) == value


def test_default_profile_is_standard_for_the_main_agent_alone() -> None:
    assert dict(load(None).obsidian_bridge.agents.default_profiles) == {"main": Profile.STANDARD}


def test_empty_text_is_the_default_configuration() -> None:
    assert load("") == load(None)


def test_values_are_read_into_their_types() -> None:
    config = load(
        """
        recall_min_score = 1
        [embedding]
        provider = "openai"
        api_key = "${OPENAI_API_KEY}"
        [embedding.headers]
        X-Team = "blue"
        [obsidian_bridge.agents]
        include = ["main", "ada"]
        default_profiles = { ada = "adversarial" }
        """
    )
    assert config.recall_min_score == 1.0
    assert isinstance(config.recall_min_score, float)
    assert config.embedding.provider is EmbeddingProvider.OPENAI
    assert config.embedding.api_key == "${OPENAI_API_KEY}"
    assert config.embedding.headers["X-Team"] == "blue"
    assert config.obsidian_bridge.agents.include == ("main", "ada")
    assert config.obsidian_bridge.agents.default_profiles["ada"] is Profile.ADVERSARIAL


@pytest.mark.parametrize(
    ("text", "path", "hint"),
    [
        ("auto_recal = true", "auto_recal", "auto_recall"),
        ("autoRecall = true", "autoRecall", "auto_recall"),
        ("[obsidianBridge]", "obsidianBridge", "obsidian_bridge"),
        ('[obsidian_bridge]\nreviewroot = "x"', "obsidian_bridge.reviewroot", "review_root"),
        ('review_root = "x"', "review_root", "obsidian_bridge.review_root"),
        ("[citations.recal]", "citations.recal", "citations.recall"),
        ("[gc]\nzzzzz = 1", "gc.zzzzz", "enabled"),
    ],
)
def test_unknown_key_is_named_with_the_nearest_valid_one(text: str, path: str, hint: str) -> None:
    error = refusal(text)
    assert error.message == f"{path}: unknown key"
    assert hint in error.hint


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ('auto_recall = "yes"', "auto_recall", "true or false"),
        ("auto_recall = 1", "auto_recall", "true or false"),
        ("capture_max_chars = true", "capture_max_chars", "a whole number"),
        ("capture_max_chars = 1.5", "capture_max_chars", "a whole number"),
        ('recall_min_score = "0.2"', "recall_min_score", "a number"),
        ("recall_min_score = true", "recall_min_score", "a number"),
        ("merging = 3", "merging", "a table"),
        ("[citations]\nallowed_roots = 'memory'", "citations.allowed_roots", "a list"),
        ("[notes]\nexclude = ['a', 3]", "notes.exclude[1]", "a text"),
        ("[embedding.headers]\nA = 1", "embedding.headers.A", "a text"),
        ("[embedding]\nprovider = 2026-01-01", "embedding.provider", "a text"),
    ],
)
def test_wrong_type_names_path_and_expected_type(text: str, path: str, expected: str) -> None:
    assert refusal(text).message.startswith(f"{path}: expected {expected}, found ")


@pytest.mark.parametrize(
    "text",
    [
        "recall_min_score = 1.01",
        "recall_min_score = -0.1",
        "recall_min_score = nan",
        "capture_max_chars = 0",
        "[citations.graph]\nmax_depth = 7",
        "[review]\nexpires_after_days = 0",
        "[merging]\nmin_score = 0.95",
        "[obsidian_bridge.morning_review]\ncron = 'every day'",
        "[obsidian_bridge.morning_review]\ntimezone = 'Mars/Olympus'",
        "[obsidian_bridge.morning_review]\ntimezone = '../../etc/passwd'",
        "[obsidian_bridge.agents.default_profiles]\n'../x' = 'standard'",
        "[records]\ncollections = ['everything']",
        "[embedding]\nbase_url = 'file:///etc'",
        "[templates]\noverride_dir = 'here'",
        "base_db_path = 'ftp://host/db'",
        "base_db_path = '../outside'",
        "workspace_key = '../up'",
        "owner_id = '  '",
        'owner_id = "a\\u0007b"',
        "[embedding]\nprovider = 'embeded'",
        "merging.",
    ],
)
def test_value_out_of_its_range_is_refused_with_a_way_out(text: str) -> None:
    assert refusal(text).hint


@pytest.mark.parametrize(
    "root", ["", "/abs", "..", "a/../b", "a//b", ".obsidian", "a/.hidden", "C:/x", "a\\b", "./a"]
)
def test_review_root_stays_a_visible_folder_of_the_vault(root: str) -> None:
    assert (
        "obsidian_bridge.review_root" in refusal(f"obsidian_bridge.review_root = '{root}'").message
    )


FIXED = [path for path, known in walk(Config) if known.key.fixed]


def test_the_promises_are_the_keys_that_may_not_change() -> None:
    assert {path.removeprefix("obsidian_bridge.") for path in FIXED} == {
        "mode",
        "require_user_approval",
        "apply_approved_only",
        "source_of_truth",
        "recall_authority",
        "capability_pack",
        "agents.equal_capabilities",
        "morning_review.apply_mode",
        "semantic_graph.proposal_only",
        "semantic_graph.mutate_memory",
    }


@pytest.mark.parametrize("path", FIXED)
def test_promise_accepts_its_own_value_and_refuses_another_with_the_reason(path: str) -> None:
    default = at(load(None), path)
    known = dict(walk(Config))[path]
    own, other = (
        (str(default).lower(), str(not default).lower())
        if isinstance(default, bool)
        else (f"'{default}'", "'other'")
    )
    assert load(f"{path} = {own}") == load(None)
    error = refusal(f"{path} = {other}")
    assert error.message.startswith(f"{path}: only ")
    assert known.key.fixed in error.message


def test_nearest_word_is_offered_for_a_misspelt_choice() -> None:
    assert refusal("[embedding]\nprovider = 'embeded'").hint == "Did you mean embedded?"


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("", RerankerProvider.DISABLED),
        ("api_key = 'k'", RerankerProvider.COHERE),
        ("api_key = 'k'\nenabled = false", RerankerProvider.DISABLED),
        ("provider = 'cohere'", RerankerProvider.DISABLED),
        ("provider = 'local'", RerankerProvider.LOCAL),
        ("provider = 'disabled'\napi_key = 'k'", RerankerProvider.DISABLED),
    ],
)
def test_reranker_is_cohere_once_a_key_is_set(text: str, chosen: RerankerProvider) -> None:
    assert load(f"[reranker]\n{text}").reranker.chosen is chosen


@pytest.mark.parametrize(
    "address", ["s3://bucket/p", "gs://b", "az://c", "db://x", "${OPENCLAW_HOME}/m"]
)
def test_remote_engine_address_is_kept_as_written(address: str) -> None:
    assert load(f"base_db_path = '{address}'").base_db_path == address


def test_tilde_in_engine_folder_is_the_users_folder() -> None:
    assert load("base_db_path = '~/m'").base_db_path == str(Path.home() / "m")


def test_commented_example_reads_back_as_the_defaults() -> None:
    assert load(commented_example()) == load(None)


def test_commented_example_is_valid_with_every_unset_key_uncommented() -> None:
    unset = [known.name for _, known in walk(Config) if known.default is None]
    lines = commented_example().splitlines()
    uncommented = [
        line.removeprefix("# ") if line.startswith(tuple(f"# {n} = " for n in unset)) else line
        for line in lines
    ]
    assert len([line for line in lines if line not in uncommented]) == len(unset)
    config = load("\n".join(uncommented))
    assert all(
        at(config, path) is not None for path, known in walk(Config) if known.default is None
    )


def test_commented_example_holds_every_key_with_a_comment_of_one_line() -> None:
    lines = commented_example().splitlines()
    for _, known in walk(Config):
        assert f"# {known.key.comment}." in lines
        assert len(known.key.comment) <= 100


def test_effective_view_lists_every_key() -> None:
    shown = [path for path, _ in effective(load(None))]
    assert shown == [path for path, known in walk(Config) if known.section is None]


SECRET = st.text(string.ascii_letters + string.digits, min_size=12, max_size=40)


@given(SECRET, SECRET)
def test_effective_view_never_shows_a_secret_or_a_folder(secret: str, folder: str) -> None:
    config = load(
        f"""
        base_db_path = "/srv/{folder}/memory"
        [storage_options]
        token = "{secret}"
        [embedding]
        api_key = "{secret}"
        base_url = "https://me:{secret}@host/v1?key={secret}"
        [embedding.headers]
        Authorization = "{secret}"
        [chat]
        api_key = "{secret}"
        [reranker]
        api_key = "{secret}"
        [review]
        notify_command = ["notify", "--token", "{secret}"]
        [obsidian_bridge]
        vault_path = "/srv/{folder}/Notes"
        """
    )
    shown = dict(effective(config))
    assert not any(secret in value or folder in value for value in shown.values())
    assert shown["obsidian_bridge.vault_path"] == "…/Notes"
    assert shown["embedding.base_url"] == "https://host/v1"


def test_effective_view_names_the_variable_that_holds_a_secret() -> None:
    config = load("[chat]\napi_key = '${OPENAI_API_KEY}'")
    assert dict(effective(config))["chat.api_key"] == "${OPENAI_API_KEY}"


def test_wrong_secret_is_refused_without_being_shown() -> None:
    error = refusal("[chat]\napi_key = 918273645")
    assert "918273645" not in error.message + error.hint


def test_switching_the_bridge_on_keeps_comments_and_order() -> None:
    text = "# mine\nauto_recall = false  # loud\n\n[obsidian_bridge] # b\nenabled = false # e\n"
    edited = with_bridge_enabled(text, Path("/Notes"))
    assert edited.startswith("# mine\nauto_recall = false  # loud\n\n[obsidian_bridge] # b\n")
    assert "enabled = true # e\n" in edited
    bridge = load(edited).obsidian_bridge
    assert (bridge.enabled, bridge.vault_path) == (True, Path("/Notes"))


def test_switching_the_bridge_on_changes_two_lines_of_the_commented_file() -> None:
    before, after = commented_example(), with_bridge_enabled(commented_example(), Path("/Notes"))
    changed = [
        (old, new)
        for old, new in zip(before.splitlines(), after.splitlines(), strict=True)
        if old != new
    ]
    assert changed == [
        ("enabled = false", "enabled = true"),
        ('# vault_path = "~/Notes"', 'vault_path = "/Notes"'),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "auto_recall = false\n",
        "[obsidian_bridge.agents]\ninclude = ['main']\n",
        "obsidian_bridge.enabled = false\n",
        "obsidian_bridge = { enabled = false }\n",
        "[obsidian_bridge]\nenabled = true\nvault_path = '/old'\n[gc]\nenabled = false\n",
    ],
)
@pytest.mark.parametrize("vault", ['/Notes "x"', "/Nötizen/日記", "/a\\b"])
def test_switching_the_bridge_on_changes_nothing_else(text: str, vault: str) -> None:
    edited = tomllib.loads(with_bridge_enabled(text, Path(vault)))
    expected = tomllib.loads(text)
    expected.setdefault("obsidian_bridge", {}).update(enabled=True, vault_path=vault)
    assert edited == expected
    once = with_bridge_enabled(text, Path(vault))
    assert with_bridge_enabled(once, Path(vault)) == once


def test_switching_the_bridge_on_refuses_a_broken_file() -> None:
    with pytest.raises(ConfigError):
        with_bridge_enabled("not toml", Path("/Notes"))
