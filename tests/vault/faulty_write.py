"""Run one write of a prepared vault between two marks, for strace to fail a call of it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from vault_world import Ownership, make_files

from vault_tools.core.block import find_blocks, format_block, owned_block
from vault_tools.core.digest import sha256_hex
from vault_tools.core.note import decode
from vault_tools.errors import VaultToolsError
from vault_tools.vault.blocks import BlockWrite, write_blocks
from vault_tools.vault.markdown import opaque_lines

OLD, NEW = b"old text\n", b"new text\n"
NOTE = "00-system/plur1bus/note.md"
AROUND = "\ufeffMine: caf\u00e9 \u2028\r\n\r\n{}\r\n\r\nmore of mine  \r\n"
OLD_BLOCK, NEW_BLOCK = (
    AROUND.format(format_block("b", "main", "", text.decode(), "\r\n")).encode()
    for text in (OLD, NEW)
)


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
    ownership = Ownership()
    if action == "block":
        text = decode(OLD_BLOCK)
        (block,) = find_blocks(text, opaque_lines(text))
        ownership.own_blocks([owned_block(NOTE, block)])
    _mark("/begin-write")
    try:
        if action == "create":
            return {"signals": files.write(NOTE, NEW, expected=None).signals}
        if action == "replace":
            return {"signals": files.write(NOTE, NEW, expected=sha256_hex(OLD)).signals}
        if action == "remove":
            return {"signals": files.remove(NOTE, expected=sha256_hex(OLD)).signals}
        if action == "block":
            new = BlockWrite("b", NEW.decode(), "main")
            change = write_blocks(files, ownership, NOTE, [new], now=0).change
            return {"signals": change.signals}
        _naive(files.root / NOTE)
        return {"signals": []}
    except VaultToolsError as error:
        return {"error": error.message, "hint": error.hint}
    except OSError as error:
        if action == "naive":
            return {"error": f"{NOTE}: {error}", "hint": "none"}
        return {"traceback": repr(error)}
    finally:
        _mark("/end-write")


if __name__ == "__main__":
    # Opened first, and told by a call that no write makes: no fault keeps it from being told.
    outcome = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT, 0o600)
    told = json.dumps(main(Path(sys.argv[1]), sys.argv[2])).encode()
    os.pwrite(outcome, told, 0)
    os._exit(0)
