"""Which paths of a vault may be read, and which are ours to write (spec 07 rule 1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from vault_tools.core.note import check_inside, check_note_path, check_readable_path
from vault_tools.errors import PathRefused

READABLE_SETTINGS = frozenset(
    f".obsidian/{name}.json" for name in ("app", "types", "templates", "daily-notes")
)


class Bounds:
    """The review root and the allow-listed files; every check raises PathRefused."""

    def __init__(self, review_root: str, extra_files: Collection[str]) -> None:
        self.review_root = check_note_path(review_root) if review_root else ""
        self.extra_files = tuple(check_inside(path) for path in extra_files)

    def readable(self, path: str) -> str:
        """Give back a path that may be read."""
        if path in READABLE_SETTINGS:
            return path
        return (check_inside if self._allowed(path) else check_readable_path)(path)

    def writable(self, path: str) -> str:
        """Give back a path that may be written."""
        if self._allowed(path):
            return check_inside(path)
        if not self.is_ours(check_note_path(path)) or path == self.review_root:
            raise not_ours(path)
        return path

    def is_ours(self, path: str) -> bool:
        """Tell whether a path is the review root or lies inside it."""
        return bool(self.review_root) and f"{path}/".startswith(f"{self.review_root}/")

    def _allowed(self, path: str) -> bool:
        return any(_fits(path.split("/"), pattern.split("/")) for pattern in self.extra_files)


def _fits(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return len(names) == len(patterns) and all(map(fnmatchcase, names, patterns))


def not_ours(path: str) -> PathRefused:
    """Say that a path is nobody's to write but the person's."""
    return PathRefused(
        f"{path} lies outside the review root", "vault-tools writes nowhere else in the vault."
    )
