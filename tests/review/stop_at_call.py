"""Run a program and stop it, or let a call of it fail, at its k-th system call that writes.

Calls of all threads are counted together, in the order in which they are entered. That is why this
is not `strace -e inject=…:when=k`, whose counters are kept per thread and per name: there, the
worker threads of an engine hardly ever reach a count before the main thread does.

The program says `ready`, waits for a line and reports in one line; what lies between is counted.
A stop is a SIGKILL before the call is carried out. Linux on x86-64 only.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import errno
import json
import os
import platform
import signal
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

SUPPORTED = sys.platform == "linux" and platform.machine() == "x86_64"
NOT_PERMITTED = 77

_SYSCALL, _POKEUSER, _SEIZE, _INTERRUPT, _SYSCALL_INFO = 24, 6, 0x4206, 0x4207, 0x420E
# Mark system-call stops, follow forks and threads, and end the program when the tracer ends.
_OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x100000
_ALL_THREADS = 0x40000000
_NUMBER, _RESULT = 15 * 8, 10 * 8
_ENTRY, _EXIT = 1, 2
_NO_CALL = (1 << 64) - 1
_CREATES = os.O_CREAT | os.O_TRUNC

_BY_DESCRIPTOR = {
    1: "write", 18: "pwrite64", 20: "writev", 40: "sendfile", 74: "fsync", 75: "fdatasync",
    77: "ftruncate", 91: "fchmod", 93: "fchown", 190: "fsetxattr", 285: "fallocate",
    296: "pwritev", 306: "syncfs", 328: "pwritev2",
}  # fmt: skip
_BY_PATH = {76: "truncate", 82: "rename", 83: "mkdir", 84: "rmdir", 86: "link", 87: "unlink"}
_BY_FOLDER = {
    258: "mkdirat", 263: "unlinkat", 264: "renameat", 280: "utimensat", 316: "renameat2",
}  # fmt: skip
_OPEN, _OPENAT, _LINKAT, _COPY = 2, 257, 265, 326
_NEEDS_NO_SPACE = frozenset(
    ("unlink", "unlinkat", "ftruncate", "truncate", "rmdir", "fchmod", "fchown", "utimensat")
)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


@dataclass
class Fault:
    """What to do at the k-th call, from 1: stop there, or fail with an error, once or for good."""

    at: int = 0
    error: str = ""
    lasting: bool = False

    def fails(self, count: int, name: str) -> bool:
        """Tell whether this call is to fail; a full disk still lets files be removed."""
        if not self.error or (self.error == "ENOSPC" and name in _NEEDS_NO_SPACE):
            return False
        return count >= self.at if self.lasting else count == self.at


@dataclass
class Run:
    """What happened: the counted calls as (name, path), and the report if there was one."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    stopped: bool = False
    said: str = ""


class Tracer:
    """One traced program."""

    def __init__(self, command: list[str], fault: Fault) -> None:
        self._fault = fault
        self._run = Run()
        self._counting = True
        self._failing: dict[int, int] = {}
        self._program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._pid = self._program.pid

    def run(self) -> Run:
        """Trace the program from `ready` to its end."""
        assert self._program.stdout
        assert self._program.stdin
        if self._program.stdout.readline() != b"ready\n":
            raise SystemExit("the program did not start")
        self._seize()
        self._program.stdin.write(b"go\n")
        self._program.stdin.flush()
        while self._step():
            pass
        self._run.said = self._program.stdout.read().decode()
        return self._run

    def _seize(self) -> None:
        seized: set[int] = set()
        tasks = Path(f"/proc/{self._pid}/task")
        while new := {int(task.name) for task in tasks.iterdir()} - seized:
            for task in new:
                _ptrace(_SEIZE, task, 0, _OPTIONS)
                _ptrace(_INTERRUPT, task)
            seized |= new

    def _step(self) -> bool:
        try:
            task, status = os.waitpid(-1, _ALL_THREADS)
        except ChildProcessError:
            return False
        if not os.WIFSTOPPED(status):
            return True
        stop, event = os.WSTOPSIG(status), status >> 16
        passed_on = 0
        with contextlib.suppress(ProcessLookupError):
            if stop == signal.SIGTRAP | 0x80:
                self._at_call(task)
            elif not event:
                passed_on = stop
            _ptrace(_SYSCALL, task, 0, passed_on)
        return True

    def _at_call(self, task: int) -> None:
        buffer = ctypes.create_string_buffer(88)
        _ptrace(_SYSCALL_INFO, task, len(buffer), ctypes.addressof(buffer))
        operation = buffer.raw[0]
        if operation == _EXIT and task in self._failing:
            _ptrace(_POKEUSER, task, _RESULT, (1 << 64) - self._failing.pop(task))
        if operation == _ENTRY and self._counting:
            number, *arguments = struct.unpack_from("<7Q", buffer.raw, 24)
            self._entered(task, number, arguments)

    def _entered(self, task: int, number: int, arguments: list[int]) -> None:
        if number == 1 and arguments[0] == 1:
            name, path = "report", ""
            self._counting = False
        else:
            name, path = self._writing(number, arguments)
        if not name:
            return
        self._run.calls.append((name, path))
        count = len(self._run.calls)
        if self._fault.error:
            if self._counting and self._fault.fails(count, name):
                _ptrace(_POKEUSER, task, _NUMBER, _NO_CALL)
                self._failing[task] = getattr(errno, self._fault.error)
        elif count == self._fault.at:
            self._run.stopped = True
            self._counting = False
            os.kill(self._pid, signal.SIGKILL)

    def _writing(self, number: int, arguments: list[int]) -> tuple[str, str]:
        """Give name and path of a call that changes files; "" for every other call."""
        if number in _BY_DESCRIPTOR:
            return self._if_file(_BY_DESCRIPTOR[number], self._descriptor(arguments[0]))
        if number == _COPY:
            return self._if_file("copy_file_range", self._descriptor(arguments[2]))
        if number in _BY_PATH:
            return _BY_PATH[number], self._text(arguments[0])
        if number in _BY_FOLDER:
            return _BY_FOLDER[number], self._below(arguments[0], arguments[1])
        if number == _LINKAT:
            return "linkat", self._below(arguments[2], arguments[3])
        if number == _OPENAT and arguments[2] & _CREATES:
            return "openat", self._below(arguments[0], arguments[1])
        if number == _OPEN and arguments[1] & _CREATES:
            return "open", self._text(arguments[0])
        return "", ""

    def _if_file(self, name: str, path: str) -> tuple[str, str]:
        # Pipes, sockets and event descriptors only wake other threads.
        return (name, path) if path.startswith("/") else ("", "")

    def _descriptor(self, number: int) -> str:
        try:
            return str(Path(f"/proc/{self._pid}/fd/{number}").readlink())
        except FileNotFoundError:
            return ""

    def _below(self, folder: int, pointer: int) -> str:
        name = self._text(pointer)
        return name if name.startswith("/") else os.path.join(self._descriptor(folder), name)  # noqa: PTH118

    def _text(self, pointer: int) -> str:
        with Path(f"/proc/{self._pid}/mem").open("rb", buffering=0) as memory:
            memory.seek(pointer)
            return memory.read(4096 - pointer % 4096).split(b"\0")[0].decode(errors="replace")


def _ptrace(request: int, task: int, address: int = 0, value: int = 0) -> int:
    result: int = _libc.ptrace(request, task, address, value)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--at", type=int, default=0)
    parser.add_argument("--error", default="")
    parser.add_argument("--lasting", action="store_true")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    try:
        run = Tracer(given.command, Fault(given.at, given.error, given.lasting)).run()
    except PermissionError:
        raise SystemExit(NOT_PERMITTED) from None
    print(json.dumps({"calls": run.calls, "stopped": run.stopped, "said": run.said}))


if __name__ == "__main__":
    main()
