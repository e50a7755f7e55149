"""Marks of processes: which process owns a file, and whether that process has exited.

A process number alone is recycled; a number with its start time is not. Both count only on the system that assigned
them, hence a mark also names the boot of the kernel and the namespaces of process numbers and clocks. Of another
system, or of the time before a restart, nothing is known: such a process never counts as exited.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_PROC = Path("/proc")
_FORM = re.compile(r"([0-9a-f]{16})-([0-9]{1,10})-([0-9]{1,20})", re.ASCII)
_UNKNOWN = "0" * 16
"""The system where the kernel does not name it; no process of it ever counts as exited."""
_STATE, _START = 0, 19
"""Where ``/proc/PID/stat`` has the state and the start time, counted from the state."""


def mark() -> str:
    """Return the mark of this process: ``SYSTEM-PID-START`` of hexadecimal and decimal digits, safe in a file name.

    SYSTEM is a hash of the boot and the namespaces; START is in clock ticks since the boot.
    """
    pid = os.getpid()
    fields = _stat(pid)
    return f"{_system()}-{pid}-{fields[_START] if fields else 0}"


def has_exited(mark: str) -> bool:
    """Return whether the process of a mark has certainly exited.

    False for a live process, for a process of another system, and for text that is no mark.
    """
    parts = _FORM.fullmatch(mark)
    if parts is None:
        return False
    system, pid, start = parts[1], int(parts[2]), int(parts[3])
    if system != _system() or system == _UNKNOWN or pid == 0 or start == 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OverflowError:
        return False
    except OSError:
        pass  # a process of another user
    fields = _stat(pid)
    if fields is None:
        return False  # it exits right now, or /proc hides the processes of others
    return int(fields[_START]) != start or fields[_STATE] in "ZX"


def _system() -> str:
    """Return a hash of what process numbers and start times belong to."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
        spaces = [str((_PROC / "self/ns" / name).readlink()) for name in ("pid", "time") if _has_space(name)]
    except OSError:
        return _UNKNOWN
    import hashlib

    return hashlib.sha256("\n".join([boot, *spaces]).encode()).hexdigest()[:16]


def _has_space(name: str) -> bool:
    """Return whether the kernel knows a kind of namespace; that of clocks came with Linux 5.6."""
    return os.path.lexists(_PROC / "self/ns" / name)


def _stat(pid: int) -> list[str] | None:
    """Return the fields of ``/proc/PID/stat`` after the name, which may itself contain spaces and parentheses."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return fields if len(fields) > _START else None
