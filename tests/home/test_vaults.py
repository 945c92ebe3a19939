from __future__ import annotations

import json
import shutil
import stat
import sys
import threading
import uuid
from pathlib import Path

import pytest

from vault_tools.errors import ConfigError, PathRefused
from vault_tools.home.vaults import KnownVault, VaultRegistry

NOW = "2026-05-23T09:00:00+02:00"


@pytest.fixture
def registry(tmp_path: Path) -> VaultRegistry:
    return VaultRegistry(tmp_path / "home")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    path = tmp_path / "Notizen"
    path.mkdir()
    return path


def register(registry: VaultRegistry, vault: Path, host: str = "desk") -> KnownVault:
    return registry.register(vault, host=host, now=NOW, new_id=lambda: str(uuid.uuid4()))


def test_unknown_vault_is_not_found(registry: VaultRegistry, vault: Path) -> None:
    assert registry.find(vault) is None
    assert registry.vaults() == []


def test_registered_vault_keeps_its_id_and_host(registry: VaultRegistry, vault: Path) -> None:
    known = register(registry, vault)
    assert register(registry, vault, host="laptop") == known
    assert registry.find(vault) == known
    assert known.host == "desk"
    assert uuid.UUID(known.id).version == 4


def test_registration_leaves_no_trace_in_the_vault(registry: VaultRegistry, vault: Path) -> None:
    register(registry, vault)
    assert list(vault.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
def test_registry_is_private_and_follows_links(
    registry: VaultRegistry, vault: Path, tmp_path: Path
) -> None:
    known = register(registry, vault)
    assert stat.S_IMODE((tmp_path / "home" / "vaults.json").stat().st_mode) == 0o600
    (tmp_path / "link").symlink_to(vault)
    assert registry.find(tmp_path / "link") == known


def test_moved_vault_is_followed_on_request_only(
    registry: VaultRegistry, vault: Path, tmp_path: Path
) -> None:
    known = register(registry, vault)
    moved = vault.rename(tmp_path / "Moved")
    assert registry.find(moved) is None
    assert registry.left_behind(moved) == [known]
    assert registry.move(vault, moved, now=NOW).id == known.id
    found = registry.find(moved)
    assert found is not None
    assert found.id == known.id
    assert registry.left_behind(moved) == []


def test_copied_vault_is_a_new_one(registry: VaultRegistry, vault: Path, tmp_path: Path) -> None:
    known = register(registry, vault)
    copy = Path(shutil.copytree(vault, tmp_path / "Copy"))
    assert registry.find(copy) is None
    with pytest.raises(PathRefused, match="copy"):
        registry.move(vault, copy, now=NOW)
    assert register(registry, copy).id != known.id
    assert registry.find(vault) == known


def test_another_folder_at_the_same_path_is_refused_until_it_is_named(
    registry: VaultRegistry, vault: Path, tmp_path: Path
) -> None:
    known = register(registry, vault)
    vault.rename(tmp_path / "kept")
    vault.mkdir()
    for attempt in (registry.find, lambda path: register(registry, path)):
        with pytest.raises(PathRefused) as caught:
            attempt(vault)
        assert "--moved-from" in caught.value.hint
    registry.move(vault, vault, now=NOW)
    found = registry.find(vault)
    assert found is not None
    assert found.id == known.id


def test_move_names_what_is_registered_when_the_old_path_is_not(
    registry: VaultRegistry, vault: Path, tmp_path: Path
) -> None:
    register(registry, vault)
    with pytest.raises(PathRefused) as caught:
        registry.move(tmp_path / "other", vault, now=NOW)
    assert str(vault) in caught.value.hint


def test_move_never_takes_the_place_of_another_vault(
    registry: VaultRegistry, vault: Path, tmp_path: Path
) -> None:
    register(registry, vault)
    other = tmp_path / "Other"
    other.mkdir()
    register(registry, other)
    vault.rmdir()
    with pytest.raises(PathRefused, match="of its own"):
        registry.move(vault, other, now=NOW)
    assert len(registry.vaults()) == 2


def test_drive_mounted_again_is_the_same_vault(
    registry: VaultRegistry, vault: Path, tmp_path: Path
) -> None:
    known = register(registry, vault)
    path = tmp_path / "home" / "vaults.json"
    document = json.loads(path.read_bytes())
    document["vaults"][0]["device"] += 1
    path.write_text(json.dumps(document))
    found = registry.find(vault)
    assert found is not None
    assert found.id == known.id


def test_other_computer_takes_over_on_request(registry: VaultRegistry, vault: Path) -> None:
    known = register(registry, vault)
    taken = registry.take_over(vault, host="laptop", now=NOW)
    assert (taken.id, taken.host) == (known.id, "laptop")
    assert registry.find(vault) == taken


def test_taking_over_an_unknown_vault_is_refused(registry: VaultRegistry, vault: Path) -> None:
    with pytest.raises(PathRefused):
        registry.take_over(vault, host="laptop", now=NOW)


def test_removed_vault_is_unknown(registry: VaultRegistry, vault: Path) -> None:
    known = register(registry, vault)
    registry.remove(known.id, now=NOW)
    registry.remove(known.id, now=NOW)
    assert registry.find(vault) is None


def test_missing_folder_is_refused(registry: VaultRegistry, tmp_path: Path) -> None:
    with pytest.raises(PathRefused):
        registry.find(tmp_path / "nowhere")


ENTRY = '{"id": "a", "path": "/x", "device": 1, "inode": 2, "host": "h", "registered_at": ""}'


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 1}',
        '{"version": "1", "vaults": []}',
        '{"version": 1, "vaults": [{"id": "x"}]}',
        '{"version": 1, "vaults": [3]}',
        f'{{"version": 1, "vaults": [{ENTRY.replace("1", "true")}]}}',
        f'{{"version": 1, "vaults": [{ENTRY.replace("/x", "")}]}}',
        '{"version": 2, "vaults": []}',
        "\udcff",
    ],
)
def test_damaged_registry_is_an_error_and_never_overwritten(
    registry: VaultRegistry, vault: Path, tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "home" / "vaults.json"
    path.parent.mkdir()
    path.write_bytes(before := damage.encode("utf-8", "surrogateescape"))
    for attempt in (
        lambda: registry.find(vault),
        lambda: register(registry, vault),
        lambda: registry.move(vault, vault, now=NOW),
        lambda: registry.remove("a", now=NOW),
    ):
        with pytest.raises(ConfigError) as caught:
            attempt()
        assert "vaults.json" in caught.value.message
        assert caught.value.hint
    assert path.read_bytes() == before


def test_vaults_registered_at_the_same_time_are_all_kept(
    registry: VaultRegistry, tmp_path: Path
) -> None:
    folders = [tmp_path / f"vault-{n}" for n in range(8)]
    for path in folders:
        path.mkdir()
    threads = [threading.Thread(target=register, args=(registry, path)) for path in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {vault.path for vault in registry.vaults()} == {str(path.resolve()) for path in folders}
