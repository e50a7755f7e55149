"""Runs the experiments of a paper.

Variants of one workload go to the core in one call, whatever their batch: it reads the trace once, measures once what
they share, and uses all cores. Batches that start from drives of others come after those, in calls of their own.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from floatgate import _core
from floatgate.base.errors import STATUS_UNUSABLE_INPUT, FloatgateError, input_error, meant, one_line, quote
from floatgate.base.parallel import at_once
from floatgate.papers.captures import captured
from floatgate.papers.jobs import Job, Settings, jobs, workloads
from floatgate.papers.outcomes import Keep, Outcomes, Result, plan_of
from floatgate.papers.paper import Paper
from floatgate.papers.searches import searched
from floatgate.run.lifetime import forecast
from floatgate.run.run import Run, execute

T = TypeVar("T")
Progress = Callable[[int, "int | None", str], None]
Results = dict[str, dict[str, dict[str, Any]]]
"""Result by batch, workload and variant."""
LOOKS = {"dispatch": _core.workload_dispatch, "patterns": _core.workload_patterns}
"""Commands that analyse the requests of a workload without a drive."""
POINTS = 1500
"""Most points of the response times of a run."""


def run(
    paper: Paper, settings: Settings, progress: Progress | None = None, keep: Keep | None = None
) -> tuple[Results, list[str]]:
    """Run everything, as many calls at a time as there are cores: reading a trace takes one of them.

    Args:
        paper: the paper.
        settings: quick or full, and the user's traces.
        progress: called with (done, total, phase).
        keep: where outcomes are kept until all are there; kept ones are not done again.

    Returns:
        The results, and what ended those runs that failed; theirs are missing in the results.

    Raises:
        InputError: a trace or a setting is unusable, or the kept outcomes are damaged or of other settings.
    """
    with tempfile.TemporaryDirectory(prefix="floatgate-") as made:
        folder = Path(made)
        prepared = paper.prepare(workloads(paper, settings), settings.traces, folder)
        todo = jobs(paper, settings, prepared)
        results: Results = {batch.name: {workload: {} for workload in batch.workloads} for batch in paper.batches}
        with contextlib.nullcontext() if keep is None else keep(plan_of(paper, todo, folder)) as part:
            return results, _run(todo, Outcomes(todo, folder, part), results, progress)


def _run(todo: list[Job], done: Outcomes, results: Results, progress: Progress | None) -> list[str]:
    """Run stage by stage, fill the results and say what failed."""
    board = Board(len(todo), progress)
    failures: list[str] = []

    def work(number: int) -> list[Result] | str:
        job = todo[number]
        try:
            return _without_drive(job, results) or _results(job, done, board.part(number, job.label))
        except FloatgateError as error:
            if error.status == STATUS_UNUSABLE_INPUT:
                raise
            return f"{job.label}: {one_line(error)}"

    for stage in sorted({job.stage for job in todo}):
        numbers = [number for number, job in enumerate(todo) if job.stage == stage]
        # The stop event of a stage is set when it has ended.
        board.stop = threading.Event()
        outcomes_of = at_once(partial(_nth, work, numbers), len(numbers), board.stop)
        for number, outcomes in zip(numbers, outcomes_of, strict=True):
            if isinstance(outcomes, str):
                failures.append(outcomes)
                continue
            for (batch, workload, variant), outcome in zip(todo[number].places, outcomes, strict=True):
                results[batch][workload][variant] = outcome
    return failures


def _nth(work: Callable[[int], T], numbers: list[int], i: int) -> T:
    return work(numbers[i])


def _without_drive(job: Job, results: Results) -> str | None:
    """Return why a job cannot start; None if all its drives exist."""
    for (batch, _, variant), start in zip(job.places, job.starts, strict=True):
        if start is not None and variant not in results[start[0]][start[1]]:
            what = f"batch {quote(batch)} starts from the drives of batch {quote(start[0])}, which are missing"
            return f"{job.label}: {what}"
    return None


def _results(job: Job, done: Outcomes, progress: Progress) -> list[Result]:
    """Return the results of a job; finished runs are not repeated."""
    if job.command == "lifetime":
        kept = [result for place in job.places if (result := done.result(place)) is not None]
        if len(kept) == len(job.places):
            return kept
        lives = forecast(
            job.base, job.variants, details_s=job.details_s, intervals=False, latencies=False, progress=progress
        )
        return [done.add(place, life) for place, life in zip(job.places, lives, strict=True)]
    shares = Board(len(job.variants), progress)

    def work(number: int) -> Result:
        share, place = shares.part(number, ""), job.places[number]
        result = done.result(place)
        if result is None:
            result = done.add(place, _result(job, number, done, share))
        # Short runs report no progress of their own.
        share(1, 1, "")
        return result

    return at_once(work, len(job.variants), shares.stop)


def _result(job: Job, number: int, done: Outcomes, progress: Progress) -> Result:
    """Return the result of one run."""
    place, start = job.places[number], job.starts[number]
    overrides = list(job.variants[number])
    if job.command in LOOKS:
        experiment = job.base.with_overrides(overrides)
        figures: Result = json.loads(
            LOOKS[job.command](experiment.toml, experiment.path, experiment.overrides, progress)
        )
        return figures
    search = job.searches[number]
    if search is not None:
        return searched(search, job.base.with_overrides(overrides), progress)
    if start is not None:
        overrides += done.start(start)
    run = partial(execute, job.base.with_overrides(overrides), save_drive=done.to_save(place), progress=progress)
    capture, columns = job.captures[number], job.series[number]
    if capture is not None:
        return captured(capture, place[2], lambda pins: _with_series(run(waveform=pins), columns))
    if not job.responses[number]:
        return _with_series(run(), columns)
    with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
        log = Path(folder) / "requests.parquet"
        return {**run(log_requests=log).result.to_dict(), "responses": responses(log)}


def _with_series(one: Run, columns: tuple[str, ...]) -> Result:
    """Return the result of a run, and under ``series`` these columns of its series.

    Raises:
        InputError: the series has no such column.
    """
    result = one.result.to_dict()
    if not columns:
        return result
    known = one.series.column_names
    for name in columns:
        if name not in known:
            raise input_error(f"series: no column {quote(name)}; {meant(name, known)}")
    return {**result, "series": {name: one.series[name].to_pylist() for name in columns}}


def responses(log: Path) -> dict[str, Any]:
    """Measure how long reads took, from a log of requests: longest and median of consecutive groups, in their order.

    Returns:
        ``reads``, ``every`` (the number of reads per point), ``longest_ms`` and ``p50_ms``.
    """
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    rows = pq.read_table(log, columns=["request", "op", "latency_ns"])
    rows = rows.filter(pc.equal(rows["op"].cast("string"), "read")).sort_by("request")
    took_ms = rows["latency_ns"].to_numpy() / 1e6
    every = max(1, -(-len(took_ms) // POINTS))
    parts = [took_ms[first : first + every] for first in range(0, len(took_ms), every)]
    return {
        "reads": len(took_ms),
        "every": every,
        "longest_ms": [float(part.max()) for part in parts],
        "p50_ms": [float(sorted(part)[(len(part) - 1) // 2]) for part in parts],
    }


class Board:
    """The progress of several jobs, as one."""

    def __init__(self, parts: int, progress: Progress | None) -> None:
        """Start with no part done; ``progress`` may be None."""
        self.stop = threading.Event()
        self._shares = [0.0] * parts
        self._progress = progress
        self._lock = threading.Lock()

    def part(self, number: int, label: str) -> Progress:
        """Return the progress of one part; it raises KeyboardInterrupt where the others have been stopped."""

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
