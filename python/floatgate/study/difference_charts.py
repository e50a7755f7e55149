"""Differences against the baseline as intervals around zero: a bar from zero would hide +0.026 +- 0.002."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from floatgate.pages import palette, vega
from floatgate.pages.charts import WIDTH, data_chart, finished
from floatgate.pages.parts import Charts, Part, Section, Text, figure
from floatgate.report.sections import amplification, section
from floatgate.results.flat import plain
from floatgate.results.seed_stats import draws_workload
from floatgate.study import varied_charts
from floatgate.study.varied_charts import BARS_MAX, Figure

if TYPE_CHECKING:
    from floatgate.study.compare import Comparison, Setting

Rows = Sequence[Mapping[str, Any]]
"""One row per setting: ``label``, ``difference``, and ``low`` and ``high`` where the interval is known."""

MINUS = "\N{MINUS SIGN}"
"""As Vega writes it along axes."""
_NARROW_PX = 440
"""A chart below this width gives its labels a smaller share, which leaves room for the plot."""
_LETTER_PX = 7.9
"""Width of a letter of a label in a wide font; an amount and its interval share a line where both fit."""
_ROOM_PX = 16
"""Width of a chart that the title of its axis leaves free."""
_AGREE = (
    "the seed changes almost nothing here (at most 0.1 %), and one over seeds would not cover what other traces or "
    "times would change."
)

_HOW = (
    "Points are differences, lines their 95 % intervals. Left of the dashed line the setting has less than the "
    "baseline. Where the interval holds zero, the runs show no difference."
)


def sections(comparison: Comparison, rows: Sequence[dict[str, Any]], named: Callable[[Setting], str]) -> list[Part]:
    """Return the section of the differences whose intervals are known; nothing without any.

    Args:
        comparison: the settings.
        rows: the same as charts are drawn of them (:func:`.compare_rows.settings_rows`).
        named: labels a setting.
    """
    there = [
        ({"label": named(setting), **{key: plain(value) for key, value in setting.overrides}}, entry)
        for setting in comparison
        if (entry := comparison.difference(setting))
    ]
    base, unsteady = comparison.against, varied_charts.unsteady_words(rows, comparison.keys or ["setting"])
    drawn: list[Part] = []
    for one in varied_charts.figures_of(rows):
        of_one = _rows(there, one)
        if any("low" in row or row.get("agree") for row in of_one):
            draw = functools.partial(forest, _ends(of_one), one)
            title, name = f"{one.title}: difference from {base}", f"difference-{varied_charts.slug(one.key)}"
            caption = f"{_caption(of_one, interval_words(comparison, one.key))} {unsteady}".strip()
            drawn.append(figure(name, title, caption, draw))
    if not drawn:
        return []
    return [Section(f"Differences from {base}", [Text(_HOW), Charts(drawn)])]


def _rows(there: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], one: Figure) -> list[dict[str, Any]]:
    """Return the known differences of a metric in units of its axis, with the label and the values of each setting.

    ``agree`` marks seeds on a trace that agree, which make no interval.
    """
    made = []
    for setting, differences in there:
        entry = differences["figures"].get(one.key)
        if entry is None:
            continue
        row = {"label": setting["label"], "difference": entry["difference"] / one.scale}
        if entry["difference_95"] is not None:
            low, high = entry["difference_95"]
            row |= {"low": low / one.scale, "high": high / one.scale}
        row |= {"agree": True} if entry.get("seeds_agree") else {}
        made.append({**row, **setting})
    return made


def _ends(rows: Rows) -> Rows:
    """Return all rows, or the lowest and the highest differences of many."""
    if len(rows) <= BARS_MAX:
        return rows
    ranked = sorted(rows, key=lambda row: row["difference"])
    return [*ranked[: BARS_MAX // 2], *ranked[-(BARS_MAX // 2) :]]


def interval_words(comparison: Comparison, key: str) -> str:
    """Describe what the intervals of a difference are of: ``Student's over 5 pairs of runs with the same seed``.

    Args:
        comparison: the settings.
        key: of the metric.

    Returns:
        Words to go on with after a level; nothing where no difference is known.
    """
    entries = [entry for setting in comparison if (entry := comparison.difference(setting))]
    by_seeds = [entry["pairs"] for entry in entries if entry["seed_matters"]]
    batches = "from batches over the same requests"
    if not by_seeds:
        return batches if entries else ""
    pairs = f"Student's over {max(by_seeds)} pairs of runs with the same seed"
    if key in amplification.WITH_INTERVAL:
        return f"the wider of {pairs} and the one {batches}"
    drawn = all(draws_workload(one.result.to_dict()) for one in comparison.runs)
    return pairs if drawn else f"{pairs} and the same trace, which do not cover other traces or times"


def _caption(rows: Rows, intervals: str = "") -> str:
    lines = f"Lines are 95 % intervals{f', {intervals}' if intervals else ''}. "
    how = f"{lines if any('low' in row for row in rows) else ''}The dashed line is no difference."
    without = [row["label"] for row in rows if row.get("agree")]
    if without:
        which = "" if len(without) == len(rows) else f" of {section.which(without, len(rows), section.LISTED_MAX)}"
        how = f"{how} No interval{which}: {_AGREE}"
    if len(rows) <= BARS_MAX:
        return how
    return f"{how} The {BARS_MAX // 2} lowest and the {BARS_MAX // 2} highest of {len(rows)}; the table has all."


def amount(row: Mapping[str, Any]) -> tuple[str, str]:
    """Format as ``+0.047`` and ``± 0.039``, with two digits of the half interval, and the minus that axes have."""
    difference = row["difference"]
    if "low" not in row:
        return _minus(f"{difference:+.3g}"), ""
    half = (row["high"] - row["low"]) / 2
    if half <= 0:
        return _minus(f"{difference:+.3g}"), "± 0"
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return _minus(f"{difference:+.{decimals}f}"), f"± {half:.{decimals}f}"


def _title(one: Figure, width: int) -> str:
    """Return the title of the axis: ``read latency, p99: difference, ms``; without the name where it does not fit."""
    name, short = f"{one.title[:1].lower()}{one.title[1:]}", f"difference, {one.axis}"
    title = f"{name}: {short}"
    return short if one.axis.startswith(name) or _LETTER_PX * len(title) > width - _ROOM_PX else title


def _minus(text: str) -> str:
    return text.replace("-", MINUS)


def forest(rows: Rows, one: Figure, width: int = WIDTH) -> vega.Composed:
    """Draw a point with its interval for each setting, and a dashed line at zero.

    Args:
        rows: the settings from top to bottom.
        one: the metric.
        width: in pixels.
    """
    labels = list(dict.fromkeys(row["label"] for row in rows))
    narrow = width < _NARROW_PX
    amounts = {row["label"]: [part for part in amount(row) if part] for row in rows}
    limit = int(width * (0.35 if narrow else 0.45))
    fits = all(_LETTER_PX * len(" ".join(parts)) <= limit for parts in amounts.values())
    beside = {label: [label, *([" ".join(parts)] if fits else parts)] for label, parts in amounts.items()}
    lines = f"{json.dumps(beside)}[datum.label]"
    high = max((len(parts) for parts in beside.values()), default=2)
    # Rounded to pixels and moved by half of one, the grid and the axis at zero would lie beside the dashed line.
    on_zero = {"tickRound": False, "translate": 0}
    axis_y = vega.Axis(**on_zero, labelLimit=limit, labelExpr=lines, labelLineHeight=14, labelOffset=-7 * (high - 1))
    y = vega.Y("label:N", sort=labels, title=None, axis=axis_y)
    title = _title(one, width)
    scale = vega.Scale(zero=True, nice=True)
    drawn = [{name: value for name, value in row.items() if name != "agree"} for row in rows]
    zero = data_chart([{"at": 0}]).mark_rule(color=palette.INK, strokeDash=[5, 4], strokeWidth=1.2)
    intervals = data_chart([row for row in drawn if "low" in row]).mark_rule(color=palette.BLUE, strokeWidth=2)
    points = data_chart(drawn)
    marks = points.mark_point(color=palette.BLUE, size=34, filled=True, opacity=1)
    numbers = "datum.value == 0 ? '0' : datum.label"
    # From its right end the title reaches below the labels: centred, it would be cut off in a wide font.
    ticks = {"format": "+~r", "tickCount": 3 if narrow else 5, "labelOverlap": True, "labelExpr": numbers}
    axis = vega.Axis(**ticks, **on_zero, titleAnchor="end", titleAlign="right", titleLimit=width - _ROOM_PX)
    layers = vega.layer(
        zero.encode(x=vega.X("at:Q", title=title, scale=scale, axis=axis)),
        intervals.encode(x=vega.X("low:Q", title=title, scale=scale), x2="high:Q", y=y),
        marks.encode(x=vega.X("difference:Q", title=title, scale=scale), y=y),
    )
    return finished(layers, width, 70 + (10 + 14 * high) * len(labels))
