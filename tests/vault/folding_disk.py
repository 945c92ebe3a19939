"""Mount a folder through a file system that takes names for one that differ in case or form only.

Run as `folding_disk.py FOLDER MOUNTPOINT`; needs FUSE 3 and mfusepy.
"""

from __future__ import annotations

import errno
import os
import sys
import unicodedata
from pathlib import Path
from typing import Any

import mfusepy


def folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class FoldingDisk(mfusepy.Operations):
    use_ns = True

    def __init__(self, root: Path) -> None:
        self._root = root

    def _real(self, path: str) -> Path:
        real = self._root
        for name in Path(path).parts[1:]:
            entries = real.iterdir() if real.is_dir() else ()
            known = {folded(entry.name): entry for entry in entries}
            real = known.get(folded(name), real / name)
        return real

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        found = os.lstat(self._real(path))
        keys = ("st_mode", "st_ino", "st_nlink", "st_uid", "st_gid", "st_size")
        times = {key: getattr(found, f"{key}_ns") for key in ("st_atime", "st_mtime", "st_ctime")}
        return {**{key: getattr(found, key) for key in keys}, **times}

    def readdir(self, path: str, fh: int) -> list[tuple[str, dict[str, int], int]]:
        entries = [(entry.name, entry.lstat()) for entry in self._real(path).iterdir()]
        return [(name, {"st_mode": at.st_mode, "st_ino": at.st_ino}, 0) for name, at in entries]

    def readlink(self, path: str) -> str:
        return str(self._real(path).readlink())

    def symlink(self, target: str, source: str) -> None:
        self._real(target).symlink_to(source)

    def link(self, target: str, source: str) -> None:
        os.link(self._real(source), self._real(target), follow_symlinks=False)

    def rename(self, old: str, new: str) -> None:
        there = self._real(new)
        mine = self._real(old)
        mine.rename(there.with_name(Path(new).name) if there == mine else there)

    def mkdir(self, path: str, mode: int) -> None:
        self._real(path).mkdir(mode)

    def rmdir(self, path: str) -> None:
        self._real(path).rmdir()

    def unlink(self, path: str) -> None:
        self._real(path).unlink()

    def chmod(self, path: str, mode: int) -> None:
        self._real(path).chmod(mode)

    def chown(self, path: str, uid: int, gid: int) -> None:
        os.chown(self._real(path), uid, gid)

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> None:
        os.utime(self._real(path), ns=times)

    def open(self, path: str, flags: int) -> int:
        return os.open(self._real(path), flags)

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        return os.open(self._real(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> None:
        os.truncate(self._real(path), length)

    def fsync(self, path: str, datasync: int, fh: int) -> None:
        os.fsync(fh)

    def release(self, path: str, fh: int) -> None:
        os.close(fh)


class Fuse(mfusepy.FUSE):
    def rename_fuse_3(self, old: bytes, new: bytes, flags: int) -> int:
        # Left out by the library: an exchange would silently become a plain rename.
        if flags:
            return -errno.EINVAL
        return self.rename_fuse_2(old, new) or 0


if __name__ == "__main__":
    Fuse(
        FoldingDisk(Path(sys.argv[1])), sys.argv[2],
        foreground=True, nothreads=True, attr_timeout=0, entry_timeout=0, use_ino=True,
    )  # fmt: skip
