"""Runs the experiments of a paper.

Variants of one workload go to the core in one call, whatever their batch: it reads the trace once, measures once what
they share, and uses all cores.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floatgate.errors import STATUS_UNUSABLE_INPUT, FloatgateError, one_line
from floatgate.experiment import Experiment, Overrides, trace_overrides
from floatgate.lifetime import forecast
from floatgate.parallel import at_once
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
    variants: list[Overrides] = field(default_factory=list)
    details_s: list[tuple[float, float] | None] = field(default_factory=list)
    places: list[tuple[str, str, str]] = field(default_factory=list)


def jobs(paper: Paper, settings: Settings, prepared: Mapping[str, Overrides] | None = None) -> list[Job]:
    """The calls that a reproduction makes; ``prepared`` are settings of workloads that were worked out before."""
    made: dict[tuple[str, str], Job] = {}
    for batch in _batches(paper, settings):
        for workload in batch.workloads:
            key = (workload, batch.command)
            job = made.setdefault(key, Job(workload, batch.command, _base(paper, workload, settings, prepared)))
            for variant in batch.variants:
                job.variants.append(_overrides(paper, batch, workload, variant, settings))
                job.details_s.append(batch.detail_s)
                job.places.append((batch.name, workload, variant))
    return list(made.values())


def _base(paper: Paper, workload: str, settings: Settings, prepared: Mapping[str, Overrides] | None) -> Experiment:
    """The paper's experiment with the settings that all runs of a workload share."""
    overrides = paper.workloads[workload].overrides
    if workload in settings.traces and not paper.prepares:
        overrides = [setting for setting in overrides if not setting[0].startswith("workload.")]
        overrides = [*overrides, *trace_overrides(settings.traces[workload]), *paper.originals.overrides]
    return paper.experiment.with_overrides([*overrides, *(prepared or {}).get(workload, [])])


def _overrides(paper: Paper, batch: Batch, workload: str, variant: str, settings: Settings) -> Overrides:
    by_name = paper.quick_by_name
    quick = [*paper.quick.overrides, *by_name.get(workload, []), *by_name.get(variant, [])] if settings.quick else []
    return [*paper.variants[variant].overrides, *batch.overrides, *batch.by_workload.get(workload, []), *quick]


def run(paper: Paper, settings: Settings, progress: Progress | None = None) -> tuple[Results, list[str]]:
    """Run everything, as many calls at a time as there are cores: reading a trace takes one of them.

    Returns:
        The results, and what ended those runs that failed; theirs are missing in the results.

    Raises:
        InputError: a trace or a setting is unusable.
    """
    with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
        needed = [
            name for name in paper.workloads if any(name in batch.workloads for batch in _batches(paper, settings))
        ]
        prepared = paper.prepare(needed, settings.traces, Path(folder))
        return _run(paper, jobs(paper, settings, prepared), progress)


def _batches(paper: Paper, settings: Settings) -> list[Batch]:
    return [batch for batch in paper.batches if batch.quick or not settings.quick]


def _run(paper: Paper, todo: list[Job], progress: Progress | None) -> tuple[Results, list[str]]:
    board = Board(len(todo), progress)

    def work(number: int) -> list[dict[str, Any]] | str:
        job = todo[number]
        try:
            return _outcomes(job, board.part(number, job.label))
        except FloatgateError as error:
            if error.status == STATUS_UNUSABLE_INPUT:
                raise
            return f"{job.label}: {one_line(error)}"

    results: Results = {batch.name: {workload: {} for workload in batch.workloads} for batch in paper.batches}
    failures: list[str] = []
    for job, outcomes in zip(todo, at_once(work, len(todo), board.stop), strict=True):
        if isinstance(outcomes, str):
            failures.append(outcomes)
            continue
        for (batch, workload, variant), outcome in zip(job.places, outcomes, strict=True):
            results[batch][workload][variant] = outcome
    return results, failures


def _outcomes(job: Job, progress: Progress) -> list[dict[str, Any]]:
    if job.command == "lifetime":
        return forecast(job.base, job.variants, details_s=job.details_s, progress=progress)
    shares = Board(len(job.variants), progress)
    return at_once(
        lambda number: execute(
            job.base.with_overrides(job.variants[number]), progress=shares.part(number, "")
        ).result.to_dict(),
        len(job.variants),
        shares.stop,
    )


class Board:
    """Progress of several things at once, as one."""

    def __init__(self, parts: int, progress: Progress | None) -> None:
        """For so many parts; ``progress`` may be None."""
        self.stop = threading.Event()
        self._shares = [0.0] * parts
        self._progress = progress
        self._lock = threading.Lock()

    def part(self, number: int, label: str) -> Progress:
        """The progress of one part; it raises KeyboardInterrupt where the others have been stopped."""

        def report(done: int, total: int | None, phase: str) -> None:
            if self.stop.is_set():
                raise KeyboardInterrupt
            if self._progress is None:
                return
            with self._lock:
                self._shares[number] = min(1.0, done / total) if total else self._shares[number]
                text = ": ".join(part for part in (label, phase) if part)
                self._progress(int(1000 * sum(self._shares)), 1000 * len(self._shares), text)

        return report
