"""The one reader of credentials: ${VAR} for allow-listed provider names, nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vault_tools.errors import ConfigError

_NAMES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_COMPATIBLE_API_KEY",
    "OPENAI_COMPATIBLE_BASE_URL",
    "COHERE_API_KEY",
)
ALLOWED = frozenset({*_NAMES, *(f"PLUR1BUS_{name}" for name in _NAMES)})
_REFERENCE = re.compile(r"\$(?:\{([^}]*)\}|\{|([A-Za-z_]\w*))")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")


def resolve(text: str, environ: Mapping[str, str]) -> str:
    """Replace each ${NAME} of a configured value by the variable's value.

    Values are taken as they are: a ${…} inside a value is not looked at again. Raises ConfigError
    that names the variable, never its value, for a name that is not allow-listed, a variable that
    is not set or empty, and anything else that starts a reference.
    """
    return _REFERENCE.sub(lambda found: _value(found, environ), text)


def _value(found: re.Match[str], environ: Mapping[str, str]) -> str:
    name = found.group(1)
    if name is None or not _NAME.match(name):
        raise ConfigError(
            "a configured value holds a malformed reference to a variable",
            "Write it as ${NAME}, for instance ${OPENAI_API_KEY}.",
        )
    if name not in ALLOWED:
        raise ConfigError(
            f"the variable {name} may not be used in the configuration",
            f"Allowed are {', '.join(sorted(ALLOWED))}.",
        )
    value = environ.get(name, "")
    if not value:
        raise ConfigError(f"the variable {name} is not set", f"Set {name} and try again.")
    return value
