"""One system call in the form of both back ends, and one frame of its stack."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

AT_CWD = -100
"""The directory descriptor of the working directory."""
DELETED = "\0(deleted)"
"""Ends what strace calls the file of a descriptor where the file has lost that name. No name has a zero byte."""


class Frame(NamedTuple):
    """A return address relative to its module, which address-space randomisation does not change.

    ``module`` is the base name of the file, or ``[anon]`` for code without one (of a just-in-time compiler), whose
    ``offset`` is 0. ``symbol`` is empty where it is unknown.
    """

    module: str
    offset: int
    symbol: str


class Call(NamedTuple):
    """A system call that succeeded.

    ``name`` is its effect, independent of the system call's own name: ``open``, ``close``, ``close_range``, ``dup``,
    ``seek``, ``write``, ``read``, ``sync``, ``sync_range``, ``sync_all``, ``truncate``, ``punch``, ``unlink``,
    ``rename``, ``link``, ``chdir``, ``spawn``, ``exec``, ``exit``, ``unshare``, ``set_flags``, ``set_cloexec``,
    ``zero``, ``shift``, ``map``, ``send`` and ``receive`` (descriptors, through a socket or otherwise), ``io_uring``,
    ``aio``.

    Attributes:
        time_ns: when, on a clock of the back end.
        task: the thread.
        name: see above.
        fd: the descriptor it works on; for ``dup`` the old one.
        result: of the call: bytes, a descriptor, an offset, a process.
        offset: where it says so itself, else None: the descriptor's offset counts.
        length: of a range in bytes; the last descriptor of ``close_range``.
        path: the file, absolute or relative to ``fd``; for ``exec`` the program.
        path2: the second file of ``rename`` and ``link``, absolute or relative to ``fd2``; for ``open`` the path that
            the program gave.
        fd2: see ``path2``.
        flags: words of the flags, such as ``O_APPEND``.
        frames: the stack, innermost first; None without one.
        data: the written bytes, as far as they are known from the first one on; None if none is known.
        passed: of ``send`` and ``receive``, the descriptors and what strace calls their files.
    """

    time_ns: int
    task: int
    name: str
    fd: int = AT_CWD
    result: int = 0
    offset: int | None = None
    length: int = 0
    path: str = ""
    path2: str = ""
    fd2: int = AT_CWD
    flags: frozenset[str] = frozenset()
    frames: tuple[Frame, ...] | None = None
    data: bytes | None = None
    passed: tuple[tuple[int, str], ...] = ()


@dataclass
class Tally:
    """Counts of the text that a parser could not use."""

    malformed_lines: int = 0
    first_malformed: str | None = None
    lost_events: int = 0
    unpaired_calls: int = 0
    failed_writes: int = 0
    broken_stacks: int = 0
    """Writes whose stack ended at the first frame or in unknown code: unwinding failed, or too little was copied."""
    ended: dict[int, int] = field(default_factory=dict)
    """By task: its exit status, or 128 + signal."""
    other: Counter[str] = field(default_factory=Counter)
    compat: set[int] = field(default_factory=set)
    """Tasks that made system calls of 32 bits, which have no tracepoints."""

    def malformed(self, line: str) -> None:
        """Count a line that the grammar does not know."""
        self.malformed_lines += 1
        if self.first_malformed is None:
            self.first_malformed = line.rstrip("\n")[:200]
