"""Your agents' memory, reviewed by you, in your vault."""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
