"""``floatgate tune``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from floatgate.base.errors import STATUS_DONE, STATUS_RUN_FAILED, input_error, one_line
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import kept
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import PICTURES, Files, Pictures
from floatgate.results.flat import plain
from floatgate.results.folder import REPORT, draw
from floatgate.study.runs.engine import Engine
from floatgate.study.runs.engines import engine_of
from floatgate.study.runs.folders import folder_for
from floatgate.study.runs.plan import must_be_same
from floatgate.study.sweeps.spec import SweepOptions as Vary
from floatgate.study.sweeps.spec import points_of
from floatgate.study.sweeps.sweep import begun_from, plan_of
from floatgate.study.tune.objective import goal_of
from floatgate.study.tune.search import BEST, FILE, SAMPLE, SAMPLES, Search, SearchPlan, Trial, begun, best_of

TRIALS = 100
BATCH = 8
"""Settings per batch of proposals. It is the same on every machine, and so is the search."""

_OF_RESUMED = ("out", "resume", "policy", "on", "jobs", "json", "report", "quiet", "force", "trials")
"""Parameters of a search that goes on as it was begun."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tune")(tune)


@g.grouped
def tune(
    context: typer.Context,
    experiment: o.ExperimentFile = None,
    minimise: Annotated[
        list[str] | None, typer.Option("--minimise", "--minimize", metavar="FIGURE", help="A figure, e.g. waf_bytes.")
    ] = None,
    maximise: Annotated[
        list[str] | None,
        typer.Option("--maximise", "--maximize", metavar="FIGURE", help="A figure, e.g. lifetime.years."),
    ] = None,
    subject_to: Annotated[
        list[str] | None,
        typer.Option(metavar="FIGURE<NUMBER", help="A bound, e.g. 'latency_us.read.p99 < 500'. May be repeated."),
    ] = None,
    vary: o.SearchVary = None,
    trials: Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="Settings that are tried.")] = TRIALS,
    batch: Annotated[int, typer.Option(metavar="N", min=1, help="Settings that are proposed at a time.")] = BATCH,
    search_seed: Annotated[int, typer.Option(metavar="N", min=1, help="Seed of the proposals.")] = 1,
    repeat: o.Repeat = None,
    own_defaults: o.OwnDefaults = False,
    set: o.Set = None,
    *,
    source: g.EndingSource,
    on: o.On = "local",
    jobs: o.Jobs = None,
    out: o.Out = None,
    resume: o.ResumeHere = False,
    force: o.Force = False,
    json: o.Json = None,
    report: o.Report = None,
    pictures: Pictures,
    quiet: o.Quiet = False,
) -> int:
    """Search for the settings that are best by some figures, within bounds on others (Optuna).

    What may vary comes from --vary and from the file's [sweep] table. At the end DIR/best.toml is the experiment that
    won, and the command that repeats its run is printed.
    """
    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(out, force=force)
    plan, name = None, ""
    if experiment is not None or not resume:
        goal = goal_of(minimise or [], maximise or [], subject_to or [])
        base = g.built(experiment, source, None, set)
        name = base.name()
        # Optuna draws from ranges; a sample represents them here.
        points, repeats = points_of(
            Vary(tuple(vary or ()), SAMPLE, SAMPLES, None, repeat),
            base.sweep,
            experiment or "floatgate tune",
            "floatgate tune",
        )
        if points.listed:
            raise input_error("floatgate tune: sweep.points lists settings; expected keys that vary by themselves")
        base, notes = begun_from(base, points, own_defaults=own_defaults)
        plan = SearchPlan(plan_of(base, points, repeats, notes=notes), goal, trials, batch, search_seed)
    elif o.has_other_parameters(context, *_OF_RESUMED, *PICTURES):
        raise input_error("--resume: without an experiment the search goes on as it was begun; expected only --trials")
    _must_be_installed()
    folder = folder_for(out, f"{name}-tune", FILE, "search", resume=resume, force=force)
    engine = engine_of(on, jobs)
    with folder, contextlib.closing(engine):
        if resume:
            more = trials if plan is not None or o.was_given(context, "trials") else None
            plan = _same(folder.path, plan, more)
        assert plan is not None  # noqa: S101 - for mypy: there is an experiment, or a folder with a search
        search = Search.open(folder.path, plan, fresh=not resume)
        return _searched(search, engine, output, drawn, report=output.draws(report))


def _must_be_installed() -> None:
    try:
        import optuna  # noqa: F401
    except ImportError:
        what = "floatgate tune: Optuna is not installed"
        raise input_error(f"{what}; expected the extra 'tune': pip install 'floatgate[tune]'") from None


def _same(folder: Path, plan: SearchPlan | None, trials: int | None) -> SearchPlan:
    """Return the plan with which the search began, with more trials if requested.

    Raises:
        InputError: the settings differ from those it was begun with.
    """
    before = begun(folder)
    wanted = before.trials if trials is None else trials
    if plan is not None:
        must_be_same(folder, before.to_dict(), plan.to_dict())
    return replace(before, trials=max(wanted, before.trials))


def _searched(search: Search, engine: Engine, output: Output, drawn: Files | None, *, report: bool) -> int:
    """Search, draw the report, and name the winner."""
    from floatgate.study.tune import page

    with contextlib.closing(search):
        with kept.journaling(search, "tune"), bar(search.folder.name, quiet=output.quiet) as shown:
            trials = search.run(engine, None if shown is None else lambda done, of: shown(done, of, "runs"))
        plan = search.plan
        front = best_of(trials, plan.goal)
        proof = None
        if front:
            search.write_best(front[0])
            proof = search.proof()
        importance, unsteady = search.importance(), page.unsteady_runs(search.folder)

        def drawn_page() -> str:
            return page.page(plan, trials, importance, proof, o.command_line(), unsteady)

        if report:
            draw(search.folder / REPORT, drawn_page)
        if not front:
            sys.stderr.write(f"error: {one_line(_no_winner(plan, trials))}\n")
        output.give(_document(search, trials, front, importance, proof))
        output.say(_text(plan, trials, front, importance, unsteady))
        if proof is not None:
            output.say(f"{'experiment':<10} {one_line(search.folder / BEST)}\n{'proof':<10} {proof}")
        output.say(o.place_line(search.folder, report=report))
        if drawn is not None:
            drawn.write(drawn_page)
            output.say(drawn.line())
        return STATUS_DONE if front else STATUS_RUN_FAILED


def _no_winner(plan: SearchPlan, trials: Sequence[Trial]) -> str:
    if not any(trial.figures for trial in trials):
        return f"none of {len(trials)} trials has a result; see DIR/sweep.parquet for their errors"
    nearest = min((trial for trial in trials if trial.figures), key=lambda one: max(0.0, *one.excess))
    text = ", ".join(f"{bound.key} = {nearest.figures[bound.key]:g}" for bound in plan.goal.bounds)
    return f"none of {len(trials)} trials keeps to the bounds; the nearest has {text}"


def _text(
    plan: SearchPlan,
    trials: Sequence[Trial],
    front: Sequence[Trial],
    importance: dict[str, dict[str, float]],
    unsteady: Sequence[str],
) -> str:
    from floatgate.study.tune import page

    lines = [f"{'search':<10} {page.words(plan.goal)}: {page.counts(plan, trials)}"]
    if front:
        best = front[0]
        figures = ", ".join(f"{key} = {best.figures[key]:.6g}" for key in plan.goal.keys)
        lines.append(f"{'best':<10} {figures} (trial {best.number})")
        lines += [f"{'':<10} {key} = {plain(value)}" for key, value in best.settings]
        if len(front) > 1:
            lines.append(f"{'':<10} one of {len(front)} settings that no other beats in every objective")
        lines += [f"{'at an end':<10} {end.text()}" for end in page.at_ends(plan, trials, front)]
        lines += [f"{'note':<10} {one_line(note)}" for note in page.notes(plan, front)]
    lines += [f"{'note':<10} {one_line(note)}" for note in unsteady]
    for key, shares in importance.items():
        parts = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
        lines.append(f"{'importance':<10} of keys for {key}: {parts}")
    return "\n".join(lines)


def _document(
    search: Search,
    trials: Sequence[Trial],
    front: Sequence[Trial],
    importance: dict[str, dict[str, float]],
    proof: str | None,
) -> dict[str, Any]:
    from floatgate.study.tune import page

    def row_of(trial: Trial) -> dict[str, Any]:
        settings = {key: plain(value) for key, value in trial.settings}
        return {"trial": trial.number, "set": settings, "figures": trial.figures, "feasible": trial.feasible}

    return {
        "schema": "floatgate.tune/1",
        "folder": str(search.folder),
        **search.plan.goal.to_dict(),
        "trials": len(trials),
        "best": row_of(front[0]) if front else None,
        "front": [row_of(trial) for trial in front],
        "at_ends": [end.to_dict() for end in page.at_ends(search.plan, trials, front)],
        "importance": importance,
        "proof": proof,
    }
