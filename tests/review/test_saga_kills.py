"""One row, one block, one ledger commit: killed at each system call, at any moment, and failing.

`VAULT_TOOLS_KILLS`, `VAULT_TOOLS_RANDOM_KILLS` and `VAULT_TOOLS_SAGA_FAULTS` set how many points
are tried; `all` tries every one (docs/experiments.md has the figures of a full run).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.review.saga_world import EDIT, Seen, apply_saga, build, look, open_world, opened
from tests.review.stop_at_call import NOT_PERMITTED, SUPPORTED
from vault_tools.core.item import ItemState
from vault_tools.errors import VaultToolsError
from vault_tools.review.saga import recover
from vault_tools.store.account import SqliteLedger

HERE = Path(__file__).parent
KILLS = os.environ.get("VAULT_TOOLS_KILLS", "8")
FEWER_KILLS = KILLS if KILLS == "all" else str(max(int(KILLS) // 2, 1))
RANDOM_KILLS = int(os.environ.get("VAULT_TOOLS_RANDOM_KILLS", "5"))
FAULTS = os.environ.get("VAULT_TOOLS_SAGA_FAULTS", "2")

pytestmark = pytest.mark.slow


def spread(total: int, wanted: str) -> list[int]:
    """Choose points from 1 to `total`, each in the middle of its share."""
    if wanted == "all" or int(wanted) >= total:
        return list(range(1, total + 1))
    return [1 + int((n + 0.5) * total / int(wanted)) for n in range(int(wanted))]


@dataclass
class Told:
    """What one run of the child left: its world, its report, the calls that were counted."""

    place: Path
    said: dict[str, Any]
    calls: list[list[str]]
    stopped: bool


class Harness:
    """Run the child in fresh copies of one prepared world."""

    def __init__(self, prepared: Path, folder: Path) -> None:
        self._prepared = prepared
        self._folder = folder
        self._runs = 0
        self._calls: dict[str, list[list[str]]] = {}
        self.before = look(prepared)
        finished = self.copy()
        with opened(finished) as world:
            assert apply_saga(world)
        self.after = look(finished)

    def copy(self, source: Path | None = None) -> Path:
        """Give a fresh copy of a world, else the prepared one; the last copy is cleared away."""
        shutil.rmtree(self._folder / f"world{self._runs}", ignore_errors=True)
        self._runs += 1
        place = self._folder / f"world{self._runs}"
        shutil.copytree(source or self._prepared, place)
        (place / "tmp").mkdir(exist_ok=True)
        return place

    def traced(self, mode: str, *options: str, source: Path | None = None) -> Told:
        """Run the child under the tracer."""
        place = self.copy(source)
        done = subprocess.run(
            [
                *(_python(), str(HERE / "stop_at_call.py"), *options, "--"),
                *_child(place, mode),
            ],
            env=_environment(place),
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode == NOT_PERMITTED:
            pytest.skip("tracing a process is not permitted here: 1 check skipped")
        assert done.returncode == 0, done.stderr
        run = json.loads(done.stdout)
        said = json.loads(run["said"]) if run["said"] else {}
        return Told(place, said, run["calls"], run["stopped"])

    def calls(self, mode: str, source: Path | None = None) -> list[list[str]]:
        """Count the calls of a whole run, once for each mode."""
        if mode not in self._calls:
            self._calls[mode] = self.traced(mode, source=source).calls
        return self._calls[mode]

    def interrupted(self, call: str) -> Path:
        """Keep a world whose saga was stopped at its first call of that name."""
        names = [name for name, _ in self.calls("saga")]
        told = self.traced("saga", "--at", str(names.index(call) + 1))
        assert told.stopped
        kept = self._folder / f"stopped-at-{call}"
        shutil.copytree(told.place, kept)
        return kept

    def started(self, mode: str) -> tuple[Path, subprocess.Popen[bytes]]:
        """Start the child untraced, up to its `ready`."""
        place = self.copy()
        child = subprocess.Popen(
            _child(place, mode),
            env=_environment(place),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert child.stdout
        assert child.stdout.readline() == b"ready\n"
        return place, child

    def ending(self, place: Path, said: dict[str, Any]) -> tuple[str, str]:
        """Recover as the next command would: how the item ended, and what is wrong with that."""
        found = look(place)
        with opened(place) as world:
            repaired = recover(world)
        seen = look(place)
        if seen not in (self.before, self.after):
            return "violation", _difference(seen, self.before, self.after)
        if said and (said != {"done": True} or seen != self.after):
            return "violation", f"reported {said}, yet it is not applied"
        if len(repaired) != found.unfinished:
            return "violation", f"{found.unfinished} unfinished, {repaired} repaired"
        if not self._ends_applied_once(place, had_work=seen == self.before):
            return "violation", "another apply did not end in all-after, once"
        if repaired:
            return ("rolled forward" if repaired[0].forward else "rolled back"), ""
        return ("before" if seen == self.before else "after"), ""

    def _ends_applied_once(self, place: Path, *, had_work: bool) -> bool:
        for expected in (had_work, False):
            with opened(place) as world:
                if recover(world) or apply_saga(world) is not expected:
                    return False
            if look(place) != self.after:
                return False
        return True

    def half_applied(self, seen: Seen) -> bool:
        """Tell whether a reader would find some of the changes without the others."""
        return seen.truth not in (self.before.truth, self.after.truth)


def _python() -> str:
    # A shim in the way would be traced instead of the interpreter behind it.
    return str(Path(sys.executable).resolve())


def _child(place: Path, mode: str) -> list[str]:
    return [_python(), str(HERE / "saga_child.py"), str(place), mode]


def _environment(place: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HERE.parent.parent), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(place / "tmp"),
    }


def _named(told: Told, at: int) -> str:
    if at > len(told.calls):
        return f"{at} (this run had {len(told.calls)} calls)"
    name, path = told.calls[at - 1]
    return f"{at} {name} {path.removeprefix(str(told.place))}"


def _difference(seen: Seen, *known: Seen) -> str:
    names = Seen.__annotations__
    return "; ".join(
        str({n: getattr(seen, n) for n in names if getattr(seen, n) != getattr(one, n)})
        for one in known
    )


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    folder = tmp_path_factory.mktemp("saga")
    prepared = open_world(folder / "prepared")
    build(prepared)
    assert isinstance(prepared.world.ledger, SqliteLedger)
    prepared.world.ledger.close()
    yield Harness(folder / "prepared", folder)
    shutil.rmtree(folder, ignore_errors=True)


needs_tracer = pytest.mark.skipif(
    not SUPPORTED, reason="calls are counted on Linux on x86-64 only: 1 check skipped"
)


@needs_tracer
def test_killed_at_any_call_all_is_before_or_all_is_after(harness: Harness) -> None:
    calls = harness.calls("saga")
    endings: Counter[str] = Counter()
    wrong = []
    for stop in spread(len(calls), KILLS):
        told = harness.traced("saga", "--at", str(stop))
        endings["half-applied before recovery"] += harness.half_applied(look(told.place))
        ending, problem = harness.ending(told.place, told.said)
        endings[ending] += 1
        if problem:
            wrong.append(f"{_named(told, stop)}: {problem}")
    print(f"{len(calls)} calls: {dict(endings)}")
    assert not wrong, "\n".join(wrong)
    assert endings["rolled forward"]


@needs_tracer
def test_the_same_writes_without_a_saga_are_found_half_applied(harness: Harness) -> None:
    calls = harness.calls("naive")
    stops = spread(len(calls), FEWER_KILLS)
    half = 0
    for stop in stops:
        told = harness.traced("naive", "--at", str(stop))
        half += harness.half_applied(look(told.place))
    print(f"{len(calls)} calls, {len(stops)} kills: {half} half-applied")
    assert half


@needs_tracer
def test_killed_while_it_is_taken_back_nothing_stays_and_the_edit_is_kept(
    harness: Harness,
) -> None:
    calls = harness.calls("edited")
    endings: Counter[str] = Counter()
    for stop in spread(len(calls), FEWER_KILLS):
        told = harness.traced("edited", "--at", str(stop))
        with opened(told.place) as world:
            repaired = recover(world)
            assert not any(one.forward for one in repaired)
        seen = look(told.place)
        assert seen.hub == harness.before.hub + EDIT
        assert (seen.row, seen.blocks) == (harness.before.row, harness.before.blocks)
        assert (seen.vault, seen.unfinished) == (harness.before.vault, 0)
        assert seen.state in (ItemState.APPROVED, ItemState.STALE)
        endings["rolled back" if repaired else seen.state.value] += 1
    print(f"{len(calls)} calls: {dict(endings)}")
    assert endings["rolled back"]


@needs_tracer
def test_killed_while_recovering_the_next_command_recovers(harness: Harness) -> None:
    source = harness.interrupted("renameat2")
    calls = harness.calls("recover", source)
    endings: Counter[str] = Counter()
    wrong = []
    for stop in spread(len(calls), FEWER_KILLS):
        told = harness.traced("recover", "--at", str(stop), source=source)
        ending, problem = harness.ending(told.place, told.said)
        endings[ending] += 1
        if problem:
            wrong.append(f"{_named(told, stop)}: {problem}")
    print(f"{len(calls)} calls: {dict(endings)}")
    assert not wrong, "\n".join(wrong)
    assert endings["rolled forward"]


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL: 1 check skipped")
def test_killed_at_any_moment_all_is_before_or_all_is_after(harness: Harness) -> None:
    median = statistics.median(_seconds(harness) for _ in range(2))
    endings: Counter[str] = Counter()
    seed = int(os.environ.get("VAULT_TOOLS_SEED", "1"))
    chance = random.Random(seed)
    for _ in range(RANDOM_KILLS):
        place, child = harness.started("saga")
        assert child.stdin
        child.stdin.write(b"go\n")
        child.stdin.flush()
        time.sleep(chance.uniform(0, 1.6 * median))
        child.kill()
        said, _ = child.communicate()
        ending, problem = harness.ending(place, json.loads(said) if said else {})
        assert not problem, f"seed {seed}: {problem}"
        endings[ending] += 1
    print(f"seed {seed}, median {median * 1000:.0f} ms: {dict(endings)}")


def _seconds(harness: Harness) -> float:
    _, child = harness.started("saga")
    assert child.stdin
    assert child.stdout
    begin = time.monotonic()
    child.stdin.write(b"go\n")
    child.stdin.flush()
    said = child.stdout.readline()
    seconds = time.monotonic() - begin
    child.communicate()
    assert json.loads(said) == {"done": True}
    return seconds


@needs_tracer
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_a_failing_call_leaves_all_before_or_all_after_and_another_try(
    harness: Harness, error: str, lasting: bool
) -> None:
    calls = harness.calls("saga")[:-1]
    _survives_faults(harness, spread(len(calls), FAULTS), error, lasting=lasting)


@needs_tracer
def test_a_write_that_the_engine_does_not_miss_is_found_and_taken_back(harness: Harness) -> None:
    calls = enumerate(harness.calls("saga"), 1)
    writes = [at for at, (name, path) in calls if name == "write" and "/data/.tmp" in path]
    assert writes
    _survives_faults(harness, writes, "ENOSPC", lasting=False)


def _survives_faults(harness: Harness, points: list[int], error: str, *, lasting: bool) -> None:
    endings: Counter[str] = Counter()
    wrong = []
    for at in points:
        options = ["--at", str(at), "--error", error, *(["--lasting"] if lasting else [])]
        told = harness.traced("saga", *options)
        try:
            ending, problem = _after_fault(harness, told)
        except VaultToolsError as refused:
            ending, problem = "unusable", f"{told.said}, and afterwards: {refused.message}"
        endings[ending] += 1
        if problem:
            wrong.append(f"{_named(told, at)}: {problem}")
    print(f"{error}, {len(points)} calls: {dict(endings)}, {len(wrong)} wrong")
    assert not wrong, "\n".join(wrong)


def _after_fault(harness: Harness, told: Told) -> tuple[str, str]:
    """Judge a run with a failing call: how it ended, and what is wrong with that."""
    if "traceback" in told.said:
        return "traceback", str(told.said["traceback"])
    if not told.said.get("hint") and "done" not in told.said:
        return "no hint", str(told.said)
    found = look(told.place)
    with opened(told.place) as world:
        recover(world)
    seen = look(told.place)
    applied = seen.truth == harness.after.truth
    if not applied and seen.truth != harness.before.truth:
        return "half", f"{told.said}: {_difference(seen, harness.before, harness.after)}"
    if (seen.vault, seen.unfinished) != (harness.before.vault, 0):
        return "leftover", f"{seen.vault - harness.before.vault}, {seen.unfinished} unfinished"
    if "done" in told.said and not applied:
        return "lost", "it was reported as done"
    with opened(told.place) as world:
        if apply_saga(world) is applied:
            return "again", "another apply found the wrong amount of work"
    if look(told.place).truth != harness.after.truth:
        return "again", "another apply did not end in all-after"
    if "done" in told.said:
        return "done", ""
    if found.unfinished:
        return "finished by the next command" if applied else "taken back by the next command", ""
    return "done but reported as failed" if applied else "taken back at once", ""
