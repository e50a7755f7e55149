"""Long runs as a loop over their progress."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from floatgate.base.arguments import checked
from floatgate.base.errors import RunError
from floatgate.run import run as one
from floatgate.run.experiment import ExperimentLike, Settings, resolve
from floatgate.run.run import Run

if TYPE_CHECKING:
    from floatgate._core import Progress


class Step(NamedTuple):
    """How far a run is.

    Attributes:
        done: requests, or pages in phases that write pages, done in this phase.
        total: how many the phase has; None where that is not known.
        phase: its name, ``precondition`` or ``run`` for instance.
    """

    done: int
    total: int | None
    phase: str


class _StoppedError(Exception):
    """The loop was left."""


class RunStream:
    """A run that goes on while a loop goes over its progress; :attr:`run` is its result."""

    def __init__(self, begin: Callable[[Progress], Run]) -> None:
        """Use :func:`stream`.

        Args:
            begin: does the run; an exception from the progress stops it.
        """
        self._begin = begin
        self._run: Run | None = None

    def __iter__(self) -> Iterator[Step]:
        """Do the run in a thread and yield its steps, some per second; a loop that is left early stops it.

        Another loop after that starts over. After the end of the run there are no more steps.

        Raises:
            RunError: the run failed.
        """
        if self._run is not None:
            return
        steps: SimpleQueue[Step | None] = SimpleQueue()
        left = threading.Event()
        errors: list[BaseException] = []

        def progress(done: int, total: int | None, phase: str) -> None:
            # A program that ends does not wait for its runs.
            if left.is_set() or not threading.main_thread().is_alive():
                raise _StoppedError
            steps.put(Step(done, total, phase))

        def work() -> None:
            try:
                self._run = self._begin(progress)
            except _StoppedError:
                pass
            except BaseException as error:  # noqa: BLE001 - raised again by the loop
                errors.append(error)
            finally:
                steps.put(None)

        thread = threading.Thread(target=work, name="floatgate.stream")
        thread.start()
        try:
            while (step := steps.get()) is not None:
                yield step
        finally:
            left.set()
            if thread is not threading.current_thread():
                thread.join()
        if errors:
            raise errors[0]

    @property
    def run(self) -> Run:
        """Return the finished run.

        Raises:
            RunError: it has not ended.
        """
        if self._run is None:
            raise RunError("the run has not ended; expected a loop over all steps of the stream before .run")
        return self._run


@checked
def stream(
    experiment: ExperimentLike = None,
    *,
    trace: str | os.PathLike[str] | None = None,
    format: str | None = None,
    drive: str | None = None,
    set: Settings | None = None,
    shadow: bool = False,
    snapshot: str | os.PathLike[str] | None = None,
    snapshot_every: float | None = None,
) -> RunStream:
    """Run an experiment as a loop over its progress.

    Ctrl-C, an exception in the loop or ``break`` ends the run. With ``snapshot``, :func:`floatgate.resume` goes on.

    Args:
        experiment: as :func:`floatgate.run` takes it.
        trace: a trace file to take as the workload.
        format: its format; detected automatically where None.
        drive: the name of a drive of the catalogue.
        set: settings over everything else, with dotted keys.
        shadow: check against a shadow model; slow.
        snapshot: a file to leave the run in when it is stopped, as for :func:`floatgate.run`.
        snapshot_every: seconds after which that file is rewritten during the run.

    Returns:
        The steps, ``(done, total or None, phase)``, and after them the finished run.

    Raises:
        InputError: unusable input; nothing has run then.
        RunError: the run failed; from the loop.

    Examples:
        >>> import floatgate
        >>> steps = floatgate.stream({"drive.capacity": "64 MiB", "workload.requests": 40_000})
        >>> for step in steps:
        ...     last = step.phase
        >>> round(steps.run.waf, 2)
        1.97
    """
    one.check(resolve(experiment, trace=trace, format=format, drive=drive, set=set))

    def begin(progress: Progress) -> Run:
        return one.run(
            experiment,
            trace=trace,
            format=format,
            drive=drive,
            set=set,
            shadow=shadow,
            snapshot=snapshot,
            snapshot_every=snapshot_every,
            progress=progress,
        )

    return RunStream(begin)
