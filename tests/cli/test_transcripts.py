"""Whole sessions against the sample vault, as a person sees them.

Each `tests/transcripts/*.txt` holds commands and what they answered; what differs from run to run
stands there as a word in capitals. `pytest tests/cli --update` writes them anew.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.command import Said, call
from tests.cli.studio import Studio

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"
FILES = sorted(TRANSCRIPTS.glob("*.txt"))

VARYING = [
    (re.compile(r"\brbi-\d{4}-\d\d-\d\d-\d{4}(-\d{1,2})?(?=-\d{3}\b)"), "rbi-STAMP"),
    (re.compile(r"\brb-\d{4}-\d\d-\d\d-\d{4}(-\d{1,2}\b)?"), "rb-STAMP"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d|Z)"), "MOMENT"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "SHA256"),
    (re.compile(r"(?<=digest )( *)[0-9a-f]{8}\b"), r"\1DIGEST"),
    (re.compile(r"\b(?!5eed)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"(?<=score: )\d\.\d\d"), "SCORE"),
    (re.compile(r"(?<=ownerId: )\S+|(?<=ownerId {6})\S+"), "OWNER"),
]


def commands_of(text: str) -> list[str]:
    return [line[2:] for line in text.split("\n") if line.startswith("$ ")]


def comment_of(text: str) -> str:
    return text.partition("$ ")[0]


class Session:
    """One person at work: `BUNDLE`, `IMPORT` and the like stand for what the demo made."""

    def __init__(self, demo: Callable[[], Studio], place: Path) -> None:
        self._demo = demo
        self._place = place
        self._studio: Studio | None = None
        self._last = ""

    @property
    def studio(self) -> Studio:
        if self._studio is None:
            self._studio = self._demo()
            self._studio.allow_headless()
        return self._studio

    def words(self, line: str) -> Iterator[str]:
        for word in shlex.split(line)[1:]:
            if word in ("IMPORT", "PROMOTION", "TOMBSTONE"):
                yield self.item(word)
            elif word == "LAST":
                yield self._last
            else:
                yield word.replace("BUNDLE", self.bundle() if "BUNDLE" in word else "").replace(
                    "PLACE", str(self._place)
                )

    def bundle(self) -> str:
        return self.studio.note.stem

    def item(self, word: str) -> str:
        kinds = {
            "IMPORT": "note_import_candidate",
            "PROMOTION": "memory_promotion",
            "TOMBSTONE": "tombstone",
        }
        shown = self.studio.json("review", "show", self.bundle())["items"]
        return str(next(one["id"] for one in shown if one["type"] == kinds[word]))

    def run(self, line: str) -> str:
        alone = "--help" in line or " demo" in line
        words = list(self.words(line))
        said = call(*words) if alone else self.studio.call(*words)
        if stored := re.match(r"Stored .*\(([0-9a-f-]{36})\)\n", said.out):
            self._last = stored[1]
        return self.shown(line, said)

    def shown(self, line: str, said: Said) -> str:
        ended = f"[exit {said.code}]\n" if said.code else ""
        answer = f"$ {line}\n{said.out}{said.err}{ended}"
        for place in {str(self._place), str(self._place.resolve())}:
            answer = answer.replace(place, "PLACE")
        for pattern, word in VARYING:
            answer = pattern.sub(word, answer)
        return answer


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_session_goes_as_written(
    file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text = file.read_text("utf-8")
    session = Session(lambda: request.getfixturevalue("studio"), tmp_path)
    answers = [session.run(line) for line in commands_of(text)]
    now = comment_of(text) + "\n".join(answers)
    if request.config.getoption("--update"):
        file.write_text(now, "utf-8")
        return
    assert now == text


def test_there_are_sessions() -> None:
    assert {"demo", "errors", "help", "memory", "review"} <= {file.stem for file in FILES}
    assert all(commands_of(file.read_text("utf-8")) for file in FILES)
