"""File names: safe ones for what we write, and what sync clients and Obsidian leave behind."""

from __future__ import annotations

import re
import unicodedata

from vault_tools.core.note import MAX_COMPONENT_BYTES, check_note_path
from vault_tools.core.visible import is_hidden
from vault_tools.errors import PathRefused

_HOSTILE = re.compile(r'[\\/:*?"<>|#^\[\]%`$@=~!;&{}\x00-\x1f\x7f]+')
_CONFLICTS = (
    re.compile(r".*\(Conflicted copy .* \d{12}\)(\.[^.]*)?", re.IGNORECASE),
    re.compile(r".*\(.*conflicted copy.*\)(\.[^.]*)?", re.IGNORECASE),
    re.compile(r".*\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]{7}(\.[^.]*)?", re.IGNORECASE),
    re.compile(r".*-safeBackup-\d{4}(\.[^.]*)?", re.IGNORECASE),
)
_PLACEHOLDER = re.compile(r"\.(?P<name>.+)\.icloud", re.IGNORECASE)
_SKIPPED_FOLDERS = frozenset({"node_modules", "templates", "_templates", "vorlagen"})


def safe_file_name(title: str, *, suffix: str = ".md", fallback: str = "note") -> str:
    """Turn a title into a name that is safe on every system and in a wikilink.

    Never longer than 200 bytes with its suffix; two titles may give one name, so callers that
    need difference add an id.
    """
    normal = unicodedata.normalize("NFC", title)
    seen = "".join(" " if is_hidden(char) or char.isspace() else char for char in normal)
    words = " ".join(_HOSTILE.sub(" ", seen).split()).strip(" .-_")
    name = _cut(words, MAX_COMPONENT_BYTES - len(suffix.encode())).rstrip(" .-_")
    try:
        return check_note_path((name or fallback) + suffix)
    except PathRefused:
        safer = f"{fallback} {name}" if len(name) < 40 else fallback
        return check_note_path(safer + suffix)


def _cut(text: str, size: int) -> str:
    return text.encode("utf-8", "ignore")[:size].decode("utf-8", "ignore")


def is_note(name: str) -> bool:
    """Tell whether a file name is that of a Markdown note, `.MD` included."""
    return name[-3:].lower() == ".md"


def is_conflict_copy(name: str) -> bool:
    """Tell whether a sync client made this copy (Obsidian Sync, Syncthing, OneDrive, Dropbox).

    A bare `name 2.md` is none: many vaults use such names on purpose.
    """
    # Every note of a scan comes here, and hardly any name holds one of these words.
    folded = name.casefold()
    if "conflict" not in folded and "safebackup" not in folded:
        return False
    return any(pattern.fullmatch(name) for pattern in _CONFLICTS)


def placeholder_for(name: str) -> str | None:
    """Give the name of the note that an iCloud placeholder stands for, None for other files."""
    match = _PLACEHOLDER.fullmatch(name)
    return match["name"] if match else None


def is_skipped_folder(name: str) -> bool:
    """Tell whether a folder holds no notes of the vault: hidden, trash, templates, packages."""
    return name.startswith(".") or name.casefold() in _SKIPPED_FOLDERS
