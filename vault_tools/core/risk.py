"""How much harm a wrong approval would do (spec 02 §Items, Risk)."""

from __future__ import annotations

from enum import StrEnum


class Risk(StrEnum):
    """Risk of an item, lowest first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Rank the risk: 0 low to 3 critical."""
        return list(Risk).index(self)

    def at_least(self, other: Risk) -> bool:
        """Tell whether this risk is `other` or more."""
        return self.rank >= other.rank


def highest(*risks: Risk) -> Risk:
    """Pick the highest of the given risks."""
    return max(risks, key=lambda risk: risk.rank)
