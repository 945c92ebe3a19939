"""Full and read-only disks, and a fault at each system call of one write (VAULT_TOOLS_FAULTS)."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import cycle, repeat
from pathlib import Path

import pytest
from faulty_write import NEW, NEW_BLOCK, NOTE, OLD, OLD_BLOCK
from vault_world import REVIEW_ROOT, contents, make_files

from tests.campaign import sizes
from vault_tools.core.digest import sha256_hex
from vault_tools.errors import VaultToolsError
from vault_tools.vault.blocks import LOG_NAME

FAULTS = sizes("VAULT_TOOLS_FAULTS", short=3, full=1_000)
ACTIONS = ["block", "replace", "create", "remove"]
LOG = f"{REVIEW_ROOT}/{LOG_NAME}"
ERRORS = ("ENOSPC", "EIO", "EROFS", "EACCES", "EMFILE", "EDQUOT")
_NOT_FAILING = frozenset(
    "mmap munmap mprotect brk futex getpid gettid madvise exit_group getrandom uname".split()  # noqa: SIM905
)
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\(")


def _mount(place: Path, options: str) -> None:
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("tmpfs cannot be mounted here: 1 check skipped")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small disk: 1 check skipped")
    place = tmp_path / "vault"
    _mount(place, "size=64k")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_leaves_everything_as_it_was(small_disk: Path, tmp_path: Path) -> None:
    files = make_files(tmp_path)
    files.write(NOTE, OLD, expected=None)
    files.append_line(files.review_path("log.jsonl"), "{}")
    before = contents(small_disk)
    with pytest.raises(VaultToolsError, match=r"note\.md.*nothing was changed") as error:
        files.write(NOTE, b"x" * 200_000, expected=sha256_hex(OLD))
    assert "Free some space" in error.value.hint
    with pytest.raises(VaultToolsError, match="nothing was changed"):
        files.write(files.review_path("new.md"), b"x" * 200_000, expected=None)
    with pytest.raises(VaultToolsError, match="nothing was changed"):
        files.append_line(files.review_path("log.jsonl"), "x" * 200_000)
    assert contents(small_disk) == before
    files.write(NOTE, NEW, expected=sha256_hex(OLD))


def test_a_read_only_vault_is_named(small_disk: Path, tmp_path: Path) -> None:
    files = make_files(tmp_path)
    files.write(NOTE, OLD, expected=None)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for path, expected in ((NOTE, sha256_hex(OLD)), (files.review_path("a/b.md"), None)):
        with pytest.raises(VaultToolsError, match="nothing was changed") as error:
            files.write(path, NEW, expected=expected)
        assert "read-only" in error.value.hint
    assert contents(small_disk) == {NOTE: OLD}


class Harness:
    """One action of `faulty_write.py` under strace, each time in a fresh vault."""

    def __init__(self, tmp_path: Path, action: str) -> None:
        self._tmp_path = tmp_path
        self._action = action
        self._runs = 0

    def run(self, *options: str) -> tuple[dict[str, object], Path, str]:
        """Give what the write said, the vault's folder and strace's log."""
        self._runs += 1
        folder = self._tmp_path / f"{self._action}{self._runs:03}"
        note = folder / "vault" / NOTE
        note.parent.mkdir(parents=True)
        if self._action != "create":
            note.write_bytes(OLD_BLOCK if self._action == "block" else OLD)
        (folder / "home" / "locks").mkdir(parents=True)
        (folder / "home" / "undo").mkdir()
        here = Path(__file__).parent
        environment = {
            "PYTHONPATH": os.pathsep.join([str(here.parent.parent), str(here), *sys.path]),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        arguments = [str(folder), self._action, str(folder / "result")]
        subprocess.run(
            [
                *("strace", "-qq", "-o", str(folder / "log"), *options),
                *(os.path.realpath(sys.executable), str(here / "faulty_write.py"), *arguments),
            ],
            env=environment,
            check=False,
            capture_output=True,
        )
        log = (folder / "log").read_text(encoding="utf-8", errors="replace")
        result = folder / "result"
        if not result.exists() or not result.stat().st_size:
            return {}, folder / "vault", log
        return json.loads(result.read_text("utf-8")), folder / "vault", log

    def stops(self) -> list[tuple[str, int]]:
        """List each call of the write as its name and how many of that name came before."""
        _, _, log = self.run()
        counts: Counter[str] = Counter()
        stops = []
        inside = False
        for line in log.splitlines():
            match = _CALL.match(line)
            if not match:
                continue
            counts[match[1]] += 1
            if "/begin-write" in line or "/end-write" in line:
                inside = "/begin-write" in line
            elif inside and match[1] not in _NOT_FAILING:
                stops.append((match[1], counts[match[1]]))
        return stops


def _texts(action: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Give what the vault holds before and after an action."""
    if action == "block":
        return {NOTE: OLD_BLOCK}, {NOTE: NEW_BLOCK}
    before = {} if action == "create" else {NOTE: OLD}
    return before, {} if action == "remove" else {NOTE: NEW}


def _notes(vault: Path) -> dict[str, bytes]:
    """Give all files but the log, which may hold whole lines only."""
    found = contents(vault)
    for line in found.pop(LOG, b"").splitlines():
        json.loads(line)
    return found


def _wrong(action: str, said: dict[str, object], vault: Path, *, lasting: bool = False) -> str:
    """Say what a fault did that it must not; empty when all is well."""
    found = _notes(vault)
    before, after = _texts(action)
    error = str(said.get("error", ""))
    made = not error or "the change itself was made" in error
    if not said:
        return "no outcome was told"
    if "traceback" in said:
        return f"traceback {said['traceback']}"
    if error and (not said["hint"] or not re.search(r"note\.md|lock|undo|jsonl", error)):
        return f"an error without a way out or a place: {said}"
    if lasting and "not finished" in error and found in (before, after):
        return ""
    if found != (after if made else before):
        return f"{error or 'success'}, but the vault holds {found}"
    if action == "block" and not error and not (vault / LOG).exists():
        return "success without a line in the log"
    return ""


@pytest.fixture
def strace() -> None:
    if not shutil.which("strace") or sys.platform != "linux":
        pytest.skip("strace is not here: 1 check skipped")


def _sample(stops: list[tuple[str, int]], count: int) -> list[tuple[str, int]]:
    step = max(1, len(stops) // count)
    return stops[::step]


def _failed(
    tmp_path: Path, action: str, errors: Iterable[str], count: int, *, lasting: bool
) -> list[str]:
    """Fail every chosen call of an action, once or from there on; list the wrong outcomes."""
    harness = Harness(tmp_path, action)
    stops = harness.stops()
    assert len(stops) > 20
    chosen = _sample(stops, count)
    endings: Counter[str] = Counter()
    wrong = []
    for (call, number), error in zip(chosen, errors, strict=False):
        when = f"{number}+" if lasting else str(number)
        said, vault, _ = harness.run("-e", f"inject={call}:error={error}:when={when}")
        if lasting:
            # What cannot be removed while the fault lasts stays until the next sweep.
            make_files(vault.parent).sweep()
        problem = _wrong(action, said, vault, lasting=lasting)
        endings["wrong" if problem else "refused" if "error" in said else "made"] += 1
        if problem:
            wrong.append(f"{call} {when} {error}: {problem}")
        shutil.rmtree(vault.parent)
    print(f"{action}: {len(chosen)} of {len(stops)} calls failed, {dict(endings)}")
    return wrong


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("count", FAULTS)
@pytest.mark.parametrize("action", ACTIONS)
def test_a_fault_at_any_call_changes_nothing_or_all(
    tmp_path: Path, action: str, count: int
) -> None:
    assert _failed(tmp_path, action, cycle(ERRORS), count, lasting=False) == []


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("count", FAULTS)
@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EROFS", "EMFILE"])
def test_each_fault_of_a_block_write_changes_nothing_or_all(
    tmp_path: Path, error: str, count: int
) -> None:
    assert _failed(tmp_path, "block", repeat(error), count, lasting=False) == []


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("count", FAULTS)
@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EROFS", "EMFILE"])
@pytest.mark.parametrize("action", ["block", "replace"])
def test_a_fault_that_lasts_is_told_and_loses_nothing(
    tmp_path: Path, action: str, error: str, count: int
) -> None:
    assert _failed(tmp_path, action, repeat(error), count, lasting=True) == []


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("count", FAULTS)
@pytest.mark.parametrize("action", ACTIONS)
def test_a_kill_at_any_call_leaves_the_old_or_the_new_note(
    tmp_path: Path, action: str, count: int
) -> None:
    harness = Harness(tmp_path, action)
    stops = harness.stops()
    chosen = _sample(stops, count)
    before, after = _texts(action)
    wrong = []
    for call, number in chosen:
        _, vault, _ = harness.run("-e", f"inject={call}:signal=SIGKILL:when={number}")
        files = make_files(vault.parent)
        files.sweep()
        found = _notes(vault)
        kept = action == "create" or sha256_hex(before[NOTE]) in files.undo
        if found != before and not (found == after and kept):
            wrong.append(f"{call} {number}: {found}")
        shutil.rmtree(vault.parent)
    print(f"{action}: killed at {len(chosen)} of {len(stops)} calls, {len(wrong)} wrong outcomes")
    assert wrong == []


@pytest.mark.usefixtures("strace")
def test_the_faults_tear_a_naive_write(tmp_path: Path) -> None:
    harness = Harness(tmp_path, "naive")
    stops = [stop for stop in harness.stops() if stop[0] in ("write", "fsync")]
    wrong = 0
    for call, number in stops:
        said, vault, _ = harness.run("-e", f"inject={call}:error=ENOSPC:when={number}")
        wrong += bool(_wrong("replace", said, vault))
    print(f"naive write: {wrong} of {len(stops)} faults left a torn note")
    assert wrong > 0


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("action", ["replace", "create", "remove"])
def test_without_an_exchange_the_weaker_way_is_taken_and_told(tmp_path: Path, action: str) -> None:
    said, vault, _ = Harness(tmp_path, action).run("-e", "inject=renameat2:error=EINVAL")
    assert _wrong(action, said, vault) == ""
    assert said == {"signals": ["weaker_write"] if action == "replace" else []}


@pytest.mark.usefixtures("strace")
def test_without_links_a_new_file_still_overwrites_nothing(tmp_path: Path) -> None:
    options = ("-e", "inject=renameat2:error=ENOSYS", "-e", "inject=linkat:error=EPERM")
    said, vault, _ = Harness(tmp_path, "create").run(*options)
    assert said == {"signals": ["weaker_write"]}
    assert contents(vault) == {NOTE: NEW}


def test_the_harness_writes_where_the_tests_look() -> None:
    assert NOTE.startswith(REVIEW_ROOT + "/")
