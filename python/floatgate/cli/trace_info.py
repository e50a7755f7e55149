"""``floatgate trace info``: what is in a trace, as a screen of text, as JSON, and in pictures."""

from __future__ import annotations

import json as json_module
import math
from pathlib import Path
from typing import Annotated

import typer

from floatgate import _core
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.errors import input_error
from floatgate.progress import bar
from floatgate.trace_summary import screen

TraceFile = Annotated[str, typer.Argument(metavar="TRACE", help="The trace; .gz, .xz and .zst are unpacked.")]
CountsOnly = Annotated[bool, typer.Option("--counts-only", help="Count and stop there: no distributions, quicker.")]
Window = Annotated[float, typer.Option("--window", metavar="SECONDS", help="Width of the windows of demand.")]


def info(
    path: TraceFile,
    window: Window = 600.0,
    counts_only: CountsOnly = False,
    format: o.Format = None,
    time_unit: o.TimeUnit = None,
    lba_unit: o.LbaUnit = None,
    action: o.Action = None,
    on_bad_line: o.OnBadLine = None,
    from_: o.From = None,
    until: o.Until = None,
    device: o.Device = None,
    op: o.Op = None,
    requests: o.Requests = None,
    fold: o.Fold = None,
    time_scale: o.TimeScale = None,
    json: o.BareJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Say what is in a trace, or in a slice of it: sizes, updates, reuse, skew, demand, content, contexts."""
    output = Output(json, quiet=quiet)
    if not (math.isfinite(window) and window >= 1e-6):
        raise input_error(f"--window: {window:g} is no width of a window; expected seconds, at least 0.000001")
    options = o.given(format=format, time_unit=time_unit, lba_unit=lba_unit, action=action, on_bad_line=on_bad_line)
    options |= o.sliced(device, from_=from_, until=until, op=op, requests=requests, fold=fold, time_scale=time_scale)
    with bar(Path(path).name, quiet=quiet) as progress:
        text = _core.trace_info(path, options, progress, counts_only=counts_only, window_s=window)
    output.give(text)
    if not output.wants_json:
        output.say(screen(path, json_module.loads(text)))
