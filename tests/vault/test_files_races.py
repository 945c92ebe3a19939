"""Another process works on the same names while we write. N comes from VAULT_TOOLS_RACES."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from vault_world import contents, make_files

from vault_tools.core.digest import sha256_hex
from vault_tools.errors import FileConflict, VaultToolsError

RACES = int(os.environ.get("VAULT_TOOLS_RACES", "60"))
SEED = int(os.environ.get("VAULT_TOOLS_SEED", "1"))
PLACE = "00-system/plur1bus"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs renameat2 to swap names: 4 checks skipped"
)

SWAPPER = """
import sys
from vault_tools.vault.exchange import exchange
from vault_tools.vault.paths import Folder
import os
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
print("ready", flush=True)
while True:
    exchange(Folder(sys.argv[1], fd), "sub", "link")
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


def _escapes(tmp_path: Path, write: Callable[[int], None], tries: int, *, until: bool) -> int:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "vault" / PLACE
    (folder / "sub").mkdir()
    (folder / "link").symlink_to(outside)
    with _other(SWAPPER, str(folder)):
        for number in range(tries):
            write(number)
            if until and contents(outside):
                break
    return len(contents(outside))


def test_swapping_a_parent_for_a_link_never_leads_outside(tmp_path: Path) -> None:
    files = make_files(tmp_path)
    written = 0

    def write(number: int) -> None:
        nonlocal written
        try:
            files.write(f"{PLACE}/sub/n{number}.md", b"private", expected=None)
            written += 1
        except VaultToolsError:
            return

    escaped = _escapes(tmp_path, write, RACES * 5, until=False)
    print(f"{RACES * 5} tries, {written} written, {escaped} outside")
    assert escaped == 0
    assert written > 0


def test_the_swapper_leads_a_naive_writer_outside(tmp_path: Path) -> None:
    make_files(tmp_path)
    folder = tmp_path / "vault" / PLACE

    def write(number: int) -> None:
        path = folder / "sub" / f"n{number}.md"
        with contextlib.suppress(OSError):
            if path.resolve().is_relative_to(folder):
                path.write_bytes(b"private")

    assert _escapes(tmp_path, write, 200_000, until=True) > 0


def _lost(
    tmp_path: Path, style: str, write: Callable[[str, bytes, bytes], None], *, until: bool
) -> tuple[int, int]:
    chance = random.Random(SEED)
    lost = rounds = 0
    median = 0.001
    with _other(EDITOR) as editor:
        assert editor.stdin
        assert editor.stdout
        for number in range(RACES * 50 if until else RACES):
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


@pytest.mark.parametrize("style", ["inplace", "rename"])
def test_an_edit_made_while_we_write_is_never_lost(tmp_path: Path, style: str) -> None:
    files = make_files(tmp_path)
    conflicts = 0

    def write(name: str, old: bytes, new: bytes) -> None:
        nonlocal conflicts
        try:
            files.write(name, new, expected=sha256_hex(old))
        except FileConflict:
            conflicts += 1

    lost, rounds = _lost(tmp_path, style, write, until=False)
    print(f"{rounds} {style} edits (seed {SEED}): {conflicts} conflicts, {lost} lost")
    assert lost == 0
    assert [name for name in contents(files.root) if ".tmp" in name] == []


def test_the_editor_loses_edits_to_a_naive_writer(tmp_path: Path) -> None:
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

    lost, rounds = _lost(tmp_path, "rename", write, until=True)
    print(f"naive writer: {lost} of {rounds} lost")
    assert lost > 0
