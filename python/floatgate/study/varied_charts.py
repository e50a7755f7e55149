"""Figures against the keys that vary: lines where a key is a number, bars where it is a name, panels for the rest.

The same charts serve a comparison of six settings, one of two hundred, and a sweep of thousands: keys that do not fit
one chart are distributed over lines, then over panels.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from floatgate.base import units
from floatgate.pages import palette, parts, vega
from floatgate.pages.charts import WIDTH, data_chart, finished
from floatgate.pages.parts import Cards, Charts, Part, Text
from floatgate.report import throttle_charts
from floatgate.report.sections import amplification, lifetime_headline, section
from floatgate.report.sections.lifetime_headline import INSTEAD
from floatgate.report.throttle_charts import Look
from floatgate.results import metrics
from floatgate.study import range_ends

Rows = Sequence[dict[str, Any]]
"""One row per setting: the keys that vary with their values, and figures; ``KEY.low``, ``KEY.high`` for an interval.

``seeds`` is the number of seeds that a mean is over, 1 where seeds change nothing; ``unsteady`` says that the setting
has no steady write amplification.
"""

LINES_MAX = 8
"""Most lines of a panel that stay distinct."""
PANELS_MAX = 6
"""Panels of one figure."""
BARS_MAX = 24
"""Bars of a panel."""
ACROSS_MAX = 8
"""Columns of cells with room for their figures on a narrow page."""
_LOG_FROM = 20.0
"""Largest over smallest value of an axis from which it is logarithmic."""
_CLOSE = 0.25
"""Where all values and intervals lie within this share of the largest, an axis from zero would hide how they differ."""
_LEAST_WAF = 1.0
"""Write amplification of a drive that copies nothing: where values are close to it, their axis begins there."""
_UNITS = frozenset({"ns", "us", "ms", "s", "h", "years", "bytes", "uj"})
"""Units that names of keys end with."""
_NARROW_PX = 400
"""A chart up to this width has its legend in one column."""
_POINTS_MAX = 2000
"""Points of a scatter; of more, an even share is drawn."""


@dataclass(frozen=True)
class Figure:
    """A metric in a chart: its column, its name, its axis, and the column's units per unit of the axis."""

    key: str
    title: str
    axis: str
    scale: float = 1.0
    tail: bool = False


def figures() -> list[Figure]:
    """Return every figure that may be drawn, in the order of the table of metrics."""
    axes = [(metric, metric.axis) for metric in metrics.drawn()]
    return [
        Figure(one.key, one.label, _axis_of(one, axis.title), axis.per, axis.tail)
        for one, axis in axes
        if axis is not None
    ]


def _axis_of(metric: metrics.Metric, title: str) -> str:
    """Return the title of an axis: of a ratio without unit its name, as ``write amplification (WAF)``."""
    over, _, under = metric.unit.partition("/")
    return f"{metric.label.lower()} ({metric.short})" if over.rstrip("s") == under else title


_LOOKS = (
    (palette.BLUE, (), "circle"),
    (palette.BROWN, (6, 3), "square"),
    (palette.INK, (2, 2), "cross"),
    (palette.SKY, (8, 3, 2, 3), "triangle-up"),
    (palette.OLIVE, (10, 2), "diamond"),
    (palette.VIOLET, (1, 2), "triangle-down"),
    (palette.UMBER, (4, 1, 1, 1), "triangle-right"),
    (palette.GREY, (3, 5), "triangle-left"),
)


def figures_of(rows: Rows) -> list[Figure]:
    """Return the figures that there is something to draw of; life in bytes where there are no years."""
    there = [figure for figure in figures() if any(row.get(figure.key) is not None for row in rows)]
    keys = [figure.key for figure in there]
    kept = [each for one in there if INSTEAD.get(one.key) not in keys for each in _lives(one, rows)]
    return [_in_its_unit(one, rows) for one in kept]


def _lives(one: Figure, rows: Rows) -> list[Figure]:
    """Return a metric; of the life that of the average block and of the first one where rows have both."""
    key = lifetime_headline.FIRST_OF.get(one.key)
    if key is None or not _known(rows, key):
        return [one]
    average, first = (f"Life of the {block} block" for block in ("average", "first"))
    return [replace(one, title=average), replace(one, title=first, key=key)]


def _both_lives(rows: Rows) -> bool:
    return any(row.get(lifetime_headline.FIRST_BLOCK) is not None for row in rows)


def looked_for(rows: Rows) -> list[metrics.Metric]:
    """Return the metrics by which pages name the best setting; both lives where rows have both."""
    there = []
    for one in metrics.looked_for():
        if one.key != lifetime_headline.YEARS or not _both_lives(rows):
            there.append(one)
            continue
        there += [
            replace(one, best=f"{one.best} ({block} block)", key=key)
            for block, key in (("average", lifetime_headline.YEARS), ("first", lifetime_headline.FIRST_BLOCK))
        ]
    return there


def listed(rows: Rows) -> list[tuple[str, Callable[[dict[str, Any]], str]]]:
    """Return the columns of the metrics in the table of settings of a page: a name, and the cell of a row."""
    life = lifetime_headline.texts_of(rows)
    made: list[tuple[str, Callable[[dict[str, Any]], str]]] = []
    for one in metrics.listed():
        first = lifetime_headline.FIRST_OF.get(one.key)
        text = life if one.key == lifetime_headline.YEARS else functools.partial(_scaled, one.column or 1)
        name = "life" if one.key == lifetime_headline.YEARS else one.short
        named = [(name, one.key)]
        if first is not None and _known(rows, first):
            named = [
                (f"{name}, {block}", key) for block, key in zip(lifetime_headline.BLOCKS, (one.key, first), strict=True)
            ]
        made += [(name, functools.partial(_cell, key, text)) for name, key in named if _known(rows, key)]
    return made


def _scaled(per: float, value: float) -> str:
    return units.figure(value / per)


def _known(rows: Rows, key: str) -> bool:
    return any(row.get(key) is not None for row in rows)


def _cell(key: str, text: Callable[[float], str], row: dict[str, Any]) -> str:
    value = row.get(key)
    return "-" if value is None else text(value)


def _in_its_unit(figure: Figure, rows: Rows) -> Figure:
    """Convert a life to years, or to days if it is short; other figures stay."""
    most = max(row[figure.key] for row in rows if row.get(figure.key) is not None)
    return replace(figure, axis="days", scale=1 / 365.25) if figure.axis == "years" and most < 0.5 else figure


@dataclass(frozen=True)
class Layout:
    """The layout of settings: the key along the axis, those of the lines, those of the panels."""

    kind: str
    axis: str
    lines: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()


def layout(rows: Rows, keys: Sequence[str]) -> Layout:
    """Return which key goes where."""
    varied = [key for key in keys if len(_values(rows, key)) > 1] or list(keys[:1])
    numbers = [key for key in varied if all(_is_number(value) for value in _values(rows, key))]
    if not numbers:
        return _of_names(rows, varied)
    axis = max(numbers, key=lambda key: len(_values(rows, key)))
    if len(varied) > 1 and len(rows) >= 8 and 2 * len(_values(rows, axis)) > len(rows):
        return Layout("points", axis, panels=tuple(varied))
    return _shared_out(rows, "lines", axis, [key for key in varied if key != axis], LINES_MAX)


def _of_names(rows: Rows, varied: Sequence[str]) -> Layout:
    if len(rows) <= BARS_MAX or len(varied) == 1:
        return Layout("bars", "", tuple(varied))
    axis = max(varied, key=lambda key: len(_values(rows, key)))
    return _shared_out(rows, "cells", axis, [key for key in varied if key != axis], ACROSS_MAX)


def _shared_out(rows: Rows, kind: str, axis: str, others: Sequence[str], most: int) -> Layout:
    """Assign the keys with most values to lines, as long as these can be told apart, the others to panels."""
    lines: list[str] = []
    for key in sorted(others, key=lambda key: -len(_values(rows, key))):
        if len(_combinations(rows, [*lines, key])) <= most:
            lines.append(key)
    panels = [key for key in others if key not in lines]
    return Layout(kind, axis, tuple(key for key in others if key in lines), tuple(panels))


def _values(rows: Rows, key: str) -> list[Any]:
    return list(dict.fromkeys(row.get(key) for row in rows))


def _combinations(rows: Rows, keys: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(tuple(row.get(key) for key in keys) for row in rows))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def short(key: str, keys: Sequence[str]) -> str:
    """Return the last part of a key, with as much before it as tells it from the other keys."""
    words = key.split(".")
    for count in range(1, len(words) + 1):
        name = ".".join(words[-count:])
        if name == "policy" and count < len(words):
            continue
        if sum(other.endswith(f".{name}") or other == name for other in keys) <= 1:
            return name
    return key


def axis_name(key: str, keys: Sequence[str]) -> str:
    """Return a key in words, with its unit, for an axis: ``spare factor``, ``erase (us)``.

    Args:
        key: the key.
        keys: all that vary.
    """
    words = short(key, keys).replace(".", " ").split("_")
    if len(words) > 1 and words[-1] in _UNITS and words[-2] != "per":
        return f"{' '.join(words[:-1])} ({words[-1]})"
    return " ".join(words)


def slug(key: str) -> str:
    """Return a key as part of a file name: ``latency-us-write-p99``."""
    return re.sub("[^a-z0-9]+", "-", key.lower()).strip("-")


def label(row: dict[str, Any], keys: Sequence[str]) -> str:
    """Format as ``greedy, 0.07``: the values of some keys."""
    return ", ".join(text(row.get(key)) for key in keys)


def keyed(row: dict[str, Any], keys: Sequence[str]) -> str:
    """Format as ``spare factor 0.07, separate policy dac``: some keys in words with their values.

    Args:
        row: has the values.
        keys: the keys.
    """
    return ", ".join(f"{axis_name(key, keys)} {text(row.get(key))}" for key in keys)


def text(value: Any) -> str:
    """Return a value as people write it; of a file its name."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    shown = str(value)
    return shown.rsplit("/", 1)[-1] if "/" in shown else shown


def best(rows: Rows, keys: Sequence[str], named: Callable[[metrics.Metric, dict[str, Any]], str]) -> list[Part]:
    """Return the best rows by what people look for, as cards with what ``named`` says; whether they lie at an end."""
    wanted = looked_for(rows)
    ran = [row for row in rows if any(row.get(one.key) is not None for one in wanted)]
    # Where some rows do not know a figure, as a life after too short a run, the best of the others is not the best.
    known_by_all = [one for one in wanted if all(row.get(one.key) is not None for row in ran)]
    best_rows = [(one, row) for one in known_by_all if (row := one.best_of(ran)) is not None]
    life = lifetime_headline.texts_of(rows)
    lives = (lifetime_headline.YEARS, lifetime_headline.FIRST_BLOCK)
    texts = [life if one.key in lives else one.text for one, _ in best_rows]
    cards = [
        (one.best, text(row[one.key]), named(one, dict(row))) for text, (one, row) in zip(texts, best_rows, strict=True)
    ]
    at_end = range_ends.remark(rows, keys)
    return [Cards(cards), *([] if at_end is None else [Text(at_end)])] if cards else []


def pages(rows: Rows, keys: Sequence[str], figures: Sequence[Figure] | None = None, name: str = "varied") -> list[Part]:
    """Return the charts of all figures; none where there is nothing to draw."""
    groups = [
        [
            parts.figure(f"{name}-{slug(figure.key)}-{place}", title, caption, draw)
            for place, (title, caption, draw) in enumerate(drawings(rows, keys, figure), start=1)
        ]
        for figure in (figures_of(rows) if figures is None else figures)
    ]
    if all(len(drawn) <= 1 for drawn in groups):
        groups = [[one for drawn in groups for one in drawn]]
    return [Charts(drawn) for drawn in groups if drawn]


Draw = Callable[[int], Any]


def drawings(rows: Rows, keys: Sequence[str], figure: Figure) -> Iterator[tuple[str, str, Draw]]:
    """Yield the charts of one figure: title, how to read it, and what draws it for a width."""
    known = [row for row in rows if row.get(figure.key) is not None]
    if not known:
        return
    how = layout(rows, keys)
    if how.kind == "points":
        for key in how.panels[:PANELS_MAX]:
            yield _scatter(known, key, keys, figure)
        return
    unsteady = unsteady_words(known, keys)
    panels = _combinations(known, how.panels)
    for values in panels[:PANELS_MAX]:
        chosen = [row for row in known if tuple(row.get(key) for key in how.panels) == values]
        at = label(dict(zip(how.panels, values, strict=True)), how.panels)
        title = f"{figure.title}: {at}" if at else figure.title
        more = len(panels) - PANELS_MAX
        caption = f"{more} further panels are left out; the table has all." if more > 0 and values == panels[0] else ""
        for name, words, draw in _panel(title, caption, chosen, how, keys, figure, ends_of(known, figure)):
            yield name, f"{words} {unsteady}".strip(), draw


def ends_of(rows: Rows, figure: Figure) -> tuple[float, float]:
    """Return the ends of the axis of a figure, the same for all panels: from zero, unless all values are close."""
    low, high = (
        most(value for row in rows if (value := _first(row, f"{figure.key}.{end}", figure.key)) is not None)
        / figure.scale
        for most, end in ((min, "low"), (max, "high"))
    )
    room = high - low
    if figure.tail or low <= 0 or not 0 < room <= _CLOSE * high:
        return 0.0, high or 1.0
    if figure.key in amplification.WITH_INTERVAL and 0 <= low - _LEAST_WAF <= room:
        return _LEAST_WAF, high
    return low - 0.1 * room, high


def _first(row: dict[str, Any], *keys: str) -> Any:
    return next((row[key] for key in keys if row.get(key) is not None), None)


def _panel(
    title: str, caption: str, rows: Rows, how: Layout, keys: Sequence[str], figure: Figure, ends: tuple[float, float]
) -> Iterator[tuple[str, str, Draw]]:
    if how.kind != "cells":
        caption = f"{caption} {interval_words(rows, figure.key)}".strip()
    if how.kind == "lines":
        yield title, caption, lambda width: lines(rows, how, keys, figure, ends, width)
    elif how.kind == "cells":
        sentence = f"{figure.axis[:1].upper()}{figure.axis[1:]}; rows: {axis_name(how.axis, keys)}. {caption}"
        yield title, sentence.strip(), lambda width: cells(rows, how, keys, figure, width)
    elif len(rows) <= BARS_MAX:
        yield title, caption, lambda width: bars(rows, how.lines, figure, width)
    else:
        ranked = sorted(rows, key=lambda row: row[figure.key])
        half = BARS_MAX // 2
        sentence = f"The {half} lowest and the {half} highest of {len(rows)}; the table has all. {caption}".strip()
        yield title, sentence, lambda width: bars([*ranked[:half], *ranked[-half:]], how.lines, figure, width)


def interval_words(rows: Rows, key: str) -> str:
    """Describe the intervals that a chart draws: their level, what they are of, and over how many seeds.

    Args:
        rows: the settings.
        key: of the metric.

    Returns:
        Sentences for a caption; nothing where no interval is known.
    """
    known = [row for row in rows if row.get(f"{key}.low") is not None]
    if not known:
        return _mean_words(rows)
    over = _seeds(known)
    if over is None:
        return "Intervals are 95 %, from batches of the run."
    if key in amplification.WITH_INTERVAL:
        kind = f"the wider of Student's over {over} and the one from batches of the runs"
    else:
        kind = f"Student's over {over}"
    return f"Means over {over}. Intervals are 95 %, {kind}."


def _seeds(rows: Rows) -> str | None:
    """Format as ``3 seeds`` or ``1 to 3 seeds``; None where no setting has several."""
    seeds = sorted({int(row.get("seeds") or 1) for row in rows}) or [1]
    if seeds[-1] == 1:
        return None
    return f"{seeds[-1]} seeds" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]} seeds"


def _mean_words(rows: Rows) -> str:
    over = _seeds(rows)
    return f"Means over {over}." if over is not None else ""


def unsteady_words(rows: Rows, keys: Sequence[str]) -> str:
    """Name the settings without a steady write amplification, for a caption; nothing where all have one."""
    labels = [label(row, keys) for row in rows if row.get("unsteady")]
    return f"{section.which(labels, len(rows), section.LISTED_MAX)}: no steady WAF yet." if labels else ""


def setting_words(rows: Rows, keys: Sequence[str]) -> str:
    """Say what the values of settings are means over, and which settings are not steady, for a caption."""
    return " ".join(filter(None, (_mean_words(rows), unsteady_words(rows, keys))))


def _points_of(rows: Rows, figure: Figure) -> list[dict[str, Any]]:
    """Return rows with ``y``, and ``low`` and ``high`` if an interval is known, in units of the axis."""
    made = []
    for row in rows:
        point = {**row, "y": row[figure.key] / figure.scale}
        ends = (row.get(f"{figure.key}.low"), row.get(f"{figure.key}.high"))
        if None not in ends:
            point |= {"low": ends[0] / figure.scale, "high": ends[1] / figure.scale}  # type: ignore[operator]
        made.append(point)
    return made


def lines(
    rows: Rows, how: Layout, keys: Sequence[str], figure: Figure, ends: tuple[float, float], width: int = WIDTH
) -> Any:
    """Return one line for each combination of the other keys, along a key that is a number."""
    bottom, top = ends
    series = _combinations(rows, how.lines)
    names = [label(dict(zip(how.lines, values, strict=True)), how.lines) or figure.title for values in series]
    looks = [Look(one, *_LOOKS[number % len(_LOOKS)]) for number, one in enumerate(names)]
    of = dict(zip(series, names, strict=True))
    made = []
    for point in sorted(_points_of(rows, figure), key=lambda row: row[how.axis]):
        key = tuple(point.get(one) for one in how.lines)
        kept = _kept(point) | _by_key(point, (how.axis, *how.lines))
        made.append(kept | {"x": float(point[how.axis]), "series": of[key]})
    places = [row["x"] for row in made]
    height = throttle_charts.TALL + (22 * (len(looks) // (2 if width > 400 else 1)) if len(looks) > 1 else 0)
    return throttle_charts.lines(
        made,
        looks if len(looks) > 1 else [replace(looks[0], dash=())],
        axis_name(how.axis, keys),
        figure.axis,
        width=width,
        height=height,
        x_log=min(places) > 0 and max(places) > _LOG_FROM * min(places),
        y_log=figure.tail and min(row["y"] for row in made) > 0 and top > _LOG_FROM * min(row["y"] for row in made),
        points=True,
        x_min=None,
        y_max=None if figure.tail else top + 0.02 * (top - bottom),
        y_min=bottom,
        legend=len(looks) > 1,
    )


def bars(rows: Rows, keys: Sequence[str], figure: Figure, width: int = WIDTH) -> vega.Composed:
    """Return one bar for each setting with its interval; points where bars from zero would hide how they differ.

    Settings of two keys stand in groups by the first one, with a colour and a shape for each value of the second.
    """
    series = _groups(rows, keys)
    made = [_bar(point, keys, grouped=bool(series)) for point in _points_of(rows, figure)]
    labels = list(dict.fromkeys(row["label"] for row in made))
    y = vega.Y("label:N", sort=labels, title=None, axis=vega.Axis(labelLimit=int(width * 0.45)))
    among: dict[str, Any] = {}
    looks: dict[str, Any] = {}
    if series:
        title, scale = axis_name(keys[1], keys), {"domain": series}
        colors, _, shapes = zip(*_LOOKS[: len(series)], strict=True)
        columns = 2 if width > _NARROW_PX else 1
        legend = vega.Legend(
            title=title, titleFontWeight="normal", orient="top", columns=columns, labelLimit=width // 2
        )
        among = {"yOffset": vega.YOffset("series:N", sort=series)}
        looks = {"color": vega.Color("series:N", sort=series, scale={**scale, "range": list(colors)}, legend=legend)}
        looks_of_points = {"shape": vega.Shape("series:N", scale={**scale, "range": list(shapes)}, legend=legend)}
    low, high = ends_of(rows, figure)
    scale = vega.Scale(zero=True) if low == 0 else vega.Scale(domain=[low, high], nice=True, zero=False)
    x, begin = (vega.X(f"{column}:Q", title=figure.axis, scale=scale, axis=_numbers()) for column in ("y", "low"))
    base = data_chart(made)
    ends = data_chart([row for row in made if "low" in row]).mark_rule(color=palette.INK, strokeWidth=3)
    intervals = ends.encode(x=begin, x2="high:Q", y=y, **among)
    height = 70 + 26 * len(labels)
    if series:
        height = 70 + 22 * -(-len(series) // (2 if width > _NARROW_PX else 1)) + (12 + 16 * len(series)) * len(labels)
    if low == 0:
        bar = base.mark_bar(color=palette.BLUE, height=14, stroke=palette.INK, strokeWidth=0.5)
        return finished(vega.layer(bar.encode(x=x, y=y, **among, **looks), intervals), width, height)
    point = base.mark_point(color=palette.BLUE, size=60, filled=True, opacity=1)
    if series:
        looks |= looks_of_points
    return finished(vega.layer(intervals, point.encode(x=x, y=y, **among, **looks)), width, height)


def _groups(rows: Rows, keys: Sequence[str]) -> list[str]:
    """Return the values of the second of two keys, where both have few and rows need telling apart; else nothing."""
    if len(keys) != 2 or any(not 2 <= len(_values(rows, key)) <= LINES_MAX for key in keys):
        return []
    return list(dict.fromkeys(text(row.get(keys[1])) for row in rows))


def _bar(point: dict[str, Any], keys: Sequence[str], *, grouped: bool) -> dict[str, Any]:
    """Return the row of a bar: its figures, its label, and a column for each key where there are several."""
    row = _kept(point) | {"label": label(point, keys[:1] if grouped else keys)}
    if grouped:
        row["series"] = text(point.get(keys[1]))
    return row | _by_key(point, keys)


def _by_key(point: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return the values of keys under their names, which the data of pictures then have."""
    return {key: point.get(key) for key in keys}


def _kept(point: dict[str, Any]) -> dict[str, Any]:
    return {name: point[name] for name in ("y", "low", "high") if name in point}


def cells(rows: Rows, how: Layout, keys: Sequence[str], figure: Figure, width: int = WIDTH) -> vega.Composed:
    """Return a cell for each combination of two names, darker where the figure is larger, with the figure in it."""
    made = [
        {"y": point["y"], "down": text(point[how.axis]), "across": label(point, how.lines) or figure.title}
        | _by_key(point, (how.axis, *how.lines))
        for point in _points_of(rows, figure)
    ]
    down, across = (list(dict.fromkeys(row[side] for row in made)) for side in ("down", "across"))
    ends = [row["y"] for row in made]
    middle = (min(ends) + max(ends)) / 2
    room = (width - 110) / len(across)
    y = vega.Y("down:N", sort=down, title=None, axis=vega.Axis(labelLimit=int(width * 0.35)))
    titles = ", ".join(axis_name(key, keys) for key in how.lines) or None
    angle = 0 if room > 8 * max(map(len, across)) else -90
    x = vega.X("across:N", sort=across, title=titles, axis=vega.Axis(labelAngle=angle, labelLimit=160, orient="top"))
    scale = vega.Scale(range=[palette.WHITE, palette.SLATE])
    base = data_chart(made)
    shade = base.mark_rect(stroke=palette.GREY, strokeWidth=0.5).encode(
        x=x, y=y, color=vega.Color("y:Q", scale=scale, legend=None)
    )
    layers = [shade]
    layers.append(
        base.mark_text(fontSize=10 if room < 36 else 11).encode(
            x=x,
            y=y,
            text=vega.Text("y:Q", format=".3~g" if room > 34 else ".2~g"),
            color=vega.condition(f"datum.y > {middle}", vega.value(palette.WHITE), vega.value(palette.BLACK)),
        )
    )
    above = 60 if angle == 0 else 40 + 7 * max(map(len, across))
    return finished(vega.layer(*layers), width, above + 20 * len(down))


def _scatter(rows: Rows, key: str, keys: Sequence[str], figure: Figure) -> tuple[str, str, Draw]:
    """Draw a point for each setting over one of the keys, whatever the others are."""
    kept = throttle_charts.thin(list(rows), _POINTS_MAX)
    sentence = f"Each point is a setting; the other keys vary too. {setting_words(rows, keys)}".strip()
    if len(kept) < len(rows):
        sentence += f" {len(kept)} of {len(rows)} are drawn."
    title = f"{figure.title} against {axis_name(key, keys)}"
    return title, sentence, lambda width: points(kept, key, keys, figure, width)


def points(rows: Rows, key: str, keys: Sequence[str], figure: Figure, width: int = WIDTH) -> vega.Chart:
    """Draw a figure over one key, a point for each setting."""
    made = [{"x": row[key], "y": row[figure.key] / figure.scale} | _by_key(row, (key,)) for row in rows]
    title = axis_name(key, keys)
    if all(_is_number(row["x"]) for row in made):
        ends = [row["x"] for row in made]
        log = min(ends) > 0 and max(ends) > _LOG_FROM * min(ends)
        scale = vega.Scale(type="log" if log else "linear", nice=False, zero=False)
        x = vega.X("x:Q", title=title, scale=scale, axis=_numbers())
    else:
        made = [{**row, "x": text(row["x"])} for row in made]
        x = vega.X("x:N", title=title, axis=vega.Axis(labelAngle=-40, labelLimit=120))
    low = min(row["y"] for row in made)
    log = figure.tail and low > 0 and max(row["y"] for row in made) > _LOG_FROM * low
    y_scale = vega.Scale(type="log", nice=False) if log else vega.Scale(zero=ends_of(rows, figure)[0] == 0)
    y = vega.Y("y:Q", title=figure.axis, scale=y_scale, axis=_numbers())
    size = 40 if len(made) < 300 else 16
    marks = data_chart(made).mark_point(color=palette.INK, size=size, opacity=0.7, strokeWidth=1.2)
    return finished(marks.encode(x=x, y=y), width, throttle_charts.TALL)


def _numbers() -> Any:
    return vega.Axis(format=throttle_charts.FIGURES, tickCount=5, labelOverlap=True)
