"""``floatgate content``."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from floatgate.base.errors import STATUS_DONE, input_error, one_line, quote, warn
from floatgate.base.progress import bar
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.lab import content_trace
from floatgate.lab.content import Settings, measured, unreadable_note
from floatgate.lab.content_summary import screen
from floatgate.results.folder import must_be_new_file

HOURS = 24.0
_HOURS_MAX = 876_000.0

Paths = Annotated[
    list[str],
    typer.Argument(metavar="FILE-or-DIR", show_default=False, help="Files and folders (with their subfolders)."),
]
Chunks = Annotated[
    str | None,
    typer.Option("--chunks", metavar="A,B,..", help="Sizes of chunks in pages, 1 to 64. Default: 1,2,4,8."),
]
ZstdLevel = Annotated[int, typer.Option("--zstd-level", metavar="N", min=1, max=22, help="Level of zstd.")]
SampleShare = Annotated[
    float | None,
    typer.Option(
        "--sample-share",
        metavar="S",
        help="Share of the chunks that are also compressed as one piece, 0 to 1. Default: 1/64.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, max=2**64 - 1, help="Seed of that sample.")]
TraceOut = Annotated[
    str | None,
    typer.Option(
        "--trace",
        metavar="OUT.parquet",
        help="Also write a trace that writes the files once: fingerprints and compressed sizes, none of their bytes.",
    ),
]
Hours = Annotated[float | None, typer.Option("--hours", metavar="H", help="Time span of that trace. Default: 24.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite OUT.parquet, or the file of --json, if it exists.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("content")(content)


def content(
    paths: Paths,
    chunks: Chunks = None,
    zstd_level: ZstdLevel = 1,
    sample_share: SampleShare = None,
    seed: Seed = 1,
    trace: TraceOut = None,
    hours: Hours = None,
    force: Force = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> int:
    """Measure what deduplication and compression in a drive would save on files.

    Reads all regular files below the arguments in pages of 4 KiB. Symbolic links are not followed, hard links count
    once, and the files are only read. See docs/content.md.
    """
    output = Output(json, quiet=quiet, force=force)
    settings = Settings(
        zstd_level=zstd_level,
        chunks=Settings.chunks if chunks is None else _sizes(chunks),
        sample_share=Settings.sample_share if sample_share is None else sample_share,
        seed=seed,
    )
    span = _trace_hours(trace, hours, force=force, writes_json=json not in (None, "-"))
    with bar("content", quiet=quiet) as progress:
        facts, pages = measured(paths, settings, progress, keep_pages=trace is not None)
    note = unreadable_note(facts)
    if note is not None:
        warn(note)
    if trace is not None and pages is not None:
        facts["trace"] = content_trace.write(trace, pages, span)
    output.give(facts)
    if not output.prints_json:
        output.say(screen(paths, facts))
        if trace is not None:
            output.say(f"\n{'trace':<10} {one_line(trace)}: {facts['trace']['requests']} writes over {span:g} hours")
    return STATUS_DONE


def _sizes(text: str) -> tuple[int, ...]:
    """Parse a list of chunk sizes.

    Raises:
        InputError: one is no whole number.
    """
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit() and len(part) < 10):
            raise input_error(f"--chunks: {quote(part)} is not a number of pages; expected sizes such as 1,2,4,8")
    return tuple(map(int, parts))


def _trace_hours(trace: str | None, hours: float | None, *, force: bool, writes_json: bool) -> float:
    """Return the hours of the trace; refuse a trace that cannot be written before the work starts.

    Raises:
        InputError: the trace cannot be written, the hours cannot be, or there is no trace to which options belong.
    """
    if trace is None:
        for name, is_set in (("--hours", hours is not None), ("--force", force and not writes_json)):
            if is_set:
                raise input_error(f"{name}: no trace is written; expected it with --trace")
        return HOURS
    must_be_new_file(trace, "a file to write the trace to", force=force)
    span = HOURS if hours is None else hours
    if not (math.isfinite(span) and 0 < span <= _HOURS_MAX):
        raise input_error(f"--hours: {span:g} is not a length of time; expected hours, more than 0 and at most 876000")
    return span
