"""Bars made of parts, for figures of papers that break something down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.pages import palette, vega
from floatgate.pages.charts import data_chart, finished
from floatgate.report.throttle_charts import FIGURES


def stacked(rows: Sequence[Mapping[str, Any]], parts: Mapping[str, str], title: str, width: int) -> Any:
    """Draw a bar for each ``row``, made of the ``value`` of each ``part``.

    Args:
        rows: ``row``, ``part`` and ``value``.
        parts: the colour of each part, from the axis on.
        title: of the axis, with its unit.
        width: of the whole chart in pixels.
    """
    names = list(dict.fromkeys(row["row"] for row in rows))
    ordered = [{**row, "order": list(parts).index(row["part"])} for row in rows]
    bars = data_chart(ordered).mark_bar(stroke=palette.INK, strokeWidth=0.4)
    encoded = bars.encode(
        x=vega.X("value:Q", title=title, axis=vega.Axis(format=FIGURES, tickCount=5, labelOverlap=True)),
        y=vega.Y("row:N", title=None, sort=names, axis=vega.Axis(labelLimit=200)),
        color=vega.Color(
            "part:N",
            scale=vega.Scale(domain=list(parts), range=list(parts.values())),
            legend=vega.Legend(title=None, orient="top", columns=2, symbolType="square", columnPadding=24),
        ),
        order="order:Q",
    )
    return finished(encoded, width, 110 + 22 * len(names))
