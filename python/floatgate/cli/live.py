"""``floatgate live``."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from floatgate.base.errors import STATUS_DONE, STATUS_RUN_FAILED, InputError, one_line, warn
from floatgate.base.progress import EVERY_S
from floatgate.base.units import decimal_bytes
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.live_options import Board, Serving, one_of
from floatgate.cli.output import Output
from floatgate.cli.places import Pictures
from floatgate.live import attaching, partial_pages
from floatgate.report import summary
from floatgate.report.sections import amplification
from floatgate.results.folder import RunFolder
from floatgate.run.experiment import toml_value
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
Mode = Annotated[
    str | None,
    typer.Option(
        metavar="functional|timed",
        help="functional: what is written where. timed: also when, with latencies and pins. Default: functional.",
    ),
]
Attach = Annotated[
    bool,
    typer.Option("--attach", help="Print the commands that make each export a block device of this machine (as root)."),
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
    policy: o.Policy = None,  # noqa: ARG001 - loaded when it is read
    set: o.Set = None,
    mode: Mode = None,
    serving: Serving,
    board: Board,
    attach: Attach = False,
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
    from floatgate.live.conditions import Condition
    from floatgate.live.drive import LiveDrive

    output = Output(json, quiet=quiet, force=True)
    drawn = pictures.checked(folder, force=True)
    checks = [Condition.parsed(text) for text in conditions or []]
    options = serving.options(Path(folder), pins=board.is_wanted())
    resolved = g.built(experiment, g.Source(drive=drive, capacity=capacity, policies=policies), None, set)
    if mode is not None:
        mode = one_of("--mode", mode, ("functional", "timed"))
        resolved = resolved.with_overrides([("mode", toml_value("mode", mode))])
    with RunFolder(Path(folder), force=True) as target:
        with LiveDrive(resolved, options) as served:
            with _shown(served, board) as address:
                _announce(output, served, address, attach=attach)
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


@contextlib.contextmanager
def _shown(served: LiveDrive, wanted: Board) -> Iterator[str | None]:
    """Serve the dashboard, if there is to be one; gives its address."""
    if wanted.dashboard is None:
        yield None
        return
    from floatgate.live.dashboard import Dashboard

    board = Dashboard(served, wanted.dashboard, read_only=wanted.dashboard_read_only)
    try:
        yield board.address
    finally:
        board.stop()


def _announce(output: Output, served: LiveDrive, address: str | None, *, attach: bool) -> None:
    shown = served.look() or {}
    for one in shown.get("exports", []):
        size = decimal_bytes(one["bytes"])
        output.say(f"{'export':<10} {one['name']}: {size}, placement handle {one['stream']}")
    socket = one_line(served.options.socket_path)
    output.say(f"{'socket':<10} {socket} (nbd+unix:///?socket={socket})")
    if served.options.listen is not None:
        output.say(f"{'listen':<10} nbd://{one_line(served.options.listen)}")
    if attach:
        for line in attaching.lines(served.options.socket_path, [one["name"] for one in shown.get("exports", [])]):
            output.say(line)
    if address is not None:
        output.say(f"{'dashboard':<10} {address}")
    output.say(f"{'live':<10} Ctrl-C or SIGTERM ends it, and writes the result")
    sys.stdout.flush()


def _watch(served: LiveDrive, *, quiet: bool) -> None:
    """Wait for the end; save the drive now and then, and say how it is."""
    saved = reported = time.monotonic()
    ended = failing = advised = False
    before: dict[str, Any] = {}
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
                warn(f"the drive takes no more writes: {shown['ended']}")
            if shown and not advised and (advice := partial_pages.advice(before, shown)) is not None:
                advised = True
                warn(advice)
            before = shown or before
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
