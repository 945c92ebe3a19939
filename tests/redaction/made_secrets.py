"""Secrets made from a prefix and an alphabet, so that no literal key lies in the repository."""

from __future__ import annotations

import base64
import random
import string

from vault_tools.redaction.formats import PROVIDERS

ALNUM = string.ascii_letters + string.digits
HEX = string.digits + "abcdef"


def made(rng: random.Random, alphabet: str, length: int) -> str:
    """Make a random value that holds at least one letter and one digit."""
    letter = next(c for c in alphabet if c.isalpha())
    digit = next(c for c in alphabet if c.isdigit())
    inner = [rng.choice(alphabet) for _ in range(length - 2)]
    return "".join([letter, *inner, digit])


def password(rng: random.Random) -> str:
    """Make a password as people do: a word, digits, a sign."""
    word = rng.choice(["Sommer", "hunter", "Katze", "winter", "Berlin"])
    return f"{word}{rng.randint(10, 9999)}{rng.choice('!?#+%')}{rng.choice(ALNUM)}"


def provider_secrets(seed: int) -> list[tuple[str, str]]:
    """Make one (kind, secret) for every prefix of the table of formats."""
    rng = random.Random(seed)
    secrets = []
    for kind, prefixes, alphabet, least in PROVIDERS:
        signs = _expanded(alphabet)
        for prefix in prefixes.split():
            secrets.append((kind, prefix + made(rng, signs, least + rng.randint(2, 6))))
    return secrets


def _expanded(alphabet: str) -> str:
    signs = alphabet.replace("\\-", "")
    for written, meant in (
        ("A-Z2-7", string.ascii_uppercase + "234567"),
        ("A-Z", string.ascii_uppercase),
        ("a-z", string.ascii_lowercase),
        ("a-f", "abcdef"),
        ("A-F", "ABCDEF"),
        ("0-9", string.digits),
    ):
        signs = signs.replace(written, meant)
    # The signs between are left out: a key that ends in a full stop ends a sentence.
    return "".join(c for c in signs if c.isalnum())


def jwt(rng: random.Random) -> str:
    return ".".join(
        ["eyJ" + made(rng, ALNUM, 20), "eyJ" + made(rng, ALNUM, 40), made(rng, ALNUM, 43)]
    )


def basic(user: str, secret: str) -> str:
    return base64.b64encode(f"{user}:{secret}".encode()).decode()


def pem(rng: random.Random, name: str = "RSA PRIVATE KEY") -> list[str]:
    """Make the lines of a key block; the body is random."""
    dashes = "-" * 5
    body = [made(rng, ALNUM + "+/", 64) for _ in range(4)]
    return [f"{dashes}BEGIN {name}{dashes}", *body, f"{dashes}END {name}{dashes}"]
