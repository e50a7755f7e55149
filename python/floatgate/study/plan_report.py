"""The report of a plan: life against capacity for each throttle, and the choices that last long enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floatgate.pages.charts import WIDTH
from floatgate.pages.page import report
from floatgate.pages.parts import Charts, Code, Figure, Grid, Part, Section, Text, figure
from floatgate.report import throttle_charts
from floatgate.report.sections.forecast import entry
from floatgate.report.sections.forecast.life_range import SLACK
from floatgate.report.throttle_charts import looks_of
from floatgate.results.result_view import look

if TYPE_CHECKING:
    from floatgate.study.plan import Plan
    from floatgate.study.plan_point import Point

GIB = float(1 << 30)
READING = (
    "* marks a drive that lasts long enough and serves enough of the workload, where no other such drive is both as "
    "small and as fast. Mean write, p99 and p99.9 are for page writes, flash service and throttling included. Served "
    "is the share of the workload that is written in the target time; throttling lowers it. Where a throttle "
    "guarantees the target, more demand does not shorten the life, it lowers the share that is served: its interval "
    "stands in brackets."
)


LIVES = "Dotted: the target. Bars: the intervals, where they are known. Lives are cut at ten times the target."


def page(plan: Plan, command: str | None = None) -> str:
    """The plan as one self-contained HTML page.

    Args:
        plan: the choices.
        command: the command line that made it, where there was one.
    """
    title = f"drives for {plan.label}"
    header, rows = plan.rows()
    basis = plan.basis()
    errors = dict.fromkeys(f"{point.capacity}: {point.error}" for point in plan.points if point.error)
    said = [text for point in plan.points for text in look(point.result, "not_modelled") or []]
    parts = [
        Text(_sentence(plan.answer()), strong=True),
        Grid(header, rows, header.index("throttle") + 1, stacks=True),
        Text(READING if basis is None else f"{READING} {_sentence(basis)}"),
        *(Text(f"Not possible: {text}") for text in errors),
        *_charts(plan),
    ]
    varied = Section("The experiment that is varied", [Code(plan.experiment_toml)])
    return report(title, parts, not_modelled=said, command=command, ends=[varied])


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _charts(plan: Plan) -> list[Part]:
    known = [point for point in plan.points if point.result is not None]
    spares = list(dict.fromkeys(point.spare for point in known))
    made: list[Figure] = []
    for number, spare in enumerate(spares):
        points = [point for point in known if point.spare == spare]
        which = "" if len(spares) < 2 or spare is None else f", {100 * spare:.1f} % spare"
        for kind, title, y_title, caption in (
            ("years", "Life against capacity", "years", LIVES),
            ("write", "Write response against capacity", "mean write response, ms", "The cost of throttling."),
        ):
            if _rows(plan, points, kind):
                made.append(
                    figure(
                        f"plan-{kind}-{number}",
                        f"{title}{which}",
                        caption,
                        lambda width, points=points, kind=kind, y_title=y_title: chart(  # type: ignore[misc]
                            plan, points, kind, y_title, width
                        ),
                    )
                )
    return [Section("Side by side", [Charts(made)])] if made else []


def chart(plan: Plan, points: list[Point], kind: str, y_title: str, width: int = WIDTH) -> Any:
    """Lives (``years``) or mean responses (``write``) against capacity, one line for each way to manage the drive."""
    rows = _rows(plan, points, kind)
    looks = looks_of([point.series for point in points])
    target = plan.target_years
    rules = [(f"{target:g} years", target)] if kind == "years" and target is not None else []
    return throttle_charts.lines(
        rows, looks, "capacity, GiB", y_title, width=width, x_log=True, y_log=True, points=True, rules=rules
    )


def _rows(plan: Plan, points: list[Point], kind: str) -> list[dict[str, Any]]:
    most = 10 * (plan.target_years or 100.0)
    rows: list[dict[str, Any]] = []
    for point in points:
        years, write = entry.years(point.result), entry.write_us(point.result, "mean")
        value = (most if years is None else min(years, most)) if kind == "years" else write and write / 1000
        if not value:
            continue
        row = {"x": point.physical_bytes / GIB, "y": value, "series": point.series}
        found = point.life_range
        if kind == "years" and found is not None and found.low > 0:
            # A bar that has no length would be a mere dash on the mark.
            high = most if found.high is None else min(found.high, most)
            if high > found.low * (1 + SLACK):
                row |= {"low": min(found.low, most), "high": high}
        rows.append(row)
    return rows
