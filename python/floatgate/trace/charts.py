"""The pictures of a trace, from the JSON of ``floatgate trace info``: one function per picture.

Reads and writes have the same colour and line in every picture; axes carry units.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from floatgate.base import units
from floatgate.pages import palette, vega
from floatgate.pages.charts import HEIGHT, TIME_UNITS, WIDTH, axis_title, data_chart, finished
from floatgate.pages.parts import Picture
from floatgate.results.result_view import look

Facts = dict[str, Any]
Rows = list[dict[str, Any]]

READ = palette.ORANGE
WRITE = palette.BLUE
CONTEXTS = 20
"""Contexts that have a bar."""

_CAPTION_REUSE = (
    "Share of page accesses that hit in a cache of this size: reads and writes together, and reads in a separate cache."
)
_BINARY_LABEL = (
    "datum.value >= 1099511627776 ? format(datum.value / 1099511627776, '~g') + ' TiB' : "
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '~g') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, '~g') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, '~g') + ' KiB' : datum.value + ' B'"
)
_SPANS = (
    (1e-6, "1 us"), (1e-5, "10 us"), (1e-4, "100 us"), (1e-3, "1 ms"), (1e-2, "10 ms"), (1e-1, "100 ms"), (1.0, "1 s"),
    (10.0, "10 s"), (60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 hour"), (21_600.0, "6 hours"), (86_400.0, "1 day"),
    (604_800.0, "1 week"), (2_629_800.0, "1 month"), (31_557_600.0, "1 year"),
)  # fmt: skip


def pictures(facts: Facts) -> list[Picture]:
    """Return those pictures that the trace has figures for, in the order of the report.

    Args:
        facts: the JSON of ``floatgate trace info``.
    """
    course = look(facts, "demand", "course") or {}
    updates, reuse = facts.get("update_interval") or {}, facts.get("reuse_distance") or {}
    content, contexts = facts.get("content") or {}, look(facts, "contexts", "list") or []
    windowed = f"Mean rate in windows of {units.span(course['window_s'])}." if course else ""
    frequencies = any((facts.get("frequency") or {}).get(key) for key in ("read", "written"))
    made: list[tuple[bool, str, str, str, Callable[[Facts, int], Any]]] = [
        (len(course.get("requests", ())) > 1, "demand", "Demand over time", windowed, demand),
        (bool(facts.get("sizes")), "sizes", "Sizes of requests", "A bar starts at the size below it.", sizes),
        (
            bool(updates.get("updates")),
            "update-interval",
            "Update interval",
            "Share of the page writes that overwrite data, by the bytes written since that data was.",
            update_interval,
        ),
        (
            bool(updates.get("updates") and updates.get("time_s")),
            "update-interval-time",
            "Update interval in time",
            "Share of the page writes that overwrite data, by the age of that data.",
            update_interval_time,
        ),
        (look(reuse, "all", "first_share") is not None, "lru", "Hit ratio of an LRU cache", _CAPTION_REUSE, lru),
        (
            frequencies,
            "frequency",
            "How often pages are accessed",
            "Share of the pages that are written (read), by how often.",
            frequency,
        ),
        (
            frequencies,
            "lorenz",
            "Concentration",
            "Share of the accesses to the least accessed pages; the more a curve sags, the hotter the hot pages.",
            lorenz,
        ),
        (
            any((facts.get("sequentiality") or {}).values()),
            "runs",
            "Sequential runs",
            "Share of the runs (chains of requests, each beginning where the one before ended) by their length.",
            runs,
        ),
        (
            bool(contexts),
            "contexts",
            "Program contexts",
            f"The busiest {min(CONTEXTS, len(contexts))}: share of {_context_base(facts)}; line: cumulative share.",
            contexts_chart,
        ),
        (
            content.get("duplicate_share") is not None or content.get("compressed_share") is not None,
            "content",
            "Content of page writes",
            "What deduplication and compression would leave, for pages whose content is known.",
            content_chart,
        ),
    ]
    return [
        Picture(name, title, caption, functools.partial(draw, facts))
        for there, name, title, caption, draw in made
        if there
    ]


def demand(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw bytes read and written per second, window by window."""
    course = facts["demand"]["course"]
    step = course["window_s"]
    length = step * len(course["requests"])
    title, unit = axis_title("time", length, TIME_UNITS)
    columns = {"reads": course["read_bytes"], "writes": course["write_bytes"]}
    present = {name: values for name, values in columns.items() if any(values)}
    largest = max((max(values) for values in present.values()), default=0) / step
    scale, name = next(((s, n) for s, n in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")) if largest >= s), (1.0, "B/s"))
    rows = [
        {
            "at": min(place * step, length) / unit,
            "rate": values[min(place, len(values) - 1)] / step / scale,
            "what": what,
        }
        for what, values in present.items()
        for place in range(len(values) + 1)
    ]
    chart = (
        data_chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=1.3)
        .encode(
            x=vega.X("at:Q", title=title, scale=vega.Scale(nice=False)),
            y=vega.Y("rate:Q", title=name),
            **_by_kind(present),
        )
    )
    return finished(chart, width, HEIGHT)


def sizes(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw requests by size, in powers of two."""
    rows: Rows = []
    for key, what in (("read", "reads"), ("write", "writes"), ("trim", "trims")):
        histogram = look(facts, "sizes", key, "histogram")
        if histogram:
            classes: dict[int, int] = {}
            for low, count in zip(histogram["from"], histogram["count"], strict=True):
                power = low.bit_length() - 1
                classes[power] = classes.get(power, 0) + count
            total = sum(classes.values())
            rows += [{"power": power, "share": count / total, "what": what} for power, count in classes.items()]
    low, high = min(row["power"] for row in rows), max(row["power"] for row in rows)
    order = [units.binary_bytes(2**power) for power in range(low, high + 1)]
    for row in rows:
        row["size"] = units.binary_bytes(2 ** row["power"])
    present = [what for what in ("reads", "writes", "trims") if any(row["what"] == what for row in rows)]
    x = vega.X("size:N", title="size of the request", sort=order, scale=vega.Scale(domain=order)).axis(labelAngle=-60)
    return finished(side_by_side(rows, present, x, "share of the requests"), width, HEIGHT + 30)


def update_interval(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw the cumulative distribution of update intervals in bytes of page writes."""
    return _cumulative(
        {"writes": facts["update_interval"]["bytes"]}, "page writes in between", "share of the updates", width
    )


def update_interval_time(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw the cumulative distribution of update intervals in time."""
    distributions = {"writes": facts["update_interval"]["time_s"]}
    return _cumulative(distributions, "age of the data", "share of the updates", width, time=True)


def runs(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw the cumulative distribution of the lengths of sequential runs."""
    lanes = {"reads": look(facts, "sequentiality", "read"), "writes": look(facts, "sequentiality", "write")}
    distributions = {what: lane["run_bytes"] for what, lane in lanes.items() if lane}
    return _cumulative(distributions, "length of the run", "share of the runs", width)


def lru(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw hit ratios of LRU caches by their size."""
    curve = facts["reuse_distance"]["lru"]
    kinds = {"reads and writes": curve["hit_ratio"], "reads alone": curve["read_hit_ratio"]}
    present = {name: values for name, values in kinds.items() if values[0] is not None}
    rows = [
        {"size": size, "hits": hits, "what": what}
        for what, values in present.items()
        for size, hits in zip(curve["cache_bytes"], values, strict=True)
    ]
    chart = (
        data_chart(rows)
        .mark_line(strokeWidth=1.6, point={"size": 12})
        .encode(
            x=_log_bytes("size:Q", "size of the cache", curve["cache_bytes"], width),
            y=vega.Y("hits:Q", title="hit ratio", axis=vega.Axis(format="%"), scale=vega.Scale(domain=[0, 1])),
            **_by_kind(present),
        )
    )
    return finished(chart, width, HEIGHT)


def frequency(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw pages by how often they are written and read."""
    rows: Rows = []
    order: dict[str, int] = {}
    for key, what in (("read", "reads"), ("written", "writes")):
        histogram = look(facts, "frequency", key, "histogram")
        if histogram:
            total = sum(histogram["pages"])
            for low, high, pages in zip(histogram["from"], histogram["to"], histogram["pages"], strict=True):
                label = str(low) if low == high else f"{units.count(low)}-{units.count(high)}"
                order[label] = low
                rows.append({"times": label, "share": pages / total, "what": what})
    present = [what for what in ("reads", "writes") if any(row["what"] == what for row in rows)]
    labels = sorted(order, key=lambda label: order[label])
    x = vega.X("times:N", title="times", sort=labels, axis=vega.Axis(labelAngle=-60))
    return finished(side_by_side(rows, present, x, "share of the pages"), width, HEIGHT + 30)


def lorenz(facts: Facts, width: int = WIDTH) -> vega.Composed:
    """Draw Lorenz curves of page reads and writes."""
    curves = {
        "reads": look(facts, "frequency", "read", "lorenz"),
        "writes": look(facts, "frequency", "written", "lorenz"),
    }
    present = {what: curve for what, curve in curves.items() if curve}
    rows = [
        {"pages": pages, "accesses": accesses, "what": what}
        for what, curve in present.items()
        for pages, accesses in zip(curve["page_share"], curve["access_share"], strict=True)
    ]
    x = vega.X("pages:Q", title="share of the pages, least accessed first", axis=vega.Axis(format="%"))
    y = vega.Y("accesses:Q", title="share of the accesses", axis=vega.Axis(format="%"), scale=vega.Scale(domain=[0, 1]))
    even = data_chart([{"pages": end, "accesses": end} for end in (0, 1)])
    return finished(
        vega.layer(
            even.mark_line(color=palette.GREY, strokeWidth=1).encode(x=x, y=y),
            data_chart(rows).mark_line(strokeWidth=1.6).encode(x=x, y=y, **_by_kind(present)),
        ),
        width,
        HEIGHT,
    )


def busiest_contexts(facts: Facts) -> Rows:
    """List the contexts of :func:`contexts_chart`, the busiest first, with ``share`` and ``together`` of the total."""
    listed = facts["contexts"]["list"]
    key = "updates" if facts["contexts"]["updates"] else "page_writes"
    total = facts["contexts"]["updates"] or sum(entry["page_writes"] for entry in listed)
    ranked = sorted(listed, key=lambda entry: -entry[key])[:CONTEXTS]
    together = itertools.accumulate(entry[key] / total for entry in ranked)
    return [
        {**entry, "rank": rank, "share": entry[key] / total, "together": up_to}
        for rank, (entry, up_to) in enumerate(zip(ranked, together, strict=True), 1)
    ]


def contexts_chart(facts: Facts, width: int = WIDTH) -> vega.Composed:
    """Draw the busiest contexts: share of each, and cumulative (figure 27 of the dissertation on data separation)."""
    rows = [{key: row[key] for key in ("rank", "share", "together")} for row in busiest_contexts(facts)]
    x = vega.X("rank:O", title="context, by rank", axis=vega.Axis(labelAngle=0, labelOverlap=True))
    scale = vega.Scale(domain=[0, 1])
    y = vega.Y("share:Q", title=f"share of {_context_base(facts)}", axis=vega.Axis(format="%"), scale=scale)
    bars = data_chart(rows).mark_bar(color=WRITE, stroke=palette.INK, strokeWidth=0.4).encode(x=x, y=y)
    line = data_chart(rows).mark_line(color=palette.INK, strokeWidth=1.4, point={"color": palette.INK, "size": 20})
    return finished(vega.layer(bars, line.encode(x=x, y=vega.Y("together:Q", scale=scale))), width, HEIGHT)


def content_chart(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw what deduplication and compression would leave of the page writes."""
    content = facts["content"]
    rows: Rows = []
    if content["duplicate_share"] is not None:
        rows += _two("deduplication", 1 - content["duplicate_share"])
    if content["compressed_share"] is not None:
        rows += _two("compression", content["compressed_share"])
    domain = ["left", "saved"]
    color = vega.Color(
        "part:N",
        scale=vega.Scale(domain=domain, range=[WRITE, palette.PALER]),
        legend=vega.Legend(title=None, orient="top", symbolType="square"),
    )
    chart = (
        data_chart(rows)
        .mark_bar(stroke=palette.INK, strokeWidth=0.5, height=22)
        .encode(
            x=vega.X("share:Q", title="share", axis=vega.Axis(format="%"), scale=vega.Scale(domain=[0, 1])),
            y=vega.Y("what:N", title=None, sort=["deduplication", "compression"]),
            color=color,
            order="order:Q",
        )
    )
    return finished(chart, width, 90 + 20 * len(rows))


def _two(what: str, left: float) -> Rows:
    parts = (("left", left), ("saved", 1 - left))
    return [{"what": what, "part": part, "share": share, "order": order} for order, (part, share) in enumerate(parts)]


def _context_base(facts: Facts) -> str:
    return "the overwritten data" if look(facts, "contexts", "updates") else "the page writes"


def _cumulative(
    distributions: dict[str, Facts], x_title: str, y_title: str, width: int, *, time: bool = False
) -> vega.Chart:
    """Draw cumulative shares by value on a logarithmic axis; a bucket's share is reached at its end."""
    rows: Rows = []
    for what, distribution in distributions.items():
        buckets = distribution["histogram"]
        total = sum(buckets["count"])
        rows.append({"at": buckets["from"][0], "share": 0.0, "what": what})
        together = itertools.accumulate(buckets["count"])
        rows += [
            {"at": end, "share": up_to / total, "what": what}
            for end, up_to in zip(buckets["to"], together, strict=True)
        ]
    smallest = min((row["at"] for row in rows if row["at"] > 0), default=1)
    for row in rows:
        row["at"] = max(row["at"], smallest / 2)  # a logarithmic axis has no 0
    places = [row["at"] for row in rows]
    chart = (
        data_chart(rows)
        .mark_line(strokeWidth=1.6)
        .encode(
            x=_log_time(x_title, places) if time else _log_bytes("at:Q", x_title, places, width),
            y=vega.Y("share:Q", title=y_title, axis=vega.Axis(format="%"), scale=vega.Scale(domain=[0, 1])),
            **(
                _by_kind(distributions)
                if len(distributions) > 1
                else {"color": vega.value(WRITE if "writes" in distributions else READ)}
            ),
        )
    )
    return finished(chart, width, HEIGHT)


def _log_bytes(field: str, title: str, values: Sequence[float], width: int) -> Any:
    """Return a logarithmic axis of sizes, with as many powers of two as find room."""
    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    step = max(1, math.ceil((high - low + 1) / (width / 62)))
    ticks = [2**power for power in range(low, high + 1) if power % step == 0]
    scale = vega.Scale(type="log", base=2, domain=[2.0**low, 2.0**high], nice=False)
    return vega.X(field, title=title, scale=scale, axis=vega.Axis(values=ticks, labelExpr=_BINARY_LABEL))


def _log_time(title: str, values: Sequence[float]) -> Any:
    """Return a logarithmic axis of times, labelled in the units that people use."""
    low, high = min(values), max(values)
    ticks = [(value, text) for value, text in _SPANS if low <= value <= high]
    if len(ticks) < 2:  # a range so narrow that its ends say more
        ticks = [(value, units.span(value)) for value in (low, high)]
    label = " : ".join(f"abs(datum.value / {value} - 1) < 0.01 ? '{text}'" for value, text in ticks)
    scale = vega.Scale(type="log", domain=[low, high], nice=False)
    axis = vega.Axis(
        values=[value for value, _ in ticks], labelExpr=f"{label} : ''" if label else "''", labelOverlap=True
    )
    return vega.X("at:Q", title=title, scale=scale, axis=axis)


def side_by_side(rows: Rows, present: Sequence[str], x: Any, title: str) -> vega.Chart:
    """Draw bars of the ``share`` of each row, beside one another where rows differ in ``what`` alone."""
    colors = {"reads": READ, "writes": WRITE, "trims": palette.GREY, "reads and writes": WRITE}
    legend = vega.Legend(title=None, orient="top", symbolType="square", symbolSize=160)
    scale = vega.Scale(domain=list(present), range=[colors[what] for what in present])
    bars = data_chart(rows).mark_bar(stroke=palette.INK, strokeWidth=0.4)
    return bars.encode(
        x=x,
        xOffset=vega.XOffset("what:N", sort=list(present)),
        y=vega.Y("share:Q", title=title, axis=vega.Axis(format="%", tickCount=5)),
        color=vega.Color("what:N", scale=scale, legend=legend),
    )


def _by_kind(present: Sequence[str] | dict[str, Any]) -> dict[str, Any]:
    """Set colour and dashes of lines of reads and writes: they differ in black and white too."""
    names = list(present)
    looks = [(READ, [5, 3]) if name in ("reads", "reads alone") else (WRITE, [1, 0]) for name in names]
    legend = vega.Legend(title=None, orient="top", symbolType="stroke", symbolSize=400, columnPadding=16)
    return {
        "color": vega.Color(
            "what:N", scale=vega.Scale(domain=names, range=[color for color, _ in looks]), legend=legend
        ),
        "strokeDash": vega.StrokeDash(
            "what:N", scale=vega.Scale(domain=names, range=[dash for _, dash in looks]), legend=legend
        ),
    }
