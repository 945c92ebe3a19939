"""Run one write of a prepared vault between two marks, for strace to fail a call of it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from vault_world import make_files

from vault_tools.core.digest import sha256_hex
from vault_tools.errors import VaultToolsError

OLD, NEW = b"old text\n", b"new text\n"
NOTE = "00-system/plur1bus/note.md"


def _mark(name: str) -> None:
    with contextlib.suppress(OSError):
        Path(name).stat()


def _naive(path: Path) -> None:
    with path.open("wb") as handle:
        handle.write(NEW)
        handle.flush()
        os.fsync(handle.fileno())


def main(folder: Path, action: str) -> dict[str, object]:
    files = make_files(folder)
    _mark("/begin-write")
    try:
        if action == "create":
            return {"signals": files.write(NOTE, NEW, expected=None).signals}
        if action == "replace":
            return {"signals": files.write(NOTE, NEW, expected=sha256_hex(OLD)).signals}
        if action == "remove":
            return {"signals": files.remove(NOTE, expected=sha256_hex(OLD)).signals}
        _naive(files.root / NOTE)
        return {"signals": []}
    except VaultToolsError as error:
        return {"error": error.message}
    except OSError as error:
        return {"error": str(error)} if action == "naive" else {"traceback": repr(error)}
    finally:
        _mark("/end-write")


if __name__ == "__main__":
    # Opened first, so that no fault of the write can keep its outcome from being told.
    with Path(sys.argv[3]).open("w", encoding="utf-8") as handle:
        json.dump(main(Path(sys.argv[1]), sys.argv[2]), handle)
