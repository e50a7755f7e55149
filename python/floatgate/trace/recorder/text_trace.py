"""Texts of ``strace -k`` and ``perf script`` as traces, without having run the program here.

System calls go the way of a recording: files are laid out on a logical drive and pass the page-cache model with its
default parameters. Block events are requests already. Reading streams: memory holds the files, the cache and the
contexts, not the text.

``perf script`` does not say which file a descriptor is: each descriptor of a process counts as a file of its own, so
text of sockets and pipes does too.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from floatgate.base.errors import input_error, one_line
from floatgate.trace.recorder import perf_events, strace_text
from floatgate.trace.recorder.calls import Call, Tally
from floatgate.trace.recorder.contexts import ContextTable
from floatgate.trace.recorder.descriptors import Unseen
from floatgate.trace.recorder.files import FileTracker
from floatgate.trace.recorder.layout import Layout
from floatgate.trace.recorder.page_cache import CacheModel, PageCache, Request
from floatgate.trace.recorder.processes import Birth
from floatgate.trace.recorder.strace_lines import Stamps
from floatgate.trace.writers import Writer

if TYPE_CHECKING:
    from floatgate.trace.columns import Rows

_ROWS = 1 << 14
_FOLDER = re.compile(r"AT_FDCWD<(/[^>]*)>")
_PAGE_BYTES = 4096
_LINE_MAX = 128 << 20
"""Characters of a line: with the data of a write (strace -s) it has four for each byte, and we record 16 MiB."""


class CallsReader:
    """A reader of a text of events with stacks."""

    def __init__(self, format: str, name: str, path: str) -> None:
        """Open the text.

        Args:
            format: ``strace`` or ``perf-script``.
            name: as the user wrote it, for messages.
            path: where it is.

        Raises:
            InputError: opening it fails.
        """
        self.optional = ["context"]
        self._format = format
        self._name = name
        self._path = Path(path)
        self._contexts = ContextTable()
        self._told: set[int] = set()
        self.restart()

    def restart(self) -> None:
        """Begin again."""
        self._tally = Tally()
        self._unseen = Unseen()
        self._told = set()
        self._devices: dict[str, int] = {}
        self._given = 0
        self._notes: list[str] = []
        self.has_times = True
        if self._format == "strace":
            self._requests = self._of_calls(self._strace_calls())
        else:
            self._requests = self._perf()

    def writers(self) -> tuple[list[Writer], list[str]]:
        """Return nothing: these texts have no streams."""
        return [], []

    def assumed(self) -> list[str]:
        """Return the model and what could not be used."""
        out = list(self._notes)
        tally = self._tally
        unseen = self._unseen.to_dict()
        for count, what in (
            (unseen["writes"], "writes to descriptors whose file the text does not tell, left out"),
            (unseen["io_uring_calls"], "calls of io_uring, whose writes the text does not tell"),
            (unseen["aio_calls"], "calls of Linux AIO, whose writes the text does not tell"),
            (unseen["mapped_files"], "files mapped for writing; what is written there the text does not tell"),
            (tally.malformed_lines, "lines that were not understood, left out"),
            (tally.unpaired_calls, "calls without their beginning or end, left out"),
            (tally.lost_events, "events lost when the text was recorded"),
            (tally.broken_stacks, "writes whose stack breaks off"),
        ):
            if count:
                out.append(f"{what}: {count}")
        if tally.first_malformed is not None:
            out.append(f"the first such line: {one_line(tally.first_malformed)[:100]}")
        return out

    def next(self) -> Rows | None:
        """Return the next rows; None at the end."""
        rows: list[tuple[int, int, int, int, int, int]] = []
        for row in self._requests:
            rows.append(row)
            if len(rows) == _ROWS:
                break
        if not rows:
            if self._given == 0 and self._tally.first_malformed is not None:
                shown = one_line(self._tally.first_malformed)[:60]
                raise input_error(
                    f"{self._name}: no request in the text; the first line that was not understood is '{shown}'; "
                    f"expected {_EXPECTED[self._format]}"
                )
            return None
        self._given += len(rows)
        return self._arrays(rows)

    def _arrays(self, rows: list[tuple[int, int, int, int, int, int]]) -> Rows:
        import numpy as np

        time_ns, device, op, offset, size, context = zip(*rows, strict=True)
        fresh = [number for number in dict.fromkeys(context) if number and number not in self._told]
        self._told.update(fresh)
        return {
            "time_ns": np.array(time_ns, "i8"),
            "device": np.array(device, "u2"),
            "devices": list(self._devices) or ["0"],
            "op": np.array(op, "u1"),
            "offset": np.array(offset, "u8"),
            "bytes": np.array(size, "u8"),
            "context": np.array(context, "u8"),
            "contexts": [(number, self._contexts.name(number)) for number in fresh],
        }

    @contextlib.contextmanager
    def _lines(self) -> Iterator[Iterator[str]]:
        try:
            opened = self._path.open(encoding="utf-8", errors="surrogateescape", newline=None)
        except OSError as error:
            raise input_error(f"{self._name}: cannot be read ({error.strerror or error})") from None
        with opened as file:
            yield self._bounded(file)

    def _bounded(self, file: TextIO) -> Iterator[str]:
        """Yield the lines; refuse one that fills memory and is no text."""
        number = 0
        while line := file.readline(_LINE_MAX):
            number += 1
            if len(line) == _LINE_MAX and not line.endswith("\n"):
                what = f"the line is longer than {_LINE_MAX} bytes"
                raise input_error(f"{self._name}:{number}: {what}; expected {_EXPECTED[self._format]}")
            yield line

    def _of_calls(self, calls: Iterator[Call]) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Yield what reaches the drive when a program makes these calls."""
        model = CacheModel()
        self._notes.append(
            f"system calls went through the page-cache model: {model.cache_mb:g} MB, at most {model.dirty_ratio:g} of "
            f"it dirty, flushed after {model.flush_interval_s:g} s; the layout of files is ours"
        )
        waiting = Waiting()
        cache = PageCache(Layout(), model, waiting.append)
        tracker = FileTracker(
            cache, self._contexts, self._spawned(), self._folder(), [], keep_reads=True, of_this_machine=False
        )
        self._unseen = tracker.unseen
        for call in self._sane(calls):
            tracker.take(call)
            yield from waiting.taken()
        tracker.finish()
        yield from waiting.taken()

    def _sane(self, calls: Iterator[Call]) -> Iterator[Call]:
        for call in calls:
            if possible(call):
                yield call
            else:
                self._tally.malformed(f"{call.name} of {call.length} bytes at {call.offset}, time {call.time_ns} ns")

    def _spawned(self) -> dict[int, Birth]:
        if self._format != "strace":
            return {}
        with self._lines() as lines:
            return strace_text.spawned(Stamps().lines(lines))

    def _folder(self) -> str:
        """Return where the program started, as far as the text says it (``strace -y``)."""
        if self._format == "strace":
            with self._lines() as lines:
                for line in lines:
                    match = _FOLDER.search(line)
                    if match is not None:
                        return strace_text.unescaped(match[1])
        return "/"

    def _strace_calls(self) -> Iterator[Call]:
        stamps = Stamps()
        with self._lines() as lines:
            latest = 0
            for call in self._sane(strace_text.StraceParser(self._tally).calls(stamps.lines(lines))):
                self.has_times = stamps.has_times
                latest = max(latest, call.time_ns)
                yield call if call.time_ns == latest else call._replace(time_ns=latest)
        self.has_times = stamps.has_times
        if not stamps.has_times:
            self._notes.append("the lines have no time stamps (strace -ttt): the flusher of the model never wakes up")

    def _perf(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        with self._lines() as lines:
            chosen = perf_events.choose(lines)
        if chosen is None:
            self._notes.append("descriptors count as files: perf script does not name them")
            yield from self._of_calls(self._perf_calls())
            return
        self._notes.append(f"the requests are the events {chosen}")
        with self._lines() as lines:
            for event in perf_events.events(lines, self._tally):
                if event.name != chosen:
                    continue
                request = perf_events.block_request(event)
                if request is None:
                    continue
                if not (request.sector < 1 << 54 and request.sectors < 1 << 32 and event.time_ns < 1 << 62):
                    self._tally.malformed(event.fields)
                    continue
                device = self._devices.setdefault(request.device, len(self._devices))
                context = self._contexts.intern(request.frames) or 0
                yield event.time_ns, device, request.op, request.sector * 512, request.sectors * 512, context

    def _perf_calls(self) -> Iterator[Call]:
        with self._lines() as lines:
            yield from perf_events.calls(perf_events.events(lines, self._tally), self._tally)


_EXPECTED = {
    "strace": "lines as strace -f -y -k -ttt prints them",
    "perf-script": "events as perf script prints them",
}


def possible(call: Call) -> bool:
    """Return whether a kernel can have done this: one call moves less than 2 GiB, offsets and times have 63 bits."""
    moved = call.length if call.name in ("write", "read") else 0
    sizes = (call.offset or 0, call.length, call.result if call.name == "seek" else 0)
    return 0 <= call.time_ns < 1 << 62 and 0 <= moved < 1 << 31 and all(0 <= size < 1 << 62 for size in sizes)


class Waiting:
    """Requests that have left the model and wait for the reader."""

    def __init__(self) -> None:
        """Start with none."""
        self._requests: list[Request] = []

    def append(self, request: Request) -> None:
        """Take one."""
        self._requests.append(request)

    def taken(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Yield all of them as rows: time, device, operation, offset, bytes, context."""
        if not self._requests:
            return
        requests, self._requests = self._requests, []
        for r in requests:
            yield r.time_ns, 0, r.op, r.lpn * _PAGE_BYTES, r.pages * _PAGE_BYTES, r.context or 0
