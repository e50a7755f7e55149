"""Open file descriptions, the tables of descriptors that refer to them, and what kinds of files there are.

An open file description (offset, append, synchronous) is shared by ``dup``, by children, and by a process that receives
the descriptor through a socket. A table of descriptors belongs to a process and is shared by its threads.
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from floatgate.trace.recorder.layout import File

FILE = "file"
BLOCK_DEVICE = "block device"
UNKNOWN = "descriptor of unknown origin"
ELSEWHERE = ("pipe", "socket", "device", "memory", "kernel", "folder")
"""Kinds whose data reach no drive: ``device`` is a character device such as a terminal, ``memory`` an anonymous or
shared-memory file, ``kernel`` an interface of the kernel (``/proc``, ``/sys``, eventfd)."""

_MEMORY = ("/memfd:", "/dev/shm/", "/SYSV", "/dev/zero", "/anon_hugepage")  # noqa: S108
_KERNEL = ("/proc/", "/sys/", "anon_inode:")
_SOCKETS = ("socket:", "TCP", "UDP", "UNIX", "NETLINK", "RAW", "PING", "SCTP", "L2CAP", "DCCP")


def kind_of(path: str, *, of_this_machine: bool = True) -> str:
    """Determine the kind of a file by its path, or by what strace prints in place of one.

    Args:
        path: such as ``/home/a``, ``pipe:[12]``, ``anon_inode:[eventfd]``; ``UNKNOWN`` results from an empty text.
        of_this_machine: whether the path may be looked at.
    """
    if path.startswith("pipe:"):
        return "pipe"
    if path.startswith(_MEMORY):
        return "memory"
    if path.startswith(_KERNEL):
        return "kernel"
    if path.startswith("/"):
        kind = _looked_up(path) if of_this_machine else None
        return kind or ("device" if path.startswith("/dev/") else FILE)
    return "socket" if path.startswith(_SOCKETS) else UNKNOWN


def _looked_up(path: str) -> str | None:
    """Return the kind of the file that has the path now; None without such a file."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return None
    return next((kind for matches, kind in _MODES if matches(mode)), None)


_MODES: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISREG, FILE),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, BLOCK_DEVICE),
    (stat.S_ISDIR, "folder"),
)


@dataclass(eq=False)
class Description:
    """An open file description.

    Attributes:
        file: the regular file; None for other kinds.
        kind: of the file.
        path: by which it was opened or met first, with links resolved where strace says so.
        users: descriptors that refer to it, those on their way through a socket included.
    """

    file: File | None
    kind: str = FILE
    path: str = ""
    offset: int = 0
    append: bool = False
    sync: bool = False
    direct: bool = False
    users: int = 0


@dataclass
class Slot:
    """A descriptor."""

    description: Description
    close_on_exec: bool = False


@dataclass(eq=False)
class Table:
    """The descriptors of a process."""

    slots: dict[int, Slot] = field(default_factory=dict)
    cwd: str = "/"
    users: int = 1

    def copy(self) -> Table:
        """Copy the table as ``fork`` does: the descriptions are shared."""
        for slot in self.slots.values():
            slot.description.users += 1
        return Table({fd: replace(slot) for fd, slot in self.slots.items()}, self.cwd)


@dataclass(frozen=True)
class Inherited:
    """A descriptor that the program starts with.

    Attributes:
        fd: its number.
        path: of the file, or what ``/proc`` has in place of one (``pipe:[12]``).
        offset: where the next plain write goes.
        flags: words of its flags, such as ``O_APPEND``.
        shares: another descriptor, named before this one, that has the same description.
    """

    fd: int
    path: str
    offset: int = 0
    flags: frozenset[str] = frozenset()
    shares: int | None = None


class InFlight:
    """Descriptions on their way through sockets, which keep them open when their sender closes them."""

    def __init__(self) -> None:
        """Start with none."""
        self._sent: dict[str, list[Description]] = {}

    def send(self, description: Description, path: str) -> None:
        """Take a reference to a description, whose file has this path now or had it last."""
        description.users += 1
        self._sent.setdefault(path, []).append(description)

    def receive(self, path: str) -> Description | None:
        """Return the description of this path that was sent first; its reference goes to the caller."""
        waiting = self._sent.get(path)
        if not waiting:
            return None
        description = waiting.pop(0)
        if not waiting:
            del self._sent[path]
        return description


@dataclass
class Unseen:
    """Changes to files of which only the occurrence is known, not the effect.

    Attributes:
        writes: by reason, calls and bytes of writes to files that are not known.
        io_uring_calls: calls of io_uring, whose writes are no system calls.
        aio_calls: calls that submit Linux AIO.
        mapped: files that were mapped for writing, by their number.
        unknown_mappings: mappings for writing of descriptors of unknown origin.
        compat_tasks: threads that made system calls of 32 bits where the back end does not see these.
    """

    writes: dict[str, tuple[int, int]] = field(default_factory=dict)
    io_uring_calls: int = 0
    aio_calls: int = 0
    mapped: set[int] = field(default_factory=set)
    unknown_mappings: int = 0
    compat_tasks: int = 0

    def write(self, why: str, length: int) -> None:
        """Count a write."""
        calls, total = self.writes.get(why, (0, 0))
        self.writes[why] = (calls + 1, total + length)

    def to_dict(self) -> dict[str, object]:
        """Return it for the trace's metadata and the JSON of the command."""
        return {
            "writes": sum(calls for calls, _ in self.writes.values()),
            "write_bytes": sum(length for _, length in self.writes.values()),
            "writes_to": {why: {"writes": calls, "bytes": length} for why, (calls, length) in self.writes.items()},
            "io_uring_calls": self.io_uring_calls,
            "aio_calls": self.aio_calls,
            "mapped_files": len(self.mapped) + self.unknown_mappings,
            "threads_of_32_bit": self.compat_tasks,
        }
