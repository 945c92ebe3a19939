from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from vault_world import REVIEW_ROOT, Ownership, make_files

from tests.campaign import sizes
from vault_tools.core.ports import OwnedBlock
from vault_tools.errors import VaultToolsError
from vault_tools.vault.blocks import BlockWrite, write_blocks
from vault_tools.vault.exclusion import Excluded, exclusion
from vault_tools.vault.files import VaultFiles
from vault_tools.vault.manifest import Manifest, rescan, scan
from vault_tools.vault.own_writes import OwnWrites
from vault_tools.vault.watch import Batch, Kind, NoteChange, Watched, Watcher, look_once, watch

EVENTS = sizes("VAULT_TOOLS_WATCH_EVENTS", short=60, full=600)
SECONDS_EACH = 0.15
KNOWLEDGE = "KNOWLEDGE.md"
ROOT = Path(__file__).parents[2]


def now() -> int:
    return time.time_ns() // 1_000_000


@dataclass
class Person:
    """Somebody at work in a vault, with every habit that editors and sync clients have."""

    files: VaultFiles
    blocks: Ownership = field(default_factory=Ownership)
    dice: random.Random = field(default_factory=lambda: random.Random(7))
    count: int = 0

    @property
    def vault(self) -> Path:
        return self.files.root

    def name(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def notes(self) -> list[Path]:
        return sorted(
            path
            for path in self.vault.rglob("*.md")
            if REVIEW_ROOT not in path.as_posix()
            and "sync-conflict" not in path.name
            and not any(part.startswith(".") for part in path.relative_to(self.vault).parts)
            and path.name != KNOWLEDGE
        )

    def any(self) -> Path:
        return self.dice.choice(self.notes())

    def edit(self) -> None:
        self.any().write_text(f"edited {self.name()}\n")

    def append(self) -> None:
        with self.any().open("a") as handle:
            handle.write(f"more {self.name()}\n")

    def replace_save(self) -> None:
        note = self.any()
        beside = note.with_name(f".{note.name}.tmp")
        beside.write_text(f"saved {self.name()}\n")
        beside.replace(note)

    def slow_save(self) -> None:
        with self.any().open("w") as handle:
            handle.flush()
            time.sleep(0.05)
            handle.write(f"slow {self.name()}\n")

    def delete_and_create(self) -> None:
        note = self.any()
        note.unlink()
        note.write_text(f"again {self.name()}\n")

    def create(self) -> None:
        (self.vault / f"{self.name()}.md").write_text(self.name())

    def rename(self) -> None:
        note = self.any()
        note.rename(note.with_name(f"{self.name()}.md"))

    def change_case(self) -> None:
        note = self.any()
        note.rename(note.with_name(note.name.swapcase()[:-3] + ".md"))

    def move_folder(self) -> None:
        folder = self.vault / self.name()
        (folder / "deep").mkdir(parents=True)
        (folder / "deep/one.md").write_text("1")
        folder.rename(self.vault / f"moved-{folder.name}")

    def move_folder_away(self) -> None:
        folder = next((p for p in sorted(self.vault.glob("moved-*"))), None)
        if folder is None:
            self.move_folder()
        elif self.dice.random() < 0.5:
            shutil.rmtree(folder)
        else:
            folder.rename(self.vault.parent / self.name())

    def conflict_copy(self) -> None:
        note = self.any()
        copy = f"{note.stem}.sync-conflict-20240501-211713-H7G5LYY.md"
        note.with_name(copy).write_text("theirs")

    def settle_in_hidden_places(self) -> None:
        for place in (".obsidian", ".trash", "node_modules"):
            (self.vault / place).mkdir(exist_ok=True)
            (self.vault / place / f"{self.name()}.md").write_text("x")

    def write_block(self) -> None:
        """Not the person: our own program."""
        for path in (KNOWLEDGE, f"{REVIEW_ROOT}/dashboards/d.md"):
            write_blocks(
                self.files,
                self.blocks,
                path,
                [BlockWrite("b", f"body {self.name()}", "main")],
                now=now(),
            )

    def hour(self, events: int) -> None:
        habits: list[Callable[[], None]] = [
            self.edit, self.append, self.replace_save, self.slow_save, self.delete_and_create,
            self.create, self.rename, self.change_case, self.move_folder, self.move_folder_away,
            self.conflict_copy, self.settle_in_hidden_places, self.write_block,
        ]  # fmt: skip
        for number in range(events):
            habits[number % len(habits)]()
            time.sleep(self.dice.uniform(0, 2 * SECONDS_EACH))


@pytest.fixture
def person(tmp_path: Path) -> Person:
    files = make_files(tmp_path, extra_files=[KNOWLEDGE])
    for name in ("a.md", "b/c.md", "b/d.md"):
        place = files.root / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(name)
    (files.root / KNOWLEDGE).write_text("# What we know\n\nMine.\n")
    return Person(files)


def watcher(person: Person, manifest: Manifest | None = None) -> Watcher:
    own = OwnWrites(person.files, lambda: person.blocks)
    vault = Watched(
        root=person.vault, now=now, review_root=REVIEW_ROOT, is_own_write=own.made
    )  # fmt: skip
    return Watcher(vault, manifest or Manifest())


def begun(person: Person) -> Watcher:
    one = watcher(person)
    assert one.look_over() == Batch()
    return one


@dataclass
class Following:
    """A watcher at work in a thread."""

    watcher: Watcher
    told: list[NoteChange] = field(default_factory=list)
    ready: threading.Event = field(default_factory=threading.Event)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, poll: bool) -> None:
        for batch in watch(self.watcher, poll=poll, debounce_ms=100, stop=self.stop):
            self.told += batch.changes
            self.ready.set()


def wait_until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@contextmanager
def following(one: Watcher, *, poll: bool = False) -> Iterator[Following]:
    at_work = Following(one)
    thread = threading.Thread(target=at_work.run, args=[poll])
    thread.start()
    try:
        assert at_work.ready.wait(20)
        yield at_work
    finally:
        at_work.stop.set()
        thread.join(20)
    assert not thread.is_alive()


def fresh(person: Person) -> Manifest:
    return scan(person.vault, Manifest(), now=now(), review_root=REVIEW_ROOT).manifest


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in [folder, *folder.rglob("*")]
    }


@pytest.mark.parametrize("poll", [False, True], ids=["events", "polling"])
@pytest.mark.parametrize("events", EVENTS)
def test_after_a_busy_hour_the_watcher_knows_what_a_fresh_look_finds(
    person: Person, events: int, poll: bool
) -> None:
    with following(watcher(person), poll=poll) as at_work:
        person.hour(events)
        left = everything(person.vault)
        wait_until(lambda: at_work.watcher.manifest.entries == fresh(person).entries)
        written = [change for change in at_work.told if change.path == KNOWLEDGE]
        time.sleep(2.5)
        assert at_work.watcher.manifest.entries == fresh(person).entries
    assert written == []
    assert everything(person.vault) == left
    assert not any(change.path.startswith((".", REVIEW_ROOT)) for change in at_work.told)
    assert at_work.told


def test_a_directory_that_is_renamed_takes_its_notes_along(person: Person) -> None:
    with following(watcher(person)) as at_work:
        (person.vault / "b").rename(person.vault / "z")
        wait_until(lambda: len(at_work.told) >= 4)
    assert {(c.kind, c.path) for c in at_work.told} == {
        (Kind.REMOVED, "b/c.md"), (Kind.REMOVED, "b/d.md"), (Kind.NEW, "z/c.md"),
        (Kind.NEW, "z/d.md"),
    }  # fmt: skip


def test_a_block_that_is_being_written_is_no_news(person: Person) -> None:
    person.write_block()
    one = begun(person)
    seen: list[Batch] = []
    looking = threading.Thread(target=lambda: seen.append(one.look_at([KNOWLEDGE])))

    class Remembering(Ownership):
        def own_blocks(self, blocks: Collection[OwnedBlock]) -> None:
            if any(block.path == KNOWLEDGE for block in blocks):
                looking.start()
                looking.join(0.3)
            super().own_blocks(blocks)

    person.blocks = Remembering(person.blocks.known)
    person.write_block()
    looking.join(20)
    assert seen == [Batch()]


def test_our_own_blocks_are_no_news_but_a_person_beside_them_is(person: Person) -> None:
    person.write_block()
    one = begun(person)
    person.write_block()
    assert one.look_at([KNOWLEDGE]) == Batch()
    assert one.manifest.entries == fresh(person).entries
    place = person.vault / KNOWLEDGE
    person.files.undo.put(place.read_bytes())
    place.write_text(place.read_text().replace("Mine.", "Mine still."))
    assert [c.kind for c in one.look_at([KNOWLEDGE]).changes] == [Kind.CHANGED]


def test_a_person_who_edits_or_takes_out_our_block_is_told(person: Person) -> None:
    before = (person.vault / KNOWLEDGE).read_text()
    person.write_block()
    one = begun(person)
    place = person.vault / KNOWLEDGE
    person.files.undo.put(place.read_bytes())
    place.write_text(place.read_text().replace("body", "bodies"))
    person.files.undo.put(place.read_bytes())
    assert len(one.look_at([KNOWLEDGE]).changes) == 1
    place.write_text(before)
    assert len(one.look_at([KNOWLEDGE]).changes) == 1


def test_an_emptied_note_counts_only_at_the_second_look(person: Person) -> None:
    one = begun(person)
    (person.vault / "a.md").write_text("")
    assert one.look_at(["a.md"]) == Batch()
    assert one.held == {"a.md"}
    (person.vault / "b/c.md").write_text("")
    told = one.look_at(["a.md", "b"], settled=["a.md"]).changes
    assert [(c.kind, c.path) for c in told] == [(Kind.CHANGED, "a.md")]
    assert one.manifest.entries["b/c.md"].size


def test_one_look_waits_for_a_save_in_progress(person: Person) -> None:
    one = begun(person)
    (person.vault / "a.md").write_text("")
    rest = threading.Timer(0.3, lambda: (person.vault / "a.md").write_text("all of it"))
    rest.start()
    told = look_once(one).changes
    rest.join()
    assert [c.path for c in told] == ["a.md"]
    assert one.manifest.entries == fresh(person).entries


def test_a_vault_that_is_unmounted_is_missing_and_nothing_removed(person: Person) -> None:
    one = begun(person)
    known = one.manifest
    person.vault.rename(person.vault.with_name("elsewhere"))
    assert one.look_over() == Batch(missing=True)
    person.vault.mkdir()
    assert one.look_at(["a.md"]) == Batch(missing=True)
    assert one.manifest.entries == known.entries


def test_a_vault_that_comes_back_is_followed_again(person: Person) -> None:
    away = person.vault.with_name("away")
    with following(watcher(person)) as at_work:
        person.vault.rename(away)
        time.sleep(1)
        (away / "a.md").write_text("changed meanwhile")
        away.rename(person.vault)
        wait_until(lambda: [c.path for c in at_work.told] == ["a.md"])
        (person.vault / "new.md").write_text("n")
        wait_until(lambda: [c.path for c in at_work.told] == ["a.md", "new.md"])


def test_a_folder_the_person_excludes_in_obsidian_is_withdrawn(person: Person) -> None:
    settings = person.vault / ".obsidian/app.json"
    settings.parent.mkdir()
    settings.write_text("{}")

    def excluded() -> Excluded:
        from vault_tools.vault.exclusion import ignore_filters

        return exclusion(filters=ignore_filters(settings.read_bytes()))

    one = Watcher(Watched(root=person.vault, now=now, excluded=excluded), Manifest())
    with following(one) as at_work:
        settings.write_text("")
        time.sleep(0.5)
        settings.write_text(json.dumps({"userIgnoreFilters": ["b/"]}))
        wait_until(lambda: len(at_work.told) >= 2)
    assert {(c.kind, c.path) for c in at_work.told} == {
        (Kind.WITHDRAWN, "b/c.md"), (Kind.WITHDRAWN, "b/d.md"),
    }  # fmt: skip


def test_a_system_that_refuses_to_watch_is_named_with_the_way_out(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    import watchfiles

    def refuse(*_: object, **__: object) -> Iterator[object]:
        raise OSError("OS file watch limit reached.")
        yield

    monkeypatch.setattr(watchfiles, "watch", refuse)
    with pytest.raises(VaultToolsError, match="watch limit") as refused:
        list(watch(watcher(person)))
    assert "--poll" in refused.value.hint


# A partial look


@pytest.mark.parametrize(
    "paths",
    [["b"], ["b/c.md", "b"], ["b/c.md", "b/d.md", "b/new.md"], ["b/x/y.md", "b"], [""]],
)
def test_a_partial_look_finds_what_a_full_one_finds(person: Person, paths: list[str]) -> None:
    before = fresh(person)
    (person.vault / "b/c.md").write_text("changed")
    (person.vault / "b/d.md").unlink()
    (person.vault / "b/new.md").write_text("n")
    whole = scan(person.vault, before, now=now(), review_root=REVIEW_ROOT)
    some = rescan(person.vault, before, paths, now=now(), review_root=REVIEW_ROOT)
    assert some.manifest.entries == whole.manifest.entries
    assert (some.new, some.changed, some.removed) == (whole.new, whole.changed, whole.removed)


def test_a_partial_look_leaves_the_rest_as_it_was_known(person: Person) -> None:
    before = fresh(person)
    (person.vault / "a.md").write_text("not looked at")
    result = rescan(person.vault, before, ["b"], now=now())
    assert result.manifest == before


def test_a_partial_look_follows_a_parent_that_is_gone(person: Person) -> None:
    before = fresh(person)
    shutil.rmtree(person.vault / "b")
    result = rescan(person.vault, before, ["b/c.md"], now=now())
    assert set(result.removed) == {"b/c.md", "b/d.md"}


@pytest.mark.parametrize("place", [".obsidian/x.md", f"{REVIEW_ROOT}/x.md", "out", "b/out.md"])
def test_a_partial_look_leaves_out_what_a_full_one_leaves_out(person: Person, place: str) -> None:
    before = fresh(person)
    if place.endswith(".md"):
        (person.vault / place).parent.mkdir(parents=True, exist_ok=True)
        (person.vault / place).write_text("x")
    else:
        (person.vault / place).symlink_to(person.vault / "b")
    result = rescan(
        person.vault, before, [place], now=now(), review_root=REVIEW_ROOT,
        excluded=exclusion(["b/out.md"]),
    )  # fmt: skip
    assert (result.manifest.entries, result.new) == (before.entries, ())


def test_a_partial_look_keeps_a_note_that_waits_in_the_cloud(person: Person) -> None:
    before = fresh(person)
    (person.vault / "a.md").rename(person.vault / ".a.md.icloud")
    assert rescan(person.vault, before, ["a.md"], now=now()).manifest == before


# The command


@pytest.fixture
def home(tmp_path: Path, person: Person, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("VAULT_TOOLS_", "OPENCLAW_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (person.vault / ".obsidian").mkdir()
    place = tmp_path / "tools-home"
    run(place, person.vault, "init")
    return place


def words(home: Path, vault: Path, *arguments: str) -> list[str]:
    given = ["--home", str(home), "--vault", str(vault), *arguments]
    return [sys.executable, "-m", "vault_tools", *given]


def run(home: Path, vault: Path, *arguments: str) -> str:
    command = words(home, vault, *arguments)
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done
    return done.stdout


def test_a_look_at_a_time_tells_what_changed_since_the_last(home: Path, person: Person) -> None:
    assert "Following 4 notes" in run(home, person.vault, "watch", "--once")
    (person.vault / "a.md").write_text("new text")
    said = json.loads(run(home, person.vault, "watch", "--once", "--json"))
    assert (said["change"], said["path"]) == ("changed", "a.md")
    assert run(home, person.vault, "watch", "--once", "--json") == ""


def test_ctrl_c_ends_the_watch_cleanly_and_there_is_only_one(home: Path, person: Person) -> None:
    with subprocess.Popen(
        words(home, person.vault, "watch"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as watching:
        assert watching.stdout
        assert watching.stderr
        assert "Following 4 notes" in watching.stdout.readline()
        second = words(home, person.vault, "watch", "--once")
        refused = subprocess.run(second, capture_output=True, encoding="utf-8", check=False)
        (person.vault / "later.md").write_text("n")
        assert watching.stdout.readline() == "new       later.md\n"
        (known,) = home.glob("state/*/*/watched.json")
        wait_until(lambda: "later.md" in Manifest.load(known.read_bytes()).entries)
        watching.send_signal(signal.SIGINT)
        said = watching.stderr.read()
    assert (watching.returncode, refused.returncode) == (130, 1)
    assert str(watching.pid) in refused.stderr
    assert "Traceback" not in said
    assert not list(home.glob("state/*/*/manifest.json"))
