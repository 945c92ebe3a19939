"""What each template gets: one frozen dataclass per template, handed over as plain data.

These fields are public: whoever overrides a template relies on them (spec 09). Texts are as the
engine has them; making them harmless is the filters' work.
"""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any

from vault_tools.render.environment import Plain


def plain(context: Any) -> dict[str, Plain]:
    """Turn a context into the dictionary that its template sees; keys are the field names."""
    return {f.name: _plain(getattr(context, f.name)) for f in dataclasses.fields(context)}


def _plain(value: Any) -> Plain:
    if dataclasses.is_dataclass(value):
        return plain(value)
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    assert value is None or isinstance(value, str | int)
    return value


@dataclass(frozen=True, slots=True)
class Command:
    """A command to paste: what it does, then the line itself."""

    label: str
    line: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One property before and after, in words."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text of its own: what it is, the file it goes to (linked if it exists), how to fence it."""

    label: str
    text: str
    path: str = ""
    linked: bool = False
    language: str = "text"


@dataclass(frozen=True, slots=True)
class Proof:
    """Evidence in words: the quote, who said it, and where it can be read again.

    `path` is a vault path when `linked`, else the citation as it was given.
    """

    quote: str
    speaker: str
    path: str
    linked: bool
    block: str | None = None
    lines: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleItemContext:
    """`blocks/bundle-item.md.j2`: one item, ready to be decided."""

    number: int
    item_id: str
    digest: str
    title: str
    kind: str
    agent_id: str
    proposed_by: str
    profile: str
    created: str
    state: str
    state_note: str
    risk: str
    meter: str
    callout: str
    risk_reason: str
    scope: Difference | None
    scope_reads: str
    trust: Difference | None
    verdict: str
    findings: tuple[str, ...]
    cannot: str
    texts: tuple[Text, ...]
    differences: tuple[Difference, ...]
    reason: str
    if_rejected: str
    proofs: tuple[Proof, ...]
    approve: str
    reject: str
    further: Command | None
    type_digest: bool
    target: str
    preconditions: tuple[str, ...]
    json: str


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One line of the summary table."""

    number: int
    item_id: str
    title: str
    kind: str
    risk: str
    meter: str
    verdict: str
    state: str


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of the risk pie."""

    risk: str
    count: int
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleOverviewContext:
    """`blocks/bundle-overview.md.j2`: how the bundle stands and what to do now."""

    headline: str
    next_step: str
    expires: str
    rows: tuple[SummaryRow, ...]
    rows_left: int
    pie: tuple[Slice, ...]
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """The items about one subject, as links to where they are shown."""

    heading: str
    rows: tuple[SummaryRow, ...]


@dataclass(frozen=True, slots=True)
class Objection:
    """What the adversarial pass said of one item."""

    number: int
    item_id: str
    verdict: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFindingsContext:
    """`blocks/bundle-findings.md.j2`: all that is not an item of its own."""

    subjects: tuple[Subject, ...]
    without: str
    left_out: tuple[str, ...]
    left_out_more: int
    maintenance: tuple[str, ...]
    maintenance_more: int
    objections: tuple[Objection, ...]
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The items of one risk, as the ids of their blocks in order."""

    heading: str
    block_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleNoteContext:
    """`review-bundle.md.j2`: the frame; `place(id)` marks where code puts a managed block."""

    bundle_id: str
    created_at: str
    workspace_key: str
    created_by_agent: str
    status: str
    review_profiles: tuple[str, ...]
    bridge_version: str
    title: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRootReadmeContext:
    """`review-root-readme.md.j2`: the note that explains the review root to whoever opens it."""

    workspace_key: str
    review_root: str
    version: str
