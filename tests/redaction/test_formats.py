from __future__ import annotations

import random

import pytest

from tests.redaction.made_secrets import ALNUM, HEX, basic, jwt, made, password, provider_secrets
from vault_tools.redaction.formats import PROVIDERS
from vault_tools.redaction.redactor import contains_secret, redact

RNG = random.Random(20260801)


@pytest.mark.parametrize(("kind", "secret"), provider_secrets(7))
def test_provider_key_is_masked_wherever_it_stands(kind: str, secret: str) -> None:
    for line in (secret, f"Der Wert {secret} gilt.", f"`{secret}`", f"x={secret}", f"({secret})"):
        assert secret not in redact(line)
        assert secret[len(secret) // 2 :] not in redact(line)


def test_provider_key_is_reported_by_its_kind() -> None:
    named = [kind in contains_secret(f"so {secret} it") for kind, secret in provider_secrets(11)]
    assert sum(named) >= 0.95 * len(named)


def test_about_ninety_formats_are_named() -> None:
    assert len({kind for kind, *_ in PROVIDERS}) >= 85


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        (f"https://hooks.slack.com/services/{(s := 'T' + made(RNG, ALNUM, 30))}", s),
        (f"https://discord.com/api/webhooks/123456789012345678/{(s := made(RNG, ALNUM, 60))}", s),
        (f"https://maker.ifttt.com/trigger/x/with/key/{(s := made(RNG, ALNUM, 22))}", s),
        (f"redis://:{(s := password(RNG))}@localhost:6379/0", s),
        (f"postgres://anna:{(s := 'p@ss' + made(RNG, ALNUM, 6))}@db:5432/x", s),
        (f"https://{(s := made(RNG, ALNUM, 24))}@api.example.org/x", s),
        (f"GET /x?a=b&access_token={(s := made(RNG, ALNUM, 16))}&c=d", s),
        (f"https://x.org/cb?key={(s := made(RNG, ALNUM, 24))}", s),
        (f"curl -u anna:{(s := password(RNG))} https://x.org", s),
        (f"curl --user 'anna:{(s := password(RNG))}' https://x.org", s),
        (f"Authorization: Bearer {(s := made(RNG, ALNUM, 32))}", s),
        (f"Authorization: Basic {(s := basic('anna', password(RNG)))}", s),
        (f"Authorization: Token {(s := made(RNG, HEX, 24))}", s),
        (f"otpauth://totp/a:b?secret={(s := made(RNG, 'ABCDEFGH234567', 16))}&issuer=a", s),
        (f"cookie {(s := jwt(RNG))}", s),
        (f"bot 1234567890:AA{(s := made(RNG, ALNUM, 33))}", s),
        (f"{(s := made(RNG, HEX, 32))}-us12", s),
    ],
)
def test_secret_in_a_url_header_or_command_is_masked(line: str, secret: str) -> None:
    assert secret not in redact(line)


@pytest.mark.parametrize(
    "line",
    [
        "a risk-based-approach-to-something-large",
        "Basic configuration of the plugin",
        "Bearer authentication is described there",
        "https://example.org:8080/path@v2",
        "https://user:${PASSWORD}@host/x",
        "https://user:<password>@host/x",
        "https://example.org/?token=<token>",
        "mailto:anna@example.org",
        "Siehe https://example.org/@anna/12345",
    ],
)
def test_what_only_looks_like_a_format_stays(line: str) -> None:
    assert redact(line) == line
