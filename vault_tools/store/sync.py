"""Make a database folder durable; LanceDB itself syncs nothing (spec 07 rule 9)."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from vault_tools.errors import StoreUnavailable
from vault_tools.home.durable import sync_folder


def sync_tree(folder: Path) -> None:
    """Make everything under a folder durable: one `syncfs`, or a sync of each file without it.

    Raises StoreUnavailable: after a failed sync nothing that was written may be acknowledged.
    """
    try:
        syncfs = _syncfs()
        if syncfs is None:
            _sync_each(folder)
        else:
            _sync_filesystem(syncfs, folder)
    except OSError as error:
        raise StoreUnavailable(
            f"cannot make {folder} durable: {error}",
            "The change may be lost in a power cut; check the disk, then store it again.",
        ) from error


def syncs_at_once() -> bool:
    """Tell whether the system has `syncfs`; else each file is synced, which is slower."""
    return _syncfs() is not None


def _sync_filesystem(syncfs: Callable[[int], int], folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(descriptor)


def _sync_each(folder: Path) -> None:
    for here, _, names in os.walk(folder):
        for name in names:
            with (Path(here) / name).open("rb+") as handle:
                os.fsync(handle.fileno())
        sync_folder(Path(here))


@cache
def _syncfs() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if function is None:
        return None
    function.argtypes = [ctypes.c_int]
    call: Callable[[int], int] = function
    return call
