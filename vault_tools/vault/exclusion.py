"""Which paths the person keeps out of review, index and links (spec 11 §Private folders)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence

from vault_tools.errors import VaultToolsError

Excluded = Callable[[str], str]


def ignore_filters(app_json: bytes) -> tuple[str, ...]:
    """Give Obsidian's `userIgnoreFilters` from the bytes of `.obsidian/app.json`.

    Raises VaultToolsError when they cannot be read: nothing private may slip in by accident.
    """
    try:
        settings = json.loads(app_json.decode("utf-8-sig"))
        filters = settings.get("userIgnoreFilters") or []
        return tuple(str(entry) for entry in filters if entry)
    except (ValueError, AttributeError, TypeError) as error:
        raise VaultToolsError(
            f".obsidian/app.json cannot be read: {error}",
            "Repair it in Obsidian: it says which folders are private.",
        ) from error


def exclusion(globs: Collection[str] = (), filters: Sequence[str] = ()) -> Excluded:
    """Build the test that names why a path is excluded, "" when it is not.

    `globs` are of the form `Private/**` or `*.draft.md` (a pattern without `/` matches any name);
    `filters` are Obsidian's: the beginning of a path, or `/a regular expression/`. Case is ignored,
    so that a doubtful path rather stays out. Raises VaultToolsError for an unreadable expression.
    """
    tests = [(re.compile(_glob(glob), re.IGNORECASE), f"excluded by {glob!r}") for glob in globs]
    tests += [(_filter(entry), f"ignored in Obsidian by {entry!r}") for entry in filters]

    def excluded(path: str) -> str:
        return next((reason for pattern, reason in tests if pattern.match(path)), "")

    return excluded


def _glob(glob: str) -> str:
    anchored = glob.strip("/")
    prefix = "" if "/" in anchored or glob.startswith("/") else r"(?:.*/)?"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", anchored)
    signs = {"**/": r"(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return prefix + "".join(signs.get(part) or re.escape(part) for part in parts) + r"(?:/.*)?\Z"


def _filter(entry: str) -> re.Pattern[str]:
    if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
        try:
            return re.compile(f".*(?:{entry[1:-1]})", re.IGNORECASE | re.DOTALL)
        except re.error as error:
            raise VaultToolsError(
                f"Obsidian's excluded-files expression {entry!r} cannot be read: {error}",
                "Add the same folder to notes.exclude, or simplify the expression.",
            ) from error
    return re.compile(re.escape(entry.removeprefix("/")), re.IGNORECASE)
