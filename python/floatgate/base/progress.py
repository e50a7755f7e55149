"""Progress on a terminal: a bar on standard error, nothing in a pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from floatgate.base.errors import one_line, printable

Bars = Callable[[int, int, "int | None", str], None]
"""Called with the number of the bar, what is done, the total or None, and the phase."""


def tell(text: str) -> None:
    """Say on standard error what a run is about to do; a bar that is shown there moves down."""
    print(printable(one_line(text)), file=sys.stderr)


@contextlib.contextmanager
def bars(labels: list[str], *, quiet: bool) -> Iterator[Bars | None]:
    """Show one bar for each label; yields None, and shows nothing, where standard error is no terminal.

    Bars appear when they are first reported on and vanish at the end.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        tasks: dict[int, int] = {}

        def report(number: int, done: int, total: int | None, phase: str) -> None:
            if number not in tasks:
                tasks[number] = int(shown.add_task(escape(one_line(labels[number])), total=None))
            text = f"{escape(one_line(labels[number]))} {phase}".strip()
            shown.update(tasks[number], completed=done, total=total, description=text)  # type: ignore[arg-type]

        yield report


@contextlib.contextmanager
def bar(label: str, *, quiet: bool) -> Iterator[Callable[[int, int | None, str], None] | None]:
    """Show one bar; yields a callback for the core, or None."""
    with bars([label], quiet=quiet) as report:
        yield None if report is None else lambda done, total, phase: report(0, done, total, phase)
