"""``floatgate run --repeat``: the same experiment with several seeds."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

from floatgate.base.errors import STATUS_DONE
from floatgate.base.progress import bars
from floatgate.cli import kept
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import Files
from floatgate.results.folder import RunFolder
from floatgate.run.experiment import Experiment
from floatgate.study.compare import run_settings
from floatgate.study.repeat import WHOLE, Repetition, plan_seeds
from floatgate.study.runs.engine import Local
from floatgate.study.runs.plan import RunPlan, plan_runs
from floatgate.study.runs.resume import PLAN, planned, remove


def is_interrupted(folder: str) -> bool:
    """Return whether a folder holds some of several seeds."""
    return (Path(folder) / PLAN).is_file()


def start(
    resolved: Experiment,
    repeat: int,
    jobs: int | None,
    out: str | None,
    output: Output,
    drawn: Files | None,
    *,
    force: bool,
    shadow: bool,
    report: bool,
) -> int:
    """Run seeds; with a folder they can go on after they were stopped."""
    target = kept.folder(out, WHOLE, resume=False, force=force)
    plan = plan_seeds(resolved, repeat, shadow=shadow, reads_files=target is not None)
    return _run(plan, jobs, target, output, drawn, resume=False, report=report)


def go_on(folder: str, jobs: int | None, output: Output, drawn: Files | None, *, report: bool) -> int:
    """Run the seeds that are left."""
    target = kept.folder(folder, WHOLE, resume=True, force=False)
    begun = planned(Path(folder), WHOLE)
    plan = plan_runs(begun.base, begun.points, begun.repeat, shadow=begun.shadow)  # files may have changed since
    return _run(plan, jobs, target, output, drawn, resume=True, report=report)


def _run(
    plan: RunPlan,
    jobs: int | None,
    target: RunFolder | None,
    output: Output,
    drawn: Files | None,
    *,
    resume: bool,
    report: bool,
) -> int:
    name = plan.base.name()
    place = target or RunFolder.default(name)
    how = f"floatgate run --resume {shlex.quote(str(place.path))}"
    with target or contextlib.nullcontext():
        labels = [f"{name} {number + 1}" for number in range(len(plan))]
        with kept.keeping(target, plan, WHOLE, how, resume=resume) as part, bars(labels, quiet=output.quiet) as shown:
            seeds = Repetition(run_settings(plan, Local(jobs), shown, part))
        folder = seeds.write(place, report=report, command=o.command_line())
        if target is not None:
            remove(folder)
    status = o.tell_failures(seeds)
    output.give(seeds.to_dict())
    output.say(seeds.text())
    output.say(o.place_line(folder, report=report))
    if drawn is not None:
        drawn.write(lambda: seeds.report(o.command_line()))
        output.say(drawn.line())
    if plan.shadow and not status:
        output.say(o.SHADOW_LINE)
    return status or STATUS_DONE
