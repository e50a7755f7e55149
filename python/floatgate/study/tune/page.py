"""The report of a search: what won and the command that proves it, the course, the keys that matter, the trade-off."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from floatgate.base import units
from floatgate.pages import palette, vega
from floatgate.pages.charts import WIDTH, data_chart, finished
from floatgate.pages.page import report
from floatgate.pages.parts import Cards, Charts, Code, Grid, Part, Rows, Section, Text, figure
from floatgate.report import throttle_charts
from floatgate.report.sections import lifetime_headline
from floatgate.results.flat import plain
from floatgate.run.run import check
from floatgate.study import varied_charts
from floatgate.study.range_ends import End, of_search
from floatgate.study.runs.journal import TABLE
from floatgate.study.runs.left_out import of_runs
from floatgate.study.sweeps import steadiness
from floatgate.study.sweeps.loaded import load_sweep
from floatgate.study.tune.objective import Goal
from floatgate.study.tune.search import SearchPlan, Trial, best_of

SHOWN = 20
"""Trials in the table."""


def page(
    plan: SearchPlan,
    trials: Sequence[Trial],
    importance: dict[str, dict[str, float]],
    proof: str | None,
    command: str | None = None,
    unsteady: Sequence[str] = (),
) -> str:
    """Return the search as one self-contained HTML page.

    Args:
        plan: of the search.
        trials: all trials.
        importance: for each objective the share of each key.
        proof: the command that repeats the best run.
        command: the command line of the search.
        unsteady: the sentences of :func:`unsteady_runs`.
    """
    goal = plan.goal
    front = best_of(trials, goal)
    parts = [
        *_winner(plan, trials, front),
        *map(Text, unsteady),
        *([Section("The command that proves it", [Code(proof)])] if proof else []),
        *_pictures(plan, trials, importance),
        *_table(plan, trials, front),
    ]
    left_out = of_runs(plan.runs, [trial.settings for trial in trials])
    title = f"search for {words(goal)}"
    return report(title, parts, of=counts(plan, trials), not_modelled=left_out, command=command)


def words(goal: Goal) -> str:
    """Format as ``the least waf_bytes with latency_us.read.p99 < 500``."""
    wanted = " and ".join(f"{'the most' if one.maximise else 'the least'} {one.key}" for one in goal.objectives)
    return wanted + (f" with {' and '.join(map(str, goal.bounds))}" if goal.bounds else "")


def counts(plan: SearchPlan, trials: Sequence[Trial]) -> str:
    """Format as ``40 trials, 3 seeds each: 31 keep to the bounds, 2 failed``."""
    text = f"{len(trials)} trials" + (f", {plan.runs.repeat} seeds each" if plan.runs.repeat > 1 else "")
    parts = []
    if plan.whole is not None:
        parts.append("every setting was tried")
    if plan.goal.bounds:
        parts.append(f"{sum(trial.feasible for trial in trials)} keep to the bounds")
    failed = sum(not trial.figures for trial in trials)
    if failed:
        parts.append(f"{failed} failed")
    return text + (f": {', '.join(parts)}" if parts else "")


def at_ends(plan: SearchPlan, trials: Sequence[Trial], front: Sequence[Trial]) -> list[End]:
    """Return the keys of the best settings that lie at an end of the searched range."""
    if not front:
        return []

    def settings_of(trial: Trial) -> dict[str, Any]:
        return {key: plain(value) for key, value in trial.settings}

    wanted = front[0].values(plan.goal)
    ties = [trial for trial in trials if trial.feasible and trial.values(plan.goal) == wanted]
    return of_search(plan.axes, settings_of(front[0]), map(settings_of, ties))


def pace_note(plan: SearchPlan, front: Sequence[Trial]) -> str | None:
    """Note that a search by years of life prefers slow settings where the drive sets the rate; None elsewhere.

    Args:
        plan: of the search.
        front: the best trials.
    """
    key = next((key for key in plan.goal.keys if key.startswith(lifetime_headline.YEARS)), None)
    if key is None or not front:
        return None
    config = tomllib.loads(check(plan.runs.base.with_overrides(list(front[0].settings))))
    if not lifetime_headline.own_pace({"mode": config["mode"], "config": config}):
        return None
    instead = key.replace("years", "tbw") + "_bytes"
    return f"{key} prefers slow settings: in a closed loop they write less per day; {instead} is free of the rate"


def notes(plan: SearchPlan, front: Sequence[Trial]) -> list[str]:
    """Return how to read the result: what its rate means for lives, and keys with one value in all trials.

    Args:
        plan: of the search.
        front: the best trials.
    """
    pace = pace_note(plan, front)
    return [*([] if pace is None else [f"{pace}."]), *plan.runs.notes]


def unsteady_runs(folder: Path) -> list[str]:
    """Return which settings of a search have no steady write amplification, and what mends that, as sweeps have it.

    Args:
        folder: of the search; one that goes on has no table yet, and no sentences.

    Raises:
        InputError: its table is damaged.
    """
    return steadiness.notes(load_sweep(folder)) if (folder / TABLE).is_file() else []


def _winner(plan: SearchPlan, trials: Sequence[Trial], front: Sequence[Trial]) -> list[Part]:
    if not front:
        return [Text("No setting keeps to the bounds.", strong=True)]
    best = front[0]
    cards = [(key, units.figure(best.figures[key], 4), f"trial {best.number}") for key in plan.goal.keys]
    rows = [(key, str(plain(value))) for key, value in best.settings]
    ends = [end.text() for end in at_ends(plan, trials, front)]
    return [Cards(cards), Rows(rows), *(Text(f"{end}.") for end in ends), *map(Text, notes(plan, front))]


def _pictures(plan: SearchPlan, trials: Sequence[Trial], importance: dict[str, dict[str, float]]) -> list[Part]:
    known = [trial for trial in trials if trial.figures]
    if not known:
        return []
    goal = plan.goal
    drawn = []
    if len(goal.objectives) == 1:
        drawn.append(
            figure(
                "course", "Course of the search", "Circles: trials; crosses: beyond a bound; line: the best so far.",
                lambda width: course(known, goal, width),
            )
        )  # fmt: skip
    if len(goal.keys) > 1:
        across, up = goal.keys[:2]
        drawn.append(
            figure(
                "front", "The trade-off", "Line: the Pareto front; crosses: beyond a bound.",
                lambda width: trade_off(known, goal, across, up, width),
            )
        )  # fmt: skip
    for number, (key, shares) in enumerate(importance.items()):
        drawn.append(
            figure(
                f"importance-{number}", f"Keys that matter for {key}", "Importance by PED-ANOVA; all keys make 1.",
                lambda width, shares=shares: _importance(shares, width),  # type: ignore[misc]
            )
        )  # fmt: skip
    rows = [{key: plain(value) for key, value in trial.settings} | dict(trial.figures) for trial in known]
    one = varied_charts.Figure(goal.objectives[0].key, goal.objectives[0].key, goal.objectives[0].key)
    for key in plan.runs.keys:
        title = f"{one.key} against {varied_charts.short(key, plan.runs.keys)}"
        drawn.append(
            figure(
                f"key-{key.replace('.', '-')}", title, "Each point is a trial; the other keys vary too.",
                lambda width, key=key: varied_charts.points(rows, key, plan.runs.keys, one, width),  # type: ignore[misc]
            )
        )  # fmt: skip
    return [Section("Trials", [Charts(drawn)])]


def course(trials: Sequence[Trial], goal: Goal, width: int = WIDTH) -> vega.Composed:
    """Return the objective by the number of the trial, and the best so far."""
    objective = goal.objectives[0]
    best: float | None = None
    rows: list[dict[str, Any]] = []
    line: list[dict[str, Any]] = []
    for trial in trials:
        value = trial.figures[objective.key]
        rows.append({"x": trial.number, "y": value, "kept": "yes" if trial.feasible else "no"})
        if trial.feasible and (best is None or (value > best if objective.maximise else value < best)):
            best = value
        if best is not None:
            line.append({"x": trial.number, "y": best})
    x = vega.X("x:Q", title="trial", axis=vega.Axis(tickMinStep=1))
    y = vega.Y("y:Q", title=objective.key, scale=vega.Scale(zero=False), axis=_axis())
    marks = data_chart(rows).mark_point(color=palette.INK, size=50, strokeWidth=1.4).encode(x=x, y=y, shape=_kept())
    steps = data_chart(line).mark_line(color=palette.BLUE, interpolate="step-after", strokeWidth=2).encode(x=x, y=y)
    return finished(vega.layer(steps, marks), width, throttle_charts.TALL)


def _axis() -> Any:
    return vega.Axis(format=throttle_charts.FIGURES, tickCount=5, labelOverlap=True)


def _kept() -> Any:
    return vega.Shape("kept:N", scale=vega.Scale(domain=["yes", "no"], range=["circle", "cross"]), legend=None)


def trade_off(trials: Sequence[Trial], goal: Goal, across: str, up: str, width: int = WIDTH) -> vega.Composed:
    """Draw two figures of each trial, and the Pareto front of the objectives among them."""
    rows = [
        {"x": trial.figures[across], "y": trial.figures[up], "kept": "yes" if trial.feasible else "no"}
        for trial in trials
    ]
    x = vega.X("x:Q", title=across, scale=vega.Scale(zero=False), axis=_axis())
    y = vega.Y("y:Q", title=up, scale=vega.Scale(zero=False), axis=_axis())
    layers = [data_chart(rows).mark_point(color=palette.INK, size=50, strokeWidth=1.4).encode(x=x, y=y, shape=_kept())]
    front = [{"x": one.figures[across], "y": one.figures[up]} for one in best_of(trials, goal)]
    line = data_chart(sorted(front, key=lambda row: row["x"]))
    layers.insert(0, line.mark_line(color=palette.BLUE, strokeWidth=2).encode(x=x, y=y))
    layers.append(line.mark_point(color=palette.BLUE, filled=True, size=60, opacity=1).encode(x=x, y=y))
    for bound in goal.bounds:
        if bound.key in (across, up):
            rule = data_chart([{"x": bound.limit, "y": bound.limit}]).mark_rule(color=palette.GREY, strokeDash=[4, 3])
            layers.append(rule.encode(x=x) if bound.key == across else rule.encode(y=y))
    return finished(vega.layer(*layers), width, throttle_charts.TALL)


def _importance(shares: dict[str, float], width: int = WIDTH) -> vega.Composed:
    rows = [{"key": key, "share": share} for key, share in sorted(shares.items(), key=lambda item: -item[1])]
    one = varied_charts.Figure("share", "importance", "importance")
    return varied_charts.bars(rows, ["key"], one, width)


def _table(plan: SearchPlan, trials: Sequence[Trial], front: Sequence[Trial]) -> list[Part]:
    goal = plan.goal
    first = goal.objectives[0]
    sign = -1 if first.maximise else 1
    ranked = sorted(
        (trial for trial in trials if trial.figures),
        key=lambda one: (not one.feasible, sign * one.figures[first.key], one.number),
    )
    shown = list(front) if len(goal.objectives) > 1 else ranked[:SHOWN]
    title = "The Pareto front" if len(goal.objectives) > 1 else f"The best {min(SHOWN, len(ranked))} of {len(ranked)}"
    keys = plan.runs.keys
    header = [*(varied_charts.short(key, keys) for key in keys), *goal.keys, "trial"]
    cells = [
        [
            *(varied_charts.text(plain(value)) for _, value in trial.settings),
            *(units.figure(trial.figures[key], 4) for key in goal.keys),
            f"{trial.number}{'' if trial.feasible else ' (beyond a bound)'}",
        ]
        for trial in shown[: 4 * SHOWN]
    ]
    return [Section(title, [Grid(header, cells, texts=len(keys), stacks=True)])] if cells else []
