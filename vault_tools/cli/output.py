"""What a command prints: sentences for people, or exactly one JSON object for scripts."""

from __future__ import annotations

import codecs
import json
import sys
from dataclasses import dataclass
from typing import Any, TextIO

from vault_tools.core.visible import show_hidden

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Output:
    """The two ways of answering; with JSON nothing else is ever printed to stdout.

    Lines for people show hidden characters, so that no memory or note can steer the terminal.
    """

    as_json: bool
    quiet: bool

    def result(self, document: dict[str, Any], *lines: str) -> None:
        """Print the result: `document` as JSON, or the lines."""
        if self.as_json:
            _write_json(sys.stdout, {"schemaVersion": SCHEMA_VERSION, **document})
        else:
            _write(sys.stdout, *lines)

    def say(self, *lines: str) -> None:
        """Print remarks for people; silent with --quiet and --json."""
        if not (self.as_json or self.quiet):
            _write(sys.stdout, *lines)

    def warn(self, line: str) -> None:
        """Print something that must not be missed, beside the result."""
        if self.as_json:
            _write_json(sys.stderr, {"warning": line})
        else:
            _write(sys.stderr, line)

    def error(self, kind: str, message: str, hint: str, exit_code: int) -> None:
        """Print what went wrong and the way out."""
        if self.as_json:
            body = {"type": kind, "message": message, "hint": hint, "exitCode": exit_code}
            _write_json(sys.stderr, {"error": body})
        else:
            _write(sys.stderr, f"Error: {message}", *([hint] if hint else []))


def _write(stream: TextIO, *lines: str) -> None:
    for line in lines:
        stream.write(f"{show_hidden(line)}\n")
    stream.flush()


def _write_json(stream: TextIO, document: dict[str, Any]) -> None:
    as_is = codecs.lookup(stream.encoding or "ascii").name == "utf-8"
    stream.write(json.dumps(document, ensure_ascii=not as_is) + "\n")
    stream.flush()
