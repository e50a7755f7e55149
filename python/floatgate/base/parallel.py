"""Parallel work in threads: the core releases the interpreter lock while it works."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from floatgate.base.errors import input_error

T = TypeVar("T")

RUNS_MAX = 1_000_000
"""Limit of the runs of one command: the figures kept of each have to fit in memory."""


def must_be_few(count: int, what: str) -> None:
    """Refuse more runs than :data:`RUNS_MAX`, before anything is made for each.

    Raises:
        InputError: ``what`` says what makes them.
    """
    if count > RUNS_MAX:
        raise input_error(f"{what}: {count} runs; expected at most {RUNS_MAX}")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def at_once(work: Callable[[int], T], count: int, stop: threading.Event, jobs: int | None = None) -> list[T]:
    """Do ``work`` for 0, 1, ... ``count`` - 1 and return its results in this order.

    Args:
        work: called with a number, in a thread of its own; should raise KeyboardInterrupt soon after ``stop`` is set.
        count: how often.
        stop: set when one has raised, or Ctrl-C came; the first error that is no consequence of that is raised.
        jobs: how many at a time; None for one per core.
    """
    # Takes as long to import as a short command takes for its work.
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

    with ThreadPoolExecutor(max(1, min(jobs or cores(), count))) as pool:
        futures = [pool.submit(work, number) for number in range(count)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()  # harmless when all are done
    errors = [error for future in futures if (error := future.exception()) is not None]
    errors.sort(key=lambda error: isinstance(error, KeyboardInterrupt))
    if errors:
        raise errors[0]
    return [future.result() for future in futures]


def merged(work: Callable[[str], Mapping[str, T]], names: Sequence[str]) -> dict[str, T]:
    """Do ``work`` for each name, side by side, and return all that it returns in the order of the names."""
    parts = at_once(lambda number: work(names[number]), len(names), threading.Event())
    return {key: value for part in parts for key, value in part.items()}
