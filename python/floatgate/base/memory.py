"""How much memory is free, for this machine and for the control group that the process belongs to."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")


def free_bytes() -> int:
    """Return the bytes that processes may still take; files that the kernel keeps in memory count as free."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError):
        available = re.search(r"^MemAvailable:\s*(\d+) kB$", _MEMINFO.read_text("ascii"), re.MULTILINE)
        free = free if available is None else int(available[1]) << 10
    return min([free, *_left_in_groups()])


def _left_in_groups() -> list[int]:
    """Return the memory that the control group and those above it may still take, if limited (version 2)."""
    left = []
    with contextlib.suppress(OSError, StopIteration):
        own = next(line for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines() if line.startswith("0::"))
        group = _GROUPS / own.removeprefix("0::").lstrip("/")
        for place in (group, *group.parents):
            if not place.is_relative_to(_GROUPS):
                break
            with contextlib.suppress(OSError, ValueError):  # no limit reads "max"
                most = int((place / "memory.max").read_text("ascii"))
                left.append(max(0, most - int((place / "memory.current").read_text("ascii"))))
    return left
