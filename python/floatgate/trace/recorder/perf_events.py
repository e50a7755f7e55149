"""Events of ``perf script`` in any of its usual forms: block requests, and system calls.

The head of an event ends in ``time: event: fields``. Before it stand the name of the process, its number (with or
without the thread's) and the processor, in the order of ``-F``. Frames follow, one per line, innermost first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from floatgate.trace.recorder.calls import Call, Frame, Tally
from floatgate.trace.recorder.contexts import ANONYMOUS, module_hash, relative_frame
from floatgate.trace.recorder.perf_text import OFFSETS, READS, WRITES

_EVENT = re.compile(
    r"\s*(?P<who>.*?)\s*(?:\[\d+\]\s+)?(?:\S{4,5}\s+)?(?P<seconds>\d+)\.(?P<fraction>\d+):\s+(?:\d+\s+)?"
    r"(?P<event>\w+:\w+):\s*(?P<fields>.*)"
)
_NUMBERS = re.compile(r"(\d+)(?:/(\d+))?(?!.*\d)")
_FRAME = re.compile(r"\s+([0-9a-f]+) (.*?)(?:\+0x([0-9a-f]+))? \((.*)\)\s*$")
_FIELD = re.compile(r"(\w+): (0x[0-9a-f]+)")
_BLOCK = re.compile(r"(\d+,\d+) ([A-Z]+) (?:\d+ )?(?:\(.*?\) )?(\d+) \+ (\d+)")
_KERNEL = re.compile(r"\[(?:kernel|guest)[.\]]|\[\w+\]$|.*\.ko(?:\.\w+)?$")
_MASK = (1 << 64) - 1
_SIGN = 1 << 63

BLOCK_EVENTS = tuple(f"block:block_{name}" for name in ("bio_queue", "rq_insert", "rq_issue", "rq_complete"))
"""Events that count as the request, the best one first: those that know the program come before the drive's own."""
_LINES_LOOKED_AT = 20_000
_SECONDS_DIGITS = 10
"""Digits of the seconds since 1970; no clock shows more."""


class Event(NamedTuple):
    """One event. ``frames`` are those of the program, innermost first."""

    time_ns: int
    process: int
    task: int
    name: str
    fields: str
    frames: tuple[Frame, ...]


class BlockRequest(NamedTuple):
    """A block event: ``op`` is 0 read, 1 write, 2 trim."""

    device: str
    op: int
    sector: int
    sectors: int
    frames: tuple[Frame, ...]


@functools.lru_cache(maxsize=65536)
def parse_frame(line: str) -> Frame | None:
    """Return a frame; None for one of the kernel.

    Addresses are absolute unless perf was run with other options. A frame's place is therefore that in its function:
    the name of the function and the distance from its beginning. A frame without a name has no lasting place.
    """
    match = _FRAME.match(line)
    if match is None or _KERNEL.match(match[4]):
        return None
    symbol = "" if match[2] == "[unknown]" else match[2].partition("@@")[0]
    if not symbol:
        return Frame(ANONYMOUS, 0, "")
    place = (module_hash(symbol) + int(match[3] or "0", 16)) & _MASK
    return relative_frame(match[4], place, symbol)


def events(lines: Iterable[str], tally: Tally) -> Iterator[Event]:
    """Yield all events of a text."""
    head: re.Match[str] | None = None
    frames: list[Frame] = []
    skipping = False
    for line in lines:
        if line[:1] in " \t" and (head is not None or skipping) and (match := _FRAME.match(line)) is not None:
            frame = parse_frame(match.group())
            if frame is not None:
                frames.append(frame)
            continue
        if head is not None:
            yield _event(head, frames)
        head, frames, skipping = None, [], False
        if not line.strip() or line.startswith("#"):
            continue
        head = _EVENT.match(line)
        if head is None or len(head["seconds"]) > _SECONDS_DIGITS:
            tally.malformed(line)
            head, skipping = None, True
    if head is not None:
        yield _event(head, frames)


def _event(head: re.Match[str], frames: list[Frame]) -> Event:
    numbers = _NUMBERS.search(head["who"])
    process = int(numbers[1]) if numbers else 0
    task = int(numbers[2]) if numbers and numbers[2] else process
    time_ns = int(head["seconds"]) * 1_000_000_000 + int(head["fraction"].ljust(9, "0")[:9])
    return Event(time_ns, process, task, head["event"], head["fields"], tuple(frames))


def choose(lines: Iterable[str]) -> str | None:
    """Return the block event that counts as the request; None where the text is of system calls."""
    events = set()
    for number, line in enumerate(lines):
        if number == _LINES_LOOKED_AT:
            break
        event = _EVENT.match(line)
        if event is not None:
            events.add(event["event"])
    return next((name for name in BLOCK_EVENTS if name in events), None)


def block_request(event: Event) -> BlockRequest | None:
    """Return the request of a block event; None for a flush or an event without size."""
    match = _BLOCK.match(event.fields)
    if match is None:
        return None
    letters, sector, sectors = match[2], int(match[3]), int(match[4])
    op = 2 if "D" in letters else 1 if "W" in letters else 0 if "R" in letters else None
    if op is None or sectors == 0:
        return None
    return BlockRequest(match[1], op, sector, sectors, event.frames)


def calls(events: Iterable[Event], tally: Tally) -> Iterator[Call]:
    """Yield the reads, writes and seeks among system calls; each descriptor of a process counts as a separate file."""
    entered: dict[int, tuple[str, dict[str, int], tuple[Frame, ...]]] = {}
    known: set[tuple[int, int]] = set()
    latest = 0
    for event in events:
        side, _, name = event.name.removeprefix("syscalls:sys_").partition("_")
        if side == "enter":
            tally.unpaired_calls += event.task in entered
            fields = {key: int(value, 16) for key, value in _FIELD.findall(event.fields)}
            entered[event.task] = (name, fields, event.frames)
            continue
        begun = entered.pop(event.task, None)
        if side != "exit" or begun is None or begun[0] != name:
            tally.unpaired_calls += 1
            continue
        latest = max(latest, event.time_ns)
        call = _call(event, latest, begun[1], begun[2], tally)
        if call is None:
            continue
        if (event.process, call.fd) not in known:
            known.add((event.process, call.fd))
            path = f"/process {event.process}/descriptor {call.fd}"
            yield Call(latest, event.process, "open", result=call.fd, path=path, flags=frozenset({"O_RDWR"}))
        yield call
    tally.unpaired_calls += len(entered)


def _call(event: Event, time_ns: int, fields: dict[str, int], frames: tuple[Frame, ...], tally: Tally) -> Call | None:
    name = event.name.removeprefix("syscalls:sys_exit_")
    fd, words = fields.get("fd"), event.fields.split(maxsplit=1)
    if fd is None or name not in (*WRITES, *READS, "lseek", "fsync", "fdatasync"):
        tally.other[name] += 1
        return None
    try:
        result = int(words[0], 16)
    except (IndexError, ValueError):
        tally.malformed(event.fields)
        return None
    if result >= _SIGN:
        tally.failed_writes += name in WRITES
        return None
    call = Call(time_ns, event.process, "seek", fd=fd, result=result)
    if name == "lseek":
        return call
    if name in ("fsync", "fdatasync"):
        return call._replace(name="sync")
    offset = fields.get(OFFSETS.get(name, ""))
    return call._replace(
        name="write" if name in WRITES else "read",
        offset=None if offset is not None and offset >= _SIGN else offset,
        length=result,
        frames=frames or None,
    )
