from __future__ import annotations

import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tools.errors import ConfigError
from vault_tools.providers.environment import ALLOWED, resolve


@pytest.mark.parametrize("name", sorted(ALLOWED))
def test_an_allowed_variable_is_replaced(name: str) -> None:
    value = secrets.token_hex(8)
    assert resolve(f"a ${{{name}}} b", {name: value}) == f"a {value} b"


@pytest.mark.parametrize("name", ["HOME", "PATH", "AWS_SECRET_ACCESS_KEY", "openai_api_key", "X"])
def test_any_other_variable_is_refused_by_name_and_its_value_never_shown(name: str) -> None:
    value = secrets.token_hex(8)
    with pytest.raises(ConfigError, match=name) as caught:
        resolve(f"${{{name}}}", {name: value})
    assert value not in f"{caught.value.message}{caught.value.hint}"


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": ""}])
def test_an_unset_or_empty_variable_is_an_error(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
        resolve("${OPENAI_API_KEY}", environ)


@pytest.mark.parametrize(
    "text",
    ["${", "${}", "${OPENAI_API_KEY", "${OPENAI_API_KEY:-x}", "$OPENAI_API_KEY", "${${HOME}}"],
)
def test_a_malformed_reference_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        resolve(text, {"OPENAI_API_KEY": "x", "HOME": "y"})


def test_a_value_is_not_resolved_again() -> None:
    assert resolve("${OPENAI_API_KEY}", {"OPENAI_API_KEY": "${HOME}"}) == "${HOME}"


@given(st.text(st.characters(exclude_characters="$")))
def test_text_without_a_reference_stays(text: str) -> None:
    assert resolve(text, {}) == text
