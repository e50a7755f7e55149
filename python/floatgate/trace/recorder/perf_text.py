"""Reader of the text of ``perf script -F pid,tid,time,event,trace,ip,sym,symoff,dso --ns --no-inline``.

The entry of a write system call comes with its stack, one frame per line, the addresses relative to the module's file
(perf 5.16 and newer); its exit tells how many bytes were written. Of mappings and io_uring the entry alone counts.
Callers' addresses are one less than the return address, which makes them fall into the calling line. One is added
again, and contexts are the same as under strace.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from floatgate.trace.recorder.calls import Call, Frame, Tally
from floatgate.trace.recorder.contexts import ANONYMOUS, relative_frame

_EVENT = re.compile(r"\s*(\d+)/(\d+)\s+(\d+)\.(\d+):\s+syscalls:sys_(enter|exit)_(\w+):\s*(.*)")
_RECORD = re.compile(r"\s*-?\d+/-?\d+\s+\d+\.\d+:\s+PERF_RECORD_(\w+)(.*)")
_FRAME = re.compile(r"\s+([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)\s*$")
_FIELD = re.compile(r"(\w+): (0x[0-9a-f]+)")
_LOST = re.compile(r"lost (\d+)")
_SIGN = 1 << 63

OFFSETS = {"pwrite64": "pos", "pread64": "pos", "pwritev": "pos_l", "preadv": "pos_l", "pwritev2": "pos_l"}
WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2", "copy_file_range", "sendfile64")
READS = ("read", "pread64", "readv", "preadv", "preadv2")
_TARGETS = {"copy_file_range": "fd_out", "sendfile64": "out_fd"}
UNSEEN = ("mmap", "io_uring_enter")
"""Calls that change files without a write: their entries alone are recorded."""
_PROT_WRITE, _MAP_SHARED, _MAP_ANONYMOUS = 2, 1, 0x20
MAPPED = f"(flags & {_MAP_SHARED}) && (prot & {_PROT_WRITE})"
"""Filter for perf: mappings through which a file can be written."""
_SYNCHRONOUS = ((0x2, "RWF_DSYNC"), (0x4, "RWF_SYNC"), (0x10, "RWF_APPEND"))


@functools.lru_cache(maxsize=65536)
def parse_frame(line: str) -> Frame | None:
    """Parse one line of a stack of perf; None for any other line."""
    match = _FRAME.match(line)
    if match is None:
        return None
    symbol = "" if match[2] == "[unknown]" else match[2].partition("@@")[0]
    return relative_frame(match[3], int(match[1], 16), symbol)


def return_addresses(frames: list[Frame]) -> tuple[Frame, ...]:
    """Return the stack with the callers' return addresses."""
    callers = [frame._replace(offset=frame.offset + 1) if frame.offset else frame for frame in frames[1:]]
    return (*frames[:1], *callers)


class PerfParser:
    """Lines in, writes, reads and seeks out; streaming.

    Args:
        tally: counts what could not be used.
        ignore: a process whose calls do not count (strace's own).
        numbers: real process numbers by those in the text, where they differ.
    """

    def __init__(self, tally: Tally, ignore: int | None = None, numbers: Mapping[int, int] | None = None) -> None:
        """Start with no call open."""
        self.tally = tally
        self._ignore = ignore
        self._numbers = {} if numbers is None else numbers
        self._entered: dict[int, tuple[str, dict[str, int], tuple[Frame, ...]]] = {}
        self._stack: list[Frame] = []
        self._open: tuple[int, str, dict[str, int]] | None = None
        self._skipping = False

    def calls(self, lines: Iterable[str]) -> Iterator[Call]:
        """Yield all calls of a text."""
        for line in lines:
            call = self._feed(line)
            if call is not None:
                yield call
        self._close()
        self.tally.unpaired_calls += len(self._entered)

    def _feed(self, line: str) -> Call | None:
        match = _EVENT.match(line)
        if match is None:
            self._other(line)
            return None
        self._close()
        process, task = self._number(match[1]), self._number(match[2])
        seconds, fraction, side, name, rest = match.groups()[2:]
        self._skipping = process == self._ignore
        if self._skipping:
            return None
        time_ns = int(seconds) * 1_000_000_000 + int(fraction.ljust(9, "0")[:9])
        if side == "enter":
            fields = {key: int(value, 16) for key, value in _FIELD.findall(rest)}
            if name in UNSEEN:
                self._skipping = True
                return _unseen(time_ns, task, name, fields)
            self._open = (task, name, fields)
            return None
        self._skipping = True  # the one frame that perf shows for an exit
        return self._left(time_ns, task, name, rest, line)

    def _number(self, text: str) -> int:
        number = int(text)
        return self._numbers.get(number, number)

    def _other(self, line: str) -> None:
        if not line.strip():
            self._close()
            return
        if self._open is not None or self._skipping:
            frame = parse_frame(line)
            if frame is not None:
                if self._open is not None:
                    self._stack.append(frame)
                return
        record = _RECORD.match(line)
        if record is None:
            self.tally.malformed(line)
            return
        self._close()
        lost = _LOST.search(record[2])
        if record[1].startswith("LOST") and lost is not None:
            self.tally.lost_events += int(lost[1])

    def _close(self) -> None:
        """Complete the stack of the entry."""
        if self._open is not None:
            task, name, fields = self._open
            if task in self._entered:
                self.tally.unpaired_calls += 1
            if name in WRITES and (len(self._stack) < 2 or self._stack[-1].module == ANONYMOUS):
                self.tally.broken_stacks += 1
            self._entered[task] = (name, fields, return_addresses(self._stack))
            self._open = None
            self._stack.clear()

    def _left(self, time_ns: int, task: int, name: str, rest: str, line: str) -> Call | None:
        entered = self._entered.pop(task, None)
        if entered is None or entered[0] != name:
            self.tally.unpaired_calls += 1
            return None
        try:
            result = int(rest.split(maxsplit=1)[0], 16)
        except (ValueError, IndexError):
            self.tally.malformed(line)
            return None
        if result >= _SIGN:
            self.tally.failed_writes += name in WRITES
            return None
        _, fields, frames = entered
        fd = fields.get(_TARGETS.get(name, "fd"))
        if fd is None:
            self.tally.malformed(line)
            return None
        if name == "lseek":
            return Call(time_ns, task, "seek", fd=fd, result=result)
        if fields.get("off_out") and name == "copy_file_range":
            return None  # The offset lies in the program's memory; strace tells it.
        offset = fields.get(OFFSETS.get(name, ""))
        flags = frozenset(word for bit, word in _SYNCHRONOUS if fields.get("flags", 0) & bit)
        return Call(
            time_ns,
            task,
            "write" if name in WRITES else "read",
            fd=fd,
            result=result,
            offset=None if offset is not None and offset >= _SIGN else offset,
            length=result,
            flags=flags if name == "pwritev2" else frozenset(),
            frames=frames or None,
        )


def _unseen(time_ns: int, task: int, name: str, fields: Mapping[str, int]) -> Call | None:
    """Return the call of an entry in :data:`UNSEEN`; None for a mapping that changes no file."""
    if name == "io_uring_enter":
        return Call(time_ns, task, "io_uring")
    flags, fd = fields.get("flags", 0), fields.get("fd", -1) & 0xFFFF_FFFF
    through = flags & _MAP_SHARED and not flags & _MAP_ANONYMOUS and fields.get("prot", 0) & _PROT_WRITE
    return Call(time_ns, task, "map", fd=fd) if through and fd < 1 << 31 else None
