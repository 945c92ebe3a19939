"""What is built is what stands in the tree: templates and sample vault travel with the package."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

from vault_tools import __version__

TREE = Path(__file__).parent.parent
CARRIED = {"templates": "vault_tools/templates", "sample-vault": "vault_tools/sample_vault"}

# Obsidian and the desktop write these into a vault that somebody opens; they are never ours.
FOREIGN = {"workspace.json", "workspace-mobile.json", ".DS_Store", ".trash", "__pycache__"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (TREE / "pyproject.toml").exists(), reason="needs the source tree"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist, and the wheel from it, as a release does."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(TREE)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel_files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture(scope="module")
def sdist_files(built: Path) -> set[str]:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}


def in_tree(folder: str) -> set[str]:
    root = TREE / folder
    paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not FOREIGN & set(path.parts)}


def under(files: set[str], folder: str) -> set[str]:
    return {name.removeprefix(f"{folder}/") for name in files if name.startswith(f"{folder}/")}


@pytest.mark.parametrize("folder", CARRIED)
def test_wheel_and_sdist_carry_the_folder_as_it_is(
    folder: str, wheel_files: set[str], sdist_files: set[str]
) -> None:
    assert in_tree(folder)
    assert under(wheel_files, CARRIED[folder]) == in_tree(folder)
    assert under(sdist_files, folder) == in_tree(folder)


def test_carried_files_are_the_same_bytes(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for folder, inside in CARRIED.items():
            for name in in_tree(folder):
                assert archive.read(f"{inside}/{name}") == (TREE / folder / name).read_bytes(), name


def test_wheel_carries_every_module_its_types_and_nothing_else(wheel_files: set[str]) -> None:
    carried = tuple(f"{inside}/" for inside in CARRIED.values())
    package = {name for name in wheel_files if not name.startswith(carried)}
    code = {f"vault_tools/{name}" for name in in_tree("vault_tools")}
    metadata = f"obsidian_vault_tools-{__version__}.dist-info/"
    assert {name for name in package if not name.startswith(metadata)} == code
    assert "vault_tools/py.typed" in code


def test_sdist_carries_tests_and_docs(sdist_files: set[str]) -> None:
    for name in ("tests/test_packaging.py", "docs/index.md", "LICENSE", "README.md", "Makefile"):
        assert name in sdist_files


def test_wheel_names_command_version_and_licence(wheel: Path) -> None:
    base = f"obsidian_vault_tools-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        about = HeaderParser().parsestr(archive.read(f"{base}/METADATA").decode())
        commands = archive.read(f"{base}/entry_points.txt").decode()
    assert (about["Name"], about["Version"]) == ("obsidian-vault-tools", __version__)
    assert about["License-Expression"] == "MIT"
    assert "vault-tools = vault_tools.cli:main" in commands


def test_wheel_shows_no_folder_of_the_machine_that_built_it(wheel: Path) -> None:
    traces = [os.fsencode(TREE), os.fsencode(Path.home() / "x").removesuffix(b"x")]
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            assert not any(trace in archive.read(name) for trace in traces), name


def test_every_dependency_is_bounded() -> None:
    project = tomllib.loads((TREE / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [line.partition(";")[0].strip() for line in project["dependencies"]]
    assert [line for line in needed if not {"<", "="} & set(line)] == ["tzdata"]
