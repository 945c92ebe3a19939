"""Where a link leads, by Obsidian's rules.

A name is found at its exact vault path, else in the folder of the note that links, else at the
shortest matching path; case, Unicode form and no-break spaces do not matter (reference: Obsidian
1.2). An alias finds nothing: it is offered as a suggestion.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from vault_tools.core.marks import Link

_NOTE = ".md"
_MAX_SUGGESTIONS = 5


class Found(StrEnum):
    """By which rule a link was found, or that it was not."""

    SELF = "self"
    EXACT = "exact"
    RELATIVE = "relative"
    OWN_FOLDER = "own_folder"
    SHORTEST = "shortest"
    EXTERNAL = "external"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a link leads: a vault path, or None; `sub` is its heading chain or block id.

    `candidates` are all files with that name, shortest path first; `respelt` says that it fits in
    another case or Unicode form only; `suggestions` are paths that may have been meant.
    """

    found: Found
    path: str | None = None
    sub: str = ""
    candidates: tuple[str, ...] = ()
    respelt: bool = False
    suggestions: tuple[str, ...] = ()

    @property
    def ambiguous(self) -> bool:
        """Tell whether other files have the name too and no exact path decides."""
        return len(self.candidates) > 1 and self.found in (Found.OWN_FOLDER, Found.SHORTEST)


def _key(path: str) -> str:
    if path.isascii():
        return path.lower()
    plain = path.replace("\u00a0", " ").replace("\u202f", " ")
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", plain).lower())


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def without_suffix(path: str) -> str:
    """Give a path without `.md`, in whatever case; other suffixes stay."""
    return path[: -len(_NOTE)] if path[-len(_NOTE) :].lower() == _NOTE else path


class VaultNames:
    """The files of a vault as links see them.

    `aliases` are pairs of alias and path; they are not consumed before a link goes unresolved, so
    a generator that reads notes costs nothing until then.
    """

    def __init__(self, paths: Iterable[str], aliases: Iterable[tuple[str, str]] = ()) -> None:
        self.paths = frozenset(paths)
        named: dict[str, list[tuple[str, str]]] = {}
        for path in sorted(self.paths, key=lambda path: (len(path), path)):
            key = _key(path)
            named.setdefault(_name(key), []).append((key, path))
        self._named = named
        self._plain = {key: tuple(path for _, path in pairs) for key, pairs in named.items()}
        self._unread = iter(aliases)
        self._aliases: dict[str, list[str]] = {}

    def at(self, target: str) -> str | None:
        """Give the file at a vault path, the note suffix left out or not; None without one."""
        for wanted in (target, target + _NOTE):
            key = _key(wanted)
            same = [path for other, path in self._named.get(_name(key), ()) if other == key]
            if same:
                return wanted if wanted in same else same[0]
        return None

    def matching(self, target: str) -> tuple[str, ...]:
        """Give the files that a name or the end of a path fits, shortest path first.

        The note suffix may be left out, others may not.
        """
        plain, note = self._ending(_key(target)), self._ending(_key(target + _NOTE))
        return plain + note if plain and note else plain or note

    def _ending(self, key: str) -> tuple[str, ...]:
        if "/" not in key:
            return self._plain.get(key, ())
        tail = "/" + key
        pairs = self._named.get(_name(key), ())
        return tuple(path for other, path in pairs if other == key or other.endswith(tail))

    def known_as(self, alias: str) -> tuple[str, ...]:
        """Give the notes that have this alias."""
        for name, path in self._unread:
            self._aliases.setdefault(_key(name), []).append(path)
        return tuple(self._aliases.get(_key(alias), ()))


def resolve(link: Link, from_path: str, names: VaultNames) -> Resolution:
    """Find the file that a link in the note `from_path` leads to."""
    if link.external:
        return Resolution(Found.EXTERNAL, sub=link.sub)
    if not link.target:
        return Resolution(Found.SELF, from_path, link.sub, (from_path,))
    target = link.target.lstrip("/")
    found, path = _found(link.target, target, _folder(from_path), names)
    if path is None:
        return Resolution(found, sub=link.sub, suggestions=_suggested(link.target, names))
    respelt = not without_suffix(path).endswith(without_suffix(_name(target)))
    return Resolution(found, path, link.sub, names.matching(_name(target)), respelt)


def _found(written: str, target: str, folder: str, names: VaultNames) -> tuple[Found, str | None]:
    if written.startswith(("./", "../")):
        path = names.at(_from_folder(folder, target))
        return (Found.RELATIVE if path else Found.UNRESOLVED), path
    exact = names.at(target)
    if exact or written.startswith("/"):
        return (Found.EXACT if exact else Found.UNRESOLVED), exact
    beside = names.at(f"{folder}/{target}") if folder else None
    if beside:
        return Found.OWN_FOLDER, beside
    matching = names.matching(target)
    return (Found.SHORTEST, _best(matching, target)) if matching else (Found.UNRESOLVED, None)


def _best(matching: Sequence[str], target: str) -> str:
    """Choose the shortest path; of twins that differ in case, the one spelt like the link."""
    shortest = takewhile(lambda path: len(path) == len(matching[0]), matching)
    spelt = (path for path in shortest if path.endswith((target, target + _NOTE)))
    return next(spelt, matching[0])


def _from_folder(folder: str, target: str) -> str:
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _suggested(target: str, names: VaultNames) -> tuple[str, ...]:
    near = [*names.known_as(without_suffix(target)), *names.matching(_name(target))]
    return tuple(dict.fromkeys(near))[:_MAX_SUGGESTIONS]
