"""``floatgate trace info``: what is in a trace, as a screen of text, as JSON, and in pictures."""

from __future__ import annotations

import json as json_module
import math
from pathlib import Path
from typing import Annotated

import typer

from floatgate import _core
from floatgate.base.errors import input_error
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import Drawings
from floatgate.trace import page
from floatgate.trace.summary import screen

CountsOnly = Annotated[bool, typer.Option("--counts-only", help="Only count, without distributions; faster.")]
DEFAULT_WINDOW_S = 600.0
Window = Annotated[
    float | None, typer.Option("--window", metavar="SECONDS", help="Window for demand over time. Default: 600.")
]


@g.grouped
def info(
    path: o.TraceFile,
    window: Window = None,
    counts_only: CountsOnly = False,
    *,
    drawings: Drawings,
    reading: g.Reading,
    part: g.Slice,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Describe a trace, or a slice of it: sizes, updates, reuse, skew, demand, content, contexts."""
    output = Output(json, quiet=quiet, force=drawings.force)
    if counts_only and window is not None:
        raise input_error("--window: --counts-only counts no windows; expected one of the two")
    window = DEFAULT_WINDOW_S if window is None else window
    if not (math.isfinite(window) and window >= 1e-6):
        raise input_error(f"--window: {window:g} is out of range; expected seconds, at least 0.000001")
    if counts_only and not (drawings.report is None and drawings.pictures is None):
        raise input_error("--counts-only leaves nothing to draw; expected it without --report and --pictures")
    options = reading.as_settings() | part.as_settings()
    with drawings.claimed(json) as folder:
        with bar(Path(path).name, quiet=quiet) as progress:
            text = _core.trace_info(path, options, progress, counts_only=counts_only, window_s=window)
        facts = json_module.loads(text)
        drawings.write(folder, lambda: page.page(path, facts, o.command_line()))
    output.give(text)
    if not output.prints_json:
        output.say(screen(path, facts))
        drawings.say(output)
