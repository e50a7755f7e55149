"""``floatgate reproduce``."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from floatgate.base.errors import STATUS_DONE, InterruptedRunError, input_error, meant, quote
from floatgate.base.progress import bar
from floatgate.base.text_table import table
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import Pictures
from floatgate.results.folder import RunFolder

if TYPE_CHECKING:
    from floatgate.study.runs.plan import RunPlan
    from floatgate.study.runs.resume import Unfinished


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reproduce")(reproduce)


@g.grouped
def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="NAME", show_default=False, help="The paper.")] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Use less input and finish in under a minute; the page says what was reduced."),
    ] = False,
    trace: Annotated[
        list[str] | None,
        typer.Option("--trace", metavar="WORKLOAD=FILE", help="Use this trace for a workload. May be repeated."),
    ] = None,
    *,
    pictures: Pictures,
    out: o.Out = None,
    resume: o.ResumeHere = False,
    force: o.Force = False,
    json: o.Json = None,
    report: o.Report = None,
    quiet: o.Quiet = False,
) -> int:
    """Repeat a paper's experiments: a verdict on each claim, and its tables and figures next to ours.

    Without a name, list the papers. A failed claim is a result, so the exit status stays 0. The folder gets
    report.html, reproduce.json and the results of all runs. With --out, an interrupted or killed reproduction goes on
    with the same command and --resume.
    """
    from floatgate.cli import kept
    from floatgate.papers import Settings, load
    from floatgate.papers import reproduce as run_paper
    from floatgate.papers.outcomes import WHOLE
    from floatgate.study.runs.resume import remove

    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(out, force=force)
    if name is None:
        if resume:
            raise input_error("--resume: no paper is named; expected the same command and --resume")
        _list(output)
        return STATUS_DONE
    paper = load(name)
    traces = _traces(trace or [], list(paper.workloads))
    place = kept.folder(out, WHOLE, resume=resume, force=force)
    how = f"the same command and --resume (--out {shlex.quote(out or '')})"

    def keep(plan: RunPlan) -> AbstractContextManager[Unfinished | None]:
        return kept.keeping(place, plan, WHOLE, how, resume=resume)

    with place or RunFolder.default(f"reproduce-{paper.name}") as target:
        try:
            with bar(paper.name, quiet=quiet) as progress:
                done = run_paper(paper, Settings(quick, traces), progress, None if place is None else keep)
        except KeyboardInterrupt:
            if not resume:
                raise
            # Before the runs, while workloads are prepared.
            raise InterruptedRunError(f"interrupted; continue with {how}") from None
        folder = done.write(target, report=output.draws(report), command=o.command_line())
        remove(folder)
    output.give(done.to_dict())
    output.say(done.text())
    output.say(o.place_line(folder, report=output.draws(report)))
    if drawn is not None:
        drawn.write(lambda: done.report(o.command_line()))
        output.say(drawn.line())
    return STATUS_DONE


def _list(output: Output) -> None:
    from floatgate.papers import load, names

    papers = [load(name) for name in names()]
    output.give({"papers": [{"name": one.name, "title": one.title, "claims": len(one.claims)} for one in papers]})
    if not output.prints_json:
        rows = [[one.name, str(len(one.claims)), one.title] for one in papers]
        output.say(table(["paper", "claims", "title"], rows, right=frozenset({1})))


def _traces(options: list[str], workloads: list[str]) -> dict[str, str]:
    """Parse the traces of ``--trace WORKLOAD=FILE``, by workload.

    Raises:
        InputError: no ``=``, an unknown workload, one given twice, or no such file.
    """
    traces: dict[str, str] = {}
    for text in options:
        name, equals, file = text.partition("=")
        if not equals or not file:
            raise input_error(
                f"--trace {quote(text)}: no file in it; expected WORKLOAD=FILE such as {workloads[0]}=FILE"
            )
        if name not in workloads:
            raise input_error(f"--trace {quote(text)}: unknown workload {quote(name)}; {meant(name, workloads)}")
        if name in traces:
            raise input_error(f"--trace: {quote(name)} given twice; expected one file for it")
        if not Path(file).exists():
            raise input_error(f"{file}: no such file; expected a trace of {name}")
        traces[name] = str(Path(file).resolve())
    return traces
