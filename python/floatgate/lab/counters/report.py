"""The report on readings as one HTML page: write amplification, host writes and wear over time."""

from __future__ import annotations

import functools
from typing import Any

from floatgate.base import units
from floatgate.lab.counters import endurance, summary
from floatgate.pages import palette, vega
from floatgate.pages.charts import HEIGHT, TIME_UNITS, WAF_TITLE, WIDTH, axis_title, data_chart, finished
from floatgate.pages.page import report
from floatgate.pages.parts import Cards, Charts, Grid, Part, Picture, Rows, Section, figure

Facts = dict[str, Any]

LEFT_OUT = (
    "why the drive programmed more than the host wrote: collection, wear-leveling, read reclaim and metadata share one "
    "counter, and what happened within an interval is unknown"
)
_BYTES = (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("bytes", 1.0))
_CAPTION_WAF = (
    "Flash bytes by host bytes in each interval between two readings; thin bars show how exactly the counters' steps "
    "allow to know it. An interval that cannot be is missing."
)
_CAPTION_RATE = "What the host wrote per day, and what the drive programmed per day, in each interval."
_CAPTION_WEAR = "The drive's own estimate of its used life at each reading; it has steps of 1 %."


def page(facts: Facts, command: str | None = None) -> str:
    """Return the report as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        facts: the JSON of ``floatgate counters``.
        command: the command line that made it, where there was one.
    """
    drive = facts["drive"]
    title = drive["model"] or drive["device"] or drive["serial"] or "a drive"
    drawn = [figure(one.name, one.title, one.caption, one.draw) for one in pictures(facts)]
    parts: list[Part] = [Cards(headline(facts)), Rows([row for row in summary.lines(facts) if row[0] != "WAF"])]
    if drawn:
        parts.append(Section("Over time", [Charts(drawn)]))
    parts.append(Section("Intervals", [Grid(summary.INTERVALS, summary.intervals(facts))]))
    return report(f"{title}: counters", parts, not_modelled=[LEFT_OUT], kind="floatgate counters", command=command)


def headline(facts: Facts) -> list[tuple[str, str, str]]:
    """Return the cards on top: name, figure, what stands below."""
    total, life = facts["total"], facts["life"]
    cards = []
    if total["waf"] is not None:
        cards.append(("write amplification", units.figure(total["waf"], 4), summary.ends(total)))
    for key, name in (("host", "written by the host"), ("media", "programmed")):
        if total[f"{key}_bytes"] is not None:
            rate = total[f"{key}_bytes_per_day"]
            below = "" if rate is None else f"{units.decimal_bytes(rate)} per day"
            cards.append((name, units.decimal_bytes(total[f"{key}_bytes"]), below))
    if life["rating"] is not None and life["rating"]["used_share"] is not None:
        rated = f"of {units.decimal_bytes(life['rating']['tbw_bytes'])}"
        cards.append(("rated life used", units.share(life["rating"]["used_share"]), rated))
    if life["cycles"] is not None and life["cycles"]["used_share"] is not None:
        below = (
            ""
            if life["cycles"]["host_bytes"] is None
            else (f"of {units.decimal_bytes(life['cycles']['host_bytes'])} of host writes")
        )
        cards.append(("P/E cycles used", units.share(life["cycles"]["used_share"]), below))
    left = endurance.left(facts)
    if left is not None:
        cards.append(("flash lasts", *left))
    if life["wear"] is not None:
        cards.append(("used by its own estimate", f"{life['wear']['percent_used']} %", ""))
    return cards


def pictures(facts: Facts) -> list[Picture]:
    """Return those pictures that the readings have figures for: they need times and two intervals.

    Args:
        facts: the JSON of ``floatgate counters``.
    """
    rows = timed(facts)
    if len(rows) < 2:
        return []
    made = []
    if any(row["waf"] is not None for row in rows):
        made.append(Picture("waf", "Write amplification", _CAPTION_WAF, functools.partial(waf, rows)))
    if any(row["host_bytes_per_day"] for row in rows):
        made.append(Picture("rate", "Bytes per day", _CAPTION_RATE, functools.partial(rates, rows)))
    if sum(row["percent_used"] is not None for row in rows) > 1:
        draw = functools.partial(wear, facts["readings"][0]["percent_used"], rows)
        made.append(Picture("wear", "Used life", _CAPTION_WEAR, draw))
    return made


def timed(facts: Facts) -> list[dict[str, Any]]:
    """Return the intervals with their beginnings and ends in seconds after the first reading; empty without times."""
    rows = []
    at = 0.0
    for one in facts["intervals"]:
        if one["seconds"] is None or one["seconds"] < 0:
            return []
        rows.append({**one, "begin_s": at, "end_s": at + one["seconds"]})
        at += one["seconds"]
    return rows


def _times(rows: list[dict[str, Any]]) -> tuple[str, float]:
    return axis_title("time since the first reading", rows[-1]["end_s"] or 1.0, TIME_UNITS)


def waf(rows: list[dict[str, Any]], width: int = WIDTH) -> vega.Composed:
    """Draw the write amplification of each interval, with what the steps of the counters leave open."""
    title, unit = _times(rows)
    data = [
        {
            "begin": row["begin_s"] / unit,
            "end": row["end_s"] / unit,
            "middle": (row["begin_s"] + row["end_s"]) / 2 / unit,
            "waf": row["waf"],
            "low": row["waf_low"],
            "high": row["waf"] if row["waf_high"] is None else row["waf_high"],
        }
        for row in rows
        if row["waf"] is not None
    ]
    x = vega.X("begin:Q", title=title, scale=vega.Scale(domain=[0, rows[-1]["end_s"] / unit], nice=False))
    lines = (
        data_chart(data)
        .mark_rule(color=palette.BLUE, strokeWidth=2.5)
        .encode(x=x, x2="end:Q", y=vega.Y("waf:Q", title=WAF_TITLE))
    )
    spans = (
        data_chart(data)
        .mark_rule(color=palette.INK, strokeWidth=0.8)
        .encode(x=vega.X("middle:Q"), y=vega.Y("low:Q"), y2="high:Q")
    )
    return finished(vega.layer(lines, spans), width, HEIGHT)


def rates(rows: list[dict[str, Any]], width: int = WIDTH) -> vega.Chart:
    """Draw what the host wrote and the drive programmed per day."""
    title, unit = _times(rows)
    keys = (("host_bytes_per_day", "host"), ("media_bytes_per_day", "flash"))
    largest = max(row[key] or 0.0 for row in rows for key, _ in keys)
    name, scale = next(((name, scale) for name, scale in _BYTES if largest >= 2 * scale), _BYTES[-1])
    data = [
        {"begin": row["begin_s"] / unit, "end": row["end_s"] / unit, "rate": row[key] / scale, "of": label}
        for key, label in keys for row in rows if row[key] is not None
    ]  # fmt: skip
    labels = [label for _, label in keys if any(one["of"] == label for one in data)]
    colors = {"host": palette.BLUE, "flash": palette.ORANGE}
    dashes = {"host": [1, 0], "flash": [6, 3]}
    chart = (
        data_chart(data)
        .mark_rule(strokeWidth=2.5)
        .encode(
            x=vega.X("begin:Q", title=title, scale=vega.Scale(domain=[0, rows[-1]["end_s"] / unit], nice=False)),
            x2="end:Q",
            y=vega.Y("rate:Q", title=f"{name} per day"),
            color=vega.Color(
                "of:N",
                scale=vega.Scale(domain=labels, range=[colors[label] for label in labels]),
                legend=vega.Legend(title=None, orient="top"),
            ),
            strokeDash=vega.StrokeDash(
                "of:N", scale=vega.Scale(domain=labels, range=[dashes[label] for label in labels]), legend=None
            ),
        )
    )
    return finished(chart, width, HEIGHT)


def wear(first: int | None, rows: list[dict[str, Any]], width: int = WIDTH) -> vega.Chart:
    """Draw the percentage used at the first reading and at the end of each interval."""
    title, unit = _times(rows)
    points = [(0.0, first), *((row["end_s"], row["percent_used"]) for row in rows)]
    data = [{"end": at / unit, "used": used} for at, used in points if used is not None]
    chart = (
        data_chart(data)
        .mark_line(color=palette.PLUM, interpolate="step-after", point={"color": palette.PLUM})
        .encode(
            x=vega.X("end:Q", title=title, scale=vega.Scale(domain=[0, rows[-1]["end_s"] / unit], nice=False)),
            y=vega.Y("used:Q", title="percentage used"),
        )
    )
    return finished(chart, width, HEIGHT)
