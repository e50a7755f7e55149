"""``floatgate trace``: look at traces and convert them."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from floatgate import _core, units
from floatgate.cli import generate, record
from floatgate.cli import options as o
from floatgate.cli.output import Output, written_text
from floatgate.errors import input_error
from floatgate.folder import must_be_file_place
from floatgate.progress import bar
from floatgate.text_table import table

TraceFile = Annotated[str, typer.Argument(metavar="TRACE", help="The trace; .gz, .xz and .zst are unpacked.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="Look at traces and convert them.", no_args_is_help=True, rich_markup_mode=None)
    group.command("info")(info)
    group.command("convert")(convert)
    group.command("generate")(generate.generate)
    record.register(group)
    app.add_typer(group, name="trace")


def info(
    path: TraceFile,
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
    """Count what is in a trace, or in a slice of it."""
    output = Output(json, quiet=quiet)
    options = o.given(format=format, time_unit=time_unit, lba_unit=lba_unit, action=action, on_bad_line=on_bad_line)
    options |= o.sliced(device, from_=from_, until=until, op=op, requests=requests, fold=fold, time_scale=time_scale)
    with bar(Path(path).name, quiet=quiet) as progress:
        text = _core.trace_info(path, options, progress)
    output.give(text)
    if not output.wants_json:
        output.say(_info_text(path, json_module.loads(text)))


def _info_text(path: str, facts: dict[str, Any]) -> str:
    requests = facts["requests"]
    trims = f", {facts['trims']} trims ({units.decimal_bytes(facts['trim_bytes'])})" if facts["trims"] else ""
    duration = facts.get("duration_s")
    rewritten = facts.get("rewrite_share")
    lines = [
        ("trace", f"{path} ({facts['format']})"),
        ("requests", f"{requests}" + ("" if duration is None else f" in {units.span(duration)}")),
        ("reads", f"{facts['reads']} ({units.decimal_bytes(facts['read_bytes'])})"),
        ("writes", f"{facts['writes']} ({units.decimal_bytes(facts['write_bytes'])}){trims}"),
        (
            "footprint",
            f"{facts['pages_written_distinct']} pages of 4 KiB written, {facts['pages_read_distinct']} read"
            + ("" if rewritten is None else f"; {units.share(rewritten)} of page writes rewrite"),
        ),
    ]
    notes = [*(facts.get("assumed") or []), *(facts.get("suspicions") or [])]
    for key, what in NOTED:
        if facts.get(key):
            notes.append(f"{what}: {facts[key]}")
    if notes:
        lines.append(("note", "; ".join(notes)))
    text = "\n".join(f"{name:<10} {value}" for name, value in lines)
    devices = facts.get("devices") or []
    return f"{text}\n\n{_devices_table(devices)}" if len(devices) > 1 else text


# What is noted in a trace where it occurs.
NOTED = (
    ("stamps_backwards", "time stamps that run backwards"),
    ("bad_lines_skipped", "bad lines skipped"),
    ("first_bad_line", "first bad line"),
)


def _devices_table(devices: list[dict[str, Any]]) -> str:
    keys = ("reads", "writes", "trims")
    rows = [
        [
            str(device.get("name", "-")),
            *(str(device.get(key, "-")) for key in keys),
            *(units.decimal_bytes(device.get(key) or 0) for key in ("read_bytes", "write_bytes")),
            str(device.get("pages_written_distinct", "-")),
        ]
        for device in devices
    ]
    header = ["device", *keys, "read", "written", "pages written"]
    return table(header, rows, right=frozenset(range(1, len(header))))


def convert(
    path: TraceFile,
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="The file to write; - for standard output (text formats).")
    ],
    to: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="parquet, fio-iolog, msr, mqsim or blkparse. Default: by OUT's extension."),
    ] = None,
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
    duplicate_share: o.DuplicateShare = None,
    compressed_share: o.CompressedShare = None,
    incompressible_share: o.IncompressibleShare = None,
    content_seed: o.ContentSeed = None,
    force: Annotated[bool, typer.Option("--force", help="Write over OUT where it exists.")] = False,
    json: o.BareJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Convert a trace, or a slice of it, to Parquet or to another trace format."""
    from floatgate import traces

    output = Output(json, quiet=quiet)
    wanted = _target_format(target, to, json=json, force=force)
    options = o.given(format=format, time_unit=time_unit, lba_unit=lba_unit, action=action, on_bad_line=on_bad_line)
    options |= o.sliced(device, from_=from_, until=until, op=op, requests=requests, fold=fold, time_scale=time_scale)
    options |= o.given(
        duplicate_share=duplicate_share,
        compressed_share=compressed_share,
        incompressible_share=incompressible_share,
        content_seed=content_seed,
    )
    with bar(Path(path).name, quiet=quiet) as progress:
        report = traces.convert(path, target, wanted, options, progress)
    output.give({"out": target, "format": wanted, **report})
    if output.wants_json or quiet:
        return
    said = written_text("standard output" if target == traces.STDOUT else target, wanted, report)
    print(said, file=sys.stderr if target == traces.STDOUT else sys.stdout)


def _target_format(target: str, to: str | None, *, json: bool, force: bool) -> str:
    """The format to write; refuses a target that cannot be written to before the work starts."""
    from floatgate import traces

    if target == traces.STDOUT:
        if json:
            raise input_error("--json: standard output takes the trace; expected a file for the trace, or no --json")
        if to is None:
            raise input_error("-: no format is known for standard output; expected --to FORMAT")
        return to
    wanted = traces.format_of(target) if to is None else to
    must_be_file_place(target, "a file to write the trace to")
    if Path(target).is_file() and not force:
        raise input_error(f"{target}: exists already; expected a new file, or --force")
    return wanted
