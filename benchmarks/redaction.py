"""Measure redaction: time per doubling of hostile lines, and against a plain word scan.

Run `python benchmarks/redaction.py [FOLDER OF NOTES]`; exits 1 when a bound is passed.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from vault_tools.redaction.redactor import redact

MOST_PER_DOUBLING = 2.5
MOST_WORD_SCANS = 20.0
SIZES = (1 << 15, 1 << 16, 1 << 17)
SHAPES: dict[str, tuple[str, str]] = {
    "dots": ("a.-", ""),
    "token": ("token", ""),
    "auth": ("auth", ""),
    "scheme": ("a+", "://"),
    "jwt": ("eyJa.", ""),
    "wikilinks": ("[[", ""),
    "cells": ("| token ", ""),
    "spaces": (" ", ""),
    "begin": ("-----BEGIN", ""),
    "begin key": ("-----BEGIN PRIVATE KEY-----", ""),
    "assignments": ("key=", ""),
    "open quotes": ('password: "', ""),
    "open German quotes": ("token: „x ", ""),
    "urls": ("https://a:", ""),
    "query": ("otpauth://a?secret=", ""),
    "placeholders": ("password: <x> ", ""),
    "pointers": ("pass: see a) b ", ""),
    "curl": ("curl -u a:", ""),
    "base64 paths": ("aB3/", ""),
    "marks": ("«REDACTED:token»", ""),
    "cut marks": ("«REDACTED: ", ""),
    "short lines": ("token\n", ""),
    "block scalars": ("password: |\n", ""),
    "orphan ends": ("-----END PRIVATE KEY-----\n", ""),
    "tables": ("| token | x |\n|---|---|\n", ""),
}


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Take the CPU time of a call, best of a few, so that a busy machine tells little."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def doublings(unit: str, tail: str) -> list[float]:
    """Compute the ratios of time between one size and the next."""
    texts = [(unit * (size // len(unit))) + tail for size in SIZES]
    times = [seconds(lambda text=text: redact(text)) for text in texts]  # type: ignore[misc]
    return [after / before for before, after in pairwise(times)]


def word_scans(folder: Path) -> float:
    """Compute how many plain word scans one redaction of real notes costs."""
    notes = [path.read_text("utf-8") for path in sorted(folder.rglob("*.md"))]
    scan = seconds(lambda: [re.findall(r"\w+", note) for note in notes])
    return seconds(lambda: [redact(note) for note in notes]) / scan


def main(arguments: list[str]) -> int:
    worst = 0.0
    for name, (unit, tail) in SHAPES.items():
        ratios = doublings(unit, tail)
        worst = max(worst, *ratios)
        print(f"{name:20} " + " ".join(f"{ratio:5.2f}" for ratio in ratios))
    scans = word_scans(Path(arguments[0])) if arguments else 0.0
    print(f"worst doubling {worst:.2f} (at most {MOST_PER_DOUBLING})")
    print(f"word scans {scans:.1f} (at most {MOST_WORD_SCANS})")
    return int(worst > MOST_PER_DOUBLING or scans > MOST_WORD_SCANS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
