"""Tell what only stands for a value from a value, by the shape of the whole of it.

A value is never let off because a part of it says "example".
"""

from __future__ import annotations

import re

from vault_tools.redaction.labels import is_label

_LONGEST = 200

_REFERENCES = re.compile(
    r"""(?:
    \$\{[^{}]*\} | \$\([^()]*\) | \$[A-Za-z_][A-Za-z0-9_]*     # shell
  | \{\{[^{}]*\}\} | \{[A-Za-z_][\w .-]*\} | <%[^%]*%>          # templates
  | <[^<>]{1,60}> | %[A-Za-z_]\w*%                              # <your key>, Windows
  | \[\[[^\[\]]*\]\] | !?\[[^\[\]]*\]\([^()]*\)                 # links
  | \[[A-Za-zÄÖÜäöüß ._-]{0,40}\]                               # [your key]
  | (?:process\.)?env[.\[(].* | os\.(?:environ|getenv)\b.* | ENV\[.*\] | getenv\(.*\)
  | [A-Za-z_][\w.]{0,60}\([^()]{0,80}\)[;,]?                    # a call
  | (?:self|this|args|config|settings|options|req|request|props|params|ctx|data)
      (?:\.[A-Za-z_]\w*){1,6}[;,]?
  | (?:op|vault|keyring|secretref|doppler|bw|pass|sops)://\S+ | !(?:secret|vault|ref|env)\b.*
  | (?:~|\.{1,2})?(?:/[A-Za-z_.][A-Za-z_.-]{0,30}){2,}          # a path of words
  | \w+(?:\[[\w, .|]*\])?(?:\s*\|\s*\w+)?\s*=\s*(?:None|null|""|'')    # a type and its default
  | [|>][+-]?\d?                                                # YAML block scalar
  | [\[{(]+ | [\]})]+ | [\[{]\s*[\]}][;,]?
  | (?:your|my|mein|dein|ihr|ein|the|insert|enter|paste|some|example|replace)[ _-]
      (?:[A-Za-zÄÖÜäöüß]{1,20}[ _-]){0,5}(?:key|token|passwor[dt]|secret|kennwort|schlüssel|value
      |wert|here|hier|passphrase|pin|credentials?)
  | [A-Za-z_]{0,20}(?:_HERE|_GOES_HERE)
  | (.)\1{2,}                                                   # xxxx, ****, ....
  | [x*•·.…_?#=~–—-]+
    )""",
    re.VERBOSE | re.IGNORECASE,
)  # fmt: skip

_EMPTY = (
    "null none nil true false undefined n/a na tbd todo fixme unknown unbekannt leer empty keine"
    " keins kein nein ja yes no on off optional required pflicht pflichtfeld string str text int"
    " integer number boolean bool bytes varchar object array any void type secretstr redacted"
    " masked hidden geheim password passwort passphrase kennwort token secret changeme placeholder"
    " example beispiel default nan geändert changed reset zurückgesetzt nirgends string! str?"
    " string? disabled enabled deaktiviert aktiviert"
    " 1password oauth2 base64 base32 sha256 sha512 argon2 argon2id pbkdf2 ed25519 hs256 rs256"
)
_EMPTY_WORDS = frozenset(_EMPTY.split())

_POINTERS = re.compile(
    r"(?:siehe|see|ask|frag|frage|fragen|im|in|beim|bei|stored|gespeichert|liegt|steht|lies|read"
    r"|use|nutze|verwende|saved|from|aus|via|per|nach|vgl\.?|cf\.?|same|gleich|wie|as)"
    r"(?:[ \t]+(?:\[\[[^\[\]]*\]\]|[\"„“”]?1?[A-Za-zÄÖÜäöüßé'’.,/()&-]+[\"“”]?)){1,12}[.!]?",
    re.IGNORECASE,
)

_SMALL = (
    "the a an is are was of to for and or with your must should can will be has have it this that"
    " not by from der die das ein eine einen ist sind war wird werden muss müssen soll sollte kann"
    " für und oder mit dein deine ihr nicht von zu im am den dem des bitte wenn sich es auf"
)
_FUNCTION_WORDS = frozenset(_SMALL.split())

_HASH = re.compile(r"(?:sha-?\d{1,3}|md5|blake\d\w*)[:=-]\S+", re.IGNORECASE | re.ASCII)
_TOKEN = re.compile(r"[A-Za-z0-9_.~+/=!@#$%^&*?:;,|<>()\[\]{}§€-]+")
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://", re.IGNORECASE | re.ASCII)
_WORDS = re.compile(r"[-_./:, +]+|(?<=[a-zäöüß])(?=[A-ZÄÖÜ])")
_DATE_PARTS = re.compile(r"\d{1,4}\Z|\d{8}\Z|[vV]\d{1,3}\Z", re.ASCII)
_FILE = re.compile(r"[\w./ -]{0,120}\.(?:md|txt|json|ya?ml|py|js|ts|png|jpe?g|pdf|svg|html?|toml)")


def is_placeholder(value: str) -> bool:
    """Tell whether a whole value only refers to a secret, is empty, a type or a mark of ours."""
    value = value.strip()
    if not value or is_label(value):
        return True
    if len(value) > _LONGEST:
        return False
    bare = value.rstrip(",;").strip("\"'`*_()")
    return (
        not bare
        or bare.lower() in _EMPTY_WORDS
        or _REFERENCES.fullmatch(value) is not None
        or _REFERENCES.fullmatch(bare) is not None
    )


def is_prose(value: str) -> bool:
    """Tell whether a value is a sentence or points elsewhere, rather than being a passphrase."""
    if len(value) > 2 * _LONGEST:
        return False
    if _POINTERS.fullmatch(value.strip()):
        return True
    words = value.lower().split()
    known = sum(word.strip(".,;:!?()") in _FUNCTION_WORDS for word in words)
    ends = value.rstrip(' *_)"”“').endswith((".", "!", "?", ":", ";")) or ", " in value
    aside = " (" in value and value.endswith(")") and not any(map(is_made_up, words))
    return len(words) >= 4 and (aside or known >= 3 or (known >= 1 and ends))


def is_word_like(value: str) -> bool:
    """Tell whether a value is a slug, a camelCase name or a plain word with a date or number."""
    pieces = [piece for piece in _WORDS.split(value) if piece]
    named = sum(len(piece) for piece in pieces if _is_word(piece))
    return bool(pieces) and named * 4 >= sum(map(len, pieces)) * 3


def _is_word(piece: str) -> bool:
    if _DATE_PARTS.match(piece):
        return True
    letters = piece.rstrip("0123456789")
    if not letters.isalpha() or len(piece) - len(letters) > 2:
        return False
    plain = letters.islower() or letters.isupper() or letters.istitle()
    return plain and len(letters) >= 3 and any(letter in "aeiouyäöüAEIOUYÄÖÜ" for letter in letters)


def is_token_like(value: str) -> bool:
    """Tell whether a value looks like a generated key: no space, long enough, not words."""
    if len(value) < 8 or is_placeholder(value) or _HASH.fullmatch(value):
        return False
    if not _TOKEN.fullmatch(value) or _URL.match(value) or _FILE.fullmatch(value[:130]):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    if not letters:
        return digits >= 12 and digits == len(value)
    if not digits:
        upper = sum(map(str.isupper, value))
        return len(value) >= 16 and 3 < upper < letters - 3 and not is_word_like(value)
    return not is_word_like(value)


_VERSION = re.compile(r"[vV]?\d+(?:\.\d+)+[\w.+-]*|\d{4}-\d\d-\d\d\S*", re.ASCII)


def is_made_up(value: str) -> bool:
    """Tell whether one word is no plain word: letters with digits or signs, six or more."""
    if len(value) < 6 or is_placeholder(value) or _HASH.fullmatch(value):
        return False
    if is_token_like(value):
        return True
    if any(map(str.isspace, value)) or _URL.match(value) or _VERSION.fullmatch(value):
        return False
    if _FILE.fullmatch(value[:130]) or not any(map(str.isalpha, value)):
        return False
    if any(sign in value for sign in "!@#$%^&?+=§*~"):
        return value.strip("!?*~") != value or any(map(str.isdigit, value)) or "@" not in value
    return any(map(str.isdigit, value)) and (value.isalnum() or not is_word_like(value))
