"""Compares the answers of an engine with the runs that were requested from it.

The embedded engine runs the code of this process. Any other one brings back what a scheduler and its workers send.
Each answer is checked before it becomes a row: its number, its seed, the hash of its configuration, its settings
and the type of each figure.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

from floatgate import _core
from floatgate.base.errors import InputError, input_error, quote
from floatgate.results.flat import flat
from floatgate.run.run import check
from floatgate.study.runs.engine import Engine, Local, Progress
from floatgate.study.runs.plan import RunPlan
from floatgate.study.runs.rows import figure_keys, shown, wrong_figures, wrong_outcome, wrong_spent
from floatgate.study.runs.work import DONE, Answer, Job


def carry_out(
    engine: Engine, jobs: Iterable[Job], done: Callable[[Answer], None], progress: Progress | None = None
) -> None:
    """Have an engine do jobs; ``done`` is called with each answer, if it belongs to a job that waits for one.

    Raises:
        KeyboardInterrupt: Ctrl-C.
        InputError: the engine cannot be used, or its answers are not as requested.
    """
    waiting: dict[int, Job] = {}

    def noted() -> Iterator[Job]:
        for job in jobs:
            waiting[job.number] = job
            yield job

    def checked(answer: Answer) -> None:
        if not isinstance(answer, Answer) or type(answer.number) is not int:
            raise input_error(f"the engine gives {shown(answer)}; expected the answer to a run")
        job = waiting.pop(answer.number, None)
        if job is None:
            what = "answered twice, or not requested"
            raise input_error(f"run {answer.number}: {what}; expected one answer for each requested run")
        wrong = None if isinstance(engine, Local) else _wrong(answer, job)
        if wrong is not None:
            worker = answer.spent.get("worker") if isinstance(answer.spent, dict) else None
            by = "" if worker is None else f"worker {worker}: "
            raise input_error(f"run {answer.number}: {by}the answer is refused: {wrong}")
        done(answer)
        if progress is not None:
            # The last report of a run need not be that of its end: a trace may not say how long it is.
            progress(answer.number, 1, 1, "ended")

    engine.run(noted(), checked, progress)
    if waiting:
        what = "the engine ended without an answer; expected one for each requested run"
        raise input_error(f"run {min(waiting)}: {what}")


def left(plan: RunPlan, done: Container[int], *, whole: bool = False) -> Iterator[Job]:
    """Yield the runs of a plan that are not done, in order."""
    return (plan.job(number, whole=whole) for number in range(len(plan)) if number not in done)


def _wrong(answer: Answer, job: Job) -> str | None:
    """Describe what is wrong with an answer of an engine that runs the code of other processes."""
    return (
        _wrong_form(answer, job)
        or wrong_outcome(answer.status, answer.error, answer.figures)
        or wrong_figures(answer.figures)
        or wrong_spent(answer.spent)
        or _wrong_run(answer, job)
    )


def _wrong_form(answer: Any, job: Job) -> str | None:
    if not isinstance(answer.figures, dict) or not isinstance(answer.spent, dict):
        return "its figures are no table; expected names with values"
    if answer.status == DONE and job.whole and answer.run is None:
        return "it lacks the run itself; expected the whole run"
    return None


def _wrong_run(answer: Answer, job: Job) -> str | None:
    """Check that the figures are those of the experiment that was sent."""
    if answer.status != DONE:
        return None
    try:
        toml = check(job.experiment)
    except InputError as error:
        return f"a result of an experiment that cannot be run ({error.message}); expected an error"
    wanted, figures = tomllib.loads(toml), answer.figures
    seed = wanted.get("seed", 1)
    if figures["seed"] != seed:
        return f"'seed' is {shown(figures['seed'])}; expected {seed}, as requested"
    known_hash = _core.config_hash(job.experiment.toml, job.experiment.path, job.experiment.overrides)
    if known_hash is not None and figures["config_hash"] != known_hash:
        return f"'config_hash' is {shown(figures['config_hash'])}; expected {shown(known_hash)}, as requested"
    for key, value in _settings(wanted):
        if figures.get(key) != value:
            return f"{quote(key)} is {shown(figures.get(key))}; expected {shown(value)}, as requested"
    return None


def _settings(wanted: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the settings that a flat row repeats: not those of files, and not those whose name a figure has."""
    for key, value in flat({"config": wanted}).items():
        if key not in figure_keys() and key != "ftl.snapshot" and not key.startswith("workload."):
            yield key, value
