from __future__ import annotations

import random
from string import ascii_uppercase

import pytest

from tests.redaction.made_secrets import ALNUM, HEX, made, password, pem
from vault_tools.redaction.redactor import contains_secret, redact

RNG = random.Random(4711)

PASSWORD_SHAPES = """\
password: {}
Password: {}
PASSWORD={}
**Password:** {}
**Password**: {}
- **Passwort**: {}
* Kennwort: {}
- [ ] Passwort: {}
> Passwort: {}
> - WLAN-Passwort: {}
__Passwort__: {}
==Passwort==: {}
*Passphrase:* {}
`password`: `{}`
`password: {}`
password: `{}`
"password": "{}",
"password":"{}"
'password' => '{}',
password = '{}'
password := "{}"
password:: {}
password -> {}
Passwort → {}
Passwort - {}
Passwort – {}
Passwort (Router): {}
Passwort für den Router: {}
Passwort des Servers: {}
Passwort [prod]: {}
Das Kennwort lautet: {}
<!-- password: {} -->
[password:: {}]
<b>Passwort:</b> {}
<td>Passwort</td><td>{}</td>
"name": "password", "value": "{}"
| user | anna | password | {} |
mysql -u root -p{} db
sshpass -p {} ssh x
WLAN-Passwort Büro: {}
Datenbankpasswort: {}
dbPassword: {}
db_password={}
DB_PASSWORD="{}"
export PGPASSWORD={}
spring.datasource.password={}
user=anna password={} host=db
Server=x;User Id=anna;Password={};
{{"user": "anna", "pwd": "{}"}}
{{user: anna, password: {}, port: 1}}
<password>{}</password>
<add key="DbPassword" value="{}" />
password="{}"
| Passwort | {} |
| **Passwort** | `{}` |
tool --password {}
tool --password={}
tool --db-password "{}" run
machine host login anna password {}
Das Passwort ist {}.
Das Passwort für das NAS lautet {}
my password is {}
the password is `{}`
Mein Passwort: „{}“
mit Passwort {} anmelden
Zugangsdaten: anna / {}
Login: anna / {}
Credentials: anna / {}
PW: {}
pwd: {}
Masterpasswort = {}
$config['db_password'] = '{}';
os.environ["DB_PASSWORD"] = "{}"
Passwort:\t{}
\\"password\\": \\"{}\\"
""".splitlines()

KEY_SHAPES = """\
API-Key: {}
api_key = {}
apiKey: "{}"
**API-Schlüssel:** {}
X-Api-Key: {}
client_secret={}
"clientSecret": "{}"
Token: {}
Zugriffstoken: `{}`
Token: {} (läuft ab)
access_token: '{}'
SECRET_KEY={}
Geheimnis: {}
System.setProperty("ALGOLIA_TOKEN", "{}")
<algoliaToken>{}</algoliaToken>
| API key | {} |
--token {}
Lizenzschlüssel: {}
""".splitlines()


def test_there_are_sixty_note_shapes() -> None:
    assert len(PASSWORD_SHAPES) + len(KEY_SHAPES) >= 60


@pytest.mark.parametrize("shape", PASSWORD_SHAPES)
def test_password_in_a_note_is_masked(shape: str) -> None:
    for _ in range(5):
        secret = password(RNG)
        after = redact(shape.format(secret))
        assert secret not in after
        assert secret[: len(secret) // 2 + 1] not in after
        assert redact(after) == after


@pytest.mark.parametrize("shape", KEY_SHAPES)
def test_key_in_a_note_is_masked(shape: str) -> None:
    for alphabet, length in ((ALNUM, 20), (HEX, 32), (ALNUM.lower(), 16)):
        secret = made(RNG, alphabet, length)
        assert secret not in redact(shape.format(secret))


@pytest.mark.parametrize(
    "line",
    [
        "password: correct horse battery staple",
        "Seed phrase: abandon ability able about above absent absorb",
        'Passwort: "correct horse battery',
        "Wiederherstellungsphrase: apfel birne kirsche traube",
    ],
)
def test_passphrase_is_masked_whole(line: str) -> None:
    after = redact(line)
    assert not any(word in after for word in line.split(":")[1].strip(' "').split())


def test_closing_sign_after_a_password_stays() -> None:
    for shape in ("<!-- password: {} -->", "[password:: {}]", "(pw: {})", "%% Passwort: {} %%"):
        assert redact(shape.format(password(RNG))) == shape.format("«REDACTED:password»")


def test_pin_and_one_time_seed_are_masked() -> None:
    seed = made(RNG, ascii_uppercase + "234567", 16)
    grouped = " ".join(seed[n : n + 4] for n in range(0, 16, 4))
    for line in (f"PIN: {RNG.randint(1000, 9999)}", f"SIM-PIN: {RNG.randint(1000, 9999)}"):
        assert contains_secret(line) == ("pin",)
    assert seed not in redact(f"TOTP: {seed}")
    assert grouped not in redact(f"TOTP: {grouped}")


def test_column_named_for_a_secret_is_masked_in_every_row() -> None:
    first, second = password(RNG), password(RNG)
    table = (
        "| Dienst | Passwort | Notiz |\n| --- | :---: | --- |\n"
        f"| NAS | {first} | Keller |\n| Mail | `{second}` | |\n\n| frei | bleibt |\n"
    )
    after = redact(table)
    assert first not in after
    assert second not in after
    assert all(word in after for word in ("Passwort", "Notiz", "Keller", "NAS", "bleibt"))


@pytest.mark.parametrize("indicator", ["|", ">-", "|2", ">+"])
def test_block_scalar_under_a_secret_name_is_masked(indicator: str) -> None:
    secret = password(RNG)
    after = redact(f"a: 1\nclient_secret: {indicator}\n  {secret}\n\n  more words\nb: open\n")
    assert secret not in after
    assert "more words" not in after
    assert "b: open" in after
    assert "a: 1" in after


@pytest.mark.parametrize("prefix", ["", "> ", "- ", "> [!note] ", "    ", "> > ", "1. "])
@pytest.mark.parametrize(
    "name", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
def test_key_block_is_masked_behind_any_prefix(prefix: str, name: str) -> None:
    lines = pem(RNG, name)
    note = "\n".join(["before", *(prefix + line for line in lines), "after"])
    after = redact(note)
    assert not any(line in after for line in lines)
    assert after.startswith("before\n")
    assert after.endswith("\nafter")
    assert after.count("\n") == note.count("\n")


def test_unclosed_key_block_reaches_to_the_end() -> None:
    lines = pem(RNG)[:-1]
    after = redact("\n".join(["before", *lines, "", "tail of it"]))
    assert "before" in after
    assert "tail of it" not in after


def test_orphan_end_reaches_back_to_the_blank_line() -> None:
    lines = pem(RNG)[1:]
    after = redact("\n".join(["before", "", *lines, "after"]))
    assert not any(line in after for line in lines)
    assert "before" in after
    assert "after" in after


def test_key_on_one_escaped_line_is_masked() -> None:
    lines = pem(RNG)
    after = redact('{"private_key": "' + "\\n".join(lines) + '\\n", "open": 1}')
    assert not any(line in after for line in lines)
    assert '"open": 1}' in after


def test_key_markers_in_a_sentence_stay() -> None:
    begin, *_, end = pem(RNG)
    line = f"A key begins with `{begin}` and ends with `{end}`, that is all.\nnext"
    assert redact(line) == line


@pytest.mark.parametrize(
    "line",
    [
        "password: ${DB_PASSWORD}",
        "password: $PW",
        "password: {{ vault.pw }}",
        "password: <your key>",
        'password = os.environ["PW"]',
        "password: process.env.PW",
        "password: null",
        "password: ****",
        "password: [[Passwörter]]",
        "password: op://vault/item/field",
        "password: !secret db",
        "password: string",
        "password=getpass()",
        "token: your-token-here",
        "password: ",
    ],
)
def test_placeholder_stays(line: str) -> None:
    assert redact(line) == line


@pytest.mark.parametrize("part", ["example", "your", "null", "${x}", "changeme"])
def test_value_that_only_contains_a_placeholder_is_masked(part: str) -> None:
    secret = password(RNG) + part
    assert secret not in redact(f"password: {secret}")
