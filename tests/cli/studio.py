"""A person's studio to work in: the demo's vault and home, copied for one test."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.command import Said, call

REVIEW_ROOT = "00-system"


@dataclass(frozen=True)
class Studio:
    """A vault with a prepared bundle, and the home that serves it."""

    vault: Path
    home: Path

    def call(self, *arguments: str, stdin: bytes = b"") -> Said:
        return call("--home", str(self.home), *arguments, stdin=stdin)

    def json(self, *arguments: str) -> Any:
        said = self.call("--json", *arguments)
        assert said.code == 0, said
        return said.json

    @property
    def bundle(self) -> str:
        return str(self.json("review", "list")["bundles"][0]["bundleId"])

    def items(self, kind: str) -> list[dict[str, Any]]:
        return [item for item in self.json("review", "show")["items"] if item["type"] == kind]

    def item(self, kind: str) -> dict[str, Any]:
        return next(item for item in self.items(kind) if item["adversarial"]["verdict"] == "pass")

    def states(self) -> dict[str, str]:
        shown = self.json("review", "show", self.bundle)
        return {item["id"]: item["state"] for item in shown["items"]}

    @property
    def note(self) -> Path:
        (found,) = self.vault.glob(f"{REVIEW_ROOT}/*/review-bundles/*.md")
        return found

    def configure(self, text: str) -> None:
        path = self.home / "config.toml"
        path.write_text(f"{path.read_text('utf-8')}\n{text}\n", "utf-8")

    def allow_headless(self) -> None:
        self.configure("[review]\nallow_headless = true")

    def rows(self) -> list[Any]:
        """Every column of every row, whoever stored it and whatever became of it."""
        return [
            row
            for agent in ("main", "scout")
            for row in self.json("memory", "list", "--all-states", "--agent", agent)["memories"]
        ]

    def words(self) -> dict[str, bytes]:
        """The person's own files."""
        return own_files(self.vault)

    def everything(self) -> tuple[list[str], dict[str, bytes]]:
        """The whole ledger and every byte of the vault: a refused command leaves both alone."""
        vault = {str(p): p.read_bytes() for p in self.vault.rglob("*") if p.is_file()}
        return [line for p in self.home.glob("state/*/*/*.sqlite") for line in dump(p)], vault


def dump(database: Path) -> list[str]:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as opened:
        return list(opened.iterdump())


def own_files(vault: Path) -> dict[str, bytes]:
    return {
        path.relative_to(vault).as_posix(): path.read_bytes()
        for path in sorted(vault.rglob("*"))
        if path.is_file() and path.relative_to(vault).parts[0] != REVIEW_ROOT
    }


def moved_in(original: Studio, place: Path) -> Studio:
    """Copy a studio and tell its home that the vault is the copy."""
    studio = Studio(place / "vault", place / "home")
    shutil.copytree(original.vault, studio.vault, symlinks=True)
    shutil.copytree(original.home, studio.home, ignore=shutil.ignore_patterns("cache"))
    shutil.copytree(original.home / "cache", studio.home / "cache", copy_function=os.link)
    registry = studio.home / "vaults.json"
    known = json.loads(registry.read_bytes())
    status = studio.vault.stat()
    known["vaults"][0] |= {
        "path": str(studio.vault),
        "device": status.st_dev,
        "inode": status.st_ino,
    }
    registry.write_text(json.dumps(known), "utf-8")
    config = studio.home / "config.toml"
    text = re.sub(r'vault_path = ".*"', f'vault_path = "{studio.vault}"', config.read_text("utf-8"))
    config.write_text(text, "utf-8")
    return studio
