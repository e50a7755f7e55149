"""Runs the experiments of a paper.

Variants of one workload that want the same seconds in detail go to the core in one call, whatever their batch: it reads
the trace once, measures once what they share, and uses all cores.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from floatgate.compare import cores
from floatgate.errors import STATUS_UNUSABLE_INPUT, FloatgateError, one_line
from floatgate.experiment import Experiment, Overrides, trace_overrides
from floatgate.lifetime import forecast
from floatgate.reproduce.paper import Batch, Paper
from floatgate.run import execute

Progress = Callable[[int, "int | None", str], None]
Results = dict[str, dict[str, dict[str, Any]]]
"""Result by batch, workload and variant."""


@dataclass(frozen=True)
class Settings:
    """How a paper is reproduced: quickly or in full, and from which traces in place of its workloads."""

    quick: bool = False
    traces: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Job:
    """Runs that go to the core together, and where their results belong."""

    label: str
    command: str
    base: Experiment
    detail_s: tuple[float, float] | None
    variants: list[Overrides] = field(default_factory=list)
    places: list[tuple[str, str, str]] = field(default_factory=list)


def jobs(paper: Paper, settings: Settings) -> list[Job]:
    """The calls that a reproduction makes."""
    made: dict[tuple[str, str, Any], Job] = {}
    for batch in paper.batches:
        if settings.quick and not batch.quick:
            continue
        for workload in batch.workloads:
            key = (workload, batch.command, batch.detail_s)
            job = made.setdefault(key, Job(workload, batch.command, _base(paper, workload, settings), batch.detail_s))
            for variant in batch.variants:
                job.variants.append(_overrides(paper, batch, workload, variant, settings))
                job.places.append((batch.name, workload, variant))
    return list(made.values())


def _base(paper: Paper, workload: str, settings: Settings) -> Experiment:
    """The paper's experiment with the settings that all runs of a workload share."""
    overrides = paper.workloads[workload].overrides
    if workload in settings.traces:
        overrides = [setting for setting in overrides if not setting[0].startswith("workload.")]
        overrides = [*overrides, *trace_overrides(settings.traces[workload]), *paper.originals.overrides]
    return paper.experiment.with_overrides(overrides)


def _overrides(paper: Paper, batch: Batch, workload: str, variant: str, settings: Settings) -> Overrides:
    quick = paper.quick.overrides if settings.quick else []
    return [*paper.variants[variant].overrides, *batch.overrides, *batch.by_workload.get(workload, []), *quick]


def run(paper: Paper, settings: Settings, progress: Progress | None = None) -> tuple[Results, list[str]]:
    """Run everything.

    Returns:
        The results, and what ended those runs that failed; theirs are missing in the results.

    Raises:
        InputError: a trace or a setting is unusable.
    """
    results: Results = {batch.name: {workload: {} for workload in batch.workloads} for batch in paper.batches}
    failures: list[str] = []
    todo = jobs(paper, settings)
    for number, job in enumerate(todo):
        report = None if progress is None else _part(progress, number, len(todo), job.label)
        try:
            outcomes = _lifetimes(job, report) if job.command == "lifetime" else _runs(job, report)
        except FloatgateError as error:
            if error.status == STATUS_UNUSABLE_INPUT:
                raise
            failures.append(f"{job.label}: {one_line(error)}")
            continue
        for (batch, workload, variant), outcome in zip(job.places, outcomes, strict=True):
            results[batch][workload][variant] = outcome
    return results, failures


def _lifetimes(job: Job, progress: Progress | None) -> list[dict[str, Any]]:
    return forecast(job.base, job.variants, detail_s=job.detail_s, progress=progress)


def _runs(job: Job, progress: Progress | None) -> list[dict[str, Any]]:
    stop = threading.Event()

    def watch(done: int, total: int | None, phase: str) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        if progress is not None:
            progress(done, total, phase)

    def work(overrides: Overrides) -> dict[str, Any]:
        return execute(job.base.with_overrides(overrides), progress=watch).result.to_dict()

    with ThreadPoolExecutor(min(cores(), len(job.variants))) as pool:
        futures = [pool.submit(work, overrides) for overrides in job.variants]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
    errors = [error for future in futures if (error := future.exception()) is not None]
    errors.sort(key=lambda error: isinstance(error, KeyboardInterrupt))
    if errors:
        raise errors[0]
    return [future.result() for future in futures]


def _part(progress: Progress, number: int, parts: int, label: str) -> Progress:
    """Progress of one of several jobs, in thousandths of all of them."""

    def report(done: int, total: int | None, phase: str) -> None:
        share = min(1.0, done / total) if total else 0.0
        progress(int(1000 * (number + share)), 1000 * parts, f"{label}: {phase}")

    return report
