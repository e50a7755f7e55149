"""``floatgate trace info``: what is in a trace, as a screen of text, as JSON, and in pictures."""

from __future__ import annotations

import contextlib
import json as json_module
import math
from pathlib import Path
from typing import Annotated

import typer

from floatgate import _core
from floatgate.base.errors import input_error, one_line
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import EXPECTED_REPORT, must_write_something, report_places
from floatgate.results.folder import write_text
from floatgate.trace import page
from floatgate.trace.charts import pictures as pictures_of
from floatgate.trace.summary import screen

TraceFile = Annotated[
    str, typer.Argument(metavar="TRACE", help="The trace, plain or compressed (.gz, .xz, .zst, .bz2).")
]
CountsOnly = Annotated[bool, typer.Option("--counts-only", help="Only count, without distributions; faster.")]
Report = Annotated[str | None, typer.Option("--report", metavar="FILE", help="Write an HTML report with charts.")]
Pictures = Annotated[
    str | None, typer.Option("--pictures", metavar="DIR", help="Write the charts as SVG and PNG to a folder.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite FILE; allow a folder that is not empty.")]
DEFAULT_WINDOW_S = 600.0
Window = Annotated[
    float | None, typer.Option("--window", metavar="SECONDS", help="Window for demand over time. Default: 600.")
]


@g.grouped
def info(
    path: TraceFile,
    report: Report = None,
    pictures: Pictures = None,
    force: Force = False,
    window: Window = None,
    counts_only: CountsOnly = False,
    *,
    reading: g.Reading,
    part: g.Slice,
    json: o.BareJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Describe a trace, or a slice of it: sizes, updates, reuse, skew, demand, content, contexts."""
    output = Output(json, quiet=quiet)
    if counts_only and window is not None:
        raise input_error("--window: --counts-only counts no windows; expected one of the two")
    window = DEFAULT_WINDOW_S if window is None else window
    if not (math.isfinite(window) and window >= 1e-6):
        raise input_error(f"--window: {window:g} is no width of a window; expected seconds, at least 0.000001")
    must_write_something(report, pictures, force=force)
    if counts_only and not (report is None and pictures is None):
        raise input_error("--counts-only leaves nothing to draw; expected it without --report and --pictures")
    folder = report_places(report, pictures, force=force)
    options = reading.given() | part.given()
    with folder or contextlib.nullcontext():
        with bar(Path(path).name, quiet=quiet) as progress:
            text = _core.trace_info(path, options, progress, counts_only=counts_only, window_s=window)
        facts = json_module.loads(text)
        if report is not None:
            write_text(report, page.page(path, facts, o.command_line()), EXPECTED_REPORT)
        if folder is not None:
            folder.write(lambda staging, _: page.write_pictures(pictures_of(facts), staging))
    output.give(text)
    if not output.wants_json:
        output.say(screen(path, facts))
        for name, place in (("report", report), ("pictures", pictures)):
            if place is not None:
                output.say(f"{name:<10} {one_line(place)}")
