"""Wait until a person who is typing has stopped: a note saved just now is not raced (spec 03)."""

from __future__ import annotations

import time
from collections.abc import Callable

from vault_tools.errors import FileConflict
from vault_tools.vault.swap import Standing, changed_meanwhile

QUIET_SECONDS = 3.0
_FIRST_PAUSE = 0.1


def settled(
    path: str,
    found: Standing,
    look: Callable[[], Standing | None],
    *,
    quiet_seconds: float,
    wait_seconds: float,
) -> Standing:
    """Give a file once nobody has saved it for `quiet_seconds`; looks again with longer pauses.

    Raises FileConflict as soon as its bytes change, or when it is saved again and again for
    `wait_seconds`.
    """
    deadline = time.monotonic() + wait_seconds
    pause, now = _FIRST_PAUSE, found
    while (left := quiet_seconds - _age(now)) > 0:
        if time.monotonic() >= deadline:
            raise FileConflict(
                f"{path} is being edited; it is left as it is",
                "Finish editing, then run the command again.",
            )
        time.sleep(min(pause, left))
        pause *= 2
        again = look()
        if again is None or again.content != found.content:
            raise changed_meanwhile(path)
        now = again
    return now


def _age(found: Standing) -> float:
    # A clock that is a little ahead (a network share) makes a file look younger than new.
    return abs(time.time() - found.stat.st_mtime)
