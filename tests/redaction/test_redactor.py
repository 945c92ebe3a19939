from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.redaction.made_secrets import ALNUM, HEX, jwt, made, password, pem, provider_secrets
from vault_tools.redaction.redactor import contains_secret, redact, report

_RNG = random.Random(99)
_PIECES = [
    *"\n\r\t |:=`*\"'„“[](){}<>@/\\-_.,;#«»!&?%$+~",
    "\r\n", "\u2028", "\x85", "\x0b", "İ", "ß", "\ud800", "\x00", "\n\n", "  ", "> ", "- ", "| ",
    "|---|---|\n", "password", "Passwort", "token", "api_key", "PIN", "secret", ": ", " = ", "=>",
    "://", "https://", "user:", "curl -u ", "Bearer ", "Basic ", "[[", "]]", "](", "data:",
    "sha256:",
    "password: |\n", "client_secret: >-\n  ", "Private-Lines: 2\n", "«REDACTED:token»",
    "«REDACTED:",
    "«REDACTED:password»", "-----BEGIN", "otpauth://a?secret=", "eyJ", "ist ", "</password>",
    "<password>", "hunter2", "correct horse", "${X}", "null", "siehe ", "4711", " / ", "--token ",
    made(_RNG, ALNUM, 24), made(_RNG, HEX, 40), password(_RNG), jwt(_RNG), *pem(_RNG),
    *(secret for _, secret in provider_secrets(5)[::9]),
]  # fmt: skip
notes = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=6)), max_size=24).map("".join)


@given(notes)
def test_redacted_text_redacts_to_itself(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(notes)
def test_redacted_text_reports_nothing(text: str) -> None:
    assert report(redact(text)) == ()


@given(notes)
def test_text_changes_exactly_when_something_is_reported(text: str) -> None:
    assert (redact(text) != text) == bool(contains_secret(text))


@given(notes)
def test_lines_keep_their_number_and_endings(text: str) -> None:
    after = redact(text)
    assert after.count("\n") == text.count("\n")
    assert len(after.splitlines()) == len(text.splitlines())
    assert [line[-1:] for line in after.splitlines(keepends=True) if line[-1:].isspace()][-1:] == [
        line[-1:] for line in text.splitlines(keepends=True) if line[-1:].isspace()
    ][-1:]


@given(st.text())
def test_any_text_is_accepted(text: str) -> None:
    assert isinstance(redact(text), str)


def test_clean_text_comes_back_as_it_is() -> None:
    text = "# Notiz\r\n\r\nEin Satz über [[Obsidian]].\r\n"
    assert redact(text) == text
    assert report(text) == ()
    assert contains_secret("") == ()


def test_report_counts_by_kind_and_names_no_value() -> None:
    secret = password(_RNG)
    text = f"password: {secret}\nPasswort: {secret}\nPIN: 4711\n"
    assert report(text) == (("password", 2), ("pin", 1))
    assert contains_secret(text) == ("password", "pin")
    assert secret not in repr(report(text))


@pytest.mark.parametrize("around", ["[{}]", "[{}](x)", "[x]{}(y)", "![{}]", "[[{}]]", "<{}>"])
def test_mark_makes_no_link(around: str) -> None:
    secret = dict(provider_secrets(3))["github_token"]
    after = redact(around.format(secret))
    assert secret not in after
    assert after.count("[[") == around.count("[[")
    assert after.count("](") == around.count("](")


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\r", "\u2028", "\x0c"])
def test_secret_does_not_swallow_a_line_break(break_: str) -> None:
    text = f"a{break_}password: {password(_RNG)}{break_}b"
    assert redact(text) == f"a{break_}password: «REDACTED:password»{break_}b"


def test_forged_mark_hides_nothing() -> None:
    secret = password(_RNG)
    assert secret not in redact(f"password: «REDACTED:{secret}»")


def test_secret_far_along_a_long_line_is_masked() -> None:
    secret = dict(provider_secrets(3))["github_token"]
    assert secret not in redact("Wort " * 20_000 + secret + " Wort" * 20_000)


def test_long_unclosed_passphrase_is_masked_to_its_end() -> None:
    text = 'password: "' + "abc def " * 2_000 + "tail"
    assert redact(text) == 'password: "«REDACTED:password»'
