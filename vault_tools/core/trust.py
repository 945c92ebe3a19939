"""How far a memory is believed (spec 02 §What apply checks, point 4)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Trust(StrEnum):
    """How far a memory is believed, lowest first."""

    UNTRUSTED = "untrusted"
    CANDIDATE = "candidate"
    TRUSTED = "trusted"

    @property
    def rank(self) -> int:
        """Rank the trust: 0 untrusted, 1 candidate, 2 trusted."""
        return list(Trust).index(self)

    def rises_to(self, other: Trust) -> bool:
        """Tell whether `other` believes more."""
        return other.rank > self.rank


class SourceRole(StrEnum):
    """Who said the words a memory rests on; NONE when nobody recorded it."""

    NONE = ""
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    NOTE = "note"


def is_assistant_only(roles: Iterable[SourceRole]) -> bool:
    """Tell whether nothing but an assistant or a tool stands behind a claim.

    Nobody at all counts as assistant-only: an unsourced claim has no human behind it.
    """
    return not {SourceRole.USER, SourceRole.NOTE} & set(roles)
