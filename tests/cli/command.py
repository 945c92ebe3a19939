"""Call the command line: in this interpreter, where LanceDB is loaded once, or as a process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from vault_tools.cli import main


@dataclass(frozen=True)
class Said:
    """What a call left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout; anything beside it fails here."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The error on stderr as JSON."""
        return json.loads(self.err.splitlines()[-1])["error"]


def call(*arguments: str, stdin: bytes = b"") -> Said:
    """Run `main` with its own streams, none of them a terminal."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
    entered = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    with (
        mock.patch.multiple(sys, argv=["__main__.py", *arguments], stdin=entered, **streams),
    ):
        try:
            main()
        except SystemExit as left:
            code = left.code
    assert isinstance(code, int)
    return Said(code, *(written(stream) for stream in streams.values()))


def written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "vault_tools", *arguments]


def process(
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> Said:
    """Run a process of its own."""
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [*before, *command(*arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root), **(env or {})},
    )
    return Said(run.returncode, run.stdout.decode(), run.stderr.decode())


def assert_fails(said: Said, code: int, *words: str) -> None:
    """A failure is one clear message with a way out, and never a traceback."""
    assert said.code == code, said
    assert said.out == ""
    assert "Traceback" not in said.err
    message, _, hint = said.err.partition("\n")
    assert message.startswith("Error: ")
    assert hint.strip(), said.err
    for word in words:
        assert word in said.err
