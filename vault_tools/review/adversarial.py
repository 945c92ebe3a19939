"""Attack each proposal before a person sees it (spec 02 §Adversarial pass).

A pattern may raise the alarm; it never clears anything. Only provenance, scope and a human decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from vault_tools.core.item import Adversarial, Finding, Item, ItemType, Verdict
from vault_tools.core.risk import Risk
from vault_tools.core.scope import Scope
from vault_tools.core.trust import Trust, is_assistant_only
from vault_tools.core.visible import hidden_characters

_INJECTION = re.compile(
    r"(?:ignore|disregard|forget|override|vergiss|ignoriere)\b.{0,40}?"
    r"\b(?:previous|prior|above|earlier|all|vorherigen?|obigen|bisherigen?|alle)\b.{0,40}?"
    r"\b(?:instructions?|prompts?|rules?|anweisung(?:en)?|regeln)"
    r"|\b(?:system|developer)[ -]?(?:prompt|message)\b"
    r"|\byou are now\b|\bdu bist jetzt\b"
    r"|\b(?:print|read|reveal|exfiltrate|send|upload|zeige|sende)\b.{0,40}?"
    r"\b(?:secrets?|api[ -]?keys?|passwords?|tokens?|env(?:ironment)?|credentials?|passw[oö]rt)",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"\brm -[rf]{1,2}\b|\bsudo\b|\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:ba|z)?sh\b"
    r"|\b(?:execute|run) (?:this|the following) (?:command|script|code)\b",
    re.IGNORECASE,
)
_EXECUTABLE = re.compile(r"<%|```+[ \t]*(?:dataviewjs|js-engine|run-)|`\$?=", re.IGNORECASE)
_REMOTE = re.compile(r"!\[[^\]]*\]\(\s*<?(?:https?:)?//|<(?:img|iframe|script)\b", re.IGNORECASE)
_DATA_LINK = re.compile(
    r"https?://\S{1,400}[?&][\w.-]+=(?:[^\s&]{40,}|[^\s&]*\{)|\b(?:obsidian|javascript|data):",
    re.IGNORECASE,
)
_CLAIM = re.compile(
    r"\b(?:trusted|approved|verified|vertrauenswürdig|genehmigt)\b.{0,30}?"
    r"\b(?:memory|source|by the (?:user|owner)|reviewer|speicher|quelle|vom nutzer)",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"\b(?:all|every|alle) (?:memor(?:y|ies)|notes?|notizen)\b|\beverything\b|^\*$", re.IGNORECASE
)
_SCANNED = 40_000
_MASKED = re.compile(r"«REDACTED:[a-z0-9_]{2,40}»")
_YEAR = re.compile(r"(?<![\d.,])(20\d\d)(?![\d])")

_PATTERNS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("injection", _INJECTION, "The text gives orders to an agent instead of stating something."),
    ("command", _COMMAND, "The text contains a shell command."),
    ("executable", _EXECUTABLE, "The text contains code that an Obsidian plugin would run."),
    ("remote_content", _REMOTE, "The text loads something from the network when displayed."),
    ("data_link", _DATA_LINK, "The text holds a link that carries data or opens a program."),
    ("trust_claim", _CLAIM, "The text says of itself that it is trusted; that proves nothing."),
)


def attack(item: Item, *, strict: bool = False) -> Item:
    """Judge an item and give it back with its verdict; `strict` wants evidence for promotions."""
    findings = [*_blocks(item)]
    if findings:
        return replace(item, adversarial=Adversarial(Verdict.BLOCK, tuple(findings)))
    flagged, warned = [*_flags(item)], [*_warnings(item, strict=strict)]
    verdict = Verdict.NEEDS_FLAG if flagged else Verdict.WARNING if warned else Verdict.PASS
    return replace(item, adversarial=Adversarial(verdict, (*flagged, *warned)))


def orders_in(text: str) -> bool:
    """Tell whether a text gives orders to an agent or holds a command."""
    scanned = _MASKED.sub("", text[:_SCANNED])
    return bool(_INJECTION.search(scanned) or _COMMAND.search(scanned))


def _texts(item: Item) -> Sequence[str]:
    words = (item.shown, item.effects.proposed_text(), *(e.quote for e in item.evidence))
    return [_MASKED.sub("", text[:_SCANNED]) for text in words]


def _blocks(item: Item) -> Iterator[Finding]:
    if item.type is not ItemType.KNOWLEDGE_UPDATE and "KNOWLEDGE.md" in item.target:
        yield Finding("knowledge_overwrite", "It would write over KNOWLEDGE.md.")
    if item.labelled is Risk.LOW and _EVERYTHING.search(item.target.partition(":")[2]):
        yield Finding("broad_change", "It would change everything, yet calls itself low risk.")


def _flags(item: Item) -> Iterator[Finding]:
    rises = item.trust_after is Trust.TRUSTED and item.trust_before is not Trust.TRUSTED
    goes_global = item.scope_after is Scope.GLOBAL_USER and item.widens_scope
    if (rises or goes_global) and is_assistant_only(item.roles()):
        yield Finding(
            "assistant_only",
            "Only an assistant ever said this; approving it takes --trust-assistant.",
        )
    if goes_global:
        yield Finding(
            "global_scope", "Every agent of this owner would recall it; approving takes --global."
        )


def _warnings(item: Item, *, strict: bool) -> Iterator[Finding]:
    texts = _texts(item)
    for code, pattern, message in _PATTERNS:
        if any(pattern.search(text) for text in texts):
            yield Finding(code, message)
    if any(hidden_characters(text) for text in texts):
        yield Finding(
            "hidden_characters",
            "The text holds characters that cannot be seen; they are shown as ⟨U+…⟩.",
        )
    if item.type is ItemType.NOTE_IMPORT_CANDIDATE and _is_past(item):
        yield Finding("past_date", "It names only years that are over; does it still hold?")
    wants = item.type in (ItemType.MEMORY_PROMOTION, ItemType.NOTE_IMPORT_CANDIDATE)
    if (wants or strict) and not any(evidence.quote for evidence in item.evidence):
        yield Finding("no_evidence", "Nothing quotes where this comes from.")


def _is_past(item: Item) -> bool:
    years = [int(year) for year in _YEAR.findall(item.shown)]
    return bool(years) and max(years) < datetime.fromtimestamp(item.created_at / 1000, UTC).year
