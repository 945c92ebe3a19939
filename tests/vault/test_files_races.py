"""Another process works on the same names while we write (VAULT_TOOLS_SWAPS, VAULT_TOOLS_RACES)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from vault_world import contents, make_files

from tests.campaign import SEED, sizes
from vault_tools.core.digest import sha256_hex
from vault_tools.errors import FileConflict, VaultToolsError

SWAPS = sizes("VAULT_TOOLS_SWAPS", short=150, full=20_000)
EDITS = sizes("VAULT_TOOLS_RACES", short=60, full=1_500)
PLACE = "00-system/plur1bus"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs renameat2 to swap names: every check skipped"
)

SWAPPER = """
import sys
from vault_tools.vault.exchange import exchange
from vault_tools.vault.paths import Folder
import os
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
print("ready", flush=True)
while True:
    for one, other in (("sub", "link"), ("note.md", "link.md")):
        exchange(Folder(sys.argv[1], fd), one, other)
"""

EDITOR = """
import os, sys, time
print("ready", flush=True)
for line in sys.stdin:
    style, delay, path, text = line.split()
    end = time.perf_counter() + float(delay)
    while time.perf_counter() < end:
        pass
    if style == "inplace":
        with open(path, "w") as handle:
            handle.write(text)
    else:
        with open(path + "~", "w") as handle:
            handle.write(text)
        os.replace(path + "~", path)
    print("done", flush=True)
"""


@contextmanager
def _other(program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


OUTSIDE = {"note.md": b"a secret", "secret.md": b"a secret"}


@contextmanager
def _swapping(tmp_path: Path) -> Iterator[Path]:
    """Let a folder and a note of the vault change places with links that lead out of it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name, content in OUTSIDE.items():
        (outside / name).write_bytes(content)
    folder = tmp_path / "vault" / PLACE
    (folder / "sub").mkdir()
    (folder / "sub/note.md").write_bytes(b"before")
    (folder / "note.md").write_bytes(b"before")
    (folder / "link").symlink_to(outside)
    (folder / "link.md").symlink_to(outside / "secret.md")
    with _other(SWAPPER, str(folder)):
        yield outside


NAMES = (f"{PLACE}/sub/note.md", f"{PLACE}/note.md")


def _raced(try_once: Callable[[int], str], least: int, endings: set[str]) -> Counter[str]:
    """Try until `least` tries were not refused and every ending was seen."""
    seen: Counter[str] = Counter()
    while seen.total() - seen["refused"] < least or not endings <= set(seen):
        assert seen.total() < 1_000 * least, seen
        try:
            seen[try_once(seen.total())] += 1
        except VaultToolsError:
            seen["refused"] += 1
            # A refusal is quick: without a pause most would meet the same state of the names.
            time.sleep(0.0001)
    return seen


@pytest.mark.parametrize("count", SWAPS)
def test_no_write_is_led_outside_by_names_that_change_places(tmp_path: Path, count: int) -> None:
    files = make_files(tmp_path)

    def write(number: int) -> str:
        if number % 2:
            files.write(f"{PLACE}/sub/n{number}.md", b"private", expected=None)
            return "created"
        path = NAMES[number // 2 % 2]
        expected = files.sha256(path)
        files.write(path, b"private %d" % number, expected=expected)
        return "replaced" if expected else "created"

    with _swapping(tmp_path) as outside:
        seen = _raced(write, count, {"created", "replaced", "refused"})
    print(f"{seen.total()} writes: {dict(seen)}; outside {sorted(contents(outside))}")
    assert contents(outside) == OUTSIDE


@pytest.mark.parametrize("count", SWAPS)
def test_no_read_is_led_outside_by_names_that_change_places(tmp_path: Path, count: int) -> None:
    files = make_files(tmp_path)

    def read(number: int) -> str:
        found = files.read(NAMES[number % 2])
        return "gone" if found is None else "seen" if found == b"before" else "leaked"

    with _swapping(tmp_path):
        seen = _raced(read, count * 3 // 20, {"seen", "refused"})
    print(f"{seen.total()} reads: {dict(seen)}")
    assert seen["leaked"] == 0


def _checked(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder) and not path.is_symlink()
    except OSError:  # exchanged between two calls of the check itself
        return False


@pytest.mark.parametrize("name", NAMES)
def test_a_naive_writer_is_led_outside(tmp_path: Path, name: str) -> None:
    root = make_files(tmp_path).root
    tries = 0
    with _swapping(tmp_path) as outside:
        while contents(outside) == OUTSIDE:
            tries += 1
            assert tries < 200_000
            if _checked(root / name, root / PLACE):
                (root / name).write_bytes(b"private")
    print(f"the naive writer wrote outside after {tries} tries")


@pytest.mark.parametrize("name", NAMES)
def test_a_naive_reader_is_led_outside(tmp_path: Path, name: str) -> None:
    root = make_files(tmp_path).root
    found, tries = b"", 0
    with _swapping(tmp_path):
        while found != b"a secret":
            tries += 1
            assert tries < 200_000
            if _checked(root / name, root / PLACE):
                found = (root / name).read_bytes()
    print(f"the naive reader read outside after {tries} tries")


def _lost(
    tmp_path: Path,
    style: str,
    write: Callable[[str, bytes, bytes], None],
    count: int,
    *,
    until: bool = False,
) -> tuple[int, int]:
    chance = random.Random(SEED)
    lost = rounds = 0
    median = 0.001
    with _other(EDITOR) as editor:
        assert editor.stdin
        assert editor.stdout
        for number in range(count):
            name = f"{PLACE}/{style}{number}.md"
            path = tmp_path / "vault" / name
            path.write_bytes(b"before")
            delay = chance.uniform(0, 1.6 * median)
            editor.stdin.write(f"{style} {delay} {path} human{number}\n")
            editor.stdin.flush()
            began = time.perf_counter()
            write(name, b"before", b"ours")
            median += (time.perf_counter() - began - median) / 8
            assert editor.stdout.readline() == "done\n"
            rounds += 1
            lost += path.read_bytes() != b"human%d" % number
            if until and lost:
                break
    return lost, rounds


STYLES = pytest.mark.parametrize("style", ["inplace", "rename"])


@STYLES
@pytest.mark.parametrize("count", EDITS)
def test_an_edit_made_while_we_write_is_never_lost(tmp_path: Path, style: str, count: int) -> None:
    files = make_files(tmp_path)
    conflicts = 0

    def write(name: str, old: bytes, new: bytes) -> None:
        nonlocal conflicts
        try:
            files.write(name, new, expected=sha256_hex(old))
        except FileConflict:
            conflicts += 1

    lost, rounds = _lost(tmp_path, style, write, count)
    print(f"{rounds} {style} edits (seed {SEED}): {conflicts} conflicts, {lost} lost")
    assert lost == 0
    assert [name for name in contents(files.root) if ".tmp" in name] == []


@STYLES
def test_the_editor_loses_edits_to_a_naive_writer(tmp_path: Path, style: str) -> None:
    make_files(tmp_path)
    root = tmp_path / "vault"

    def write(name: str, old: bytes, new: bytes) -> None:
        path = root / name
        if path.read_bytes() != old:
            return
        temporary = path.with_suffix(".tmp")
        with temporary.open("wb") as handle:
            handle.write(new)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)

    lost, rounds = _lost(tmp_path, style, write, 3_000, until=True)
    print(f"naive writer: {lost} of {rounds} {style} edits lost")
    assert lost > 0
