"""One world for each fault: the doctor names it, and a healthy world has nothing to say."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Said, call
from vault_tools.cli.doctor import examined
from vault_tools.config import Options, settings
from vault_tools.core.approval import Approval, Approver, Decision, Way
from vault_tools.core.block import find_blocks, format_block
from vault_tools.core.bundle import StandingBundle
from vault_tools.core.item import ItemState
from vault_tools.core.memory import Category, Memory
from vault_tools.core.ports import EmbedderIdentity, Ledger
from vault_tools.core.saga import Plan, Saga
from vault_tools.home.durable import write_private
from vault_tools.reports.checkup.finding import MOST_SHOWN, Sheet
from vault_tools.reports.checkup.home import file_system
from vault_tools.reports.doctor import examine
from vault_tools.store.identity import write_identity
from vault_tools.store.lance import open_table
from vault_tools.vault.manifest import Manifest
from vault_tools.workspace import Workspace

REVIEW_ROOT = "00-system/plur1bus"
NOTES = {
    "Day.md": "---\ntags: [day]\n---\n# Day\n\n- We decided to release on Thursdays.\n",
    "Work/Plan.md": "I prefer short meetings in the afternoon.\n",
}


@dataclass(frozen=True)
class Place:
    """A vault with a prepared bundle, its home, and one agent with memories."""

    vault: Path
    home: Path

    def call(self, *arguments: str) -> Said:
        return call("--home", str(self.home), "--vault", str(self.vault), *arguments)

    def doctor(self, *arguments: str) -> Any:
        said = self.call("doctor", "--json", *arguments)
        document = said.json
        assert said.code == (0 if document["ok"] else 1), said
        assert said.err == ""
        assert all(finding["fix"] for finding in document["findings"])
        return document

    def finds(self, code: str, severity: str, path: str = "") -> dict[str, str]:
        findings = self.doctor()["findings"]
        found: list[dict[str, str]] = [one for one in findings if one["code"] == code]
        assert found, findings
        assert found[0]["severity"] == severity
        assert found[0].get("path", "").endswith(path)
        return found[0]

    @property
    def workspace(self) -> Workspace:
        options = Options(home=self.home, vault=self.vault)
        return Workspace(settings(options, {}, self.home))

    @property
    def state(self) -> Path:
        (found,) = self.home.glob("state/*/main")
        return found

    @property
    def bundle_note(self) -> Path:
        (found,) = (self.vault / REVIEW_ROOT / "review-bundles").glob("*.md")
        return found

    def note(self, path: str, content: bytes | str) -> Path:
        place = self.vault / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def configure(self, text: str) -> None:
        config = self.home / "config.toml"
        write_private(config, f"{config.read_text()}\n{text}\n".encode())

    def table(self) -> Any:
        return open_table(self.home / "memory/main")._table

    def remember(self, number: int, text: str) -> None:
        workspace = self.workspace
        row = Memory(
            id=f"00000000-0000-4000-8000-{number:012d}",
            text=text,
            stored_by="main",
            category=Category.FACT,
            created_at=1,
            updated_at=1,
            owner_id="owner",
        )
        workspace.store.insert(workspace.viewer("main"), row, [1.0] + [0.0] * 511, reason="given")


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(*(tmp_path_factory.mktemp("doctor") / name for name in ("vault", "home")))
    (place.vault / ".obsidian").mkdir(parents=True)
    for path, text in NOTES.items():
        place.note(path, text)
    assert place.call("init").code == 0
    said = place.call("--json", "morning-review")
    assert said.json["bundleId"], said
    for number in (1, 2, 3):
        place.remember(number, f"The kiln number {number} is fired on Tuesdays.")
    return place


@pytest.fixture
def place(original: Place, tmp_path: Path) -> Place:
    copy = Place(tmp_path / "vault", tmp_path / "home")
    shutil.copytree(original.vault, copy.vault)
    shutil.copytree(original.home, copy.home)
    _register(copy)
    return copy


def _register(place: Place) -> None:
    registry = place.home / "vaults.json"
    known = json.loads(registry.read_bytes())
    status = place.vault.stat()
    where = {"path": str(place.vault), "device": status.st_dev, "inode": status.st_ino}
    known["vaults"][0] |= where
    write_private(registry, json.dumps(known).encode())
    config = place.home / "config.toml"
    vault_path = f'vault_path = "{place.vault}"'
    text = re.sub(r'vault_path = ".*"', vault_path, config.read_text())
    write_private(config, text.encode())


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    # SQLite's companions of the ledger come and go with whoever reads it.
    files = [p for p in folder.rglob("*") if p.is_file() and "sqlite-" not in p.name]
    return {str(path): (path.stat().st_mode, path.read_bytes()) for path in sorted(files)}


def test_a_healthy_world_is_well_and_stays_as_it_is(place: Place) -> None:
    before = everything(place.vault), everything(place.home)
    document = place.doctor()
    assert document["ok"] is True
    assert [one["code"] for one in document["findings"]] == ["approvals_unsealed"]
    assert "audit only" in document["findings"][0]["message"]
    checks = document["checks"]
    assert checks["engine"]["main"]["rows"] == 3
    assert checks["blocks"].keys() == {"ours"}
    assert (checks["ledger"]["events"], checks["notes"]["read"]) == (1, 2)
    assert checks["guarantees"]["lock"]
    assert (everything(place.vault), everything(place.home)) == before


def test_the_words_for_people_name_each_finding_and_its_fix(place: Place) -> None:
    place.note("bad.md", "---\na: [\n---\n")
    said = place.call("doctor")
    assert said.code == 0
    assert "warning  bad.md: " in said.out
    assert "0 errors, 1 warnings, 1 remarks" in said.out


# Configuration, home, registry


def test_an_unknown_key_is_a_finding_too(place: Place) -> None:
    place.configure("reviw = 1")
    assert "reviw" in place.finds("config_broken", "error")["message"]


def test_templates_of_the_person_are_listed(place: Place, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/review-bundle.md.j2").write_text("x")
    place.configure(f'[templates]\noverride_dir = "{tmp_path / "mine"}"')
    place.finds("template_overridden", "info", "review-bundle.md.j2")


posix = pytest.mark.skipif(os.name != "posix", reason="rights of POSIX: 5 checks skipped")


@posix
@pytest.mark.parametrize(
    ("name", "mode", "code", "severity"),
    [
        ("", 0o755, "home_readable", "warning"),
        ("", 0o720, "home_writable", "error"),
        ("config.toml", 0o644, "file_readable", "warning"),
        ("vaults.json", 0o666, "file_writable", "error"),
    ],
)
def test_rights_of_others_in_the_home(
    place: Place, name: str, mode: int, code: str, severity: str
) -> None:
    (place.home / name).chmod(mode)
    assert "chmod" in place.finds(code, severity, name)["fix"]


@posix
def test_a_home_that_others_can_exchange_is_an_error(place: Place) -> None:
    place.home.parent.chmod(0o777)
    place.finds("parent_writable", "error", place.home.parent.name)


def serves(place: Place, vault: Path) -> Place:
    config = place.home / "config.toml"
    write_private(config, config.read_text().replace(str(place.vault), str(vault)).encode())
    return Place(vault, place.home)


def test_a_moved_vault_is_told_how_to_keep_its_ledger(place: Place) -> None:
    new = place.vault.with_name("elsewhere")
    place.vault.rename(new)
    found = serves(place, new).finds("vault_moved", "error", "elsewhere")
    assert "--moved-from" in found["fix"]


def test_a_copied_vault_is_a_new_one(place: Place) -> None:
    copy = place.vault.with_name("copy")
    shutil.copytree(place.vault, copy)
    assert "init" in serves(place, copy).finds("vault_unregistered", "error", "copy")["fix"]


def test_a_vault_in_the_place_of_another_is_an_error(place: Place) -> None:
    place.vault.rename(place.vault.with_name("away"))
    shutil.copytree(place.vault.with_name("away"), place.vault)
    place.finds("registry_refused", "error")


def test_a_damaged_registry_is_an_error(place: Place) -> None:
    (place.home / "vaults.json").write_text("{")
    place.finds("registry_refused", "error")


def test_a_vault_of_another_computer_is_read_only_here(place: Place) -> None:
    registry = place.home / "vaults.json"
    known = json.loads(registry.read_bytes())
    known["vaults"][0]["host"] = "atelier"
    registry.write_text(json.dumps(known))
    assert "--take-over" in place.finds("other_host", "error")["fix"]


def test_without_a_bridge_the_rest_is_still_looked_at(tmp_path: Path) -> None:
    (tmp_path / "vault/.obsidian").mkdir(parents=True)
    bare = Place(tmp_path / "vault", tmp_path / "home")
    document = bare.doctor()
    assert [one["code"] for one in document["findings"]] == ["bridge_disabled"]
    assert document["checks"]["engine"] == {}


# The vault


def test_a_vault_that_is_gone_is_an_error(place: Place) -> None:
    shutil.rmtree(place.vault)
    said = call("--home", str(place.home), "doctor", "--json")
    assert "vault_unreachable" in [one["code"] for one in said.json["findings"]]
    assert said.code == 1


def test_an_empty_vault_is_no_deleted_one(place: Place) -> None:
    for path in ("Day.md", "Work/Plan.md"):
        (place.vault / path).unlink()
    assert "deleted" in place.finds("vault_empty", "error")["message"]


def test_obsidian_settings_that_cannot_be_read_are_an_error(place: Place) -> None:
    place.note(".obsidian/app.json", "{")
    place.finds("scan_refused", "error")


@pytest.mark.parametrize(
    ("path", "content", "code", "severity"),
    [
        ("b.md", "---\na: [\n---\n", "note_broken_yaml", "warning"),
        ("b.md", "---\na: 1\n", "note_unclosed_front_matter", "warning"),
        ("b.md", b"\xff\xfe", "note_not_utf8", "warning"),
        ("day.md", "twin", "name_twin", "warning"),
        ("work/Other.md", "twin folder", "name_twin", "warning"),
        ("D.sync-conflict-20240501-211713-H7G5LYY.md", "x", "conflict_copy", "warning"),
        (".Cloud.md.icloud", "x", "not_downloaded", "info"),
        (".trash/old.md", "x", "trash", "info"),
        (f"{REVIEW_ROOT}/.x.md.vault-tools-0123456789ab.tmp", "x", "leftover", "warning"),
        (f"{REVIEW_ROOT}/review-bundles/rb-2026-01-01-0900.md", "x", "bundle_unknown", "warning"),
        (
            f"{REVIEW_ROOT}/README.sync-conflict-20240501-211713-H7G5LYY.md",
            "x",
            "conflict_copy_of_ours",
            "warning",
        ),
    ],
)
def test_a_file_that_needs_a_look(
    place: Place, path: str, content: bytes | str, code: str, severity: str
) -> None:
    place.note(path, content)
    place.finds(code, severity)


def test_many_faults_are_counted_and_the_first_shown(place: Place) -> None:
    for number in range(MOST_SHOWN + 5):
        place.note(f"b{number}.md", "---\na: [\n---\n")
    document = place.doctor()
    shown = [one for one in document["findings"] if one["code"] == "note_broken_yaml"]
    assert len(shown) == MOST_SHOWN
    assert document["checks"]["notes"]["broken"] == {"broken_yaml": MOST_SHOWN + 5}
    assert any(one["message"].startswith("5 more") for one in document["findings"])


# The review root


def test_a_review_root_behind_a_link_is_an_error(place: Place) -> None:
    outside = place.vault.with_name("outside")
    (place.vault / REVIEW_ROOT).rename(outside)
    (place.vault / REVIEW_ROOT).symlink_to(outside)
    place.finds("review_root_link", "error")
    place.configure("in_place_writes = true")
    assert "review_root_link" not in [one["code"] for one in place.doctor()["findings"]]


def test_a_missing_review_root_loses_nothing(place: Place) -> None:
    shutil.rmtree(place.vault / REVIEW_ROOT)
    assert place.doctor()["ok"]
    place.finds("review_root_missing", "warning")


@posix
def test_a_review_root_open_to_all_is_a_warning(place: Place) -> None:
    (place.vault / REVIEW_ROOT).chmod(0o777)
    place.finds("review_root_open", "warning")


def test_a_review_root_that_cannot_be_written_is_an_error(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = os.access
    # Root may write anywhere, so the system's answer is put in its mouth.
    monkeypatch.setattr(
        os, "access", lambda path, mode, **_: mode == os.R_OK and allowed(path, mode)
    )
    place.finds("review_root_unwritable", "error")


def test_an_edited_bundle_note_is_named_with_its_block(place: Place) -> None:
    text = place.bundle_note.read_text()
    block = find_blocks(text)[0]
    changed = text[: block.body_end] + "\nmine\n" + text[block.body_end :]
    place.bundle_note.write_text(changed)
    place.finds("block_edited", "warning", place.bundle_note.name)
    found = place.finds("bundle_edited", "warning", place.bundle_note.name)
    assert "review refresh" in found["fix"]


def test_a_bundle_note_in_disorder_is_an_error(place: Place) -> None:
    text = place.bundle_note.read_text()
    place.bundle_note.write_text(text + find_blocks(text)[0].body + text)
    place.finds("block_malformed", "error", place.bundle_note.name)


def test_a_missing_bundle_note_is_named(place: Place) -> None:
    name = place.bundle_note.name
    place.bundle_note.unlink()
    place.finds("bundle_missing", "warning", name)


def test_a_block_that_nobody_here_wrote_is_foreign(place: Place) -> None:
    block = format_block("b", "agent", "", "words\n")
    place.note(f"{REVIEW_ROOT}/other.md", block)
    place.finds("block_foreign", "warning", "other.md")


# The ledger


def change_ledger(place: Place, statement: str, *values: object) -> None:
    with sqlite3.connect(place.state / "ledger.sqlite") as database:
        database.execute(statement, values)
    database.close()


@pytest.mark.parametrize(
    "statement",
    ["update events set body = '{}' where seq = 1", "update items set state = 'approved'"],
)
def test_a_ledger_that_another_hand_changed_is_an_error(place: Place, statement: str) -> None:
    change_ledger(place, statement)
    place.finds("ledger_broken", "error")


def test_a_ledger_that_is_no_database_is_an_error(place: Place) -> None:
    # A write-ahead log that is still there holds the pages, and SQLite reads those.
    for log in place.state.glob("ledger.sqlite-*"):
        log.unlink()
    (place.state / "ledger.sqlite").write_bytes(b"no database at all" * 100)
    place.finds("ledger_broken", "error")


def test_without_a_ledger_nothing_was_decided(place: Place) -> None:
    for path in place.state.glob("ledger.sqlite*"):
        path.unlink()
    place.finds("no_ledger", "info")
    place.finds("bundle_unknown", "warning")
    assert not (place.state / "ledger.sqlite").exists()


class LaterClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000 + 30 * 86_400_000


def approve_first(place: Place) -> tuple[Ledger, StandingBundle]:
    ledger = place.workspace.ledger
    (standing,) = ledger.bundles()
    first = standing.items[0]
    approval = Approval(
        vault_id=standing.bundle.vault_id,
        bundle_id=standing.bundle_id,
        bundle_digest=standing.digest,
        item_id=first.item_id,
        item_digest=first.digest,
        decision=Decision.APPROVE,
        approver=Approver("mirjam", 1, "atelier", Way.TERMINAL),
        at=1,
        expires_at=2,
        nonce="n",
    )
    ledger.decide(approval, state=ItemState.APPROVED)
    return ledger, standing


def test_approvals_whose_time_is_over_are_named(place: Place) -> None:
    _, standing = approve_first(place)
    workspace = Workspace(place.workspace.settings, clock=LaterClock())
    found = [one for one in examine(examined(workspace)).findings if one.code == "approval_expired"]
    assert standing.items[0].item_id in found[0].message


def test_an_interrupted_apply_is_named_and_finished_by_repair(place: Place) -> None:
    ledger, standing = approve_first(place)
    first = standing.items[0]
    saga = Saga(
        saga_id="s",
        bundle_id=standing.bundle_id,
        item_id=first.item_id,
        item_digest=first.digest,
        nonce="n",
        goal=ItemState.APPLIED,
        plan=Plan(),
    )
    ledger.begin(saga)
    assert first.item_id in place.finds("saga_unfinished", "warning")["message"]
    plan = place.doctor("--repair", "--dry-run")
    assert "would be finished" in plan["repaired"][0]
    assert ledger.unfinished()
    done = place.doctor("--repair")
    assert "was finished" in done["repaired"][0]
    assert done["checks"]["ledger"]["unfinished"] == 0


# The engine


def test_a_row_that_another_hand_changed_is_an_error(place: Place) -> None:
    place.table().update(where="id LIKE '%1'", values={"text": "forged"})
    found = place.finds("row_damaged", "error")
    assert "00000000-0000-4000-8000-000000000001" in found["message"]


def test_a_row_with_no_known_status_is_damaged_too(place: Place) -> None:
    place.table().update(where="id LIKE '%1'", values={"status": "odd"})
    place.finds("row_damaged", "error")


def test_rows_that_the_history_knows_and_the_table_lacks_are_lost(place: Place) -> None:
    place.table().delete("id LIKE '%1'")
    assert "knows 1 memories" in place.finds("rows_lost", "error")["message"]


def test_rows_that_the_history_lacks_are_no_damage(place: Place) -> None:
    history = place.home / "memory/main/history.jsonl"
    lines = history.read_bytes().splitlines(keepends=True)
    history.write_bytes(b"".join(lines[:-1]))
    place.finds("history_behind", "info")


def test_a_history_that_cannot_be_read_is_an_error(place: Place) -> None:
    history = place.home / "memory/main/history.jsonl"
    history.write_bytes(b"{\n" + history.read_bytes())
    place.finds("engine_refused", "error")


def test_a_table_of_another_model_is_an_error(place: Place) -> None:
    write_identity(place.home / "memory/main", EmbedderIdentity("else", "other", 512))
    place.finds("model_mismatch", "error")


def test_a_table_that_does_not_open_is_an_error(place: Place) -> None:
    for path in (place.home / "memory/main/memories.lance/_versions").iterdir():
        path.write_bytes(b"")
    place.finds("engine_refused", "error")


def test_secrets_are_counted_by_kind_and_never_shown(place: Place) -> None:
    secret = "ghp_" + "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
    place.remember(9, f"The token is {secret} for the mirror.")
    document = place.doctor()
    assert document["checks"]["engine"]["main"]["secrets"] == {"github_token": 1}
    assert "github_token 1" in place.finds("secret_stored", "warning")["message"]
    assert secret not in json.dumps(document)


# Repair


def test_a_leftover_is_cleared_and_kept(place: Place) -> None:
    left = place.note(f"{REVIEW_ROOT}/.x.md.vault-tools-0123456789ab.tmp", "an edit")
    plan = place.doctor("--repair", "--dry-run")
    assert left.exists()
    assert "would be cleared" in plan["repaired"][0]
    done = place.doctor("--repair")
    assert not left.exists()
    assert "may be an edit of yours" in done["repaired"][0]
    assert [one["code"] for one in done["findings"]] == ["approvals_unsealed"]


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda path: path.write_bytes(b"{"), "manifest_broken"),
        (lambda path: path.unlink(), "manifest_missing"),
    ],
)
def test_a_lost_list_of_notes_is_begun_anew(
    place: Place, damage: Callable[[Path], None], code: str
) -> None:
    path = place.state / "manifest.json"
    damage(path)
    place.finds(code, "error" if code == "manifest_broken" else "info", "manifest.json")
    done = place.doctor("--repair")
    assert "begun anew" in done["repaired"][0]
    assert done["ok"]
    assert Manifest.load(path.read_bytes()) == Manifest()


def test_repair_of_a_healthy_world_does_nothing(place: Place) -> None:
    before = everything(place.vault), everything(place.home)
    assert place.doctor("--repair")["repaired"] == []
    assert (everything(place.vault), everything(place.home)) == before


def test_dry_run_alone_is_a_wrong_use(place: Place) -> None:
    assert place.call("doctor", "--dry-run").code == 2


# Small parts


def test_a_warning_does_not_make_the_whole_ill() -> None:
    sheet = Sheet()
    sheet.warn_each("c", "m", "f", [f"{n:03}" for n in range(MOST_SHOWN + 2)])
    assert sheet.ok
    assert len(sheet.findings) == MOST_SHOWN + 1
    assert sheet.findings[-1].message == "2 more: m"
    sheet.error("c", "m", "f")
    assert not sheet.ok


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="Linux: 1 check skipped")
def test_the_file_system_of_a_place_is_known() -> None:
    assert file_system(Path("/proc")) == "proc"
