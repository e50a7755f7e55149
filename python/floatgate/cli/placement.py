"""``floatgate placement``."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.errors import STATUS_DONE, one_line
from floatgate.experiment import Experiment, Overrides, parse_set, toml_value
from floatgate.folder import RunFolder
from floatgate.slicing import slice_of


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("placement")(placement)


def placement(
    trace: Annotated[str, typer.Argument(metavar="TRACE.parquet", show_default=False)],
    policy: Annotated[str, typer.Option(metavar="NAME", help="pds or ids.")] = "pds",
    handles: Annotated[int, typer.Option(metavar="N", help="Handles of the drive.")] = 8,
    apply: Annotated[
        str | None,
        typer.Option(metavar="OTHER.parquet", help="Try the table on another recording of the program, too."),
    ] = None,
    drive: o.Drive = None,
    capacity: o.Capacity = None,
    set: o.Set = None,
    out: o.Out = None,
    force: o.Force = False,
    json: o.BareJson = False,
    quiet: o.Quiet = False,
) -> int:
    """Which placement handle (NVMe FDP, streams, write hints) each program context should write with.

    The trace is one that floatgate trace record wrote. The folder gets placement.csv, the table, and placement.json.
    The drive is sized to what the trace writes, with 15 % to spare, unless --drive or --set says otherwise.
    A context of another recording (--apply) gets the handle that it has in the table, or 0 if it is not there.
    """
    from floatgate.placement import place

    output = Output(json, quiet=quiet)
    settings: Overrides = [] if drive is None else [("drive.preset", toml_value("drive.preset", drive))]
    asked = [parse_set(text) for text in set or []]
    if capacity is not None:
        settings += slice_of(Experiment().with_overrides(settings + asked), capacity)
    settings += asked
    target = RunFolder.default(f"placement-{Path(trace).stem}") if out is None else RunFolder.given(out, force=force)

    def fill(staging: Path, _final: Path) -> None:
        (staging / "placement.csv").write_text(found.table(), "utf-8")
        told = json_module.dumps(found.to_dict(), indent=2, ensure_ascii=False)
        (staging / "placement.json").write_text(told + "\n", "utf-8")

    with target:
        found = place(trace, policy=policy, handles=handles, overrides=settings, apply=apply)
        folder = target.write(fill)
    output.give(found.to_dict())
    output.say(found.text())
    output.say(f"table      {one_line(folder / 'placement.csv')}")
    return STATUS_DONE
