"""A ``perf.data`` file made fit for unwinding.

Perf (6.1 at least) keeps the mappings of a process over ``exec``. With address-space randomisation, a library that the
program before had loaded at a lower address then hides the one of the program after, and unwinding ends at the first
frame. So every process gets a number of its own after each ``exec``, in place; perf takes it for a new process with no
mappings but its own.
"""

from __future__ import annotations

import bisect
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MAGIC = b"PERFILE2"
_HEADER = struct.Struct("<8sQQQQQQ")
_RECORD = struct.Struct("<IHH")
_PAIR = struct.Struct("<II")
_TIME = struct.Struct("<Q")
_COMM, _EXIT, _FORK, _SAMPLE = 3, 4, 7, 9
_WITH_PAIR = (1, _COMM, 5, 6, 10)  # records that begin with process and thread
_KERNEL_RECORDS = 64
_IS_EXEC = 1 << 13
_IP, _TID, _STAMP, _ID, _CPU, _STREAM, _IDENTIFIER = 1, 2, 4, 64, 128, 512, 1 << 16
_FIRST_NUMBER = 1 << 24
"""Above every process number of Linux."""


class _Shape(NamedTuple):
    """Offsets of process and time: in samples from the body's start, in other records from their end."""

    in_sample: int
    from_end: int


def is_complete(path: Path) -> bool:
    """Return whether perf came to the end: only then it tells in the header how much there is."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
    except OSError:
        return False
    if len(header) < _HEADER.size:
        return False
    magic, *_, data_size = _HEADER.unpack(header)
    return bool(magic != _MAGIC or data_size)


def separate_programs(path: Path) -> dict[int, int]:
    """Give processes new numbers after each ``exec``.

    Args:
        path: the file, changed in place.

    Returns:
        The number of the process by the new number; empty where the file has another form than expected, which is
        left as it is.
    """
    if path.stat().st_size < _HEADER.size:
        return {}
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        shape, start, end = _shape(data)
        if shape is None:
            return {}
        execs: dict[int, list[int]] = {}
        for place, kind, misc, size in _records(data, start, end):
            if kind == _COMM and misc & _IS_EXEC:
                process, _ = _PAIR.unpack_from(data, place)
                execs.setdefault(process, []).append(_time(data, place, kind, size, shape))
        numbers = _Numbers({process: sorted(times) for process, times in execs.items()})
        for place, kind, _, size in _records(data, start, end):
            _renumber(data, place, kind, size, shape, numbers)
        return numbers.real


class _Numbers:
    """New numbers by process and count of its programs."""

    def __init__(self, execs: dict[int, list[int]]) -> None:
        self.real: dict[int, int] = {}
        self._execs = execs
        self._given: dict[tuple[int, int], int] = {}

    def of(self, process: int, time: int) -> int:
        times = self._execs.get(process)
        if times is None:
            return process
        key = (process, bisect.bisect_right(times, time))
        if key not in self._given:
            number = self._given[key] = _FIRST_NUMBER + len(self._given)
            self.real[number] = process
        return self._given[key]


def _shape(data: mmap.mmap) -> tuple[_Shape | None, int, int]:
    magic, _, attribute_bytes, attributes, attributes_bytes, start, length = _HEADER.unpack_from(data, 0)
    if magic != _MAGIC or attribute_bytes < 48:
        return None, 0, 0
    shapes = set()
    for place in range(attributes, attributes + attributes_bytes, attribute_bytes):
        (kinds,) = struct.unpack_from("<Q", data, place + 24)
        if not (kinds & _TID and kinds & _STAMP):
            return None, 0, 0
        in_sample = 8 * bool(kinds & _IDENTIFIER) + 8 * bool(kinds & _IP)
        trailer = sum(bool(kinds & bit) for bit in (_TID, _STAMP, _ID, _STREAM, _CPU, _IDENTIFIER))
        shapes.add(_Shape(in_sample, 8 * trailer))
    return (shapes.pop(), start, start + length) if len(shapes) == 1 else (None, 0, 0)


def _records(data: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the kernel's records: where the body begins, type, misc, bytes of the body."""
    place = start
    while place + _RECORD.size <= min(end, len(data)):
        kind, misc, size = _RECORD.unpack_from(data, place)
        if size < _RECORD.size:
            return
        if kind < _KERNEL_RECORDS:
            yield place + _RECORD.size, kind, misc, size - _RECORD.size
        place += size


def _time(data: mmap.mmap, place: int, kind: int, size: int, shape: _Shape) -> int:
    at = place + shape.in_sample if kind == _SAMPLE else place + size - shape.from_end
    time: int = _TIME.unpack_from(data, at + 8)[0]
    return time


def _renumber(data: mmap.mmap, place: int, kind: int, size: int, shape: _Shape, numbers: _Numbers) -> None:
    time = _time(data, place, kind, size, shape)

    def at(where: int) -> None:
        process, thread = _PAIR.unpack_from(data, where)
        new = numbers.of(process, time)
        if new != process:
            _PAIR.pack_into(data, where, new, new if thread == process else thread)

    if kind == _SAMPLE:
        at(place + shape.in_sample)
        return
    if kind in _WITH_PAIR:
        at(place)
    elif kind in (_FORK, _EXIT):
        process, parent, thread, parent_thread = struct.unpack_from("<IIII", data, place)
        new, new_parent = numbers.of(process, time), numbers.of(parent, time)
        struct.pack_into(
            "<IIII",
            data,
            place,
            new,
            new_parent,
            new if thread == process else thread,
            new_parent if parent_thread == parent else parent_thread,
        )
    at(place + size - shape.from_end)
