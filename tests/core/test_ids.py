"""Ids that become names of folders and notes, or stand in a marker: none reaches further."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.test_note_path import HOSTILE
from vault_tools.core.block import append_block, canonical, find_blocks
from vault_tools.core.bundle import BUNDLE_ID
from vault_tools.core.memory import AGENT_ID, is_agent_id, is_memory_id
from vault_tools.core.note import check_note_path, fold
from vault_tools.errors import BlockError, InvalidInput

_BUNDLE = "rb-2026-05-23-0900"
_MEMORY = "0f8fad5b-d9cb-469f-a165-70867728950e"
_LOOK_ALIKES = [
    "Main", "ma\u00efn", "\u217fain", "main\n", "main ", " main", "main.", "-main", ".main",
    "_main", "m/ain", "m\\ain", "a" * 65, "\uff4dain", "ma\u200bin", "com0", "lpt0.x", "nul.md",
]  # fmt: skip
_AROUND = ["{}\n", "\n{}", "{}/..", "../{}", "{}/x", "{}.md", "{}\0", " {}", "{} ", "{}--", "{}>"]


@pytest.mark.parametrize("value", [*HOSTILE, *_LOOK_ALIKES], ids=ascii)
def test_a_hostile_name_is_no_id(value: str) -> None:
    assert not is_agent_id(value)
    assert not is_memory_id(value)
    assert not BUNDLE_ID.match(value)


@pytest.mark.parametrize("around", _AROUND, ids=ascii)
def test_an_id_with_anything_around_it_is_none(around: str) -> None:
    assert BUNDLE_ID.match(_BUNDLE)
    assert is_memory_id(_MEMORY)
    assert not BUNDLE_ID.match(around.format(_BUNDLE))
    assert not is_memory_id(around.format(_MEMORY))


def test_digits_of_other_scripts_make_no_bundle_id() -> None:
    for zero in (0x660, 0x966, 0xFF10):
        digits = str.maketrans({str(n): chr(zero + n) for n in range(10)})
        assert not BUNDLE_ID.match(_BUNDLE.translate(digits))


@given(st.from_regex(AGENT_ID, fullmatch=True) | st.text(max_size=8))
def test_an_agent_id_is_one_plain_name_on_every_system(value: str) -> None:
    if is_agent_id(value):
        assert check_note_path(value) == fold(value) == value
        assert len(PurePosixPath(value).parts) == 1


@given(st.from_regex(BUNDLE_ID, fullmatch=True))
def test_a_bundle_id_is_one_plain_name_on_every_system(value: str) -> None:
    assert check_note_path(f"{value}.md") == fold(f"{value}.md")


_marked = st.text(alphabet='ab0-._:@">< \n\r\\\u2028\u200b[]%$`é', max_size=12)


@given(_marked | st.sampled_from(HOSTILE), _marked | st.sampled_from(HOSTILE), _marked)
def test_a_block_id_stands_in_its_marker_or_is_refused(block_id: str, agent: str, by: str) -> None:
    text = "Mine.\n"
    try:
        new = append_block(text, block_id, agent, by, "body")
    except (InvalidInput, BlockError):
        return
    (block,) = find_blocks(new)
    assert new.startswith(text)
    assert (block.block_id, block.agent, block.bundle) == (block_id, agent, by)
    assert canonical(block.body) == "body"
