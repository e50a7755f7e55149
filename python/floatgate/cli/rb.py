"""``floatgate rb``: write amplification from captures of Ready/Busy pins."""

from __future__ import annotations

import contextlib
import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from floatgate import _core
from floatgate.base.errors import STATUS_DONE, input_error, one_line
from floatgate.base.progress import bar
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import EXPECTED_REPORT, must_write_something, report_places
from floatgate.lab import rb as capture
from floatgate.lab import rb_report, smart
from floatgate.lab.rb_summary import screen
from floatgate.results.folder import write_text
from floatgate.trace.page import write_pictures

Captures = Annotated[
    list[str],
    typer.Argument(
        metavar="CAPTURE...",
        show_default=False,
        help="VCD, sigrok sessions (.sr), CSV of Logic 2 or sigrok-cli, lists of lengths; plain or compressed.",
    ),
]
Channels = Annotated[int, typer.Option("--channels", metavar="N", help="Channels of the drive.")]
Chips = Annotated[int, typer.Option("--chips", metavar="N", help="Chips per channel.")]
Dies = Annotated[int, typer.Option("--dies", metavar="N", help="Dies per chip.")]
Planes = Annotated[int, typer.Option("--planes", metavar="N", help="Planes per die.")]
PageBytes = Annotated[int, typer.Option("--page-bytes", metavar="N", help="Bytes of a page without its spare area.")]
PagesPerBlock = Annotated[
    int | None,
    typer.Option("--pages-per-block", metavar="N", help="Pages per block: bounds the erases that count as programs."),
]
ProgramUs = Annotated[
    str | None,
    typer.Option(
        "--program-us", metavar="A..B", help="Low phases between A and B are programs. Default: found from the lengths."
    ),
]
MultiPage = Annotated[
    float | None, typer.Option("--multi-page", metavar="M", help="Pages per program (M_p). Default: 1.")
]
HostBytes = Annotated[
    int | None, typer.Option("--host-bytes", metavar="N", help="Bytes that the host wrote during the capture.")
]
Smart = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--smart",
        metavar="BEFORE.json AFTER.json",
        help="Host bytes from two readings of smartctl --json -x or nvme smart-log -o json.",
    ),
]
SmartUnit = Annotated[
    int | None,
    typer.Option("--smart-unit", metavar="N", help="Bytes of a unit of an ATA attribute whose name does not say it."),
]
Ocp = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--ocp",
        metavar="BEFORE.json AFTER.json",
        help="Two readings of nvme ocp smart-add-log -o json, to compare with what the drive counts itself.",
    ),
]
TraceFile = Annotated[
    str | None, typer.Option("--trace", metavar="FILE", help="Host bytes from a trace of the requests of that time.")
]
Signals = Annotated[
    list[str] | None,
    typer.Option(
        "--signal",
        metavar="NAME",
        help="A Ready/Busy signal; may be repeated. Default: those whose name says so, else all that change.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="vcd, sigrok, csv or intervals. Default: found out."),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        "--time-unit", metavar="T", help="Unit of times, or time between samples, where a file has none: 1us."
    ),
]
PollUs = Annotated[
    float | None,
    typer.Option("--poll-us", metavar="P", help="Count what a recorder would see that looks every P microseconds."),
]
QuietS = Annotated[
    float,
    typer.Option("--quiet-s", metavar="S", help="That recorder sends counts after S seconds high; 0: always."),
]
Report = Annotated[str | None, typer.Option("--report", metavar="FILE", help="Write an HTML report with the picture.")]
Pictures = Annotated[
    str | None, typer.Option("--pictures", metavar="DIR", help="Write the picture as SVG and PNG to a folder.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files; allow a folder that is not empty.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        help="Measure write amplification with a logic analyser on a Ready/Busy pin.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    group.command("measure")(measure)
    group.command("multi-page")(multi_page)
    group.callback()(_rb)
    app.add_typer(group, name="rb")


def _rb() -> None:
    """Measure write amplification with a logic analyser on a Ready/Busy pin. See docs/rb-explorer.md."""


def measure(
    captures: Captures,
    channels: Channels,
    chips: Chips,
    dies: Dies,
    planes: Planes,
    page_bytes: PageBytes,
    pages_per_block: PagesPerBlock = None,
    program_us: ProgramUs = None,
    multi_page: MultiPage = None,
    host_bytes: HostBytes = None,
    smart: Smart = None,
    smart_unit: SmartUnit = None,
    ocp: Ocp = None,
    trace: TraceFile = None,
    signal: Signals = None,
    format: Format = None,
    time_unit: TimeUnit = None,
    poll_us: PollUs = None,
    quiet_s: QuietS = 0.0,
    report: Report = None,
    pictures: Pictures = None,
    force: Force = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> int:
    """Count programs on Ready/Busy pins and tell the write amplification, with its error.

    Each signal of each capture is a die; what they do stands for all dies of the drive. See docs/rb-explorer.md.
    """
    places = _Places(report, pictures, json, force=force, quiet=quiet)
    shape = capture.Shape(channels, chips, dies, planes, page_bytes, pages_per_block)
    settings = capture.Settings(format, time_unit, tuple(signal or ()), program_us, poll_us, quiet_s)
    media = _media(ocp)
    host = _host(host_bytes, smart, smart_unit, trace)
    with places.folder or contextlib.nullcontext():
        with bar(Path(captures[0]).name, quiet=quiet) as progress:
            facts = capture.measure(captures, shape, settings, multi_page=multi_page, host=host, progress=progress)
        if media is not None:
            facts = capture.with_firmware(facts, media)
        places.give(captures, facts)
    return STATUS_DONE


def multi_page(
    captures: Captures,
    channels: Channels,
    chips: Chips,
    dies: Dies,
    planes: Planes,
    page_bytes: PageBytes,
    pages_per_block: PagesPerBlock = None,
    program_us: ProgramUs = None,
    host_bytes: HostBytes = None,
    smart: Smart = None,
    smart_unit: SmartUnit = None,
    trace: TraceFile = None,
    signal: Signals = None,
    format: Format = None,
    time_unit: TimeUnit = None,
    poll_us: PollUs = None,
    quiet_s: QuietS = 0.0,
    report: Report = None,
    pictures: Pictures = None,
    force: Force = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> int:
    """Find out how many planes program at once, from a capture of sequential, incompressible writes to an empty drive.

    Write 2 GB or so. Counted with one page per program, the write amplification comes out near 1 for single-plane
    programs and near 1/planes for programs of all planes.
    """
    places = _Places(report, pictures, json, force=force, quiet=quiet)
    shape = capture.Shape(channels, chips, dies, planes, page_bytes, pages_per_block)
    settings = capture.Settings(format, time_unit, tuple(signal or ()), program_us, poll_us, quiet_s)
    host = _host(host_bytes, smart, smart_unit, trace)
    if host is None:
        raise input_error("the bytes that the host wrote are missing; expected --host-bytes, --smart or --trace")
    with places.folder or contextlib.nullcontext():
        with bar(Path(captures[0]).name, quiet=quiet) as progress:
            facts = capture.find_multi_page(captures, shape, settings, host=host, progress=progress)
        places.give(captures, facts)
    return STATUS_DONE


class _Places:
    """Where a command of this group prints and writes.

    Raises:
        InputError: a place cannot be written to, or is taken.
    """

    def __init__(self, report: str | None, pictures: str | None, json: str | None, *, force: bool, quiet: bool) -> None:
        self.output = Output(json, quiet=quiet, force=force)
        must_write_something(report, pictures, None if json == "-" else json, force=force)
        self.report, self.pictures = report, pictures
        self.folder = report_places(report, pictures, force=force)
        if self.folder is not None:
            self.folder.expect(json)

    def give(self, captures: list[str], facts: dict[str, Any]) -> None:
        """Write everything."""
        if self.report is not None:
            write_text(self.report, rb_report.page(captures, facts, o.command_line()), EXPECTED_REPORT)
        if self.folder is not None:
            drawn = rb_report.pictures(facts)
            self.folder.write(lambda staging, _: write_pictures(drawn, staging))
        self.output.give(facts)
        self.output.say(screen(captures, facts))
        for name, place in (("report", self.report), ("pictures", self.pictures)):
            if place is not None:
                self.output.say(f"{name:<10} {one_line(place)}")


def _host(
    host_bytes: int | None,
    readings: tuple[str, str] | None,
    unit_bytes: int | None,
    trace: str | None,
) -> capture.Host | None:
    """What the host wrote, from the one place that says it.

    Raises:
        InputError: several places say it, or one cannot be read.
    """
    given = [
        name
        for name, value in (("--host-bytes", host_bytes), ("--smart", readings), ("--trace", trace))
        if value is not None
    ]
    if len(given) > 1:
        raise input_error(f"{' and '.join(given)} say the same thing; expected one of them")
    if unit_bytes is not None and (readings is None or unit_bytes < 1):
        raise input_error("--smart-unit: expected a number of bytes from 1 on, beside --smart")
    if host_bytes is not None:
        return capture.Host(host_bytes, 0, "--host-bytes")
    if readings is not None:
        written = smart.between(*readings, unit_bytes)
        if written.host_bytes is None:
            raise input_error(
                f"{readings[0]}: has what the drive programmed, not what the host wrote; "
                "expected nvme smart-log or smartctl --json -x (this file goes to --ocp)"
            )
        return capture.Host(written.host_bytes, written.step_bytes, f"--smart: {written.source}")
    if trace is not None:
        written_bytes = int(json_module.loads(_core.trace_info(trace, {}, counts_only=True))["write_bytes"])
        return capture.Host(written_bytes, 0, f"--trace {Path(trace).name}")
    return None


def _media(readings: tuple[str, str] | None) -> int | None:
    """What the drive says that it programmed.

    Raises:
        InputError: a reading cannot be read, or says something else.
    """
    if readings is None:
        return None
    written = smart.between(*readings)
    if written.media_bytes is None:
        raise input_error(
            f"{readings[0]}: has {written.source}, not what the drive programmed; "
            "expected nvme ocp smart-add-log -o json"
        )
    return written.media_bytes
