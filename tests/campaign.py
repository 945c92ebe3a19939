"""How long a fault campaign runs: short in every test run, in full under `make torture`."""

from __future__ import annotations

import os

import pytest


def sizes(variable: str, *, short: int, full: int) -> list[object]:
    """Give a test its two sizes; the variable, where it is set, replaces both."""
    given = os.environ.get(variable)
    return [
        pytest.param(int(given or short), id="short"),
        pytest.param(int(given or full), id="full", marks=pytest.mark.torture),
    ]


SEED = int(os.environ.get("VAULT_TOOLS_SEED", "1"))
