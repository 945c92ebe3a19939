"""Rules for the values of single keys; each gives what is wrong, or an empty string."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from vault_tools.core.memory import is_agent_id

_CRON_FIELD = re.compile(r"[0-9A-Za-z*/,?#-]+\Z")


def agent_id(value: str) -> str:
    """Check an id that also names a folder."""
    return "" if is_agent_id(value) else "use a-z, 0-9, dot, dash, underscore; at most 64"


def agent_keys(value: Mapping[str, Any]) -> str:
    """Check that every key of a table is an agent id."""
    wrong = [name for name in value if not is_agent_id(name)]
    return f"{wrong[0]!r} is not an agent id" if wrong else ""


def vault_folder(value: str) -> str:
    """Check a visible folder inside the vault, written with forward slashes."""
    segments = value.split("/")
    if "\\" in value or PurePosixPath(value).is_absolute() or PureWindowsPath(value).drive:
        return "name a folder relative to the vault, with forward slashes"
    if any(segment in ("", ".", "..") for segment in segments):
        return "empty, '.' and '..' segments are refused"
    if any(segment.startswith(".") for segment in segments):
        return "hidden folders are refused"
    return ""


def cron(value: str) -> str:
    """Check a cron line of five fields."""
    fields = value.split()
    if len(fields) == 5 and all(_CRON_FIELD.match(field) for field in fields):
        return ""
    return "a cron line has five fields: minute hour day month weekday"


def time_zone(value: str) -> str:
    """Check the IANA name of a time zone."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "use an IANA name such as Europe/Zurich"
    return ""


def one_of(*allowed: str) -> Any:
    """Check that a text is one of the allowed words, or that a list holds no others."""

    def check(value: str | Collection[str]) -> str:
        given = [value] if isinstance(value, str) else value
        wrong = [word for word in given if word not in allowed]
        return f"{wrong[0]!r} is not one of {', '.join(allowed)}" if wrong else ""

    return check


def base_url(value: str) -> str:
    """Check an address of a provider."""
    return "" if re.match(r"https?://\S+\Z|\$\{", value) else "use an http:// or https:// address"


def store_location(value: str) -> str:
    """Check an object-store address, an absolute folder, or a folder in the home."""
    if "://" in value and not re.match(r"(s3|gs|az|db)://[^/\s]\S*\Z", value):
        return "use a folder or an address that starts with s3://, gs://, az:// or db://"
    if ".." in re.split(r"[\\/]", value):
        return "'..' segments are refused"
    return ""
