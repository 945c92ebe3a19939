"""The links of a vault: what each note links to, and what every link resolves to."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vault_tools.core.inline import parse_link, scan
from vault_tools.core.links import Resolution, VaultNames, resolve
from vault_tools.core.marks import Link
from vault_tools.core.note import lines_of
from vault_tools.vault.manifest import Manifest
from vault_tools.vault.markdown import code_lines
from vault_tools.vault.notes import MAX_FRONT_MATTER, Note, read_note

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link of the note `path` and where it leads.

    `line` counts from 1; a link in a property has line 0 and its span inside that value.
    """

    path: str
    line: int
    link: Link
    resolution: Resolution


class LinkIndex:
    """The links of all notes in a manifest; a note is read when its links are asked for.

    `read` gives the bytes of a note, None when it is gone. `others` are the files that links may
    lead to besides: attachments, templates, the review root (see `visible_paths`).
    """

    def __init__(self, manifest: Manifest, read: Read, others: Iterable[str] = ()) -> None:
        self._notes = tuple(manifest.entries)
        self._read = read
        self.names = VaultNames({*self._notes, *others}, self._alias_pairs())

    def links(self, path: str) -> tuple[FoundLink, ...]:
        """Give the links of one note, those of its properties first; none for one that is gone."""
        data = self._read(path)
        return () if data is None else tuple(self._found(read_note(path, data)))

    def all_links(self) -> Iterator[FoundLink]:
        """Yield the links of all notes, reading one note at a time."""
        for path in self._notes:
            yield from self.links(path)

    def _found(self, note: Note) -> Iterator[FoundLink]:
        for link in _property_links(note.properties):
            yield FoundLink(note.path, 0, link, resolve(link, note.path, self.names))
        starts = [line.start for line in lines_of(note.text)]
        for mark in scan(note.text, code_lines(note.text)):
            if isinstance(mark, Link):
                line = bisect_right(starts, mark.start)
                yield FoundLink(note.path, line, mark, resolve(mark, note.path, self.names))

    def _alias_pairs(self) -> Iterator[tuple[str, str]]:
        for path in self._notes:
            data = self._read(path)
            # Reading YAML is most of the cost, and few notes have aliases.
            if data is not None and b"alias" in data[:MAX_FRONT_MATTER]:
                note = read_note(path, data[:MAX_FRONT_MATTER])
                yield from ((alias, path) for alias in note.names("aliases"))


def _property_links(properties: object) -> Iterator[Link]:
    if isinstance(properties, str):
        link = parse_link(properties.strip())
        if link is not None:
            yield link
    elif isinstance(properties, list):
        for entry in properties:
            yield from _property_links(entry)
    elif isinstance(properties, dict):
        for entry in properties.values():
            yield from _property_links(entry)


def visible_paths(root: Path) -> Iterator[str]:
    """Yield the vault paths of all files that Obsidian sees: nothing hidden, no links followed."""
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(root / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.is_file(follow_symlinks=False):
                    yield path
