"""The figures of a series of readings as JSON: intervals, their sum, rates, the share of the life that is used.

Units are those of the names; bytes are bytes, shares from 0 on. What the readings cannot say is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.base.errors import input_error
from floatgate.lab.counters import intervals as between
from floatgate.lab.counters import questions, times
from floatgate.lab.counters.collecting import Series
from floatgate.lab.counters.cut import with_cut
from floatgate.lab.counters.documents import BYTES_MAX
from floatgate.lab.counters.endurance import Endurance, by_cycles
from floatgate.lab.counters.intervals import Amplification, Interval, Rise, Sum
from floatgate.lab.counters.reading import Counter, Reading

SCHEMA = "floatgate.counters/1"
Facts = dict[str, Any]
_LARGE = 100.0
"""Write amplifications above that are more likely a wrong unit."""
_REDUCED = 0.99


@dataclass(frozen=True)
class Rating:
    """The rated life of the drive.

    Attributes:
        tbw_bytes: bytes that its maker lets the host write.
        source: where that stands.
        user_bytes: capacity of the rated drive; None if unknown.
    """

    tbw_bytes: float
    source: str
    user_bytes: float | None = None


def of_series(
    series: Series,
    rating: Rating | None = None,
    hours: float | None = None,
    endurance: Endurance | None = None,
) -> Facts:
    """Return the figures of a series.

    Args:
        series: at least two readings of one drive.
        rating: its rated life.
        hours: between two readings, where they have no times.
        endurance: what its flash endures.

    Raises:
        InputError: there are fewer than two readings, their units are open, or no interval can be used.
    """
    readings = series.readings
    if len(readings) < 2:
        place = readings[0].place if readings else "no file"
        raise input_error(f"{place}: is one reading; expected two of the drive or more, as BEFORE AFTER")
    last = readings[-1]
    if all(getattr(last, key) is None for key in ("host", "media", "programs")):
        if last.questions:
            raise questions.refusal(readings, hours)
        raise input_error(f"{last.place}: says nothing of data written; expected a log that counts it")
    parts = between.of_series(readings, hours)
    total = between.summed(parts)
    if not total.count:
        place = parts[-1].last.place
        error = input_error(f"{place}: {parts[-1].faults[0]}; expected two readings between which it rises")
        raise with_cut(place.split(", line ")[0], error, BYTES_MAX)
    made: Facts = {
        "schema": SCHEMA,
        "drive": {
            "serial": _first(readings, "serial"),
            "model": _first(readings, "model"),
            "device": _first(readings, "device"),
            "interface": last.interface or None,
            "capacity_bytes": _first(readings, "capacity_bytes"),
        },
        "readings": [_reading(one) for one in readings],
        "intervals": [_interval(one) for one in parts],
        "total": _total(total, parts),
        "host_source": _source(last.host),
        "media_source": _source(last.media) or (last.programs.source if last.programs else None),
    }
    made["life"] = {"rating": _by_rating(last, made["total"], rating), "wear": _by_wear(readings, parts)}
    made["life"]["cycles"] = by_cycles(last, made["total"], endurance)
    made["notes"] = list(dict.fromkeys(series.notes))
    made["warnings"] = _warnings(made, parts, readings, rating, hours)
    return made


def _first(readings: Sequence[Reading], key: str) -> Any:
    return next((getattr(one, key) for one in readings if getattr(one, key) is not None), None)


def _source(counter: Counter | None) -> str | None:
    return None if counter is None else counter.source


def _reading(one: Reading) -> Facts:
    return {
        "place": one.place,
        "log": one.kind,
        "time": None if one.time_s is None else times.iso(one.time_s),
        "time_s": one.time_s,
        "time_source": one.time_source or None,
        "power_on_hours": one.power_on_hours,
        "host_bytes": None if one.host is None else one.host.value_bytes,
        "media_bytes": None if one.media is None else one.media.value_bytes,
        "percent_used": one.percent_used,
    }


def _figures(
    host: Rise | None, media: Rise | None, erased: Rise | None, programs: tuple[int, int] | None, seconds: float | None
) -> Facts:
    """Return bytes, rates and write amplification of an interval or a sum."""
    waf: Amplification | None = between.amplification(host, media, programs)
    media_bytes = None if media is None else media.bytes_
    if media_bytes is None and waf is not None and host is not None:
        # Programs of an unknown size: their ratio times what the host wrote.
        media_bytes = round(waf.waf * host.bytes_)
    days = seconds / times.DAY_S if seconds else None
    return {
        "seconds": seconds,
        "host_bytes": None if host is None else host.bytes_,
        "host_step_bytes": None if host is None else host.step_bytes,
        "media_bytes": media_bytes,
        "media_step_bytes": None if media is None else media.step_bytes,
        "erased_bytes": None if erased is None else erased.bytes_,
        "waf": None if waf is None else waf.waf,
        "waf_low": None if waf is None else waf.low,
        "waf_high": None if waf is None else waf.high,
        "host_bytes_per_day": None if host is None or days is None else host.bytes_ / days,
        "media_bytes_per_day": None if media_bytes is None or days is None else media_bytes / days,
    }


def _interval(one: Interval) -> Facts:
    figures = _figures(one.host, one.media, one.erased, one.programs, one.seconds)
    if one.faults:
        figures |= {key: None for key in figures if key != "seconds"}
    return {
        "from": one.first.place,
        "until": one.last.place,
        "from_s": one.first.time_s,
        "until_s": one.last.time_s,
        **figures,
        "percent_used": one.last.percent_used,
        "faults": list(one.faults),
    }


def _total(total: Sum, parts: Sequence[Interval]) -> Facts:
    figures = _figures(total.host, total.media, total.erased, total.programs, total.seconds)
    clocks = list(dict.fromkeys(one.clock for one in parts if one.clock and not one.faults))
    return {
        **figures,
        "seconds_error": total.seconds_error,
        "clock": " and ".join(clocks) or None,
        "intervals": total.count,
        "intervals_left_out": len(parts) - total.count,
    }


def _by_rating(last: Reading, total: Facts, rating: Rating | None) -> Facts | None:
    """Return the share of the rated bytes that is written, and when the rest will be at the rate of the readings."""
    if rating is None:
        return None
    written = None if last.host is None else last.host.value_bytes
    per_day = total["host_bytes_per_day"]
    left = None if written is None else max(rating.tbw_bytes - written, 0.0)
    seconds = left / per_day * times.DAY_S if left is not None and per_day else None
    return {
        "tbw_bytes": rating.tbw_bytes,
        "source": rating.source,
        "host_bytes": written,
        "used_share": None if written is None else written / rating.tbw_bytes,
        "left_s": seconds,
        "end_s": None if seconds is None or last.time_s is None else last.time_s + seconds,
    }


def _by_wear(readings: Sequence[Reading], parts: Sequence[Interval]) -> Facts | None:
    """Return how fast the drive's own estimate of its used life rises, and when it reaches 100 %.

    It has steps of 1 %, so a rise of n points lies between n - 1 and n + 1: the end is an interval.
    """
    with_percent = [one for one in readings if one.percent_used is not None]
    if not with_percent:
        return None
    first, last = with_percent[0], with_percent[-1]
    used, rise = last.percent_used or 0, (last.percent_used or 0) - (first.percent_used or 0)
    made: Facts = {"percent_used": used, "rise": rise, "seconds": None, "left_s_low": None, "left_s_high": None}
    made |= {"left_s": None, "end_s": None, "left_s_of_life": None}
    hours = last.power_on_hours
    if hours and used:
        made["left_s_of_life"] = max(100 - used, 0) / used * hours * 3600.0
    from_, until = readings.index(first), readings.index(last)
    spans = [one.seconds for one in parts[from_:until]]
    if not spans or any(span is None for span in spans) or rise < 0:
        return made
    seconds = sum(span or 0.0 for span in spans)
    left = max(100 - used, 0)
    made["seconds"] = seconds
    made["left_s_low"] = max(left - 1, 0) / (rise + 1) * seconds
    if rise > 1:
        made["left_s_high"] = (left + 1) / (rise - 1) * seconds
    if rise:
        made["left_s"] = left / rise * seconds
        made["end_s"] = None if last.time_s is None else last.time_s + made["left_s"]
    return made


def lost(readings: Sequence[Reading]) -> list[str]:
    """Say which reading lacks a counter that another one has."""
    texts = []
    for key, what in (("host", "host writes"), ("media", "flash writes"), ("programs", "programs")):
        counters = [(one, getattr(one, key)) for one in readings]
        having = next(((one, counter) for one, counter in counters if counter is not None), None)
        lacking = [one.place for one, counter in counters if counter is None]
        if having is not None and lacking:
            more = f" and {units.counted(len(lacking) - 1, 'more reading')}" if len(lacking) > 1 else ""
            one, counter = having
            texts.append(f"{lacking[0]}{more} lacks {counter.source}, which {one.place} has: {what} are not compared")
    return texts


def _warnings(
    made: Facts, parts: Sequence[Interval], readings: Sequence[Reading], rating: Rating | None, hours: float | None
) -> list[str]:
    """Say what cannot be, what is open, and what the figures rest on."""
    warnings = [f"not counted: {one.last.place}: {fault}" for one in parts for fault in one.faults]
    total = made["total"]
    if total["waf_high"] is not None and total["waf_high"] < _REDUCED:
        warnings.append(
            "impossible without compression: less programmed than the host wrote; check the units, and that both "
            "counters were read at the same times"
        )
    if total["waf"] is not None and total["waf"] > _LARGE:
        warnings.append(f"a write amplification of {units.figure(total['waf'])} is unlikely; check the units")
    if total["host_bytes"] == 0:
        warnings.append("the host wrote nothing between the readings; write amplification is undefined")
    if total["clock"] and "power-on hours" in total["clock"]:
        warnings.append(
            "the readings have no dates: days are days of power, known to an hour; date lines between the documents "
            "or --hours are exact"
        )
    if total["seconds"] is None and (total["host_bytes"] or total["media_bytes"]):
        warnings.append("no times in the logs, so no rates: --hours H (between two readings) gives the rate")
    warnings += lost(readings)
    open_ = [one for one in readings[-1].questions if one.role is None or made[f"{one.role.value}_source"] is None]
    warnings += [questions.text(readings, one, hours) for one in open_]
    capacity = made["drive"]["capacity_bytes"]
    if rating is not None and rating.user_bytes and capacity and abs(capacity / rating.user_bytes - 1) > 0.05:
        warnings.append(
            f"{rating.source} has {units.decimal_bytes(rating.user_bytes)}, this drive "
            f"{units.decimal_bytes(capacity)}; --rated-tbw takes the rating of its data sheet"
        )
    wear = made["life"]["wear"]
    if wear is not None and wear["rise"] < 0:
        warnings.append("the percentage used falls between the readings; nothing is projected from it")
    return warnings
