"""Ask a person at a terminal, or refuse (spec 02 §Deciding takes a person, spec 11 §Deciding)."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import click

from vault_tools.config import os_user
from vault_tools.core.approval import Approver, Way
from vault_tools.core.digest import short
from vault_tools.core.visible import show_hidden
from vault_tools.errors import NotApproved

if TYPE_CHECKING:
    from vault_tools.cli.options import Run
    from vault_tools.config import Settings
    from vault_tools.core.bundle import StandingItem

_TRIES = 3


@dataclass(frozen=True, slots=True)
class Person:
    """Who decides; at a terminal they are asked, headless they have answered by calling us."""

    approver: Approver
    as_json: bool

    @property
    def stream(self) -> TextIO:
        """Give where prompts go: stdout, with --json stderr."""
        return sys.stderr if self.as_json else sys.stdout

    def tell(self, lines: tuple[str, ...]) -> None:
        """Show the exact change, hidden characters made visible."""
        for line in lines:
            self.stream.write(f"{show_hidden(line)}\n")
        self.stream.flush()

    def agrees(self, verb: str, item: StandingItem) -> bool:
        """Ask about one item; the digest must be typed where the item wants it for approval.

        Raises NotApproved after three wrong digests.
        """
        if self.approver.way is Way.HEADLESS:
            return True
        if verb == "approve" and item.item.wants_digest_typed:
            return self._types_digest(item)
        return self.confirms(f"{verb.capitalize()} {item.item_id}?")

    def confirms(self, question: str) -> bool:
        """Ask for yes or no; headless, the call was the answer."""
        if self.approver.way is Way.HEADLESS:
            return True
        return self._answer(f"{question} [y/N]: ").casefold() in ("y", "yes", "j", "ja")

    def _types_digest(self, item: StandingItem) -> bool:
        for _ in range(_TRIES):
            typed = self._answer(f"Type the digest (8 characters) to approve {item.item_id}: ")
            if typed.casefold() == short(item.digest):
                return True
            if typed.casefold() in ("", "n", "no", "nein"):
                return False
        raise NotApproved(
            f"the digest of {item.item_id} was not typed; it stays as it is",
            "The digest stands above the question and in the bundle note.",
        )

    def _answer(self, prompt: str) -> str:
        self.stream.write(prompt)
        self.stream.flush()
        line = sys.stdin.readline()
        if not line:
            self.stream.write("\n")
            raise NotApproved(
                "the input ended before an answer; what was asked about stays as it is",
                "Run it at a terminal and answer there.",
            )
        return line.strip()


approver_option = click.option(
    "--approver", metavar="NAME", help="Who decides, for the ledger; needed without a terminal."
)


def person_or_none(
    run: Run, settings: Settings, verb: str, approver: str | None, *, dry_run: bool
) -> Person | None:
    """Find the person who decides; nobody is needed for a dry run."""
    if dry_run:
        return None
    return person_for(settings, verb, approver=approver, as_json=run.output.as_json)


def person_for(settings: Settings, verb: str, *, approver: str | None, as_json: bool) -> Person:
    """Find the person who decides.

    Raises NotApproved without a terminal, unless `review.allow_headless` is set and `--approver`
    names who answers for it.
    """
    prompts = sys.stderr if as_json else sys.stdout
    name = (approver or "").strip()
    if sys.stdin.isatty() and prompts.isatty():
        return Person(_approver(name or os_user(), Way.TERMINAL), as_json)
    if not settings.config.review.allow_headless:
        raise NotApproved(
            f"{verb} wants a person at a terminal, and there is none",
            "Run the command yourself in a terminal. An operator who accepts the risk can set "
            "review.allow_headless = true and name who decides with --approver.",
        )
    if not name:
        raise NotApproved(f"{verb} without a terminal must say who decides", "Add --approver NAME.")
    return Person(_approver(name, Way.HEADLESS), as_json)


def nobody() -> Approver:
    """Stand in for the person in a dry run; no such decision is ever recorded."""
    return Approver("dry run", -1, "", Way.HEADLESS)


def _approver(name: str, way: Way) -> Approver:
    uid = os.getuid() if hasattr(os, "getuid") else -1
    return Approver(name, uid, platform.node(), way)
