"""One thing that is not as it should be, and the sheet that gathers them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from vault_tools.errors import VaultToolsError

MOST_SHOWN = 20


class Severity(StrEnum):
    """How much it matters; only an error makes the whole not ok."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; `fix` is a sentence that tells the way out, `path` is set where it has a place.

    `path` is vault-relative for notes, else absolute.
    """

    code: str
    severity: Severity
    message: str
    fix: str
    path: str = ""

    def plain(self) -> dict[str, str]:
        """Give it as JSON has it."""
        named = {"path": self.path} if self.path else {}
        texts = {"message": self.message, "fix": self.fix}
        return {"code": self.code, "severity": self.severity.value, **texts, **named}


@dataclass(slots=True)
class Sheet:
    """What a check-up found, and `checks`: what was looked at, with its counts."""

    findings: list[Finding] = field(default_factory=list)
    checks: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Tell whether there is no error."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)

    def error(self, code: str, message: str, fix: str, path: str = "") -> None:
        """Note something that is broken."""
        self.findings.append(Finding(code, Severity.ERROR, message, fix, path))

    def warn(self, code: str, message: str, fix: str, path: str = "") -> None:
        """Note something that wants a person's attention."""
        self.findings.append(Finding(code, Severity.WARNING, message, fix, path))

    def inform(self, code: str, message: str, fix: str, path: str = "") -> None:
        """Note something that is good to know."""
        self.findings.append(Finding(code, Severity.INFO, message, fix, path))

    def refused(self, code: str, error: VaultToolsError, path: str = "") -> None:
        """Note an error that kept a part from being looked at."""
        self.error(code, error.message, error.hint or "Run the command again.", path)

    def warn_each(self, code: str, message: str, fix: str, paths: Collection[str]) -> None:
        """Note the same thing of many files: the first ones by path, the rest as a count."""
        shown = sorted(paths)[:MOST_SHOWN]
        for path in shown:
            self.warn(code, message, fix, path)
        if rest := len(paths) - len(shown):
            self.warn(code, f"{rest} more: {message}", fix)


def names(ids: Collection[str]) -> str:
    """Name the first few ids, and how many more there are."""
    shown = sorted(ids)[:3]
    rest = len(ids) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
