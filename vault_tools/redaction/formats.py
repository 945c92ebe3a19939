"""Secrets that show by their form alone: provider keys, tokens, webhooks, URLs with a password.

Prefixes and alphabets are public facts of the providers. No rule has an upper length or an
entropy test, and none may start inside a word ("risk-based" is no `sk-` key).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vault_tools.redaction.labels import Finding
from vault_tools.redaction.placeholders import is_placeholder, is_token_like

ALNUM = "A-Za-z0-9"
WORD = r"A-Za-z0-9_\-"
DOTTED = r"A-Za-z0-9_.\-"
BASE64 = r"A-Za-z0-9+/=_\-"
HEX = "a-fA-F0-9"
UPPER = "A-Z0-9"
LOWER = "a-z0-9"

# kind, prefixes (space separated), alphabet after the prefix, least count of it
PROVIDERS: tuple[tuple[str, str, str, int], ...] = (
    ("anthropic_key", "sk-ant-", WORD, 20),
    ("openai_key", "sk-proj- sk-svcacct- sk-admin- sk-None-", WORD, 16),
    ("openrouter_key", "sk-or-", WORD, 20),
    ("openai_key", "sk-", ALNUM, 16),
    ("langsmith_key", "lsv2_pt_ lsv2_sk_", WORD, 20),
    ("groq_key", "gsk_", ALNUM, 20),
    ("xai_key", "xai-", ALNUM, 20),
    ("perplexity_key", "pplx-", ALNUM, 20),
    ("replicate_token", "r8_", ALNUM, 20),
    ("nvidia_key", "nvapi-", WORD, 20),
    ("tavily_key", "tvly-", WORD, 20),
    ("huggingface_token", "hf_ api_org_", ALNUM, 20),
    ("elevenlabs_key", "sk_", HEX, 32),
    ("github_token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", "A-Za-z0-9_", 20),
    (
        "gitlab_token",
        "glpat- glptt- gldt- glrt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- glrtr-"
        " GR1348941",
        DOTTED,
        16,
    ),
    ("gitlab_session", "_gitlab_session=", ALNUM, 20),
    ("bitbucket_token", "ATBB ATCTT3", BASE64, 20),
    ("atlassian_token", "ATATT3 ATSTT3", BASE64, 20),
    ("aws_key", "AKIA ASIA ABIA ACCA", UPPER, 16),
    ("aws_bedrock_key", "ABSK bedrock-api-key-", BASE64, 24),
    ("google_key", "AIza", WORD, 30),
    ("google_secret", "GOCSPX-", WORD, 20),
    ("google_token", "ya29. 1//0", WORD, 20),
    ("azure_key", "AccountKey= SharedAccessKey= SharedSecretValue= sharedaccesskey=", BASE64, 16),
    ("alibaba_key", "LTAI", ALNUM, 16),
    ("tencent_key", "AKID", ALNUM, 28),
    ("yandex_key", "AQVN y0_ t1.9euel", BASE64 + ".", 30),
    ("ibm_key", "ApiKey-", WORD, 30),
    ("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", HEX, 32),
    ("heroku_key", "HRKU-", WORD, 30),
    ("cloudflare_key", "v1.0- cfut_ cfat_ cfk_", WORD, 30),
    ("flyio_token", "fm1r_ fm2_ fo1_", BASE64, 30),
    ("render_key", "rnd_", ALNUM, 20),
    ("vercel_token", "vercel_blob_rw_ vcp_ vck_", WORD, 20),
    ("netlify_token", "nfp_ nfc_ nfo_", ALNUM, 20),
    ("scalingo_token", "tk-us-", WORD, 30),
    ("railway_token", "rw_Fe26.2", BASE64 + "*.", 30),
    (
        "slack_token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe. xoxc- xoxd-",
        DOTTED + "%",
        10,
    ),
    ("slack_app_token", "xapp-", WORD, 20),
    ("stripe_key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", ALNUM, 10),
    ("stripe_webhook_secret", "whsec_", BASE64, 20),
    ("square_token", "sq0csp- sq0atp- sq0idp- EAAA", WORD, 22),
    ("facebook_token", "EAAC EAAM EAAG EAAB EAAD", ALNUM, 60),
    ("twitter_bearer", "AAAAAAAAAAAAAAAAAAAA", ALNUM + "%", 20),
    ("shopify_token", "shpat_ shpca_ shppa_ shpss_", HEX, 32),
    ("shippo_token", "shippo_live_ shippo_test_", HEX, 32),
    ("plaid_token", "access-sandbox- access-development- access-production-", HEX + "-", 30),
    ("razorpay_key", "rzp_live_ rzp_test_", ALNUM, 14),
    ("braintree_token", "access_token$production$ access_token$sandbox$", ALNUM + "$", 30),
    ("flutterwave_key", "FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- FLWSECK_TEST", ALNUM + "-", 12),
    ("gocardless_token", "live_", WORD + "=", 40),
    ("duffel_token", "duffel_test_ duffel_live_", WORD + "=", 40),
    ("easypost_key", "EZAK EZTK", ALNUM, 50),
    ("lob_key", "live_ test_ live_pub_ test_pub_", HEX, 31),
    ("sendgrid_key", "SG.", DOTTED + "=", 40),
    ("brevo_key", "xkeysib- xsmtpsib-", WORD, 40),
    ("mailgun_key", "key- pubkey-", HEX, 32),
    ("resend_key", "re_", "A-Za-z0-9_", 24),
    ("twilio_key", "SK", HEX, 32),
    ("npm_token", "npm_", ALNUM, 30),
    ("pypi_token", "pypi-", WORD, 50),
    ("rubygems_key", "rubygems_", HEX, 32),
    ("nuget_key", "oy2", LOWER, 43),
    ("crates_token", "cio", ALNUM, 32),
    ("clojars_token", "CLOJARS_ clojars_", ALNUM, 50),
    ("docker_token", "dckr_pat_ dckr_oat_", WORD, 20),
    ("artifactory_key", "AKCp cmVmdGtuO", ALNUM, 40),
    ("vault_token", "hvs. hvb. hvr.", WORD, 20),
    ("doppler_token", "dp.pt. dp.ct. dp.st. dp.sa. dp.scim. dp.audit.", DOTTED, 30),
    ("infisical_token", "st.", DOTTED, 60),
    ("onepassword_token", "ops_eyJ", BASE64, 40),
    ("age_key", "AGE-SECRET-KEY-1", UPPER, 30),
    ("grafana_token", "glc_ glsa_ eyJrIjoi", BASE64, 30),
    ("sentry_token", "sntrys_ sntryu_", BASE64, 30),
    ("newrelic_key", "NRAK- NRII- NRJS- NRRA- NRIQ-", WORD, 16),
    ("dynatrace_token", "dt0c01. dt0s16.", DOTTED, 40),
    ("databricks_token", "dapi dkea dose", HEX, 32),
    ("notion_token", "secret_ ntn_", ALNUM, 40),
    ("linear_key", "lin_api_ lin_oauth_", ALNUM, 30),
    ("postman_key", "PMAK-", HEX + "-", 40),
    ("planetscale_token", "pscale_pw_ pscale_tkn_ pscale_oauth_", DOTTED + "=", 30),
    ("supabase_key", "sb_secret_ sbp_", WORD, 20),
    ("neon_key", "napi_", ALNUM, 40),
    ("figma_token", "figd_ figu_ figo_", WORD, 30),
    ("typeform_token", "tfp_", DOTTED + "=", 40),
    ("contentful_token", "CFPAT-", WORD, 30),
    ("readme_key", "rdme_", LOWER, 40),
    ("hubspot_token", "pat-na1- pat-eu1- pat-na2-", HEX + "-", 30),
    ("harness_token", "pat. sat.", DOTTED, 60),
    ("sourcegraph_token", "sgp_ slk_", HEX + "_local", 40),
    ("pulumi_token", "pul-", HEX, 32),
    ("prefect_key", "pnu_ pnb_", ALNUM, 30),
    ("buildkite_token", "bkua_ bkct_", HEX, 32),
    ("circleci_token", "CCIPAT_ CCIPRJ_", "A-Za-z0-9_", 30),
    ("octopus_key", "API-", UPPER, 26),
    ("openshift_token", "sha256~", WORD, 40),
    ("sonar_token", "sqp_ squ_ sqa_", HEX, 32),
    ("infracost_key", "ico-", ALNUM, 32),
    ("frameio_token", "fio-u-", WORD + "=", 40),
    ("adobe_secret", "p8e-", WORD, 32),
    ("intra42_secret", "s-s4t2ud- s-s4t2af-", HEX, 40),
    ("settlemint_token", "sm_aat_ sm_pat_ sm_sat_", ALNUM, 16),
    ("tailscale_key", "tskey-", WORD, 16),
    ("mapbox_token", "sk.eyJ", DOTTED, 30),
    ("dropbox_token", "sl.", WORD, 60),
    ("wakatime_key", "waka_", HEX + "-", 30),
    ("beamer_token", "b_", WORD + "=", 44),
    ("privateai_key", "pai_", ALNUM, 30),
    ("cohere_key", "co_", ALNUM, 38),
    ("defined_token", "dnkey-", WORD, 40),
    ("perplexity_key", "pplx_", ALNUM, 30),
    ("discord_secret", "mfa.", WORD, 60),
)

_BEFORE = "(?<![A-Za-z0-9])"


@dataclass(frozen=True, slots=True)
class Shape:
    """Hold one form: a cue to look for first, the pattern, and the group that is the secret.

    With `anycase` the cue is lower case and sought in the lowered line.
    """

    kind: str
    cue: str
    pattern: re.Pattern[str]
    group: int = 0
    holds: Callable[[str], bool] | None = None
    anycase: bool = False


def _mixes(value: str) -> bool:
    """Tell a key from a slug: some digit and some letter."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _provider_shapes() -> Iterator[Shape]:
    for kind, prefixes, alphabet, least in PROVIDERS:
        for prefix in prefixes.split():
            pattern = f"{_BEFORE}{re.escape(prefix)}[{alphabet}]{{{least},}}"
            yield Shape(kind, prefix, re.compile(pattern, re.ASCII), holds=_mixes)


def _is_basic(value: str) -> bool:
    """Tell whether a value is base64 of `user:password`, as the word "Basic" alone says little."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain and all(byte >= 32 for byte in plain)


def _shape(
    kind: str, cue: str, pattern: str, group: int = 0, holds: Callable[[str], bool] | None = None
) -> Shape:
    return Shape(kind, cue, re.compile(pattern, re.ASCII | re.IGNORECASE), group, holds, True)


def _cased(kind: str, cue: str, pattern: str, group: int = 0) -> Shape:
    return Shape(kind, cue, re.compile(pattern, re.ASCII), group)


def _not_placeholder(value: str) -> bool:
    return not is_placeholder(value)


_SECRET_PARAMETERS = (
    "access_token|refresh_token|id_token|auth_token|token|api[_-]?key|apikey|client_secret|secret"
    "|password|passwd|passwort|pwd|pass|private_token|subscription-key|x-amz-signature"
    "|x-amz-security-token|x-goog-signature|signature|hmac"
)

SHAPES: tuple[Shape, ...] = (
    _cased("jwt", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"),
    _cased("telegram_token", ":AA", r"(?<!\w)\d{6,12}:AA[\w-]{30,}"),
    _cased("discord_token", ".", r"(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}"),
    _cased("azure_secret", "Q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,}"),
    _cased("mailchimp_key", "-us", r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?!\w)"),
    _cased("terraform_token", ".atlasv1.", r"(?<!\w)[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,}"),
    _cased("airtable_token", "pat", r"(?<!\w)pat[A-Za-z0-9]{14}\.[0-9a-f]{60,}"),
    _cased("onepassword_key", "A3-", r"(?<!\w)A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,6}"),
    _cased("asana_token", "/", r"(?<![\w/])[12]/\d{12,20}(?:/\d{12,20})?:[0-9a-f]{32}"),
    _cased("maxmind_key", "_mmk", r"(?<!\w)[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _cased("shopify_session", "shpua_", r"(?<!\w)shpua_[0-9a-f]{32,}"),
    _cased("sumologic_id", "su", r"(?<!\w)su[A-Z][A-Za-z0-9]{11}(?=\W.{0,9}[A-Za-z0-9]{64})"),
    _shape("slack_webhook", "hooks.slack", r"hooks\.slack(?:-gov)?\.com/(?:services|workflows"
           r"|triggers)/([A-Z0-9/_-]{12,})", 1),
    _shape("discord_webhook", "/webhooks/", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/"
           r"(\d{5,20}/[\w-]{20,})", 1),
    _shape("teams_webhook", "webhook.office", r"webhook\.office\.com/(webhookb2/[\w@/-]{30,})", 1),
    _shape("teams_webhook", "outlook.office", r"outlook\.office\.com/webhook/([\w@/-]{30,})", 1),
    _shape("zapier_webhook", "hooks.zapier", r"hooks\.zapier\.com/hooks/catch/([\w/-]{8,})", 1),
    _shape("make_webhook", "hook.", r"hook\.[a-z0-9]{2,6}\.make\.com/([a-z0-9]{20,})", 1),
    _shape("ifttt_webhook", "ifttt", r"maker\.ifttt\.com/\S{0,80}/with/key/([\w-]{12,})", 1),
    _shape("otp_secret", "otpauth", r"otpauth://[^\s?]{0,200}\?[^\s]{0,200}?secret=([A-Z2-7=]{8,})",
           1),
    _shape("otp_secret", "otpauth-migration", r"otpauth-migration://[^\s?]{0,80}\?data=([^\s\"'<>)]"
           r"{12,})", 1),
    _shape("query_secret", "=", rf"[?&;](?:{_SECRET_PARAMETERS})=([^\s&#\"'<>`)\]|«]{{6,}})", 1,
           _not_placeholder),
    _shape("query_secret", "=", r"[?&;](?:key|auth|sig|code|sid|session)=([^\s&#\"'<>`)\]|«]{12,})",
           1, is_token_like),
    _shape("bearer_token", "bearer", r"(?<!\w)bearer[ \t]{1,4}([\w.~+/=-]{12,})", 1, is_token_like),
    _shape("basic_auth", "basic", r"(?<!\w)basic[ \t]{1,4}([A-Z0-9+/]{6,}={0,2})", 1, _is_basic),
    _shape("auth_header", "authorization", r"authorization[\"'`*]{0,3}\s{0,4}[:=]\s{0,4}"
           r"[\"'`*]{0,3}\s?(?:token|api-?key|key|sso-key|apitoken)[ =]([^\s\"'`,«]{8,})",
           1, is_token_like),
    _shape("curl_password", "curl", r"(?<!\S)(?:-u|--user|--proxy-user|-U)[ =]?[\"']?"
           r"[^\s:\"'«]{0,64}:([^\s\"'«]{1,})", 1, _not_placeholder),
    _shape("mysql_password", "mysql", r"(?<!\w)mysql\w{0,9}[ \t][^|;]{0,80}?[ \t]-p([^\s\"'«]{3,})",
           1, _not_placeholder),
    _shape("ssh_password", "sshpass", r"sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?([^\s\"'«]{3,})", 1,
           _not_placeholder),
    *_provider_shapes(),
)  # fmt: skip

_URL_END = re.compile(r"[\s\"'<>`«»|]|\\n")
_PORT = re.compile(r"\d{1,5}(?=[/?#]|\Z)", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}\Z", re.ASCII)


def find_formats(line: str, lower: str) -> Iterator[Finding]:
    """Yield the secrets of a line that are known by their form (spec 05 point 5).

    `lower` is the line in lower case with the same length.
    """
    for shape in SHAPES:
        if shape.cue in (lower if shape.anycase else line):
            yield from _matches(shape, line)
    yield from _url_passwords(line)


def _matches(shape: Shape, line: str) -> Iterator[Finding]:
    for match in shape.pattern.finditer(line):
        if shape.holds is None or shape.holds(match.group(shape.group)):
            yield Finding(*match.span(shape.group), shape.kind)


def _url_passwords(line: str) -> Iterator[Finding]:
    at = line.find("://")
    while at >= 0:
        start, after = at + 3, line.find("://", at + 3)
        if _SCHEME.search(line, max(0, at - 31), at):
            stop = _URL_END.search(line, start, len(line) if after < 0 else after)
            end = stop.start() if stop else (len(line) if after < 0 else after)
            yield from _userinfo(line, start, end)
        at = after


def _userinfo(line: str, start: int, end: int) -> Iterator[Finding]:
    """Find the password between the first colon and the last @ of an authority."""
    url = line[start:end]
    if "@" not in url:
        return
    slash = min((n for n in map(url.find, "/?#") if n >= 0), default=len(url))
    user_end = url.find(":", 0, min(slash, url.find("@")))
    if user_end < 0:
        owner = url[: url.find("@")]
        if url.find("@") < slash and len(owner) >= 16 and is_token_like(owner):
            yield Finding(start, start + len(owner), "url_token")
        return
    if _PORT.match(url, user_end + 1):
        return
    host = url.rfind("@", user_end, slash)
    host = host if host > 0 else url.find("@", user_end)
    password = url[user_end + 1 : host]
    if password and not is_placeholder(password) and not _names_itself(password):
        yield Finding(start + user_end + 1, start + host, "url_password")
    elif not password and is_token_like(url[:user_end]):
        yield Finding(start, start + user_end, "url_token")


def _names_itself(password: str) -> bool:
    return password.lower() in {"password", "passwort", "pass", "pw", "pwd", "secret", "token"}
