"""The report of a forecast life: the answer, the course of the throttle, the responses, where it comes from."""

from __future__ import annotations

from floatgate.base import units
from floatgate.pages.page import report
from floatgate.pages.parts import Cards, Code, Part, Rows, Section, Text
from floatgate.report.lifetime_summary import headline, lines
from floatgate.report.page import identity
from floatgate.report.sections import not_modelled, reduce
from floatgate.report.sections.forecast import cards, evidence, parts
from floatgate.report.sections.forecast import lines as forecast
from floatgate.report.throttle_charts import YEAR_S
from floatgate.results.result_view import look
from floatgate.results.run_view import ForecastView


def page(life: ForecastView, command: str | None = None) -> str:
    """Return the forecast as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        life: the forecast.
        command: the command line that made it, where there was one.
    """
    result = life.result.to_dict()
    made = [
        Text(headline(result), strong=True),
        *(Text(f"{text[:1].upper()}{text[1:]}.") for text in forecast.doubts(result)),
        Cards(cards.cards(result)),
        Rows(lines(result, life.label)),
        *parts.parts(result),
        *evidence.parts(result),
        *reduce.of_life(result),
    ]
    return report(
        f"life of a drive: {life.label}",
        made,
        of=f"seed {result.get('seed', '-')}",
        version=result.get("version"),
        not_modelled=not_modelled.of(result),
        ends=_repeat(life, command),
    )


def _repeat(life: ForecastView, command: str | None) -> list[Part]:
    result = life.result.to_dict()
    facts = [*identity(result), ("a year", f"{YEAR_S / 3600:.0f} hours of device time")]
    spent = look(result, "run") or {}
    if spent.get("wall_s") is not None:
        facts.append(("cost of the run", units.span(spent["wall_s"])))
    call = [Code(command)] if command else []
    return [
        Section("How to repeat it", [*call, Rows(facts)]),
        Section("Resolved experiment", [Code(life.experiment_toml)]),
    ]
