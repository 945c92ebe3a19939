"""Write rows as given, for the sample vault and for tests: nothing is redacted or judged here."""

from __future__ import annotations

import json
import random
import string
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from vault_tools.core.memory import DAY_MS, Category, Memory, Origin
from vault_tools.core.ports import Embedder, MemoryStore
from vault_tools.core.scope import Scope, Viewer
from vault_tools.core.trust import SourceRole, Trust
from vault_tools.errors import InvalidInput

_NAMESPACE = uuid.UUID("6f1d3b52-3c53-4b3b-9d0e-5f8c1f0b7a11")
_KEYS = frozenset(
    {
        "id",
        "agent",
        "text",
        "summary",
        "category",
        "origin",
        "importance",
        "ageDays",
        "expiresInDays",
        "scope",
        "trust",
        "evidence",
        "source",
        "sourceRole",
        "workspaceKey",
        "ownerId",
    }
)


def seed_rows(store: MemoryStore, rows: Sequence[Memory], embedder: Embedder) -> list[Memory]:
    """Store rows with the trust, scope, expiry and text they have; rows already there stay."""
    vectors = embedder.embed_documents([row.text for row in rows])
    return [
        store.insert(
            Viewer(row.stored_by, row.workspace_key, row.owner_id), row, vector, reason="seeded"
        )
        for row, vector in zip(rows, vectors, strict=True)
    ]


def read_seed_file(data: bytes, now: int, *, owner_id: str = "") -> list[Memory]:
    """Read the memories of a sample vault; ages and expiry count from `now` (UTC ms).

    Rows without an owner of their own get `owner_id`; a global_user row needs one to be seen.
    Raises InvalidInput that names the entry and the key.
    """
    try:
        entries = json.loads(data)["memories"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"not a seed file: {error}", 'It holds {"memories": […]}.') from error
    return [
        _memory({"ownerId": owner_id, **entry}, number, now) for number, entry in enumerate(entries)
    ]


def _memory(entry: Mapping[str, Any], number: int, now: int) -> Memory:
    try:
        unknown = sorted(set(entry) - _KEYS)
        if unknown:
            raise ValueError(f"unknown key {unknown[0]}")
        return _row(entry, now)
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidInput(
            f"memories[{number}] of the seed file: {error}", "Correct that entry."
        ) from error


def _with_made_secret(text: str) -> str:
    """Put a made-up token in place of `{secret:github}`, so that no file has to hold one."""
    drawn = random.Random(text)
    token = "ghp_" + "".join(drawn.choices(string.ascii_letters + string.digits, k=36))
    return text.replace("{secret:github}", token)


def _row(entry: Mapping[str, Any], now: int) -> Memory:
    created = now - round(float(entry.get("ageDays", 0)) * DAY_MS)
    expires = entry.get("expiresInDays")
    text = _with_made_secret(str(entry["text"]))
    return Memory(
        id=str(uuid.UUID(str(entry["id"]))) if "id" in entry else _id_of(text),
        text=text,
        summary=str(entry.get("summary", "")),
        category=Category(entry.get("category", Category.OTHER)),
        origin=Origin(entry.get("origin", Origin.DM)),
        importance=round(float(entry.get("importance", 0.5)) * 1000),
        created_at=created,
        updated_at=created,
        expires_at=0 if expires is None else now + round(float(expires) * DAY_MS),
        stored_by=str(entry.get("agent", "main")),
        scope=Scope(entry.get("scope", Scope.AGENT_PRIVATE)),
        trust=Trust(entry.get("trust", Trust.UNTRUSTED)),
        evidence=_with_made_secret(str(entry.get("evidence", ""))),
        source=str(entry.get("source", "")),
        source_role=SourceRole(entry.get("sourceRole", SourceRole.NONE)),
        workspace_key=str(entry.get("workspaceKey", "main")),
        owner_id=str(entry.get("ownerId", "")),
    )


def _id_of(text: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, text))
