"""Progress on standard error: a bar on a terminal, a line every ten seconds elsewhere; none of quiet commands."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from floatgate.base.errors import one_line, printable

Bars = Callable[[int, int, "int | None", str], None]
"""Called with the number of the bar, the amount done, the total or None, and the phase."""
EVERY_S = 10.0
"""Time between two lines where standard error is no terminal: short commands print none."""
TICK_S = 1.0
"""Time between two looks at work that does not tell how far it is."""
_NAMED_MAX = 4
_NARROW = 16
"""Columns of a bar beside a long description."""
_PHASES = {"run": "running"}
"""Phases in words that cannot be mistaken for what has happened."""


def tell(text: str) -> None:
    """Say on standard error what a run is about to do; a bar that is shown there moves down."""
    print(printable(one_line(text)), file=sys.stderr)


@contextlib.contextmanager
def bars(labels: list[str], *, quiet: bool, estimates: bool = True) -> Iterator[Bars | None]:
    """Show one bar for each label; yields None, and shows nothing, where ``quiet``.

    Bars appear when they are first reported on and vanish at the end. Where standard error is no terminal, a line every
    :data:`EVERY_S` seconds says how far each label is.

    Args:
        labels: the names of the bars.
        quiet: whether nothing is shown.
        estimates: whether bars say how long they still take; not for work that reports a better estimate.
    """
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield Lines(labels, time.monotonic)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.table import Column

    columns: list[ProgressColumn] = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()]
    if estimates:
        columns.append(TimeRemainingColumn())
    else:
        # A long description is cut, and leaves bar and per cent their room.
        columns[:2] = [TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1)), BarColumn(_NARROW)]
    with Progress(*columns, console=Console(stderr=True), transient=True, expand=not estimates) as shown:
        tasks: dict[int, int] = {}

        def report(number: int, done: int, total: int | None, phase: str) -> None:
            if number not in tasks:
                tasks[number] = int(shown.add_task(escape(one_line(labels[number])), total=None))
            text = f"{escape(one_line(labels[number]))} {phase}".strip()
            shown.update(tasks[number], completed=done, total=total, description=text)  # type: ignore[arg-type]

        yield report


class Lines:
    """Progress lines on standard error for several labels, from any thread."""

    def __init__(self, labels: Sequence[str], clock: Callable[[], float]) -> None:
        """Begin now, by a clock in seconds."""
        self._labels, self._clock = labels, clock
        self._begun = self._said = clock()
        self._shares: dict[int, tuple[float | None, str]] = {}
        self._lock = threading.Lock()

    def __call__(self, number: int, done: int, total: int | None, phase: str) -> None:
        """Note how far a label is, and print a line where it is time for one."""
        with self._lock:
            self._shares[number] = (min(1.0, done / total) if total else None, phase)
            now = self._clock()
            if now - self._said < EVERY_S:
                return
            self._said = now
            tell(f"{self._text()} ({now - self._begun:.0f} s)")

    def _text(self) -> str:
        """Format as ``small wear-in 45 %``; of many labels as ``2 of 9 ended; now: a, running 45 %; b, wear-in``."""
        going = [(number, *state) for number, state in self._shares.items() if state[0] is None or state[0] < 1.0]
        if len(self._labels) == 1:
            # Work may follow a phase that is done.
            share, phase = self._shares.get(0, (None, ""))
            return " ".join(filter(None, (self._labels[0], phase, _percent(share))))
        ended = f"{len(self._shares) - len(going)} of {len(self._labels)} ended"
        # Labels may be settings with commas: semicolons separate them.
        parts = [
            f"{self._labels[number]}, {' '.join(filter(None, (_PHASES.get(phase, phase), _percent(share)))) or 'begun'}"
            for number, share, phase in going[-1 : -_NAMED_MAX - 1 : -1]
        ]
        rest = len(going) - len(parts)
        now = "; ".join([*parts, *([f"{rest} more"] if rest else [])])
        return f"{ended}; now: {now}" if now else ended


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


@contextlib.contextmanager
def bar(label: str, *, quiet: bool, estimates: bool = True) -> Iterator[Callable[[int, int | None, str], None] | None]:
    """Show one bar as :func:`bars` does; yields a callback for the core, or None."""
    with bars([label], quiet=quiet, estimates=estimates) as report:
        yield None if report is None else lambda done, total, phase: report(0, done, total, phase)


@contextlib.contextmanager
def busy(label: str, *, quiet: bool) -> Iterator[None]:
    """Show that work goes on which does not tell how far it is. The work must not print meanwhile."""
    with bar(label, quiet=quiet) as report:
        if report is None:
            yield
            return
        ended = threading.Event()

        def tick() -> None:
            while not ended.wait(TICK_S):
                report(0, None, "")

        clock = threading.Thread(target=tick, daemon=True)
        clock.start()
        try:
            yield
        finally:
            ended.set()
            clock.join()
