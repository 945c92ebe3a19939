"""Make hidden characters visible, so that what is read is what would be stored (spec 07, B7)."""

from __future__ import annotations

import unicodedata

_KEPT = frozenset("\n\t")
_HIDDEN_CATEGORIES = frozenset({"Cf", "Cc", "Co", "Cn", "Cs", "Zl", "Zp"})
_JOINER = "\u200d"
_EMOJI_SELECTOR = "\ufe0f"
_BLANK = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def is_hidden(char: str) -> bool:
    """Tell whether a reader would not see this character, or see another order because of it."""
    if char in _KEPT:
        return False
    if char in _BLANK or unicodedata.category(char) in _HIDDEN_CATEGORIES:
        return True
    return 0xFE00 <= ord(char) <= 0xFE0F or 0xE0100 <= ord(char) <= 0xE01EF


def hidden_characters(text: str) -> tuple[str, ...]:
    """List the hidden characters of a text in order, plain emoji sequences aside."""
    if text.isascii() and text.isprintable():
        return ()
    return tuple(char for n, char in enumerate(text) if is_hidden(char) and not _in_emoji(text, n))


def show_hidden(text: str) -> str:
    """Write each hidden character as ⟨U+200B⟩; line feeds, tabs and emoji joiners stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"⟨U+{ord(char):04X}⟩" if is_hidden(char) and not _in_emoji(text, n) else char
        for n, char in enumerate(text)
    )


def _in_emoji(text: str, n: int) -> bool:
    if text[n] not in (_JOINER, _EMOJI_SELECTOR) or n == 0:
        return False
    before = text[n - 1]
    pictured = unicodedata.category(before) == "So" or before in (_EMOJI_SELECTOR, "\U0001f3fb")
    return pictured or 0x1F3FB <= ord(before) <= 0x1F3FF


def storable(text: str) -> tuple[str, int]:
    """Remove what no memory may hold (NUL, control characters, lone surrogates) and count it.

    Bidi controls and zero-width characters stay: they are shown, not silently dropped.
    """
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = [c for c in normal if c in _KEPT or unicodedata.category(c) not in ("Cc", "Cs")]
    return "".join(kept), len(normal) - len(kept)
