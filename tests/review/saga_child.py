"""Apply the item of a prepared world once: say `ready`, wait for a line, act, report in one line.

Run as `python saga_child.py PLACE saga|naive|edited|recover`. All is loaded before `ready`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.review.saga_world import APPLY, item_of, open_world
from vault_tools.errors import VaultToolsError


def main(place: Path, mode: str) -> None:
    world = open_world(place).world
    (change,) = item_of(world).item.effects.changes
    world.store.find(world.viewer("main"), change.memory_id)
    act = APPLY[mode](world)
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        report: dict[str, object] = {"done": act()}
    except VaultToolsError as error:
        report = {"error": error.message, "hint": error.hint}
    # A report that any other exception reaches is a finding: the person would see a traceback.
    except BaseException as error:
        report = {"traceback": repr(error)}
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
