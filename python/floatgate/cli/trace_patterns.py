"""``floatgate trace patterns``: addresses that are written together, as a screen of text, as JSON, and in pictures."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.errors import one_line
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import EXPECTED_REPORT, must_write_something, report_places
from floatgate.results.folder import write_text
from floatgate.trace import patterns_report
from floatgate.trace.page import write_pictures
from floatgate.trace.patterns import Settings, of_trace
from floatgate.trace.patterns_summary import screen

_DEFAULT = Settings()

TraceFile = Annotated[
    str, typer.Argument(metavar="TRACE", help="The trace, plain or compressed (.gz, .xz, .zst, .bz2).")
]
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
Report = Annotated[str | None, typer.Option("--report", metavar="FILE", help="Write an HTML report with charts.")]
Pictures = Annotated[
    str | None, typer.Option("--pictures", metavar="DIR", help="Write the charts as SVG and PNG to a folder.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files; allow a folder that is not empty.")]


@g.grouped
def patterns(
    path: TraceFile,
    window: Window = _DEFAULT.window,
    mined: Mined = _DEFAULT.mined,
    support: Support = _DEFAULT.support,
    items_min: ItemsMin = _DEFAULT.items_min,
    transaction: Transaction = _DEFAULT.transaction,
    closed: Closed = False,
    report: Report = None,
    pictures: Pictures = None,
    force: Force = False,
    *,
    reading: g.Reading,
    part: g.Slice,
    shuffle: g.Shuffle,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Find addresses of a trace that are written together again and again, window by window.

    Patterns are maximal sets, with --closed closed ones, of start addresses of write requests. See docs/patterns.md.
    """
    output = Output(json, quiet=quiet, force=force)
    must_write_something(report, pictures, None if json == "-" else json, force=force)
    settings = Settings(window, mined, transaction, support, items_min, closed)
    folder = report_places(report, pictures, force=force)
    if folder is not None:
        folder.expect(json)
    options = reading.given() | part.given() | shuffle.given()
    with folder or contextlib.nullcontext():
        with bar(Path(path).name, quiet=quiet) as progress:
            facts = of_trace(path, options, settings, progress)
        if report is not None:
            write_text(report, patterns_report.page(path, facts, o.command_line()), EXPECTED_REPORT)
        if folder is not None:
            drawn = patterns_report.pictures(facts)
            folder.write(lambda staging, _: write_pictures(drawn, staging))
    output.give(facts)
    output.say(screen(path, facts))
    for name, place in (("report", report), ("pictures", pictures)):
        if place is not None:
            output.say(f"{name:<10} {one_line(place)}")
