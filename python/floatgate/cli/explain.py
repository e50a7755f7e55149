"""``floatgate explain``."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from floatgate.base.errors import STATUS_DONE, STATUS_RUN_FAILED, input_error, one_line
from floatgate.base.progress import bars
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.study.explain import trial
from floatgate.study.explain.case import reading
from floatgate.study.explain.explanation import Explanation
from floatgate.study.explain.explanation import explain as explained


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explain")(explain)


def explain(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The folder of a run or a forecast.", show_default=False)],
    trying: Annotated[
        bool, typer.Option("--try", help="Run the suggested settings, and print what they measure before and after.")
    ] = False,
    most: Annotated[int, typer.Option("--most", metavar="N", min=1, max=20, help="Settings to suggest at most.")] = 3,
    jobs: o.Jobs = None,
    policy: o.Policy = None,  # noqa: ARG001 - loaded when it is read
    json: o.Json = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file of --json.")] = False,
    quiet: o.Quiet = False,
) -> int:
    """Say what limits life and latency in a run or a forecast, and which settings would change it most.

    Each sentence states figures of the result, each setting has the command that proves it. The settings are ranked by
    the share of wear or time that they may save. With --try they are run at once, beside the experiment as it was.
    """
    output = Output(json, quiet=quiet, force=force)
    if jobs is not None and not trying:
        raise input_error("--jobs: nothing is run; expected it with --try")
    with reading(run) as case:
        if trying and case.setting("workload.file") == "-":
            what = "the trace of this run came from standard input, which cannot be read again"
            raise input_error(f"--try: {what}; expected the run of a trace in a file")
        answer = explained(case, most)
    tried = _tried(answer, jobs, quiet=quiet) if trying else None
    output.give(answer.to_dict() if tried is None else _with(answer, tried))
    output.say(answer.text([] if tried is None else [[one.text() for one in trials] for trials in tried]))
    return STATUS_DONE if tried is None else _status(tried)


def _tried(answer: Explanation, jobs: int | None, *, quiet: bool) -> trial.Tried:
    """Run the suggested settings, with a bar for each run."""
    if not answer.suggestions:
        return []
    with bars(trial.labels_of(answer), quiet=quiet) as progress:
        return trial.run(answer, jobs, progress)


def _with(answer: Explanation, tried: trial.Tried) -> dict[str, Any]:
    """Return the JSON with what was measured."""
    document = answer.to_dict()
    for entry, trials in zip(document["settings"], tried, strict=True):
        entry["tried"] = [one.to_dict() for one in trials]
    return document


def _status(tried: trial.Tried) -> int:
    """Name the first run that failed; return the exit status."""
    failures = trial.failures(tried)
    if not failures:
        return STATUS_DONE
    sys.stderr.write(f"error: {one_line(failures[0])}\n")
    return STATUS_RUN_FAILED
