from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from vault_tools.core.digest import sha256_hex
from vault_tools.errors import VaultToolsError
from vault_tools.vault.exclusion import exclusion
from vault_tools.vault.manifest import Manifest, ScanResult, scan

LATER = 10**14


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    for name, text in {"a.md": "a", "b/c.MD": "c", "b/d.txt": "no note"}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _reasons(result: ScanResult) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in result.skipped}


def _first(vault: Path) -> Manifest:
    return scan(vault, Manifest(), now=LATER).manifest


def test_a_first_scan_finds_and_hashes_every_note(vault: Path) -> None:
    seen: list[int] = []
    result = scan(vault, Manifest(), now=LATER, progress=seen.append)
    assert result.new == ("a.md", "b/c.MD")
    assert result.manifest.entries["a.md"].sha256 == sha256_hex("a")
    assert (result.changed, result.removed, seen) == ((), (), [1, 2])


def test_an_unchanged_note_is_not_opened(vault: Path) -> None:
    before = _first(vault)
    times = (vault / "a.md").stat()
    (vault / "a.md").write_text("z")
    os.utime(vault / "a.md", ns=(times.st_atime_ns, times.st_mtime_ns))
    result = scan(vault, before, now=LATER + 1)
    assert result.manifest.entries == before.entries
    assert (result.new, result.changed, result.removed) == ((), (), ())


def test_a_note_saved_just_before_the_last_scan_is_read_again(vault: Path) -> None:
    times = (vault / "a.md").stat()
    before = scan(vault, Manifest(), now=times.st_mtime_ns // 1_000_000).manifest
    (vault / "a.md").write_text("z")
    os.utime(vault / "a.md", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert scan(vault, before, now=LATER).changed == ("a.md",)


def test_changes_are_told_apart(vault: Path) -> None:
    before = _first(vault)
    (vault / "a.md").write_text("longer")
    (vault / "b/c.MD").unlink()
    (vault / "n.md").write_text("n")
    result = scan(vault, before, now=LATER + 1)
    assert (result.new, result.changed, result.removed) == (("n.md",), ("a.md",), ("b/c.MD",))


def test_a_touched_note_is_not_changed(vault: Path) -> None:
    before = _first(vault)
    os.utime(vault / "a.md", ns=(1, 1))
    result = scan(vault, before, now=LATER + 1)
    assert result.changed == ()
    assert result.manifest.entries["a.md"].mtime_ns == 1


def test_what_is_no_note_of_the_vault_is_skipped_with_its_reason(vault: Path) -> None:
    for name in (
        ".obsidian/x.md", ".trash/x.md", "node_modules/x.md", "Templates/x.md",
        "00-system/plur1bus/x.md", "Diary/x.md", "p/.hidden.md",
        "p/a.sync-conflict-20240501-211713-H7G5LYY.md",
    ):  # fmt: skip
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text("x")
    (vault / "linked.md").symlink_to(vault / "a.md")
    (vault / "loop").symlink_to(vault)
    result = scan(
        vault,
        Manifest(),
        now=LATER,
        review_root="00-system/plur1bus",
        excluded=exclusion(["Diary"]),
    )
    assert result.new == ("a.md", "b/c.MD")
    reasons = _reasons(result)
    assert set(reasons) == {
        ".obsidian", ".trash", "node_modules", "Templates", "00-system/plur1bus", "Diary",
        "p/.hidden.md", "p/a.sync-conflict-20240501-211713-H7G5LYY.md", "linked.md", "loop",
    }  # fmt: skip
    assert reasons["Diary"] == "excluded by 'Diary'"


@pytest.mark.parametrize("how", ["empty", "gone"])
def test_an_empty_or_missing_vault_deletes_nothing(vault: Path, how: str) -> None:
    before = _first(vault)
    shutil.rmtree(vault)
    if how == "empty":
        vault.mkdir()
    result = scan(vault, before, now=LATER + 1)
    assert result.vault_missing
    assert result.manifest is before
    assert result.removed == ()


def test_a_note_that_waits_in_the_cloud_is_not_removed(vault: Path) -> None:
    before = _first(vault)
    (vault / "a.md").rename(vault / ".a.md.icloud")
    result = scan(vault, before, now=LATER + 1)
    assert result.removed == ()
    assert "a.md" in result.manifest.entries
    assert _reasons(result) == {"a.md": "not downloaded yet"}


def test_a_note_that_is_excluded_now_is_withdrawn_not_removed(vault: Path) -> None:
    result = scan(vault, _first(vault), now=LATER + 1, excluded=exclusion(["b"]))
    assert (result.withdrawn, result.removed) == (("b/c.MD",), ())
    assert "b/c.MD" not in result.manifest.entries


@pytest.mark.skipif(os.name != "posix", reason="needs names that are not UTF-8: 1 check skipped")
def test_a_manifest_reads_back_as_it_was_written(vault: Path) -> None:
    with open(os.fsencode(vault) + b"/\xff\xe4.md", "wb") as handle:  # noqa: PTH123
        handle.write(b"x")
    manifest = _first(vault)
    assert len(manifest.entries) == 3
    assert Manifest.load(manifest.dump()) == manifest


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"version":9}', b"\xff"])
def test_a_damaged_manifest_is_named(data: bytes) -> None:
    with pytest.raises(VaultToolsError, match="cannot be read"):
        Manifest.load(data)
