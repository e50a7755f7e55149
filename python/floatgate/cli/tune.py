"""``floatgate tune``."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from floatgate.base.errors import STATUS_DONE, STATUS_RUN_FAILED, InputError, InterruptedRunError, input_error, one_line
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.results.flat import plain
from floatgate.results.folder import REPORT, draw
from floatgate.study.runs.engine import Engine
from floatgate.study.runs.engines import engine_of
from floatgate.study.runs.folders import folder_for
from floatgate.study.runs.plan import must_be_same
from floatgate.study.sweeps.spec import Asked as Vary
from floatgate.study.sweeps.spec import points_of
from floatgate.study.sweeps.sweep import plan_of
from floatgate.study.tune.objective import goal_of
from floatgate.study.tune.search import BEST, FILE, Asked, Search, Trial, begun, best_of

TRIALS = 100
BATCH = 8
"""Settings that are proposed at a time: the same on every machine, so that the search is the same."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tune")(tune)


@g.grouped
def tune(
    context: typer.Context,
    experiment: Annotated[str | None, typer.Argument(metavar="EXPERIMENT.toml", show_default=False)] = None,
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
    vary: o.Vary = None,
    trials: Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="Settings that are tried.")] = TRIALS,
    batch: Annotated[int, typer.Option(metavar="N", min=1, help="Settings that are proposed at a time.")] = BATCH,
    search_seed: Annotated[int, typer.Option(metavar="N", min=1, help="Seed of the proposals.")] = 1,
    repeat: o.Repeat = None,
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
    quiet: o.Quiet = False,
) -> int:
    """Search for the settings that are best by some figures, within bounds on others (Optuna).

    What may vary comes from --vary and from the file's [sweep] table. At the end DIR/best.toml is the experiment that
    won, and the command that repeats its run is printed.
    """
    output = Output(json, quiet=quiet, force=force)
    asked, name = None, ""
    if experiment is not None or not resume:
        goal = goal_of(minimise or [], maximise or [], subject_to or [])
        base = g.built(experiment, source, None, set)
        name = base.name()
        # What is searched between the ends of a range is drawn by Optuna; a sample of one point stands for it here.
        points, repeats = points_of(
            Vary(tuple(vary or ()), "latin-hypercube", 16, None, repeat), base.sweep, experiment or "floatgate tune"
        )
        if points.listed:
            raise input_error("floatgate tune: sweep.points lists settings; expected keys that vary by themselves")
        plan = plan_of(base, points, repeats)
        asked = Asked(plan.base, points.axes, goal, trials, batch, repeats, plan.seed, search_seed, plan.files)
    elif o.given_beside(context, "out", "resume", "on", "jobs", "json", "report", "quiet", "force", "trials"):
        raise input_error("--resume: without an experiment the search goes on as it was begun; expected only --trials")
    _must_be_installed()
    folder = folder_for(out, f"{name}-tune", FILE, "search", resume=resume, force=force)
    engine = engine_of(on, jobs)
    with folder, contextlib.closing(engine):
        if resume:
            more = trials if asked is not None or o.was_given(context, "trials") else None
            asked = _same(folder.path, asked, more)
        assert asked is not None  # noqa: S101 - for mypy: there is an experiment, or a folder with a search
        search = Search.open(folder.path, asked, fresh=not resume)
        return _searched(search, engine, output, report=output.draws(report))


def _must_be_installed() -> None:
    try:
        import optuna  # noqa: F401
    except ImportError:
        what = "floatgate tune: Optuna is not installed"
        raise input_error(f"{what}; expected the extra 'tune': pip install 'floatgate[tune]'") from None


def _same(folder: Path, asked: Asked | None, trials: int | None) -> Asked:
    """What the search was begun with, with more trials where they are asked for.

    Raises:
        InputError: something else is asked for than it was begun with.
    """
    before = begun(folder)
    wanted = before.trials if trials is None else trials
    if asked is not None:
        must_be_same(folder, before.to_dict(), asked.to_dict())
    return replace(before, trials=max(wanted, before.trials))


def _searched(search: Search, engine: Engine, output: Output, *, report: bool) -> int:
    """Search, draw the report, and say what won."""
    from floatgate.study.tune import page

    with contextlib.closing(search):
        with _saying_how_to_go_on(search), bar(search.folder.name, quiet=output.quiet) as shown:
            trials = search.run(engine, None if shown is None else lambda done, of: shown(done, of, "runs"))
        asked = search.asked
        front = best_of(trials, asked.goal)
        proof = None
        if front:
            search.write_best(front[0])
            proof = search.proof()
        importance = search.importance()
        if report:
            draw(search.folder / REPORT, lambda: page.page(asked, trials, importance, proof, o.command_line()))
        if not front:
            sys.stderr.write(f"error: {one_line(_no_winner(asked, trials))}\n")
        output.give(_told(search, trials, front, importance, proof))
        output.say(_text(asked, trials, front, importance))
        if proof is not None:
            output.say(f"{'experiment':<10} {one_line(search.folder / BEST)}\n{'proof':<10} {proof}")
        output.say(o.place_line(search.folder, report=report))
        return STATUS_DONE if front else STATUS_RUN_FAILED


@contextlib.contextmanager
def _saying_how_to_go_on(search: Search) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if not len(search.journal):
            search.clear()
            raise
        command = f"floatgate tune --out {shlex.quote(str(search.folder))} --resume"
        said = f"interrupted, {len(search.journal)} runs are done; continue with: {command}"
        raise InterruptedRunError(said) from None
    except InputError:
        if not len(search.journal):
            search.clear()
        raise


def _no_winner(asked: Asked, trials: Sequence[Trial]) -> str:
    if not any(trial.figures for trial in trials):
        return f"none of {len(trials)} trials has a result; see DIR/sweep.parquet for their errors"
    nearest = min((trial for trial in trials if trial.figures), key=lambda one: max(0.0, *one.excess))
    said = ", ".join(f"{bound.key} = {nearest.figures[bound.key]:g}" for bound in asked.goal.bounds)
    return f"none of {len(trials)} trials keeps to the bounds; the nearest has {said}"


def _text(
    asked: Asked, trials: Sequence[Trial], front: Sequence[Trial], importance: dict[str, dict[str, float]]
) -> str:
    from floatgate.study.tune import page

    said = [f"{'search':<10} {page.words(asked.goal)}: {page.counts(asked, trials)}"]
    if front:
        best = front[0]
        figures = ", ".join(f"{key} = {best.figures[key]:.6g}" for key in asked.goal.keys)
        said.append(f"{'best':<10} {figures} (trial {best.number})")
        said += [f"{'':<10} {key} = {plain(value)}" for key, value in best.settings]
        if len(front) > 1:
            said.append(f"{'':<10} one of {len(front)} settings that no other beats in every objective")
        said += [f"{'at an end':<10} {end.text()}" for end in page.at_ends(asked, trials, front)]
    for key, shares in importance.items():
        parts = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
        said.append(f"{'importance':<10} of keys for {key}: {parts}")
    return "\n".join(said)


def _told(
    search: Search,
    trials: Sequence[Trial],
    front: Sequence[Trial],
    importance: dict[str, dict[str, float]],
    proof: str | None,
) -> dict[str, Any]:
    from floatgate.study.tune import page

    def told(trial: Trial) -> dict[str, Any]:
        settings = {key: plain(value) for key, value in trial.settings}
        return {"trial": trial.number, "set": settings, "figures": trial.figures, "feasible": trial.feasible}

    return {
        "schema": "floatgate.tune/1",
        "folder": str(search.folder),
        **search.asked.goal.to_dict(),
        "trials": len(trials),
        "best": told(front[0]) if front else None,
        "front": [told(trial) for trial in front],
        "at_ends": [end.to_dict() for end in page.at_ends(search.asked, trials, front)],
        "importance": importance,
        "proof": proof,
    }
