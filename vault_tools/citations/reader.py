"""The one reader of cited files: content and hash come from one read, without following links."""

from __future__ import annotations

from vault_tools.core.citation import Citation, SourceState
from vault_tools.core.digest import sha256_hex
from vault_tools.errors import PathRefused
from vault_tools.vault.files import VaultFiles


class CitedFiles:
    """Read the files of a vault that citations name (port `SourceReader`)."""

    def __init__(self, files: VaultFiles) -> None:
        self._files = files

    def state(self, citation: Citation) -> SourceState:
        """Re-hash the source of a citation; a citation without a hash stays unchecked."""
        if not citation.sha256:
            return SourceState.UNCHECKED
        try:
            content = self._files.read(citation.path)
        except PathRefused:
            # A source that became a link or lies outside is, for a reader, not there any more.
            return SourceState.MISSING
        if content is None:
            return SourceState.MISSING
        current = sha256_hex(content) == citation.sha256
        return SourceState.CURRENT if current else SourceState.CHANGED
