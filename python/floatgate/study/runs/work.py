"""One run of many: a job, and the answer to it. A worker on another machine does the same as a thread here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from floatgate.base.errors import STATUS_UNUSABLE_INPUT, FloatgateError, InputError, RunError, one_line
from floatgate.results.flat import flat
from floatgate.run.experiment import Experiment
from floatgate.run.run import execute

DONE, FAILED, UNUSABLE = "done", "failed", "unusable"
"""Outcomes of a run: it has a result, it failed (exit status 1), or its settings are unusable (2)."""


@dataclass(frozen=True)
class Job:
    """One run to do.

    Attributes:
        number: of the run, from 0.
        experiment: to run.
        shadow: whether to check against a shadow model.
        whole: whether the answer holds the whole run, or its figures alone.
        memory_bytes: limit of its memory beyond the program itself; None for no limit.
    """

    number: int
    experiment: Experiment
    shadow: bool = False
    whole: bool = False
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Answer:
    """The outcome of a job.

    Attributes:
        number: of the run.
        status: :data:`DONE`, :data:`FAILED` or :data:`UNUSABLE`.
        error: the message where there is no result.
        figures: the flat row of the result; empty without one.
        run: the whole run where that was required; a forecast is the dict of its JSON.
        spent: what differs each time: ``wall_s``, ``cpu_s``, ``peak_rss_bytes``, and who did it.
    """

    number: int
    status: str
    error: str | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    run: Any = None
    spent: dict[str, Any] = field(default_factory=dict)

    def failure(self) -> FloatgateError | None:
        """Return the error as it was raised."""
        if self.error is None:
            return None
        return (InputError if self.status == UNUSABLE else RunError)(self.error)


Progress = Callable[[int, "int | None", str], None]


def do(job: Job, progress: Progress | None = None) -> Answer:
    """Run a job; an error of the run is an answer too."""
    start = time.monotonic()
    try:
        run = execute(job.experiment, shadow=job.shadow, progress=progress)
    except FloatgateError as error:
        status = UNUSABLE if error.status == STATUS_UNUSABLE_INPUT else FAILED
        return Answer(job.number, status, one_line(error.message), spent={"wall_s": _since(start)})
    result = run.result.to_dict()
    meter = result.get("run") or {}
    spent = {key: meter[key] for key in ("cpu_s", "peak_rss_bytes") if meter.get(key) is not None}
    spent = {"wall_s": _since(start), **spent}
    return Answer(job.number, DONE, None, flat(result), run if job.whole else None, spent)


def _since(start: float) -> float:
    return round(time.monotonic() - start, 6)
