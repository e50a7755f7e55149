"""``floatgate leaderboard``."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from floatgate.base import numbers
from floatgate.base.errors import STATUS_DONE, STATUS_RUN_FAILED, one_line
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import kept
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import PICTURES, Files, Pictures
from floatgate.results.folder import REPORT, draw
from floatgate.run.experiment import parse_set
from floatgate.study.leaderboard.drives import SPARES
from floatgate.study.leaderboard.loaded import load_leaderboard
from floatgate.study.leaderboard.request import FILE, SEEDS, Request, parsed_params
from floatgate.study.leaderboard.runs import Runs, begun
from floatgate.study.runs.engine import Engine
from floatgate.study.runs.engines import engine_of
from floatgate.study.runs.folders import folder_for
from floatgate.study.runs.work import Answer

_OF_RESUMED = ("out", "resume", "policy", "on", "jobs", "memory", "json", "report", "quiet", "force")
"""Parameters of a leaderboard that goes on as it was begun."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("leaderboard")(leaderboard)


@g.grouped
def leaderboard(
    context: typer.Context,
    traces: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TRACE]...",
            show_default=False,
            help="Traces, or names of shipped ones such as gcc-build. Default: all shipped traces.",
        ),
    ] = None,
    slot: Annotated[
        str, typer.Option(metavar="separator|collector", help="What is ranked: every separator or collector.")
    ] = "separator",
    only: Annotated[
        str | None,
        typer.Option(metavar="A,B,..", help="Policies of the slot. Default: all, with those of --policy."),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY.KEY=VALUE", help="A parameter of one policy, e.g. midas.groups=4. May be repeated."
        ),
    ] = None,
    spare_factors: Annotated[
        str | None,
        typer.Option(metavar="A,B,..", help="Spare factors of the drives of each trace. Default: 0.28,0.15,0.07."),
    ] = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Seeds of each run.")] = SEEDS,
    against: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="Test every policy against this one too. Default: the first in rank."),
    ] = None,
    set: o.Set = None,
    policy: o.Policy = None,  # noqa: ARG001 - loaded before the command begins
    *,
    on: o.On = "local",
    jobs: o.Jobs = None,
    memory: o.Memory = None,
    out: o.Out = None,
    resume: o.ResumeHere = False,
    force: o.Force = False,
    json: o.Json = None,
    report: o.Report = None,
    pictures: Pictures,
    quiet: o.Quiet = False,
) -> int:
    """Rank all policies of a slot on several traces, drives and seeds, and write one page.

    Each trace gets drives that it fills, one for each spare factor. A policy that needs what a trace lacks is not
    applicable there. Policies of --policy are further rows. What was stopped goes on with --resume.
    """
    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(out, force=force)
    limit = o.size_bytes(memory, "--memory")
    if resume and not o.has_other_parameters(context, *_OF_RESUMED, *PICTURES):
        request = None
    else:
        own = parsed_params(param or ())
        settings = [parse_set(text) for text in set or ()]
        policies = tuple(numbers.listed("--only", only) or ())
        spares = _spares(spare_factors)
        request = Request(tuple(traces or ()), slot, policies, own, spares, repeat, against, settings)
    folder = folder_for(out, f"{slot}-leaderboard", FILE, "leaderboard", resume=resume, force=force)
    engine = engine_of(on, jobs)
    if engine.dashboard is not None:
        output.say(f"{'dashboard':<10} {engine.dashboard}")
    with folder, contextlib.closing(engine):
        with bar("traces", quiet=output.quiet) as shown:
            runs = begun(folder.path, request, resume=resume, memory_bytes=limit, progress=shown)
        return _ranked(runs, engine, output, drawn, report=output.draws(report))


def _spares(text: str | None) -> tuple[float, ...]:
    spares = [numbers.share("--spare-factors", one) for one in numbers.listed("--spare-factors", text) or ()]
    return tuple(one for one in spares if one is not None) or SPARES


def _ranked(runs: Runs, engine: Engine, output: Output, drawn: Files | None, *, report: bool) -> int:
    """Do the remaining runs, draw the page, and print the standings."""
    with contextlib.closing(runs):
        with (
            kept.journaling(runs, "leaderboard", f" of {len(runs.plan)}"),
            bar(runs.folder.name, quiet=output.quiet) as shown,
        ):

            def report_run(_: Answer, ended: int, of: int) -> None:
                if shown is not None:
                    shown(ended, of, "")

            runs.run(engine, report_run)
        board = load_leaderboard(runs.folder)
        failures = board.standings.failures
        if failures:
            more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
            sys.stderr.write(f"error: {one_line(failures[0])}{more}\n")
        if report:
            draw(runs.folder / REPORT, lambda: board.report(o.command_line()))
        output.give(board.to_dict())
        output.say(board.text())
        output.say(o.place_line(runs.folder, report=report))
        if drawn is not None:
            drawn.write(lambda: board.report(o.command_line()))
            output.say(drawn.line())
        return STATUS_RUN_FAILED if failures else STATUS_DONE
