"""German and English names of secrets, matched as words, never inside another word.

`author`, `secretary`, `tokenCap`, `maxTokens` and `Passwortmanager` name no secret: only the
last words of a name decide, at snake, kebab, camel and German compound boundaries.
"""

from __future__ import annotations

import re
from enum import Enum


class Strength(Enum):
    """Say how much of a value a name condemns."""

    STRONG = "strong"  # the whole value, whatever it looks like
    CODED = "coded"  # the whole value, if it holds a digit
    MEDIUM = "medium"  # one word that is no plain word
    WEAK = "weak"  # only what looks like a generated key
    DIGITS = "digits"  # PIN and the like: only digits


Named = tuple[Strength, str]

_STRONG_ENDINGS = (
    "password", "passwort", "kennwort", "passphrase", "passwd", "losungswort", "pwd",
)  # fmt: skip
_STRONG_PHRASES = frozenset({
    ("pw",), ("pass", "phrase"), ("pass", "word"), ("seed", "phrase"), ("recovery", "phrase"),
    ("mnemonic",), ("mnemonic", "phrase"), ("secret", "phrase"), ("seedphrase",),
    ("wiederherstellungsphrase",), ("geheimwort",), ("codewort",), ("zugangswort",),
    ("wpa", "psk"), ("wpa", "key"),
})  # fmt: skip
_CODED_PHRASES = frozenset({
    ("recovery", "key"), ("recovery", "code"), ("recovery", "codes"), ("backup", "code"),
    ("backup", "codes"), ("backupcode",), ("backupcodes",), ("wiederherstellungsschlüssel",),
    ("wiederherstellungscode",), ("wiederherstellungscodes",), ("notfallcode",), ("notfallcodes",),
    ("wlan", "schlüssel"), ("wlanschlüssel",), ("wlan", "key"), ("wifi", "key"), ("zugangscode",),
    ("netzwerkschlüssel",), ("türcode",), ("alarmcode",), ("safecode",), ("passcode",),
})  # fmt: skip
_MEDIUM_PHRASES = frozenset({
    ("api", "key"), ("apikey",), ("api", "secret"), ("api", "token"), ("apitoken",),
    ("secret", "key"), ("secretkey",), ("private", "key"), ("privatekey",), ("access", "key"),
    ("accesskey",), ("client", "secret"), ("clientsecret",), ("app", "secret"), ("appsecret",),
    ("application", "key"), ("app", "key"), ("appkey",), ("account", "key"), ("master", "key"),
    ("auth", "key"), ("authkey",), ("encryption", "key"), ("signing", "key"), ("session", "key"),
    ("signing", "secret"), ("webhook", "secret"), ("shared", "key"), ("shared", "secret"),
    ("subscription", "key"), ("license", "key"), ("licence", "key"), ("product", "key"),
    ("activation", "key"), ("consumer", "key"), ("consumer", "secret"), ("deploy", "key"),
    ("service", "key"), ("storage", "key"), ("ssh", "key"), ("admin", "key"), ("user", "key"),
    ("integration", "key"), ("server", "key"), ("writer", "key"), ("write", "key"), ("read", "key"),
    ("preshared", "key"), ("secret", "access", "key"), ("database", "key"),
    ("secret",), ("geheimnis",), ("token",), ("access", "token"), ("accesstoken",), ("passwords",),
    ("authtoken",), ("bearer",), ("bearertoken",), ("refreshtoken",), ("sessiontoken",),
    ("schlüssel",), ("lizenzschlüssel",), ("zugriffsschlüssel",), ("zugangsschlüssel",),
    ("zugriffstoken",), ("zugangstoken",), ("produktschlüssel",), ("apischlüssel",),
    ("sicherheitsschlüssel",), ("geheimschlüssel",), ("privatschlüssel",), ("passwörter",),
    ("kennwörter",), ("aktivierungsschlüssel",), ("verschlüsselungsschlüssel",),
    ("credentials",), ("credential",), ("creds",), ("cred",), ("zugangsdaten",), ("logindaten",),
    ("anmeldedaten",), ("login", "details"), ("pass",), ("sessionid",),
    ("totp",), ("2fa",), ("mfa",), ("otp", "seed"), ("authenticator", "key"),
    ("geheim", "code"), ("geheimcode",), ("security", "code"), ("zugangs", "daten"),
    ("sicherheitscode",), ("einmalcode",), ("activation", "code"), ("license", "code"),
})  # fmt: skip
_WEAK_PHRASES = frozenset({
    ("key",), ("authorization",), ("authentication",), ("autorisierung",), ("cookie",),
    ("set", "cookie"), ("session",), ("session", "id"), ("login",), ("anmeldung",), ("sig",),
    ("signature",), ("jwt",), ("seed",), ("api",), ("auth",), ("oauth",), ("client", "id"),
    ("app", "id"), ("key", "id"), ("keys",), ("tokens",), ("secrets",), ("zugang",),
    ("userkey",), ("salt",),
})  # fmt: skip
_DIGIT_PHRASES = frozenset({
    ("pin",), ("puk",), ("tan",), ("cvv",), ("cvc",), ("sim", "pin"), ("pincode",), ("pin", "code"),
    ("geheimzahl",), ("telefonpin",), ("pinnummer",), ("puk2",), ("pin2",),
})  # fmt: skip
_SCHLUESSEL = re.compile(r"(?:api|zugangs|zugriffs|lizenz|geheim|produkt|netzwerk)schluessel\Z")

# Every name above holds one of these; a line without any has no assignment.
CUES: tuple[str, ...] = (
    "pass", "kennw", "losungs", "zugang", "pwd", "pw", "phrase", "seed", "mnemonic", "wiederherst",
    "recovery", "backup", "notfall", "geheim", "codew", "key", "schl", "secret", "token", "auth",
    "cred", "daten", "login", "code", "anmeld", "autoris", "cookie", "session", "sig", "totp",
    "2fa", "mfa", "otp", "bearer", "api",
    "pin", "puk", "tan", "cvv", "cvc", "psk", "jwt", "client", "salt",
)  # fmt: skip

# A cache key, a design token, a sort key: names of other things.
_OTHER_NAMES = "cache design sort primary foreign partition group hot next map"
_NO_SECRET = frozenset(_OTHER_NAMES.split())
_PIECE = re.compile(r"[A-ZÄÖÜ]{2,}(?![a-zäöüß])|[A-ZÄÖÜ]?[a-zäöüß]+|[A-ZÄÖÜ]+|[0-9]+")
_MOST_WORDS = 8


def words_of(name: str) -> tuple[str, ...]:
    """Split a name at snake, kebab, space and camel boundaries, in lower case."""
    name = name.replace("2FA", "Twofa").replace("2fa", "twofa").replace("OAuth", "Oauth")
    found = [piece.lower() for piece in _PIECE.findall(name)]
    while found and found[-1].isdigit() and len(found[-1]) <= 2:
        found.pop()
    return tuple("2fa" if word == "twofa" else word for word in found[-_MOST_WORDS:])


def strength_of(name: str) -> Named | None:
    """Tell what a name condemns by its last words; None where it names no secret."""
    return _strength(words_of(name), name)


def _strength(words: tuple[str, ...], name: str) -> Named | None:
    if not words:
        return None
    last = words[-1]
    ends = tuple(words[-count:] for count in (3, 2, 1) if len(words) >= count)
    if last.endswith(_STRONG_ENDINGS) or any(end in _STRONG_PHRASES for end in ends):
        return Strength.STRONG, "password"
    if any(end in _CODED_PHRASES for end in ends):
        return Strength.CODED, "code"
    if words[-2:-1] and words[-2] in _NO_SECRET:
        return None
    if any(end in _MEDIUM_PHRASES for end in ends) or _SCHLUESSEL.search(last):
        return Strength.MEDIUM, "token" if "token" in last else "secret"
    if any(end in _DIGIT_PHRASES for end in ends) and (len(words) > 1 or not name.islower()):
        return Strength.DIGITS, "pin"
    if any(end in _WEAK_PHRASES for end in ends):
        return Strength.WEAK, "secret"
    return None


_LINKING_WORDS = (
    "des eines einer dem deines für for vom von zum zur im in am of on to at bei beim the"
    " der die das den dem unseres meines"
    " ist is lautet now jetzt neu neues new alt old aktuell current"
)
_PREPOSITIONS = frozenset(_LINKING_WORDS.split())


_VERBS = frozenset({"ist", "is", "lautet", "lauten"})
_WITHIN = {
    Strength.STRONG: Strength.MEDIUM,
    Strength.CODED: Strength.MEDIUM,
    Strength.MEDIUM: Strength.WEAK,
    Strength.DIGITS: Strength.DIGITS,
}


def strength_within(label: str) -> Named | None:
    """Tell what a label condemns that names its secret earlier: "Passwort für den Router"."""
    words = words_of(label)
    for count in range(len(words) - 1, 0, -1):
        named = _strength(words[:count], label)
        if named and _VERBS.issuperset(words[count:]):
            return named
        if named and named[0] is not Strength.WEAK and _continues(words[count:]):
            return _WITHIN[named[0]], named[1]
    return None


def _continues(rest: tuple[str, ...]) -> bool:
    return rest[0] in _PREPOSITIONS or len(rest) == 1
