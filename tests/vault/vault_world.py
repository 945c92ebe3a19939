"""A vault in a temporary folder, for the tests of its one writer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from vault_tools.core.ports import OwnedBlock
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.undo import UndoStore

REVIEW_ROOT = "00-system/plur1bus"


def make_files(tmp_path: Path, extra_files: Collection[str] = (), **options: Any) -> VaultFiles:
    root = tmp_path / "vault"
    (root / REVIEW_ROOT).mkdir(parents=True, exist_ok=True)
    return VaultFiles(
        root,
        REVIEW_ROOT,
        undo=UndoStore(tmp_path / "home" / "undo"),
        lock_dir=tmp_path / "home" / "locks",
        extra_files=extra_files,
        **options,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Ownership:
    """The blocks that are ours, in memory."""

    def __init__(self, known: Mapping[tuple[str, str], OwnedBlock] | None = None) -> None:
        self.known: dict[tuple[str, str], OwnedBlock] = dict(known or {})

    def owned_blocks(self, path: str) -> Mapping[str, OwnedBlock]:
        return {i: block for (where, i), block in self.known.items() if where == path}

    def own_blocks(self, blocks: Collection[OwnedBlock]) -> None:
        self.known.update({(block.path, block.block_id): block for block in blocks})

    def disown_blocks(self, path: str, block_ids: Collection[str]) -> None:
        for block_id in block_ids:
            self.known.pop((path, block_id), None)
