"""``floatgate trace patterns``: addresses that are written together, as a screen of text, as JSON, and in pictures."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import Drawings
from floatgate.trace import patterns_report
from floatgate.trace.patterns import Settings, of_trace
from floatgate.trace.patterns_summary import screen

_DEFAULT = Settings()

Window = Annotated[int, typer.Option("--window", metavar="N", help="Requests of a window, reads and TRIMs included.")]
Mined = Annotated[
    int, typer.Option("--mined", metavar="N", help="Requests at its beginning whose writes are mined, at most 16384.")
]
Support = Annotated[
    int, typer.Option("--support", metavar="N", help="Transactions of a window that a pattern must be part of.")
]
ItemsMin = Annotated[int, typer.Option("--items-min", metavar="N", help="Addresses that a pattern must have.")]
Transaction = Annotated[
    int,
    typer.Option("--transaction", metavar="N", help="Write requests of a transaction; the last may have fewer."),
]
Closed = Annotated[bool, typer.Option("--closed", help="Count closed sets, not maximal ones.")]


@g.grouped
def patterns(
    path: o.TraceFile,
    window: Window = _DEFAULT.window,
    mined: Mined = _DEFAULT.mined,
    support: Support = _DEFAULT.support,
    items_min: ItemsMin = _DEFAULT.items_min,
    transaction: Transaction = _DEFAULT.transaction,
    closed: Closed = False,
    *,
    drawings: Drawings,
    reading: g.Reading,
    part: g.Slice,
    shuffle: g.Shuffle,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Find addresses of a trace that are written together again and again, window by window.

    Patterns are maximal sets, with --closed closed ones, of start addresses of write requests. See docs/patterns.md.
    """
    output = Output(json, quiet=quiet, force=drawings.force)
    settings = Settings(window, mined, transaction, support, items_min, closed)
    options = reading.as_settings() | part.as_settings() | shuffle.as_settings()
    with drawings.claimed(json) as folder:
        with bar(Path(path).name, quiet=quiet) as progress:
            facts = of_trace(path, options, settings, progress)
        page = functools.partial(patterns_report.page, path, facts, o.command_line())
        drawings.write(folder, page)
    output.give(facts)
    output.say(screen(path, facts))
    drawings.say(output)
