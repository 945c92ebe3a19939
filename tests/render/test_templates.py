"""Every template, filled with payloads in every field that foreign text can reach."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from typing import Any

import pytest

from tests.render.payloads import PAYLOADS, live_triggers
from vault_tools.core.block import append_block, canonical, find_blocks
from vault_tools.render import contexts
from vault_tools.render.environment import Renderer, packaged_templates
from vault_tools.render.filters import PLACES, is_linkable
from vault_tools.vault.markdown import opaque_lines

RENDERER = Renderer()
ITEM_ID = "rbi-2026-05-23-0900-001"
# What our own code makes, never a memory: ids, hashes, colours, the words of an enumeration.
OURS: dict[str, Any] = {
    "item_id": ITEM_ID,
    "block_ids": [ITEM_ID],
    "digest": "0a" * 32,
    "sha256": "0a" * 32,
    "block": None,
    "language": "text",
    "json": '{\n"a": 1\n}',
    "callout": "warning",
    "colour": "aabbcc",
    "risk": "low",
    "verdict": "warning",
    "meter": "▮▯▯▯",
    "linked": True,
}


def _named() -> dict[str, type]:
    """Give each template's context, which names its template in its first words."""
    named = {}
    for context in vars(contexts).values():
        about = re.match(r"`([^`]+\.j2)`", getattr(context, "__doc__", None) or "")
        if about and dataclasses.is_dataclass(context):
            named[about[1]] = typing.cast(type, context)
    return named


CONTEXTS = _named()


def _filled(kind: Any, text: str) -> Any:
    """Give a value of a type with the text in every string of it."""
    if dataclasses.is_dataclass(kind):
        types_of = typing.get_type_hints(kind)
        return {
            f.name: OURS[f.name] if f.name in OURS else _filled(types_of[f.name], text)
            for f in dataclasses.fields(kind)
        }
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is tuple:
        return [_filled(arguments[0], text)] * 2
    if isinstance(kind, types.UnionType):
        return _filled(next(one for one in arguments if one is not type(None)), text)
    return {str: text, int: 3, bool: True}[kind]


def test_every_template_has_its_context() -> None:
    root = packaged_templates()
    assert {path.relative_to(root).as_posix() for path in root.rglob("*.j2")} == set(CONTEXTS)


def test_there_are_payloads_of_many_kinds() -> None:
    print(f"{len(set(PAYLOADS))} payloads, {len(CONTEXTS)} templates")
    assert len(set(PAYLOADS)) >= 200


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("text", PAYLOADS)
def test_no_payload_comes_alive_in_any_template(name: str, text: str) -> None:
    note = PLACES.sub("block", RENDERER.render(name, _filled(CONTEXTS[name], text)))
    links = {f"#^{ITEM_ID}", *([text.removesuffix(".md")] if is_linkable(text) else [])}
    assert live_triggers(note, links, [ITEM_ID]) == []
    body = re.sub(r"\A---\n.*?\n---\n", "", note, flags=re.DOTALL)
    whole = append_block("Mine.\n", "b", "main", "", body)
    (block,) = find_blocks(whole, opaque_lines(whole))
    assert canonical(block.body) == canonical(body)
