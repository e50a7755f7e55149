"""The calls that a reproduction makes: which runs go to the core together, with which settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from floatgate.papers.captures import Capture
from floatgate.papers.paper import Batch, Paper
from floatgate.papers.searches import SearchSpec
from floatgate.run.experiment import Experiment, Overrides, trace_overrides

Place = tuple[str, str, str]
"""Batch, workload and variant."""


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
    places: list[Place] = field(default_factory=list)
    starts: list[Place | None] = field(default_factory=list)
    """By run, the one from whose drive it starts."""
    responses: list[bool] = field(default_factory=list)
    captures: list[Capture | None] = field(default_factory=list)
    searches: list[SearchSpec | None] = field(default_factory=list)
    series: list[tuple[str, ...]] = field(default_factory=list)
    """By run, the columns of its series that are kept."""
    stage: int = 0
    """Jobs of a stage come after all of the one before."""


def jobs(paper: Paper, settings: Settings, prepared: Mapping[str, Overrides] | None = None) -> list[Job]:
    """List the runs of a reproduction; ``prepared`` are settings of workloads that were worked out before."""
    made: dict[tuple[str, str, int], Job] = {}
    for batch in _batches(paper, settings):
        stage = _stage(paper, batch)
        for workload in _kept(paper, batch, settings):
            settings_of_run = [*batch.overrides, *batch.by_workload.get(workload, [])]
            if _sets_requests(settings_of_run) and workload in settings.traces:
                continue
            new = Job(workload, batch.command, _base(paper, workload, settings, prepared), stage=stage)
            job = made.setdefault((workload, batch.command, stage), new)
            for variant in batch.variants:
                names = (f"{batch.name}.{workload}", f"{batch.name}.{workload}.{variant}")
                own = [one for name in names for one in (prepared or {}).get(name, [])]
                job.variants.append([*_overrides(paper, batch, workload, variant, settings), *own])
                job.details_s.append(batch.details_s.get(workload))
                job.places.append((batch.name, workload, variant))
                job.starts.append(batch.start_of(workload, variant))
                job.responses.append(batch.responses)
                job.captures.append(batch.capture)
                job.searches.append(batch.search)
                job.series.append(batch.series)
    return sorted(made.values(), key=lambda job: job.stage)


def _sets_requests(overrides: Overrides) -> bool:
    """Return whether the settings fix a number of requests, which a trace of the user's may not have."""
    return any(key == "workload.requests" for key, _ in overrides)


def _stage(paper: Paper, batch: Batch) -> int:
    """Count the batches before this one, each starting from the drives of the one before."""
    by_name = {one.name: one for one in paper.batches}
    return 0 if batch.start is None else 1 + _stage(paper, by_name[batch.start])


def _base(paper: Paper, workload: str, settings: Settings, prepared: Mapping[str, Overrides] | None) -> Experiment:
    """Return the paper's experiment with the settings that all runs of a workload share."""
    overrides = paper.workloads[workload].overrides
    if workload in settings.traces and workload not in (prepared or {}):
        overrides = [setting for setting in overrides if not setting[0].startswith("workload.")]
        overrides = [*overrides, *trace_overrides(settings.traces[workload]), *paper.originals.overrides]
    return paper.experiment.with_overrides([*overrides, *(prepared or {}).get(workload, [])])


def _overrides(paper: Paper, batch: Batch, workload: str, variant: str, settings: Settings) -> Overrides:
    by_name = paper.quick_by_name
    of_workload = by_name.get(workload, [])
    if workload in settings.traces:
        of_workload = [setting for setting in of_workload if not _sets_requests([setting])]
    quick = [*paper.quick.overrides, *of_workload, *by_name.get(variant, [])] if settings.quick else []
    made = [*paper.variants[variant].overrides, *batch.overrides, *batch.by_workload.get(workload, []), *quick]
    return [*made, *_part(batch, [*paper.workloads[workload].overrides, *made])]


def _part(batch: Batch, overrides: Overrides) -> Overrides:
    """Return where a subtest resumes its workload, behind what those before have written."""
    size = re.fullmatch(r'"([0-9.]+)(.*)"', dict(overrides).get("workload.stop_after", ""))
    if not batch.part or size is None:
        return []
    return [("workload.start_after", f'"{batch.part * float(size[1]):.15g}{size[2]}"')]


def workloads(paper: Paper, settings: Settings) -> list[str]:
    """Return the workloads of a reproduction."""
    batches = _batches(paper, settings)
    return [name for name in paper.workloads if any(name in _kept(paper, batch, settings) for batch in batches)]


def _batches(paper: Paper, settings: Settings) -> list[Batch]:
    return [batch for batch in paper.batches if batch.quick or not settings.quick]


def _kept(paper: Paper, batch: Batch, settings: Settings) -> list[str]:
    """List the workloads of a batch; for a quick reproduction some, and those that the user has traces of."""
    kept = {*paper.quick_workloads, *settings.traces} if settings.quick else batch.workloads
    return [name for name in batch.workloads if name in kept]
