"""``floatgate rb``: write amplification from captures of Ready/Busy pins."""

from __future__ import annotations

import dataclasses
import functools
import json as json_module
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from floatgate import _core
from floatgate.base.errors import STATUS_DONE, input_error
from floatgate.base.progress import bar
from floatgate.cli import counter_options as c
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli import tree
from floatgate.cli.output import Output
from floatgate.cli.places import Drawings
from floatgate.lab import rb as capture
from floatgate.lab import rb_report, smart
from floatgate.lab.rb_summary import screen

if TYPE_CHECKING:
    from floatgate._core import Progress

Captures = Annotated[
    list[str],
    typer.Argument(
        metavar="CAPTURE...",
        show_default=False,
        help="VCD, sigrok sessions (.sr), CSV or binary of Logic 2, CSV of sigrok-cli, lists of lengths; also packed.",
    ),
]
MultiPage = Annotated[
    str | None,
    typer.Option(
        metavar="M|A..B",
        help="Pages per program (M_p): a whole number, or a mean such as 1.05 or 1.04..1.06, whose error counts. "
        "Default: 1.",
    ),
]
Ocp = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="BEFORE.json AFTER.json",
        help="Two readings of nvme ocp smart-add-log or another log of flash writes, to compare with the pins.",
    ),
]


@dataclass(frozen=True)
class DriveShape(g.Group):
    """The geometry of the drive."""

    channels: Annotated[int, typer.Option(metavar="N", help="Channels of the drive.")]
    chips: Annotated[int, typer.Option(metavar="N", help="Chips per channel.")]
    dies: Annotated[int, typer.Option(metavar="N", help="Dies per chip.")]
    planes: Annotated[int, typer.Option(metavar="N", help="Planes per die.")]
    page_bytes: Annotated[
        str, typer.Option(metavar="SIZE", help="A page without its spare area: bytes, or a size such as 4KiB.")
    ]
    pages_per_block: Annotated[
        int | None,
        typer.Option(metavar="N", help="Pages per block; bounds the error from erases mistaken for programs."),
    ] = None
    blocks_per_plane: Annotated[
        int | None,
        typer.Option(metavar="N", help="Blocks per plane; bounds how far one die may differ from all."),
    ] = None

    def shape(self) -> capture.Shape:
        """Return it as measurements take it."""
        page_bytes = o.count_bytes(self.page_bytes, "--page-bytes")
        return capture.Shape(**dataclasses.asdict(self) | {"page_bytes": page_bytes})


@dataclass(frozen=True)
class Pins(g.Group):
    """How captures are read."""

    program_us: Annotated[
        str | None,
        typer.Option(
            metavar="A..B",
            help="Low phases between A and B are programs. Default: by the distribution of their lengths.",
        ),
    ] = None
    signal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A Ready/Busy signal; may be repeated. Default: signals with such a name, else all that change.",
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="vcd, sigrok, saleae, csv or intervals. Default: detected automatically."),
    ] = None
    time_unit: Annotated[
        str | None,
        typer.Option(
            metavar="T", help="Unit of times, or time between samples, such as 1us, where the file states none."
        ),
    ] = None
    poll_us: Annotated[
        float | None,
        typer.Option(metavar="P", help="Count what a recorder that samples every P microseconds would see."),
    ] = None
    quiet_s: Annotated[
        float,
        typer.Option(
            metavar="S", help="With --poll-us: the recorder reports when the pin was high for S seconds; 0: at once."
        ),
    ] = 0.0
    min_high_us: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="High phases shorter than T microseconds are glitches; 0: none. Default: a hump of them is detected.",
        ),
    ] = None
    dies_per_signal: Annotated[
        int | None, typer.Option(metavar="N", help="Dies that share each pin. Default: 1, unless overlaps show.")
    ] = None

    def settings(self) -> capture.Settings:
        """Return it as measurements take them."""
        signals = tuple(self.signal or ())
        named = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "signal"}
        return capture.Settings(signals=signals, **named)


@dataclass(frozen=True)
class HostWrites(g.Group):
    """The host's writes during the capture."""

    host_bytes: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="What the host wrote during the capture: bytes, or a size such as 2GB."),
    ] = None
    smart: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="BEFORE.json AFTER.json",
            help="Host bytes from two readings, of any log that floatgate counters reads.",
        ),
    ] = None
    smart_unit: Annotated[
        int | None,
        typer.Option(metavar="N", help="Bytes per count of host writes, where the readings leave them open."),
    ] = None
    attribute: c.Attribute = None
    trace: Annotated[
        str | None, typer.Option(metavar="FILE", help="Host bytes from a trace of the requests during the capture.")
    ] = None

    def host(self) -> capture.Host | None:
        """Return what the host wrote, from the one place that says it.

        Raises:
            InputError: several places say it, or one cannot be read.
        """
        places = (("--host-bytes", self.host_bytes), ("--smart", self.smart), ("--trace", self.trace))
        named = [name for name, value in places if value is not None]
        if len(named) > 1:
            raise input_error(f"{' and '.join(named)} exclude each other; expected one of them")
        if self.smart_unit is not None and (self.smart is None or self.smart_unit < 1):
            raise input_error("--smart-unit: expected a number of bytes from 1 on, beside --smart")
        if self.attribute and self.smart is None:
            raise input_error("--attribute: no readings are named; expected it beside --smart")
        host_bytes = o.count_bytes(self.host_bytes, "--host-bytes")
        if host_bytes is not None:
            return capture.Host(host_bytes, 0, "--host-bytes")
        if self.smart is not None:
            written = smart.between(*self.smart, c.stated(self.attribute, self.smart_unit), needs_host=True)
            if written.host_bytes is None:
                raise input_error(
                    f"{self.smart[0]}: has what the drive programmed, not what the host wrote; "
                    "expected nvme smart-log or smartctl --json -x (this file goes to --ocp)"
                )
            return capture.Host(written.host_bytes, written.step_bytes, f"--smart: {written.source}")
        if self.trace is not None:
            written_bytes = int(json_module.loads(_core.trace_info(self.trace, {}, counts_only=True))["write_bytes"])
            return capture.Host(written_bytes, 0, f"--trace {Path(self.trace).name}")
        return None


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = tree.group("Measure write amplification with a logic analyser on a Ready/Busy pin.")
    group.command("measure")(measure)
    group.command("multi-page")(multi_page)
    group.callback()(_rb)
    app.add_typer(group, name="rb")


def _rb() -> None:
    """Measure write amplification with a logic analyser on a Ready/Busy pin. See docs/rb-explorer.md."""


@g.grouped
def measure(
    captures: Captures,
    *,
    drive: DriveShape,
    pins: Pins,
    multi_page: MultiPage = None,
    writes: HostWrites,
    ocp: Ocp = None,
    drawings: Drawings,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> int:
    """Count programs on Ready/Busy pins and derive the write amplification, with its error.

    Each signal is one die. The captured dies are a sample of all dies of the drive. See docs/rb-explorer.md.
    """
    output = Output(json, quiet=quiet, force=drawings.force)
    media, host = _media(ocp), writes.host()

    def counted(progress: Progress | None) -> dict[str, Any]:
        shape, settings, pages = drive.shape(), pins.settings(), capture.PagesPerProgram.of(multi_page)
        facts = capture.measure(captures, shape, settings, multi_page=pages, host=host, progress=progress)
        return facts if media is None else capture.with_firmware(facts, media)

    return _measured(captures, counted, output, drawings, json)


@g.grouped
def multi_page(
    captures: Captures,
    *,
    drive: DriveShape,
    pins: Pins,
    writes: HostWrites,
    drawings: Drawings,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> int:
    """Find out how many planes program at once, from a capture of sequential, incompressible writes to an empty drive.

    Write 2 GB or so. Counted with one page per program, the write amplification comes out near 1 for single-plane
    programs and near 1/planes for programs of all planes.
    """
    output = Output(json, quiet=quiet, force=drawings.force)
    host = writes.host()
    if host is None:
        raise input_error("the bytes that the host wrote are missing; expected --host-bytes, --smart or --trace")

    def counted(progress: Progress | None) -> dict[str, Any]:
        return capture.find_multi_page(captures, drive.shape(), pins.settings(), host=host, progress=progress)

    return _measured(captures, counted, output, drawings, json)


def _measured(
    captures: list[str],
    counted: Callable[[Progress | None], dict[str, Any]],
    output: Output,
    drawings: Drawings,
    json: str | None,
) -> int:
    """Measure, and write everything."""
    with drawings.claimed(json) as folder:
        with bar(Path(captures[0]).name, quiet=output.quiet) as progress:
            facts = counted(progress)
        page = functools.partial(rb_report.page, captures, facts, o.command_line())
        drawings.write(folder, page)
    output.give(facts)
    output.say(screen(captures, facts))
    drawings.say(output)
    return STATUS_DONE


def _media(readings: tuple[str, str] | None) -> int | None:
    """Read the bytes that the drive reports as programmed.

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
