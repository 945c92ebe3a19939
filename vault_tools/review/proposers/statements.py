"""Find paragraphs and list items of a note that state something worth remembering.

Spec 11 §What is proposed: decisions, preferences and facts, German and English. A checkbox, a
question, a hypothesis, someone else's opinion or a quotation makes none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vault_tools.core.memory import Category

_QUICK = re.compile(
    r"decid|decision|entschied|entscheidung|beschl(?:oss|uss)|agreed|settled on|we chose|geeinigt"
    r"|vereinbart|prefer|bevorzug|lieber|vorliebe|präferenz|rather|remember|merke|fact:|fakt:"
    r"|note to self|wichtig:|important:",
    re.IGNORECASE,
)
_LABELS = {
    Category.DECISION: re.compile(
        r"(?:decision|decided|entscheidung|entscheid|entschieden|beschluss|beschlossen)"
        r"(?: (?:am|vom|on|of)\b[^:\n]{1,30})?[*_ \t]{0,3}(?::|—|–)",
        re.IGNORECASE,
    ),
    Category.PREFERENCE: re.compile(
        r"(?:preference|vorliebe|präferenz)[*_ \t]{0,3}(?::|—|–)", re.IGNORECASE
    ),
    Category.FACT: re.compile(
        r"(?:remember|note to self|fact|important|merke|merken|fakt|wichtig)[*_ \t]{0,3}(?::|—|–)",
        re.IGNORECASE,
    ),
}
_PHRASES = {
    Category.DECISION: re.compile(
        r"\b(?:we|i)(?:'ve| have|'d)?(?: finally| also| now| just)? (?:decided|agreed|settled)"
        r"\b(?: to| that| on| against)\b(?! who\b| what\b| how\b| when\b| where\b)"
        r"|\bwe chose\b"
        r"|\b(?:wir haben|ich habe|haben wir|habe ich)\b[^.!?\n]{0,120}"
        r"\b(?:entschieden|beschlossen|vereinbart|geeinigt)\b"
        r"|\b(?:es )?(?:ist|wurde) (?:nun |damit |jetzt )?(?:beschlossen|entschieden|vereinbart)\b",
        re.IGNORECASE,
    ),
    Category.PREFERENCE: re.compile(
        r"\bi(?: always| strongly| really| generally)? prefer\b|\bi(?: would|'d) rather\b"
        r"|\bmy preference is\b|\bich (?:\w+ )?bevorzuge\b|\bbevorzuge ich\b"
        r"|\b(?:ist|sind) mir (?:deutlich |viel )?lieber\b"
        r"|\bmir (?:ist|sind) [^.!?\n]{1,80}\blieber\b",
        re.IGNORECASE,
    ),
}
_DOUBT_BEFORE = re.compile(
    r"\b(?:if|unless|whether|suppose|had|would|could|might|maybe|perhaps|imagine|in case"
    r"|falls|wenn|ob|angenommen|vielleicht|würden?|hätten?|könnten?|sollten?)\b",
    re.IGNORECASE,
)
_DOUBT_ANYWHERE = re.compile(
    r"\b(?:not|never|haven't|hasn't|hadn't) (?:yet )?(?:decided|agreed|settled|sure)\b"
    r"|\bundecided\b|\b(?:noch )?(?:nicht|nichts) (?:\w+ )?(?:entschieden|beschlossen|vereinbart)\b"
    r"|\bprefer(?:e)? not\b|\bbevorzuge (?:es )?nicht\b|\bdon't prefer\b"
    r"|\bno decision\b|\bkein(?:e|en)? (?:entscheidung|beschluss)\b|\boffen\b[^.]{0,20}\?"
    r"|\bbefore noon\b|\b(?:just|only) (?:for )?(?:today|this week|tonight)\b"
    r"|\bnur (?:für )?(?:heute|diese woche|morgen)\b|\bheute (?:vormittag|abend|noch)\b",
    re.IGNORECASE,
)
_HEARSAY_BEFORE = re.compile(
    r"\b(?:thinks?|thought|says?|said|claims?|believes?|wrote|according to|told|asked|heard"
    r"|meint|meinte|sagt|sagte|findet|fand|glaubt|glaubte|laut|schrieb|hätte gern|behauptet)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"«[^«»]*»|„[^„“]*“|“[^“”]*”|\"[^\"\n]*\"|~~[^~\n]*~~|`[^`\n]*`")
_OPENING = re.compile(r"[ \t]*(?:[-*+]|\d{1,4}[.)])[ \t]+")
_TASK = re.compile(r"\[[^\]\n]\][ \t]")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_DECISION_HEADING = re.compile(
    r"(?:the )?(?:decision|entscheidung|entscheid|beschluss)[ :#]*\Z", re.IGNORECASE
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A day such as "3. Mai" ends no sentence.
_SENTENCE_END = re.compile(r"(?<=[.!?…])(?<!\D\d\.)(?<!\D\d\d\.)[*_)\]»”“\"]{0,3}[ \t\n]+(?=[^\s])")
_LINK = re.compile(r"!?\[\[([^\]|\n]+)(?:\|([^\]\n]+))?\]\]")
_MD_LINK = re.compile(r"\[([^\]\n]+)\]\([^)\n]*\)")
_EMPHASIS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|==)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*\Z")
_WHOLE = 400
_SHORTEST_WORDS = 4
_LONGEST = 2_000
_QUOTE = 200

_WEIGHT = {Category.DECISION: 300, Category.PREFERENCE: 200, Category.FACT: 150}
_LABELLED_BONUS = 50


@dataclass(frozen=True, slots=True)
class Statement:
    """Something a note states: the words to remember, the words to quote, and where they stand.

    Lines count from 1 and include both ends; `weight` ranks, higher first.
    """

    text: str
    quote: str
    category: Category
    first_line: int
    last_line: int
    weight: int
    heading: str = ""


def may_state(text: str) -> bool:
    """Tell cheaply whether a note is worth a closer look."""
    return bool(_QUICK.search(text))


def statements(lines: list[str], *, first_line: int = 1) -> list[Statement]:
    """Find the statements in the body lines of a note, in their order."""
    found = []
    for passage in _passages(lines, first_line):
        statement = _statement(passage)
        if statement is not None:
            found.append(statement)
    return found


@dataclass(frozen=True, slots=True)
class _Passage:
    """A paragraph or one list item, without its marker."""

    text: str
    first_line: int
    last_line: int
    heading: str


def _passages(lines: list[str], first_line: int) -> Iterator[_Passage]:
    heading, fence, hidden = "", "", False
    gathered: list[str] = []
    start = 0
    for number, line in enumerate([*lines, ""], start=first_line):
        opaque, fence, hidden = _opaque(line, fence, hidden)
        fresh = _OPENING.match(line) or opaque or not line.strip() or _HEADING.match(line)
        if gathered and fresh:
            yield _Passage("\n".join(gathered), start, number - 1, heading)
            gathered = []
        title = _HEADING.match(line)
        if title and not opaque:
            heading = title[1].strip()
        elif not opaque and line.strip():
            start = start if gathered else number
            gathered.append(line)


def _opaque(line: str, fence: str, hidden: bool) -> tuple[bool, str, bool]:
    """Tell whether a line is code, a comment, a quotation, a table or HTML; carry the state on."""
    mark = _FENCE.match(line)
    if fence:
        closes = mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence)
        return True, "" if closes else fence, hidden
    if mark:
        return True, mark[1], hidden
    if line.count("%%") % 2:
        return True, "", not hidden
    bare = line.lstrip(" \t")
    quoted = bare.startswith((">", "|", "<", "$$", "%%")) or line.startswith(("    ", "\t"))
    in_list = quoted and bool(_OPENING.match(line))
    return hidden or (quoted and not in_list), "", hidden


def _statement(passage: _Passage) -> Statement | None:
    opening = _OPENING.match(passage.text)
    body = passage.text[opening.end() :] if opening else passage.text
    if _TASK.match(body) or len(body) > _LONGEST:
        return None
    masked = _QUOTED.sub(_blanked, body)
    for start, end in _sentences(body):
        sentence, spoken = body[start:end], masked[start:end]
        category, labelled = _category(spoken, passage.heading, first=start == 0)
        if category is not None and _stands(spoken, category):
            text = plain_words(body if len(body) <= _WHOLE else sentence)
            if len(text.split()) < _SHORTEST_WORDS:
                return None
            weight = _WEIGHT[category] + (_LABELLED_BONUS if labelled else 0)
            quote = _BLOCK_ID.sub("", sentence)[:_QUOTE].strip()
            return Statement(
                without_label(text),
                quote,
                category,
                passage.first_line,
                passage.last_line,
                weight,
                plain_words(passage.heading),
            )
    return None


def _blanked(quotation: re.Match[str]) -> str:
    return " " * len(quotation[0])


def _sentences(body: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _SENTENCE_END.finditer(body):
        yield start, gap.start()
        start = gap.end()
    if body[start:].strip():
        yield start, len(body)


def _category(sentence: str, heading: str, *, first: bool) -> tuple[Category | None, bool]:
    bare = sentence.lstrip("*_= \t")
    for category, label in _LABELS.items():
        if label.match(bare):
            return category, True
    if first and _DECISION_HEADING.match(heading):
        return Category.DECISION, True
    for category, phrase in _PHRASES.items():
        if phrase.search(sentence):
            return category, False
    return None, False


def _stands(sentence: str, category: Category) -> bool:
    """Tell whether the writer states this, rather than asks, supposes or reports it."""
    if sentence.rstrip("*_ ").endswith("?") or _DOUBT_ANYWHERE.search(sentence):
        return False
    phrase = _PHRASES.get(category)
    cue = phrase.search(sentence) if phrase else None
    before = sentence[: cue.start()] if cue else ""
    return not (_DOUBT_BEFORE.search(before) or _HEARSAY_BEFORE.search(before))


def without_label(text: str) -> str:
    """Drop a leading "Decision:" or "Merke:", which a memory of the same may lack."""
    for label in _LABELS.values():
        if found := label.match(text):
            return text[found.end() :].lstrip("*_ \t")
    return text


def plain_words(text: str) -> str:
    """Take links, emphasis and block ids out of Markdown and leave the words."""
    words = _BLOCK_ID.sub("", text)
    words = _LINK.sub(lambda match: match[2] or match[1].rpartition("/")[2], words)
    words = _MD_LINK.sub(r"\1", words)
    words = _EMPHASIS.sub(r"\2", words)
    return " ".join(words.split())
