"""Engines that do the runs: the embedded one uses the cores of this machine, without any service.

An engine takes jobs in order and returns each answer as it comes, in any order. It holds few jobs at a time: a
million of them need not exist at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from floatgate.base.parallel import cores
from floatgate.study.runs.limited import perform
from floatgate.study.runs.work import Answer, Job

Progress = Callable[[int, int, "int | None", str], None]
"""Called with the number of the run, the amount done, the total or None, and the phase."""


class Engine(Protocol):
    """An engine that does jobs, on one machine or many.

    Attributes:
        dashboard: where to watch it, or None.
    """

    dashboard: str | None

    def run(self, jobs: Iterable[Job], done: Callable[[Answer], None], progress: Progress | None = None) -> None:
        """Do the jobs; ``done`` is called with each answer, by one thread at a time.

        Raises:
            Exception: what ``done`` or the making of a job has raised; KeyboardInterrupt after Ctrl-C.
        """
        ...

    def close(self) -> None:
        """Release the machines."""
        ...


class Local:
    """The embedded engine: threads, since the core releases the interpreter lock while it works."""

    dashboard: str | None = None

    def __init__(self, jobs: int | None = None) -> None:
        """Take ``jobs``, the number of runs at a time; None for one per core."""
        self.jobs = cores() if jobs is None else jobs
        if self.jobs < 1:
            raise ValueError("jobs: expected 1 or more")

    def run(self, jobs: Iterable[Job], done: Callable[[Answer], None], progress: Progress | None = None) -> None:
        """Do the jobs; see :class:`Engine`. Ctrl-C ends the runs that are under way, and then this call."""
        shift = _Shift(iter(jobs), done, progress)
        ends = [threading.Event() for _ in range(self.jobs)]
        threads = [threading.Thread(target=shift.work, args=(end,), daemon=True) for end in ends]
        try:
            for thread in threads:
                thread.start()
        except KeyboardInterrupt as error:
            ends = shift.stop_starting(error)
        for end in ends:
            # Not join: Python 3.11 takes a thread whose join is interrupted for ended, and the interpreter would
            # leave while the core still works for it.
            while not end.is_set():
                try:
                    end.wait()
                except KeyboardInterrupt as error:
                    shift.fail(error)
        for thread in threads:
            if thread.is_alive():
                thread.join()
        if shift.errors:
            raise min(shift.errors, key=lambda error: isinstance(error, KeyboardInterrupt))

    def close(self) -> None:
        """Do nothing: no resource is held."""


class _Shift:
    """The state that the threads of one call share."""

    def __init__(self, jobs: Iterator[Job], done: Callable[[Answer], None], progress: Progress | None) -> None:
        self.jobs, self.done, self.progress = jobs, done, progress
        self.stop = threading.Event()
        self.errors: list[BaseException] = []
        self._begun: list[threading.Event] = []
        self._beginning, self._taking, self._giving = threading.Lock(), threading.Lock(), threading.Lock()

    def work(self, end: threading.Event) -> None:
        """Take one job after the other, until none is left or the engine was stopped; then set ``end``."""
        with self._beginning:
            if self.stop.is_set():
                end.set()
                return
            self._begun.append(end)
        try:
            while not self.stop.is_set():
                with self._taking:
                    job = next(self.jobs, None)
                if job is None:
                    return
                answer = perform(job, self._reporting(job.number))
                with self._giving:
                    if not self.stop.is_set():
                        self.done(answer)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            self.fail(error)
        finally:
            end.set()

    def stop_starting(self, error: BaseException) -> list[threading.Event]:
        """Let no further thread begin, and return the ends of those that have."""
        self.fail(error)
        with self._beginning:
            return list(self._begun)

    def fail(self, error: BaseException) -> None:
        """Stop all threads; ``error`` is raised by the thread that waits for them."""
        self.errors.append(error)
        self.stop.set()

    def _reporting(self, number: int) -> Callable[[int, int | None, str], None]:
        def report(done: int, total: int | None, phase: str) -> None:
            if self.stop.is_set():
                raise KeyboardInterrupt
            if self.progress is not None:
                self.progress(number, done, total, phase)

        return report
