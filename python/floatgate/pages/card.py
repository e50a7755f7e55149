"""Cards: what a notebook shows of a result. One piece of HTML with its style, without scripts, ids of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from floatgate.pages import charts, drawing
from floatgate.pages.page import rendered
from floatgate.pages.parts import Cell, Figure, Grid, Part, Text

ROWS_MAX = 20
"""Rows of a table in a card; the frames of the result have all of them."""


def card(parts: Iterable[Part], pictures: Iterable[Figure] = ()) -> str:
    """Return parts and pictures below them as HTML for a cell of a notebook."""
    return rendered("pages/card.html", {"parts": list(parts), "pictures": list(pictures)})


def picture(title: str, caption: str, chart: Any) -> Figure:
    """Draw one picture of a card; where it cannot be drawn, it tells the reason.

    Args:
        title: of the chart.
        caption: how to read it.
        chart: a chart of :mod:`floatgate.pages.vega`.
    """
    # Ids are shared by all cells of a notebook: equal ones belong to equal pictures.
    text = json.dumps(chart.to_dict(), sort_keys=True, default=str)
    name = f"floatgate-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    try:
        return Figure(title, caption, charts.svg(chart, name, f"{title}. {caption}", patterns=False))
    except (drawing.CannotDrawError, ImportError, MemoryError) as error:
        return Figure(title, caption, reason=str(error).strip().split("\n", 1)[0] or type(error).__name__)


def table(header: Sequence[str], rows: Sequence[Sequence[Cell]], texts: int) -> list[Part]:
    """Return a table of at most :data:`ROWS_MAX` rows; a line below it counts the others."""
    grid = Grid(header, rows[:ROWS_MAX], texts)
    more = len(rows) - ROWS_MAX
    return [grid] if more <= 0 else [grid, Text(f"and {more} more; to_arrow() has all", soft=True)]
