"""The charts of a forecast life: what is programmed, how long writes take, throttle and endurance over its course."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from floatgate.pages import palette, vega
from floatgate.pages.parts import Charts, Part, Section, Text, figure
from floatgate.report import throttle_charts
from floatgate.report.sections import reduce
from floatgate.report.sections.forecast import ends, load
from floatgate.report.throttle_charts import look_of
from floatgate.results.result_view import look


def parts(result: dict[str, Any]) -> list[Part]:
    """Return what happens over the life; nothing where the forecast has no course."""
    policy = _policy(result)
    programmed = written(result)
    figures: list[Part] = [] if programmed is None else [figure("written", *programmed)]
    figures += _responses(result, policy)
    if policy != "none":
        figures += _course(
            result, policy, "delay_us", 1000.0, "Throttling delay", "delay of a page write, ms",
            "Delay of a page write at the end of each interval.",
        )  # fmt: skip
    figures += _course(
        result, policy, "pe_cycles", 1.0, "Endurance of a block", "program/erase cycles",
        "From the mean rest between erases so far.",
    )  # fmt: skip
    beyond = [Text(f"Under the full demand of the host: {load.BEYOND}.")] if load.overloaded(result) else []
    return [Section("Over the life", [*beyond, Charts(figures)])] if figures else []


def _policy(result: dict[str, Any]) -> str:
    """Return what throttles: the integrated manager, or a policy, or none."""
    if reduce.policy(result) == reduce.INTEGRATED:
        return reduce.INTEGRATED
    return str(look(result, "throttle", "policy") or "none")


def _course(
    result: dict[str, Any], policy: str, column: str, scale: float, title: str, y_title: str, caption: str
) -> list[Part]:
    looks = [look_of(policy)]
    rows, x_title = course_rows(result, column, looks[0].label, scale=scale, to_s=ends.shown_s(result))
    if len(rows) < 2:
        return []
    marks, legend = ends.marks(result), policy != "none"
    drawn = figure(
        column.replace("_", "-"),
        title,
        f"{caption}{ends.beyond(result)}",
        lambda width: throttle_charts.lines(
            rows, looks, x_title, y_title, width=width, step=True, marks=marks, legend=legend
        ),
    )
    return [drawn]


class Drawing(NamedTuple):
    """A chart before it is drawn.

    Attributes:
        title: what it shows.
        caption: how to read it.
        draw: makes it, with a width in pixels.
    """

    title: str
    caption: str
    draw: Callable[[int], vega.Composed]


def written(result: dict[str, Any]) -> Drawing | None:
    """Return the main chart: bytes programmed and allowed over the life, and what the flash endures.

    None where the forecast has no course.
    """
    policy, terabyte = _policy(result), 1e12
    looks = [throttle_charts.Look("programmed", palette.BLUE, (), "circle")]
    columns = ["written_bytes"]
    if policy != "none":
        # Without a throttle nothing keeps count of it.
        looks.append(throttle_charts.Look("capacity so far", palette.BROWN, (6, 3), "square"))
        columns.append("capacity_bytes")
    rows: list[dict[str, Any]] = []
    x_title = ""
    for one, column in zip(looks, columns, strict=True):
        made, x_title = course_rows(result, column, one.label, scale=terabyte, to_s=ends.shown_s(result))
        rows += made
    if len(rows) < 2 * len(looks):
        return None
    caption = "Compared with the flash endurance" + (
        " known so far, from the rest of its blocks." if policy != "none" else "."
    )
    endures = look(result, "lifetime", "c_ssd_recovered_bytes")
    top = max(row["y"] for row in rows)
    rules = [("flash endurance", endures / terabyte)] if endures and endures / terabyte <= 2 * top else []
    marks = ends.marks(result)
    return Drawing(
        "Flash bytes programmed",
        f"{caption}{ends.beyond(result)}",
        lambda width: throttle_charts.lines(
            rows, looks, x_title, "TB", width=width, rules=rules, marks=marks, legend=len(looks) > 1
        ),
    )


def _responses(result: dict[str, Any], policy: str) -> list[Part]:
    looks = [look_of(policy)]
    rows = cdf_rows(result, looks[0].label)
    if len(rows) < 2:
        return []
    drawn = figure(
        "responses",
        "Delays of page writes",
        "Share of page writes that the throttle held back for at most this long.",
        lambda width: throttle_charts.lines(
            rows, looks, "delay of a page write, ms", "share", width=width, x_log=True, share=True
        ),
    )
    return [drawn]


def cdf_rows(result: Mapping[str, Any], label: str, service_us: float = 0.0) -> list[dict[str, Any]]:
    """Return the distribution of delays as points of lines: x in milliseconds, y the share at or below.

    Args:
        result: a forecast.
        label: of the look.
        service_us: added to each delay.
    """
    cdf = look(result, "throttle", "delay_us", "cdf") or {}
    points = list(zip(cdf.get("us") or [], cdf.get("share") or [], strict=False))
    # Up from nought: responses that are all alike are a line as well.
    points = [(points[0][0], 0.0), *points] if points else []
    return [{"x": (us + service_us) / 1000, "y": share, "series": label} for us, share in throttle_charts.thin(points)]


def course_rows(
    result: Mapping[str, Any], column: str, label: str, *, scale: float, from_s: float = 0.0, to_s: float = float("inf")
) -> tuple[list[dict[str, Any]], str]:
    """Return a column of the series over device time as points of lines, and the title of the axis of time.

    Args:
        result: a forecast.
        column: of its ``series``.
        label: of the look.
        scale: what one of the units of the chart is in units of the column.
        from_s: first device time that is shown.
        to_s: last device time that is shown.
    """
    series = result.get("series") or {}
    pairs = zip(series.get("time_s") or [], series.get(column) or [], strict=False)
    kept = throttle_charts.thin([(at, value) for at, value in pairs if value is not None and from_s <= at <= to_s])
    title, unit = throttle_charts.time_axis(min(to_s, kept[-1][0]) if kept else 1.0)
    return [{"x": at / unit, "y": value / scale, "series": label} for at, value in kept], title
