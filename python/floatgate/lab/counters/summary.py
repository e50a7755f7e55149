"""The text summary of readings: write amplification, rates, life, and a row per interval."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.base.text_table import named, table
from floatgate.lab.counters import endurance, times

Facts = dict[str, Any]
INTERVALS = ["until", "length", "host", "flash", "WAF", "interval", "host per day", "used"]
"""The columns of the table of intervals."""
_SHOWN_MAX = 60
_YEAR_S = 365.25 * times.DAY_S
_NO_FLASH = "unknown: these logs count no flash writes"
_NVME_LOGS = "; nvme ocp smart-add-log, nvme fdp stats or a vendor's log may"
_SMALL_STEP = 4096
"""Steps of a counter up to that are not worth a word."""


def screen(facts: Facts) -> str:
    """Return the text for a terminal.

    Args:
        facts: the JSON of ``floatgate counters``.
    """
    text = named(lines(facts))
    if len(facts["intervals"]) < 2:
        return text
    rows = intervals(facts)
    shown = rows if len(rows) <= _SHOWN_MAX else rows[-_SHOWN_MAX:]
    more = "" if shown is rows else f"\nthe last {_SHOWN_MAX} of {len(rows)} intervals; --json has all"
    return f"{text}\n\n{table(INTERVALS, shown, right=frozenset(range(1, 8)))}{more}"


def lines(facts: Facts) -> list[tuple[str, str]]:
    """Return subject and text of each line; subjects that the readings cannot show are left out."""
    rows = [
        ("WAF", waf(facts)),
        ("host", _volume(facts, "host", "written")),
        ("flash", _volume(facts, "media", "programmed")),
        ("erased", _erased(facts)),
        ("rating", rating(facts)),
        ("cycles", endurance.line(facts)),
        ("wear", wear(facts)),
        ("drive", _drive(facts)),
        ("readings", _readings(facts)),
        *[("note", text) for text in facts["notes"]],
        *[("warning", text) for text in facts["warnings"]],
    ]
    return [(name, text) for name, text in rows if text]


def intervals(facts: Facts) -> list[list[str]]:
    """Return a row per interval; one that counts nothing shows why in the warnings."""
    rows = []
    for one in facts["intervals"]:
        until = one["until"] if one["until_s"] is None else times.shown(one["until_s"])
        percent = "" if one["percent_used"] is None else f"{one['percent_used']} %"
        rows.append(
            [
                until,
                "" if one["seconds"] is None else units.span(one["seconds"]) if one["seconds"] > 0 else "-",
                _bytes(one["host_bytes"]),
                _bytes(one["media_bytes"]),
                "" if one["waf"] is None else units.figure(one["waf"], 4),
                "not counted" if one["faults"] else ends(one),
                _bytes(one["host_bytes_per_day"]),
                percent,
            ]
        )
    return rows


def ends(figures: Facts) -> str:
    """Format the ends of a write amplification: 2.476 to 2.524; empty without one."""
    if figures["waf"] is None:
        return ""
    high = "?" if figures["waf_high"] is None else units.figure(figures["waf_high"], 4)
    return f"{units.figure(figures['waf_low'], 4)} to {high}"


def waf(facts: Facts) -> str:
    """Format the write amplification of all intervals that count."""
    total = facts["total"]
    if total["waf"] is None:
        lacking = [one["place"] for one in facts["readings"] if one["media_bytes"] is None]
        if total["host_bytes"] is not None and 0 < len(lacking) < len(facts["readings"]):
            return f"unknown: {lacking[0]} lacks the flash writes that others count"
        if total["host_bytes"] is None:
            return "unknown: these logs do not count what the host wrote; nvme smart-log or smartctl --json -x does"
        more = "" if facts["drive"]["interface"] in ("sata", "sas") else _NVME_LOGS
        return "unknown: the host wrote nothing" if total["host_bytes"] == 0 else f"{_NO_FLASH}{more}"
    return f"{units.figure(total['waf'], 4)} ({ends(total)}){_over(total)}"


def _over(total: Facts) -> str:
    text = f" over {units.span(total['seconds'])}" if total["seconds"] else ""
    left_out = total["intervals_left_out"]
    return text + (f", {units.counted(left_out, 'interval')} not counted" if left_out else "")


def _volume(facts: Facts, key: str, verb: str) -> str:
    total, source = facts["total"], facts[f"{key}_source"]
    volume = total[f"{key}_bytes"]
    if volume is None:
        return ""
    text = f"{units.decimal_bytes(volume)} {verb}"
    rate = total[f"{key}_bytes_per_day"]
    if rate is not None:
        text += f", {units.decimal_bytes(rate)} per day"
    step = total[f"{key}_step_bytes"]
    steps = f", known to {units.decimal_bytes(step)}" if step and step > _SMALL_STEP else ""
    return f"{text} ({source}{steps})"


def _erased(facts: Facts) -> str:
    erased = facts["total"]["erased_bytes"]
    return f"{units.decimal_bytes(erased)} erased" if erased else ""


def rating(facts: Facts) -> str:
    """Format how much of the rated life is used, and when the rest is."""
    life = facts["life"]["rating"]
    if life is None:
        return ""
    rated = f"{units.decimal_bytes(life['tbw_bytes'])} ({life['source']})"
    if life["used_share"] is None:
        return f"unknown share of {rated}: these logs do not count what the host wrote"
    text = f"{units.share(life['used_share'])} of {rated} written"
    if life["used_share"] >= 1:
        return f"{text}: the rated life is over"
    if life["left_s"] is None:
        return text
    end = "" if life["end_s"] is None else f", until {times.day(life['end_s'])}"
    return f"{text}; at this rate the rest lasts {_span(life['left_s'])}{end}"


def wear(facts: Facts) -> str:
    """Format the drive's own estimate of its used life, and when it reaches 100 %."""
    life = facts["life"]["wear"]
    if life is None:
        return ""
    text = f"{life['percent_used']} % used by the drive's own estimate"
    if life["percent_used"] >= 100:
        return f"{text}: its life is over"
    if life["left_s_low"] is not None:
        points = "no step" if life["rise"] == 0 else units.counted(life["rise"], "step")
        low = _span(life["left_s_low"])
        if life["left_s"] is None:
            end = f"the rest lasts {low} or longer"
        else:
            high = "?" if life["left_s_high"] is None else _span(life["left_s_high"])
            day = "" if life["end_s"] is None else f", until {times.day(life['end_s'])}"
            end = f"the rest lasts {_span(life['left_s'])} ({low} to {high}){day}"
        text += f", {points} of 1 % in {units.span(life['seconds'])}: {end}"
    if life["left_s_of_life"] is not None:
        text += f"; at the pace since it was new, {_span(life['left_s_of_life'])} of power"
    return text


def _span(seconds: float) -> str:
    return units.years(seconds / _YEAR_S)


def _drive(facts: Facts) -> str:
    drive = facts["drive"]
    parts = [drive["model"], drive["device"], f"serial {drive['serial']}" if drive["serial"] else None]
    capacity = drive["capacity_bytes"]
    return ", ".join(part for part in (*parts, units.decimal_bytes(capacity) if capacity else None) if part)


def _readings(facts: Facts) -> str:
    listed = facts["readings"]
    first, last = listed[0], listed[-1]
    logs = ", ".join(dict.fromkeys(one["log"] for one in listed))
    text = f"{len(listed)} of {logs}"
    if first["time_s"] is not None and last["time_s"] is not None:
        sources = " and ".join(dict.fromkeys(one["time_source"] for one in listed if one["time_source"]))
        text += f", from {times.shown(first['time_s'])} to {times.shown(last['time_s'])} UTC ({sources})"
    elif facts["total"]["clock"]:
        text += f", {units.span(facts['total']['seconds'] or 0.0)} apart by {facts['total']['clock']}"
    return text


def _bytes(value: float | None) -> str:
    return "" if value is None else units.decimal_bytes(value)
