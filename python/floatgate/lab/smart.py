"""Host writes and programmed bytes between two readings, as ``floatgate rb measure`` takes them.

The readers are those of ``floatgate counters`` (:mod:`floatgate.lab.counters`). Two readings that cannot be of one
drive, in order and within the speed of its interface are refused.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from floatgate.base.errors import input_error, quote
from floatgate.lab.counters import collecting, intervals, questions
from floatgate.lab.counters.reading import NOTHING_STATED, Counter, Reading, Role, Stated

_PLAIN = collecting.Wanted()


@dataclass(frozen=True)
class Written:
    """The writes between two readings.

    Attributes:
        host_bytes: by the host, where the files have it.
        step_bytes: less than this may be missing from it or be too much.
        media_bytes: on flash, where the files have it.
        source: where it stands in the files.
    """

    host_bytes: int | None
    step_bytes: int
    media_bytes: int | None
    source: str


def between(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
    stated: Stated = NOTHING_STATED,
    *,
    needs_host: bool = False,
) -> Written:
    """Return the writes between two readings of one drive.

    Args:
        before: the file of the first reading.
        after: that of the second.
        stated: what the user states about counters whose unit the files leave open.
        needs_host: whether an open unit of host writes is an error although the flash writes are known.

    Raises:
        InputError: a file cannot be read or has no counter of data written, a unit is not known, the drives differ,
            a counter goes backwards, or rises faster than the interface allows.
    """
    wanted = collecting.Wanted(stated)
    first, last = read(before, wanted), read(after, wanted)
    if first.serial is not None and last.serial is not None and first.serial != last.serial:
        raise input_error(
            f"{last.place}: is of drive {quote(last.serial)}, and {first.place} of drive {quote(first.serial)}; "
            "expected two readings of one drive"
        )
    _must_be_known(first, last, needs_host=needs_host)
    ends = [one.host or one.media for one in (first, last)]
    if ends[0] is None or ends[1] is None or ends[0].source != ends[1].source:
        sources = [None if end is None else end.source for end in ends]
        raise input_error(
            f"{last.place}: counts {sources[1]}, and {first.place} {sources[0]}; expected two readings of one tool"
        )
    _must_rise(first, last, first.host, last.host)
    _must_rise(first, last, first.media, last.media)
    made = intervals.between(first, last)
    if made.faults:
        raise input_error(f"{last.place}: {made.faults[0]}; expected two readings between which it rises")
    host, media = made.host, made.media
    return Written(
        None if host is None else host.bytes_,
        0 if host is None else host.step_bytes,
        None if media is None else media.bytes_,
        ends[1].source,
    )


def read(path: str | os.PathLike[str], wanted: collecting.Wanted = _PLAIN) -> Reading:
    """Return the counters of a drive at one moment.

    Args:
        path: what a tool printed.
        wanted: how it is read.

    Raises:
        InputError: the file cannot be read, or has no counter of data written.
    """
    return collecting.single(os.fspath(path), wanted)


def _must_be_known(first: Reading, last: Reading, *, needs_host: bool) -> None:
    """Refuse readings whose only counters of data written have open units.

    Raises:
        InputError: with the question, and what each usual unit would mean.
    """
    for reading in (first, last):
        if reading.host is None and reading.media is None:
            if reading.questions:
                raise questions.refusal([first, last] if last.questions else [reading])
            raise input_error(f"{reading.place}: says nothing of data written; expected a log that counts it")
    if needs_host and first.host is None and any(one.role is not Role.MEDIA for one in first.questions):
        raise questions.refusal([first, last])


def _must_rise(first: Reading, last: Reading, before: Counter | None, after: Counter | None) -> None:
    """Refuse a counter that goes backwards.

    Raises:
        InputError: it does.
    """
    if before is None or after is None or after.value_bytes >= before.value_bytes:
        return
    raise input_error(
        f"{last.place}: {after.source} go back from {before.value_bytes} to {after.value_bytes} bytes; "
        f"expected the reading before first: {first.place} may be the later one"
    )
