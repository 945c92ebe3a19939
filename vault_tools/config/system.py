"""What the system tells about this run: environment, user, time zone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from vault_tools.config.checks import time_zone

_LOCALTIME = Path("/etc/localtime")
_TIMEZONE = Path("/etc/timezone")


def environment() -> Mapping[str, str]:
    """Give a copy of the environment; only providers/environment.py reads it besides this."""
    return dict(os.environ)


def os_user() -> str:
    """Give the name of the user that runs us, from the system and not from a variable."""
    if sys.platform == "win32":
        import getpass

        return getpass.getuser()
    import pwd

    uid = os.getuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        # A container may run under a uid that no account has.
        return f"uid-{uid}"


def system_zone(environ: Mapping[str, str]) -> str:
    """Give the IANA name of the system's time zone, or an empty text when it has none."""
    return next((name for name in _zone_names(environ) if name and not time_zone(name)), "")


def _zone_names(environ: Mapping[str, str]) -> Iterator[str]:
    if environ.get("TZ"):
        # A POSIX rule such as CET-1CEST has no name; the machine's own zone would be another one.
        yield environ["TZ"].removeprefix(":")
        return
    if sys.platform == "win32":
        import tzlocal

        yield tzlocal.get_localzone_name()
        return
    yield str(_LOCALTIME.resolve()).partition("zoneinfo/")[2]
    if _TIMEZONE.is_file():
        yield _TIMEZONE.read_text("utf-8").strip()
    yield "" if _LOCALTIME.exists() else "UTC"
