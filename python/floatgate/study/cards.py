"""Comparisons, sweeps and plans in a notebook: the table and the main chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from floatgate.pages.card import card, picture, table
from floatgate.pages.parts import Figure, Part, Text
from floatgate.report.card import WIDTH
from floatgate.study import varied_charts
from floatgate.study.compare_rows import settings_rows
from floatgate.study.plan_front import front_chart

if TYPE_CHECKING:
    from floatgate.study.compare import Comparison
    from floatgate.study.plan import Plan
    from floatgate.study.sweeps.loaded import LoadedSweep


def of_comparison(comparison: Comparison) -> str:
    """Return the settings with their differences, and the first figure that differs between them as a chart."""
    header, rows = comparison.rows()
    keys = comparison.keys or ["setting"]
    failures: list[Part] = [Text(f"Failed: {text}") for text in comparison.failures()]
    return card([*table(header, rows, len(keys)), *failures], _varied(settings_rows(comparison), keys))


def of_sweep(sweep: LoadedSweep) -> str:
    """Return the settings with means over seeds, and the first figure of the sweep as a chart."""
    rows = sweep.settings()
    shown = varied_charts.listed(rows)
    header = [*(varied_charts.short(key, sweep.keys) for key in sweep.keys), *(name for name, _ in shown)]
    cells = [[*(varied_charts.text(row[key]) for key in sweep.keys), *(cell(row) for _, cell in shown)] for row in rows]
    count = Text(f"{len(sweep)} of {sweep.planned} runs", soft=True)
    return card([count, *table(header, cells, len(sweep.keys))], _varied(rows, sweep.keys))


def of_plan(plan: Plan) -> str:
    """Return the recommendation, the table of choices, and life against price or capacity as a chart."""
    header, rows = plan.rows()
    known = [point for point in plan.points if point.result is not None and not point.overloaded]
    cost = "price" if plan.bounds.priced else "capacity"
    caption = "Filled: the Pareto front. Dotted: the target."
    charts = [picture(f"Life against {cost}", caption, front_chart(plan, known, WIDTH))] if len(known) > 1 else []
    first, *others = [Text(text, strong=place == 0) for place, text in enumerate(plan.answers())]
    return card([first, *others, *table(header, rows, header.index("life"))], charts)


def _varied(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Iterator[Figure]:
    """Draw the first panel of the first figure that some row knows."""
    known = [dict(row) for row in rows]
    for figure in varied_charts.figures_of(known)[:1] if known else []:
        title, caption, draw = next(varied_charts.drawings(known, keys, figure))
        yield picture(title, caption, draw(WIDTH))
