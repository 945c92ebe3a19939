"""Write links that lead where they should, in the style of the vault.

Every link is read back and resolved before it is given out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote

from vault_tools.core.inline import parse_link
from vault_tools.core.links import VaultNames, resolve, without_suffix
from vault_tools.errors import InvalidInput, VaultToolsError


class LinkForm(StrEnum):
    """How much of the path a written link shows: Obsidian's `newLinkFormat`."""

    SHORTEST = "shortest"
    RELATIVE = "relative"
    ABSOLUTE = "absolute"


@dataclass(frozen=True, slots=True)
class LinkStyle:
    """How this vault writes links."""

    markdown: bool = False
    form: LinkForm = LinkForm.SHORTEST


def link_style(app_json: bytes | None) -> LinkStyle:
    """Read the link style from the bytes of `.obsidian/app.json`; None when there is no such file.

    Raises VaultToolsError when it cannot be read or names an unknown form.
    """
    if app_json is None:
        return LinkStyle()
    try:
        settings = json.loads(app_json.decode("utf-8-sig"))
        form = LinkForm(settings.get("newLinkFormat", LinkForm.SHORTEST))
        return LinkStyle(settings.get("useMarkdownLinks", False) is True, form)
    except (ValueError, AttributeError, RecursionError) as error:
        raise VaultToolsError(
            f".obsidian/app.json cannot be read: {error}",
            "Repair it in Obsidian: it says how links are written.",
        ) from error


# What would end a wikilink, begin another part of it, or open code, math, a field or a comment.
_HOSTILE = re.compile(r"[#^|\[\]\\`$\ud800-\udfff]|%%|<!--|::")
_UNNAMEABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udc7f\udd00-\udfff]")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+")
# What Obsidian itself replaces when it links to a heading.
_NOT_IN_HEADINGS = re.compile(r"(?:[:|^\\\s]|%%|\[\[|\]\])+")
_ESCAPED_IN_LABELS = re.compile(
    r"[\\\[\]`$%<|#*~]|:(?=:)|(?<=:):|(?<![^\W_])_|_(?![^\W_])|=(?==)|(?<==)="
)
_SAFE_IN_PATHS = frozenset("/-._~,;+@'")


def written(
    target_path: str,
    *,
    from_path: str,
    style: LinkStyle,
    names: VaultNames,
    display: str | None = None,
    sub: str | None = None,
    in_table: bool = False,
) -> str:
    """Write a link to a file that resolves to it, in the style of the vault.

    What a wikilink cannot hold makes it a Markdown link. `sub` is `Heading`, `H1#H2` or
    `^block-id`; `in_table` escapes the pipe. Raises InvalidInput for a file that is not in the
    vault, a name with control characters, and one that no link reaches.
    """
    if target_path not in names.paths:
        raise InvalidInput(f"the vault has no file {target_path!r}", "Link to a file that exists.")
    if _UNNAMEABLE.search(target_path):
        raise InvalidInput(f"no link can name {target_path!r}", "Rename that file.")
    anchor, shown = _anchor(sub or ""), _BREAKS.sub(" ", display or "").strip()
    ways = _Ways(target_path, from_path, style.form, names)
    for markdown in dict.fromkeys((style.markdown, True)):
        for name in dict.fromkeys(ways.names(anchor, markdown=markdown)):
            write = _markdown if markdown else _wikilink
            text = write(name, anchor, shown or _label(target_path, name, anchor, markdown))
            if text and ways.reach(text, anchor):
                return text if markdown or not in_table else text.replace("|", "\\|")
    raise InvalidInput(f"no link reaches {target_path!r}", "Rename that file.")


def _anchor(sub: str) -> str:
    text = sub.removeprefix("#")
    if text.startswith("^"):
        if not _BLOCK_ID.fullmatch(text):
            raise InvalidInput(f"{text!r} is no block id", "Use Latin letters, digits and -.")
        return text
    headings = (_NOT_IN_HEADINGS.sub(" ", _BREAKS.sub(" ", part)) for part in text.split("#"))
    return "#".join(filter(None, (heading.strip() for heading in headings)))


@dataclass(frozen=True, slots=True)
class _Ways:
    """The ways to name one file from another."""

    path: str
    from_path: str
    form: LinkForm
    vault: VaultNames

    def names(self, anchor: str, *, markdown: bool) -> Sequence[str]:
        """List the spellings, the one that the vault prefers first, the surest last."""
        relative = _relative(self.path, self.from_path)
        ways = [self._preferred(relative, markdown), self.path, f"./{relative}", f"/{self.path}"]
        if not markdown:
            ways = [*map(without_suffix, ways), *ways]
        return ["", *ways] if anchor and self.path == self.from_path else ways

    def _preferred(self, relative: str, markdown: bool) -> str:
        if self.form is LinkForm.RELATIVE:
            return relative
        # In Markdown Obsidian writes the whole path even where the name would do (observed).
        if self.form is LinkForm.ABSOLUTE or markdown:
            return self.path
        name = self.path.rpartition("/")[2]
        return name if self.vault.matching(without_suffix(name)) == (self.path,) else self.path

    def reach(self, text: str, anchor: str) -> bool:
        """Tell whether a link, read as Obsidian reads it, leads to the file."""
        link = parse_link(text)
        if link is None or link.sub != anchor:
            return False
        return resolve(link, self.from_path, self.vault).path == self.path


def _relative(path: str, from_path: str) -> str:
    here, there = from_path.split("/")[:-1], path.split("/")
    common = 0
    while common < min(len(here), len(there) - 1) and here[common] == there[common]:
        common += 1
    return "/".join([*[".."] * (len(here) - common), *there[common:]])


def _label(path: str, name: str, anchor: str, markdown: bool) -> str:
    """Give the text to show where none is asked for: none if the name says it already."""
    plain = without_suffix(path.rpartition("/")[2])
    if markdown:
        return " > ".join(filter(None, [plain if name else "", *anchor.split("#")]))
    return plain if "/" in name else ""


def _wikilink(name: str, anchor: str, shown: str) -> str | None:
    parts = (name, anchor.removeprefix("^").replace("#", ""), shown)
    if any(_HOSTILE.search(part) for part in parts):
        return None
    link = f"{name}#{anchor}" if anchor else name
    return f"[[{link}]]" if shown in ("", link) else f"[[{link}|{shown}]]"


def _markdown(name: str, anchor: str, shown: str) -> str:
    label = _ESCAPED_IN_LABELS.sub(r"\\\g<0>", shown)
    where = _encoded(name) + ("#" + "#".join(map(_encoded, anchor.split("#"))) if anchor else "")
    return f"[{label}]({where})"


def _encoded(text: str) -> str:
    """Percent-encode what may not stand in a destination; letters of any script stay readable."""
    return "".join(
        char if _stays(char) else quote(char, "", errors="surrogateescape") for char in text
    )


def _stays(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in _SAFE_IN_PATHS
    return char.isprintable()
