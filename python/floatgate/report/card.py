"""A run and a forecast in a notebook: the headlines, the summary, the main chart."""

from __future__ import annotations

from floatgate.pages.card import card, picture
from floatgate.pages.parts import Cards, Rows, Text
from floatgate.report import lifetime_summary, summary
from floatgate.report.page import headline
from floatgate.report.sections import run_charts
from floatgate.report.sections.forecast import cards, parts
from floatgate.results.run_view import ForecastView, RunView

WIDTH = 560
"""Pixels of a chart in a cell."""


def of_run(run: RunView) -> str:
    """Return headlines and summary of a run, with its write amplification over time."""
    caption = "Dashed: the mean of the run; the band is its 95 % interval."
    chart = picture("Write amplification over time", caption, run_charts.waf(run, WIDTH))
    return card([Cards(headline(run.result.to_dict())), Rows(summary.lines(run))], [chart])


def of_life(life: ForecastView) -> str:
    """Return the answer of a forecast, its headlines and its summary, with what is programmed over the life."""
    result = life.result.to_dict()
    answer = Text(lifetime_summary.headline(result), strong=True)
    written = parts.written(result)
    charts = [] if written is None else [picture(written.title, written.caption, written.draw(WIDTH))]
    return card([answer, Cards(cards.cards(result)), Rows(lifetime_summary.lines(result, life.label))], charts)
