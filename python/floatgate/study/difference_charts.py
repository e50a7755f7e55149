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
from floatgate.report.sections import amplification
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
    there = [(named(setting), entry) for setting in comparison if (entry := comparison.difference(setting))]
    base = comparison.against
    drawn: list[Part] = []
    for one in varied_charts.figures_of(rows):
        of_one = _rows(there, one)
        if any("low" in row for row in of_one):
            draw = functools.partial(forest, _ends(of_one), one)
            title, name = f"{one.title}: difference from {base}", f"difference-{varied_charts.slug(one.key)}"
            drawn.append(figure(name, title, _caption(of_one, interval_words(comparison, one.key)), draw))
    if not drawn:
        return []
    return [Section(f"Differences from {base}", [Text(_HOW), Charts(drawn)])]


def _rows(there: Sequence[tuple[str, Mapping[str, Any]]], one: Figure) -> list[dict[str, Any]]:
    """Return the known differences of a metric in units of its axis."""
    made = []
    for label, differences in there:
        entry = differences["figures"].get(one.key)
        if entry is None:
            continue
        row = {"label": label, "difference": entry["difference"] / one.scale}
        if entry["difference_95"] is not None:
            low, high = entry["difference_95"]
            row |= {"low": low / one.scale, "high": high / one.scale}
        made.append(row)
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
    return f"the wider of {pairs} and the one {batches}" if key in amplification.WITH_INTERVAL else pairs


def _caption(rows: Rows, intervals: str = "") -> str:
    how = f"Lines are 95 % intervals{f', {intervals}' if intervals else ''}. The dashed line is no difference."
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
    axis_y = vega.Axis(labelLimit=limit, labelExpr=lines, labelLineHeight=14, labelOffset=-7 * (high - 1))
    y = vega.Y("label:N", sort=labels, title=None, axis=axis_y)
    title = f"difference, {one.axis}"
    scale = vega.Scale(zero=True, nice=True)
    zero = data_chart([{"at": 0}]).mark_rule(color=palette.INK, strokeDash=[5, 4], strokeWidth=1.2)
    intervals = data_chart([dict(row) for row in rows if "low" in row]).mark_rule(color=palette.BLUE, strokeWidth=2)
    points = data_chart([dict(row) for row in rows])
    marks = points.mark_point(color=palette.BLUE, size=34, filled=True, opacity=1)
    numbers = "datum.value == 0 ? '0' : datum.label"
    # From its right end the title reaches below the labels: centred, it would be cut off in a wide font.
    ticks = {"format": "+~r", "tickCount": 3 if narrow else 5, "labelOverlap": True, "labelExpr": numbers}
    axis = vega.Axis(**ticks, titleAnchor="end", titleAlign="right", titleLimit=width - 16)
    layers = vega.layer(
        zero.encode(x=vega.X("at:Q", title=title, scale=scale, axis=axis)),
        intervals.encode(x=vega.X("low:Q", title=title, scale=scale), x2="high:Q", y=y),
        marks.encode(x=vega.X("difference:Q", title=title, scale=scale), y=y),
    )
    return finished(layers, width, 70 + (10 + 14 * high) * len(labels))
