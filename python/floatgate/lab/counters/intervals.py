"""Differences of readings: what was written between two of them, with its error, and why some cannot be used."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from floatgate.base import units
from floatgate.lab.counters.reading import Counter, Programs, Reading

SPEEDS = {"sata": 600e6, "sas": 4.8e9, "nvme": 32e9}
"""Bytes per second that no drive of an interface takes: SATA 6 Gb/s, two ports of 24 Gb/s, PCIe 6.0 with four lanes."""
SPEED_MAX = 32e9
_HOUR_S = 3600.0
_WRAPS = (32, 48, 64)
"""Bits of counters that begin again at 0."""


@dataclass(frozen=True)
class Rise:
    """By how much a counter rose: bytes, and how many they may be off by."""

    bytes_: int
    step_bytes: int


@dataclass(frozen=True)
class Interval:
    """The time between two readings.

    Attributes:
        first: the reading before.
        last: the reading after.
        seconds: between them; None if unknown.
        seconds_error: at most that much off.
        clock: where the time comes from.
        host: what the host wrote.
        media: what the drive programmed.
        erased: what the drive erased.
        programs: host and all programs of an unknown size.
        faults: why the interval counts nothing; empty if it does.
    """

    first: Reading
    last: Reading
    seconds: float | None
    seconds_error: float
    clock: str
    host: Rise | None
    media: Rise | None
    erased: Rise | None
    programs: tuple[int, int] | None
    faults: tuple[str, ...] = field(default=())


def between(first: Reading, last: Reading, hours: float | None = None) -> Interval:
    """Return what happened between two readings of one drive.

    Args:
        first: the earlier reading.
        last: the later one.
        hours: between them, if the user says so; used where the readings have no times.
    """
    seconds, error, clock = _time(first, last, hours)
    faults: list[str] = []
    host, media, erased = (
        _risen(faults, getattr(first, key), getattr(last, key)) for key in ("host", "media", "erased")
    )
    programs = _programs_risen(faults, first.programs, last.programs)
    rises = any(rise is not None and rise.bytes_ > 0 for rise in (host, media))
    if seconds is not None and (seconds < 0 or (seconds == 0 and error == 0 and rises)):
        faults.append(f"{last.place} is not from later than {first.place}")
    elif seconds is not None:
        faults += _too_fast(first, last, seconds + error, host, media)
    if first.power_on_hours is not None and last.power_on_hours is not None:
        if last.power_on_hours < first.power_on_hours:
            faults.append(f"power-on hours fall from {first.power_on_hours} to {last.power_on_hours}")
        elif clock == "dates" and seconds is not None and seconds >= 0:
            hours_on = last.power_on_hours - first.power_on_hours
            if (hours_on - 1) * _HOUR_S > 1.01 * seconds + _HOUR_S:
                faults.append(
                    f"the drive was powered for {hours_on} hours between readings that are {units.span(seconds)} apart"
                )
    return Interval(first, last, seconds, error, clock, host, media, erased, programs, tuple(dict.fromkeys(faults)))


def _time(first: Reading, last: Reading, hours: float | None) -> tuple[float | None, float, str]:
    """Return the seconds between two readings, their error, and where they come from."""
    if first.time_s is not None and last.time_s is not None:
        return last.time_s - first.time_s, 0.0, "dates"
    if hours is not None:
        return hours * _HOUR_S, 0.0, "--hours"
    if first.power_on_hours is not None and last.power_on_hours is not None:
        return max(last.power_on_hours - first.power_on_hours, 0) * _HOUR_S, _HOUR_S, "power-on hours"
    return None, 0.0, ""


def _risen(faults: list[str], before: Counter | None, after: Counter | None) -> Rise | None:
    """Return by how much a counter rose; None and a fault if it fell or became another one."""
    if before is None or after is None:
        return None
    if before.source != after.source:
        faults.append(f"{after.source} follow {before.source}, which count something else")
        return None
    if before.unit_bytes != after.unit_bytes:
        faults.append(f"{after.source} change their unit from {before.unit_bytes} to {after.unit_bytes} bytes")
        return None
    if after.value_bytes < before.value_bytes:
        faults.append(_fallen(before, after))
        return None
    return Rise(after.value_bytes - before.value_bytes, max(before.step_bytes, after.step_bytes))


def _fallen(before: Counter, after: Counter) -> str:
    """Say that a counter falls, and what may be the reason: a wrap or a reset."""
    verb = "falls" if after.source.startswith("attribute ") and " + " not in after.source else "fall"
    text = f"{after.source} {verb} from {before.value_bytes} to {after.value_bytes} bytes"
    count, later = before.value_bytes // before.unit_bytes, after.value_bytes // after.unit_bytes
    for bits in _WRAPS:
        end = 1 << bits
        if end // 2 <= count < end and later < end // 2:
            rise = (end - count + later) * after.unit_bytes
            return f"{text}; a counter of {bits} bits may have wrapped, which would make {units.decimal_bytes(rise)}"
    if after.value_bytes * 10 < before.value_bytes:
        return f"{text}; the counter was reset, or the drive is another one"
    return f"{text}; the later reading may stand first"


def _programs_risen(faults: list[str], before: Programs | None, after: Programs | None) -> tuple[int, int] | None:
    if before is None or after is None:
        return None
    host, media = after.host - before.host, after.media - before.media
    if host < 0 or media < host:
        faults.append(f"{after.source} fall")
        return None
    return host, media


def _too_fast(first: Reading, last: Reading, seconds: float, host: Rise | None, media: Rise | None) -> list[str]:
    """Say which rises no drive can reach in the time."""
    kind = last.interface or first.interface
    limit = last.bytes_per_s or SPEEDS.get(kind, SPEED_MAX)
    named = f"{kind.upper()} interface" if kind else "fastest interface"
    faults = []
    if host is not None and host.bytes_ - host.step_bytes > limit * seconds:
        faults.append(
            f"the host wrote {units.decimal_bytes(host.bytes_)} in {units.span(seconds)}, more than the "
            f"{units.decimal_bytes(limit)} per second of the {named}"
        )
    if media is not None and media.bytes_ - media.step_bytes > SPEED_MAX * seconds:
        faults.append(
            f"the drive programmed {units.decimal_bytes(media.bytes_)} in {units.span(seconds)}, more than "
            f"{units.decimal_bytes(SPEED_MAX)} per second, which no flash takes"
        )
    return faults


def of_series(readings: Sequence[Reading], hours: float | None = None) -> list[Interval]:
    """Return the intervals between consecutive readings."""
    return [between(first, last, hours) for first, last in itertools.pairwise(readings)]


@dataclass(frozen=True)
class Sum:
    """What intervals without faults have in common.

    Attributes:
        seconds: their length; None if one is unknown.
        seconds_error: at most that much off.
        host: what the host wrote; None if one does not say it.
        media: what the drive programmed, likewise.
        erased: what the drive erased, likewise.
        programs: host and all programs, likewise.
        count: how many intervals.
    """

    seconds: float | None
    seconds_error: float
    host: Rise | None
    media: Rise | None
    erased: Rise | None
    programs: tuple[int, int] | None
    count: int


def summed(intervals: Sequence[Interval]) -> Sum:
    """Add up intervals without faults; the steps of a counter count once for each run of adjacent ones."""
    sound = [one for one in intervals if not one.faults]
    runs = sum(place == 0 or sound[place - 1].last is not one.first for place, one in enumerate(sound))
    known = all(one.seconds is not None for one in sound)
    seconds = sum(one.seconds or 0.0 for one in sound) if sound and known else None
    error = runs * max((one.seconds_error for one in sound), default=0.0)
    programs = [one.programs for one in sound if one.programs is not None]
    added = (sum(host for host, _ in programs), sum(media for _, media in programs))
    return Sum(
        seconds,
        error,
        _added(sound, runs, lambda one: one.host),
        _added(sound, runs, lambda one: one.media),
        _added(sound, runs, lambda one: one.erased),
        added if sound and len(programs) == len(sound) else None,
        len(sound),
    )


def _added(sound: Sequence[Interval], runs: int, of: Callable[[Interval], Rise | None]) -> Rise | None:
    rises = [rise for rise in map(of, sound) if rise is not None]
    if not rises or len(rises) < len(sound):
        return None
    return Rise(sum(rise.bytes_ for rise in rises), runs * max(rise.step_bytes for rise in rises))


@dataclass(frozen=True)
class Amplification:
    """A write amplification with its ends; ``high`` is None where the host's counter rose by no more than its step."""

    waf: float
    low: float
    high: float | None


def amplification(host: Rise | None, media: Rise | None, programs: tuple[int, int] | None) -> Amplification | None:
    """Return flash by host bytes, or all by host programs; None without both or without host writes."""
    if host is not None and media is not None and host.bytes_ > 0:
        low = max(media.bytes_ - media.step_bytes, 0) / (host.bytes_ + host.step_bytes)
        least = host.bytes_ - host.step_bytes
        high = (media.bytes_ + media.step_bytes) / least if least > 0 else None
        return Amplification(media.bytes_ / host.bytes_, low, high)
    if programs is not None and programs[0] > 0:
        own, all_ = programs
        return Amplification(all_ / own, max(all_ - 1, 0) / (own + 1), (all_ + 1) / (own - 1) if own > 1 else None)
    return None
