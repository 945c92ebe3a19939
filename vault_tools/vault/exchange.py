"""Rename without overwriting, and exchange two names at once: what Python's `os` does not offer.

Linux has `renameat2`, macOS `renameatx_np`. Elsewhere, and on file systems that know neither, the
calls fail with ENOSYS, EINVAL or ENOTSUP, and the caller takes its weaker way.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
from collections.abc import Callable

from vault_tools.vault.paths import Folder

UNKNOWN_HERE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})

_LINUX = ("renameat2", 1, 2)
_MACOS = ("renameatx_np", 4, 2)


def can_exchange() -> bool:
    """Tell whether the system has the call; a file system may still not know it."""
    return _call() is not None


def exchange(folder: Folder, one: str, other: str) -> None:
    """Exchange two names of a folder in one step."""
    _rename(folder, one, other, exchanging=True)


def rename_new(folder: Folder, old: str, new: str) -> None:
    """Rename to a name that must be free; raises FileExistsError otherwise."""
    _rename(folder, old, new, exchanging=False)


def _rename(folder: Folder, old: str, new: str, *, exchanging: bool) -> None:
    call = _call()
    if folder.fd is None or call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    function, no_replace, swap = call
    flag = swap if exchanging else no_replace
    if function(folder.fd, os.fsencode(old), folder.fd, os.fsencode(new), flag) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), new)


@functools.cache
def _call() -> tuple[Callable[..., int], int, int] | None:
    name, no_replace, swap = _MACOS if sys.platform == "darwin" else _LINUX
    if os.name != "posix":
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        return None
    function.argtypes = [
        ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint,
    ]  # fmt: skip
    function.restype = ctypes.c_int
    return function, no_replace, swap
