"""Canonical JSON and SHA-256, the base of every seal (spec 11, Digests)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

SHORT = 8


def canonical_json(value: Any) -> bytes:
    """Serialise to RFC 8785 JSON: UTF-8, sorted keys, no white space, no floats.

    Keys are ASCII here, so sorting by code point equals sorting by UTF-16 unit.
    Raises ValueError for floats, whose text form would depend on the writer.
    """
    _refuse_floats(value)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8")


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise ValueError("sealed values hold integers, never floats")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_floats(item)


def sha256_hex(data: bytes | str) -> str:
    """Hash bytes (or UTF-8 text) to 64 lower-case hex characters."""
    return hashlib.sha256(data.encode("utf-8") if isinstance(data, str) else data).hexdigest()


def digest_of(value: Any) -> str:
    """Hash the canonical JSON of a plain value."""
    return sha256_hex(canonical_json(value))


def short(digest: str) -> str:
    """Cut a digest to the eight characters a person types."""
    return digest[:SHORT]
