"""CPU seconds of `vault-tools --help` against `python -c "import click"`, whole processes."""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BAR = 2.5

FLOOR = [sys.executable, "-c", "import click"]
HELP = [sys.executable, "-c", "from vault_tools.cli import main; main()", "--help"]


def cpu_seconds(command: Sequence[str]) -> float:
    """Run a command to its end and give its user plus system time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(runs: int) -> dict[str, Any]:
    """Alternate the two commands, so that a busy machine is busy for both; take the medians."""
    for command in (FLOOR, HELP):
        cpu_seconds(command)
    pairs = [(cpu_seconds(FLOOR), cpu_seconds(HELP)) for _ in range(runs)]
    floor, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    return {
        "benchmark": "startup",
        "runs": runs,
        "floorSeconds": round(floor, 4),
        "helpSeconds": round(ours, 4),
        "ratio": round(ours / floor, 2),
        "bar": BAR,
        "ok": ours / floor <= BAR,
    }


def table(found: dict[str, Any]) -> str:
    """Lay the figures out for a reader."""
    return (
        f"{'command':<28}{'CPU s (median)':>16}{'ratio':>8}\n"
        f"{'python -c import click':<28}{found['floorSeconds']:>16.3f}{1:>8.2f}\n"
        f"{'vault-tools --help':<28}{found['helpSeconds']:>16.3f}{found['ratio']:>8.2f}"
        f"  (bar {found['bar']})"
    )


def main() -> int:
    """Print the table and the JSON; exit 1 when the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 runs instead of 21")
    parser.add_argument("--json", type=Path, help="also write the JSON to this file")
    arguments = parser.parse_args()
    found = measure(5 if arguments.quick else 21)
    print(table(found))
    print(json.dumps(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found) + "\n", "utf-8")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
