"""The descriptors with which a recorded program starts: those that the recorder got from its own shell."""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
from pathlib import Path

from floatgate.trace.recorder.descriptors import Inherited

_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272}
_KCMP_FILE = 0
_FLAGS = {"O_APPEND": os.O_APPEND, "O_DSYNC": os.O_DSYNC, "O_DIRECT": os.O_DIRECT}


def inherited(stdout: int | None) -> list[Inherited]:
    """List them.

    Args:
        stdout: the program's standard output, if not the recorder's.
    """
    files: list[Inherited] = []
    ours: dict[int, int] = {}
    for fd in sorted(int(entry.name) for entry in Path("/proc/self/fd").iterdir()):
        own = stdout if fd == 1 and stdout is not None else fd
        try:
            if fd > 2 and not os.get_inheritable(fd):
                continue
            flags = fcntl.fcntl(own, fcntl.F_GETFL)
            path = str(Path(f"/proc/self/fd/{own}").readlink())
        except OSError:
            continue
        words = frozenset(word for word, bit in _FLAGS.items() if flags & bit)
        shares = next((other for other, theirs in ours.items() if _are_one(own, theirs)), None)
        files.append(Inherited(fd, path, _offset(own), words, shares))
        ours[fd] = own
    return files


def _offset(fd: int) -> int:
    try:
        return os.lseek(fd, 0, os.SEEK_CUR)
    except OSError:
        return 0


def _are_one(one: int, other: int) -> bool:
    """Return whether two descriptors have one open file description; no if the kernel does not say."""
    number = _KCMP.get(platform.machine())
    if one == other or number is None:
        return one == other
    process = os.getpid()
    return bool(ctypes.CDLL(None).syscall(number, process, process, _KCMP_FILE, one, other) == 0)
