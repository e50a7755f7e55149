"""The report of a plan: life against capacity for each throttle, and the choices that last long enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from floatgate.base import units
from floatgate.pages.charts import WIDTH
from floatgate.pages.page import report
from floatgate.pages.parts import Charts, Code, Grid, Items, Part, Rows, Section, Text, figure
from floatgate.report import throttle_charts
from floatgate.report.sections import not_modelled
from floatgate.report.sections.forecast import entry, evidence
from floatgate.report.sections.forecast.life_range import SLACK
from floatgate.report.throttle_charts import looks_of
from floatgate.study.plan_brief import described, question, takes, verdict
from floatgate.study.plan_front import GIB, front_chart
from floatgate.study.plan_table import DETAILS, MAIN, NAMES, legend
from floatgate.study.plan_table import rows as table_rows

if TYPE_CHECKING:
    from floatgate.study.plan import Plan
    from floatgate.study.plan_point import Point

READING = (
    "Mean write, p99 and p99.9 are of host writes in the busiest part of the workload on the worn-in drive, with the "
    "delay of the throttle added."
)
THROTTLED = (
    "Served is the share of the workload that is written in the target time; throttling lowers it. Where a throttle "
    "guarantees the target, more demand does not shorten the life, it lowers the share that is served: its interval "
    "stands in brackets."
)
FRONT = (
    "Filled: choices that no other beats in {cost}, life and share served. Line: those of them that serve enough of "
    "the workload. Shapes: what ends the life. Dotted: the target. Lives are cut at ten times the target."
)
LIVES = (
    "The life that counts. Dotted: the target. Bars: the intervals, where they are known. Lives are cut at ten times "
    "the target."
)


def page(plan: Plan, command: str | None = None) -> str:
    """Return the plan as one self-contained HTML page.

    Args:
        plan: the choices.
        command: the command line that made it, where there was one.
    """
    title = plan.title or f"drives for {plan.label}"
    header, rows = table_rows(plan, (NAMES, MAIN))
    more_header, more_rows = table_rows(plan, (NAMES, DETAILS))
    workload = plan.workload()
    timed = [READING] if any(not math.isinf(point.write_us) for point in plan.points) else []
    reading = [*timed, *([THROTTLED] if any(point.throttles for point in plan.points) else [])]
    left_out = not_modelled.of_all(point.result for point in plan.points)
    parts = [
        *([] if plan.note is None else [Text(plan.note)]),
        Text(question(plan)),
        Text(verdict(plan), strong=True),
        *(Text(_sentence(text)) for text in plan.answers()[0 if takes(plan) else 1 :]),
        *([] if workload is None else [Text(_sentence(workload))]),
        *(Text(_sentence(f"note: {text}")) for text in [*plan.drive_notes(), *plan.price_notes()]),
        Section("The drives", [Rows(described(plan)), Grid(header, rows, header.index("life"), stacks=True)]),
        *(Text(f"Not possible: {text}") for text in plan.errors()),
        *_charts(plan),
        Section("Details", [Grid(more_header, more_rows, header.index("life"), stacks=True)]),
        Section("How to read the tables", [Items([*map(_sentence, legend(plan)), *reading])]),
        *_rests_on(plan),
    ]
    varied = Section("What is common to all drives", [Code(_common(plan))])
    return report(title, parts, not_modelled=left_out, command=command, ends=[varied])


def _rests_on(plan: Plan) -> list[Part]:
    """Return how sure the lives are, with the words of a forecast of one drive."""
    known = next((point.result for point in plan.points if point.result is not None), None)
    verdict, basis = None if known is None else evidence.plainly(known), plan.basis()
    texts = [*([] if verdict is None else [verdict]), *([] if basis is None else [_sentence(basis)])]
    texts += [_sentence(f"the trace: {note}") for note in plan.notes()]
    return [Section("What this rests on", [Text(text) for text in texts])] if texts else []


def _common(plan: Plan) -> str:
    """Return the experiment; without its drive, if the plan tries drives of the catalogue in its place."""
    if not any(point.drive for point in plan.points):
        return plan.experiment_toml
    shown, drops = [], False
    for line in plan.experiment_toml.splitlines():
        drops = line.startswith(("[drive]", "[drive.")) if line.startswith("[") else drops
        shown += [] if drops or line.startswith("spare_factor") else [line]
    return "\n".join(shown)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _charts(plan: Plan) -> list[Part]:
    known = [point for point in plan.points if point.result is not None and not point.overloaded]
    spares = list(dict.fromkeys(point.spare_text for point in known))
    made: list[Part] = []
    if len(known) > 1:
        cost = "price" if plan.bounds.priced else "capacity"
        title = f"Life against {cost}: the Pareto front"
        text = FRONT.format(cost=cost)
        made.append(figure("plan-front", title, text, lambda width: front_chart(plan, known, width)))
    missing = [plan.name(point) for point in plan.points if point.overloaded]
    note = [Text(f"Not drawn, as their lives are not known: {', '.join(missing)}.", soft=True)] if missing else []
    if any(point.drive for point in known):
        # Lines over capacity are meaningless for drives of several makes.
        return [Section("Side by side", [Charts(made), *note])] if made else []
    for number, spare in enumerate(spares):
        points = [point for point in known if point.spare_text == spare]
        which = "" if len(spares) < 2 else f", {spare} spare"
        for kind, title, y_title, caption in (
            ("years", "Life against capacity", "years", LIVES),
            ("write", "Write response against capacity", "mean write response, ms", "The cost of throttling."),
        ):
            if _rows(plan, points, kind) and (kind == "years" or any(point.throttles for point in points)):
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
    return [Section("Side by side", [Charts(made), *note])] if made else []


def chart(plan: Plan, points: list[Point], kind: str, y_title: str, width: int = WIDTH) -> Any:
    """Draw lives (``years``) or mean responses (``write``) against capacity, a line per way to manage the drive."""
    rows = _rows(plan, points, kind)
    looks = looks_of([point.series for point in points])
    target = plan.target_years
    rules = [(units.target_years(target), target)] if kind == "years" and target is not None else []
    return throttle_charts.lines(
        rows, looks, "capacity, GiB", y_title, width=width, x_log=True, y_log=True, points=True, rules=rules
    )


def _rows(plan: Plan, points: list[Point], kind: str) -> list[dict[str, Any]]:
    most = 10 * (plan.target_years or 100.0)
    rows: list[dict[str, Any]] = []
    for point in points:
        write = entry.write_us(point.result, "mean")
        value = min(point.life_years, most) if kind == "years" else write and write / 1000
        if not value:
            continue
        row = {"x": point.physical_bytes / GIB, "y": value, "series": point.series}
        interval = point.life_range
        if kind == "years" and interval is not None and interval.low > 0:
            # A bar without length would be a mere dash on the mark.
            high = most if interval.high is None else min(interval.high, most)
            if high > interval.low * (1 + SLACK):
                row |= {"low": min(interval.low, most), "high": high}
        rows.append(row)
    return rows
