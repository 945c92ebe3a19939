"""A person at a real terminal (a pty)."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from types import TracebackType

import pytest

from tests.cli.command import command
from tests.cli.studio import Studio

pexpect = pytest.importorskip("pexpect")

ROOT = Path(__file__).parents[2]


class Terminal:
    """Run a command at a terminal and talk to it."""

    def __init__(self, studio: Studio, *arguments: str) -> None:
        program, *rest = command("--home", str(studio.home), *arguments)
        assert program == sys.executable
        self.child = pexpect.spawn(
            program,
            rest,
            encoding="utf-8",
            timeout=60,
            dimensions=(50, 400),
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"},
        )
        self.child.setecho(False)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.child.close(force=True)

    def asked(self, question: str) -> str:
        """Wait for a question alone on the last line; give what was shown above it."""
        return self.asked_like(re.escape(question))

    def asked_like(self, pattern: str) -> str:
        self.child.expect(rf"(?:\A|\n)({pattern})\Z")
        return str(self.child.before)

    def types(self, line: str) -> None:
        self.child.sendline(line)

    def ends_input(self) -> None:
        self.child.sendeof()

    def ended(self) -> int:
        """Wait for the end and give the exit code."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        return int(self.child.exitstatus)

    @property
    def said(self) -> str:
        return str(self.child.before)
