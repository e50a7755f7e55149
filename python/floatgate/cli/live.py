"""``floatgate live``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from floatgate.base.errors import STATUS_DONE, STATUS_RUN_FAILED, InputError, input_error, one_line, quote, warn
from floatgate.base.progress import EVERY_S
from floatgate.base.units import decimal_bytes
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import Pictures
from floatgate.report import summary
from floatgate.report.sections import amplification
from floatgate.results.folder import RunFolder
from floatgate.run.saving import write_run

if TYPE_CHECKING:
    from floatgate.live.drive import LiveDrive

SAVE_EVERY_S = 60.0
"""Time between two states of the drive on disk."""
TICK_S = 0.2

Folder = Annotated[str, typer.Argument(metavar="DIR", show_default=False, help="Folder of the drive, new or its own.")]
ExperimentFile = Annotated[
    str | None,
    typer.Argument(metavar="EXPERIMENT.toml", show_default=False, help="Settings of the drive and its firmware."),
]
Socket = Annotated[
    str | None, typer.Option(metavar="PATH", help="Socket on which clients connect. Default: DIR/socket.")
]
Exports = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Ranges of the drive with a name, a size and a placement handle, such as data=rest:0,wal=2GiB:1.",
    ),
]
Cache = Annotated[
    str,
    typer.Option(
        metavar="safe|volatile",
        help="safe: writes go to the file at once. volatile: a kill loses a random half of what was not flushed, as a "
        "power cut does.",
    ),
]
JournalMax = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Drop the oldest packed parts of the journal beyond this size, such as 10GiB."),
]
Assert = Annotated[
    list[str] | None,
    typer.Option(
        "--assert",
        metavar="CONDITION",
        help='At the end, fail (status 1) unless this holds, such as "waf_bytes < 1.5". May be repeated.',
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("live")(live)


@g.grouped
def live(
    folder: Folder,
    experiment: ExperimentFile = None,
    *,
    drive: o.Drive = None,
    capacity: o.Capacity = None,
    policies: o.Policies = None,
    set: o.Set = None,
    socket: Socket = None,
    exports: Exports = None,
    cache: Cache = "safe",
    journal_max: JournalMax = None,
    conditions: Assert = None,
    json: o.Json = None,
    report: o.Report = None,
    pictures: Pictures,
    quiet: o.Quiet = False,
) -> int:
    """Serve a simulated SSD as a block device (NBD) until Ctrl-C or SIGTERM.

    Clients connect to the socket: fio, qemu, nbdkit's tools, nbdfuse. The folder holds the data, the journal of all
    requests, which is a trace, and the state of the drive; at the end result.json and report.html. Started again with
    the same settings, the drive goes on where it ended.
    """
    from floatgate.live import exports as wanted
    from floatgate.live.conditions import Condition
    from floatgate.live.drive import LiveDrive, Options

    output = Output(json, quiet=quiet, force=True)
    drawn = pictures.checked(folder, force=True)
    checks = [Condition.parsed(text) for text in conditions or []]
    if cache not in ("safe", "volatile"):
        raise input_error(f"--cache: {quote(cache)} is no cache; expected safe or volatile")
    options = Options(
        Path(folder),
        None if socket is None else Path(socket),
        tuple(wanted.parsed(exports)),
        volatile=cache == "volatile",
        journal_bytes_max=o.size_bytes(journal_max, "--journal-max"),
    )
    resolved = g.built(experiment, g.Source(drive=drive, capacity=capacity, policies=policies), None, set)
    with RunFolder(Path(folder), force=True) as target:
        with LiveDrive(resolved, options) as served:
            _announce(output, served)
            _watch(served, quiet=quiet)
            done = served.stop()
        if done is None:
            output.say(f"{'live':<10} no request came; there is no result")
            return STATUS_RUN_FAILED if checks else STATUS_DONE
        draws = output.draws(report)
        place = write_run(done, target, report=draws, command=o.command_line())
    output.give(done.result_json)
    output.say(summary.text(done))
    output.say(o.place_line(place, report=draws))
    if drawn is not None:
        drawn.write(lambda: done.report(o.command_line()))
        output.say(drawn.line())
    failures = [failure for check in checks if (failure := check.failure(done.result.to_dict())) is not None]
    for failure in failures:
        print(f"floatgate: --assert: {failure}", file=sys.stderr)
    return STATUS_RUN_FAILED if failures else STATUS_DONE


def _announce(output: Output, served: LiveDrive) -> None:
    shown = served.look() or {}
    for one in shown.get("exports", []):
        size = decimal_bytes(one["bytes"])
        output.say(f"{'export':<10} {one['name']}: {size}, placement handle {one['stream']}")
    socket = one_line(served.options.socket_path)
    output.say(f"{'socket':<10} {socket} (nbd+unix:///?socket={socket})")
    output.say(f"{'live':<10} Ctrl-C or SIGTERM ends it, and writes the result")
    sys.stdout.flush()


def _watch(served: LiveDrive, *, quiet: bool) -> None:
    """Wait for the end; save the drive now and then, and say how it is."""
    saved = reported = time.monotonic()
    ended = failing = False
    try:
        while True:
            time.sleep(TICK_S)
            now = time.monotonic()
            if now - saved >= SAVE_EVERY_S:
                saved, failing = now, _saved_or_warned(served, failing=failing)
            if now - reported < EVERY_S:
                continue
            reported, shown = now, served.look()
            if shown and not quiet:
                print(_line(shown), file=sys.stderr)
            if shown and shown["ended"] and not ended:
                ended = True
                warn(f"the drive is worn out, and takes no more writes: {shown['ended']}")
    except KeyboardInterrupt:
        return


def _saved_or_warned(served: LiveDrive, *, failing: bool) -> bool:
    """Save the drive; returns whether that failed. A full disk may have room again later: the warning comes once."""
    try:
        served.save()
    except InputError as error:
        if not failing:
            warn(f"the state of the drive could not be saved, and it goes on: {error.message}")
        return True
    return False


def _line(shown: dict[str, Any]) -> str:
    """Say in a line what the drive has counted."""
    host = shown["host"]
    waf = shown[amplification.IN_BYTES]
    suffix = "" if waf is None else f", WAF {waf:.3g}"
    written, read = decimal_bytes(host["write_bytes"]), decimal_bytes(host["read_bytes"])
    return f"{shown['uptime_s']:.0f} s: {shown['requests']} requests, {written} written, {read} read{suffix}"
