"""Every error that vault-tools raises on purpose, and the exit code each one ends with.

VaultToolsError                 1  something went wrong; message and hint tell the way out
├── InvalidInput                2  an argument is empty, too long or of the wrong form
├── ConfigError                 1  the configuration cannot be used as it is
│   └── BridgeDisabled          1  review and reports are off until `init`
├── PathRefused                 1  outside the review root, hidden, a link, an unsafe name
├── FileConflict                3  a file changed under our hands, a human must look
├── BlockError                  3  managed blocks of a note
│   ├── BlockMalformed          3  markers do not pair; the file is read-only for us
│   └── BlockTampered           3  the text inside was edited by someone else
├── BundleError                 1  review bundles and items
│   ├── UnknownBundle           1
│   ├── UnknownItem             1
│   ├── WrongState              1  e.g. approving an item that was already applied
│   ├── StalePrecondition       3  what the reviewer saw is no longer what is there
│   └── NotApproved             4  a person has not decided, or cannot be asked
├── LedgerError                 1  the ledger cannot be read or its chain is broken
├── LockHeld                    1  another vault-tools process is at work
├── StoreError                  1  the memory engine
│   ├── MemoryNotFound          1  unknown, or not visible to the acting agent
│   ├── StoreUnavailable        1  cannot be opened or written
│   ├── RowDamaged              1  a row no longer matches its hash
│   └── ModelMismatch           1  the table was embedded with another model
├── RootRefused                 1  cited retrieval may not read there
├── TemplateBroken              1  a template cannot be found, read or rendered
└── ProviderError               1  an embedding, reranking or chat provider
"""

from __future__ import annotations

DONE = 0
ERROR = 1
USAGE = 2
NEEDS_HUMAN = 3
NOT_APPROVED = 4
WOULD_CHANGE = 5
INTERRUPTED = 130


class VaultToolsError(Exception):
    """Report a failure together with the way out of it.

    `message` names what, where and why; `hint` is one sentence that tells the person what to do.
    """

    exit_code = ERROR

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInput(VaultToolsError):
    """Raised when an argument is empty, too long or of the wrong form."""

    exit_code = USAGE


class ConfigError(VaultToolsError):
    """Raised when the configuration cannot be used as it is."""


class BridgeDisabled(ConfigError):
    """Raised when a review or report command runs before `init` has switched the bridge on."""


class PathRefused(VaultToolsError):
    """Raised before any I/O when a path is outside what we may touch, hidden, a link or unsafe."""


class FileConflict(VaultToolsError):
    """Raised when a file changed between reading and writing; the file is left as it is."""

    exit_code = NEEDS_HUMAN


class BlockError(VaultToolsError):
    """Raised for the managed blocks of a note."""

    exit_code = NEEDS_HUMAN


class BlockMalformed(BlockError):
    """Raised when markers do not pair, nest or repeat an id; the whole file is read-only for us."""


class BlockTampered(BlockError):
    """Raised when the text inside a block is not what was last written there.

    Carries what a diff needs: the text found, the text to be written, and the file's hash.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        path: str = "",
        block_id: str = "",
        found: str = "",
        wanted: str = "",
        disk_sha256: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.path = path
        self.block_id = block_id
        self.found = found
        self.wanted = wanted
        self.disk_sha256 = disk_sha256


class BundleError(VaultToolsError):
    """Raised for review bundles and their items."""


class UnknownBundle(BundleError):
    """Raised when no bundle of this workspace has the given id."""


class UnknownItem(BundleError):
    """Raised when a bundle has no item with one of the given ids."""


class WrongState(BundleError):
    """Raised when an item or bundle is in a state that does not allow the action."""


class StalePrecondition(BundleError):
    """Raised when what the reviewer saw is no longer what is there."""

    exit_code = NEEDS_HUMAN


class NotApproved(BundleError):
    """Raised when a person has not decided, or cannot be asked."""

    exit_code = NOT_APPROVED


class LedgerError(VaultToolsError):
    """Raised when the ledger cannot be read, is of a newer format, or its chain is broken."""


class LockHeld(VaultToolsError):
    """Raised when another vault-tools process holds the lock; the message names its owner."""


class StoreError(VaultToolsError):
    """Raised for the memory engine."""


class MemoryNotFound(StoreError):
    """Raised when an id is unknown or not visible to the acting agent; the two look the same."""


class StoreUnavailable(StoreError):
    """Raised when an agent's database cannot be opened, read or written."""


class RowDamaged(StoreError):
    """Raised when a row read back no longer matches its own hash."""


class ModelMismatch(StoreError):
    """Raised when a table was embedded with another model than the one configured."""


class RootRefused(VaultToolsError):
    """Raised when cited retrieval may not read a path."""


class TemplateBroken(VaultToolsError):
    """Raised when a template is missing, ill-formed, lacks a value or wants more than text."""


class ProviderError(VaultToolsError):
    """Raised when an embedding, reranking or chat provider fails or answers nonsense."""
