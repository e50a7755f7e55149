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
    policy: Annotated[str, typer.Option(metavar="NAME", help="The separator: pds or ids.")] = "pds",
    handles: Annotated[int, typer.Option(metavar="N", help="Number of placement handles of the drive.")] = 8,
    apply: Annotated[
        str | None,
        typer.Option(metavar="OTHER.parquet", help="Also evaluate the table on another recording of the program."),
    ] = None,
    drive: o.Drive = None,
    capacity: o.Capacity = None,
    set: o.Set = None,
    out: o.Out = None,
    force: o.Force = False,
    json: o.BareJson = False,
    quiet: o.Quiet = False,
) -> int:
    """Assign a placement handle (NVMe FDP, streams, write hints) to each program context.

    The trace must come from floatgate trace record. The folder gets the table, placement.csv, and placement.json.
    By default the drive is sized to the data that the trace writes, plus 15 %; --drive and --set override this.
    With --apply, contexts of the other recording get their handle from the table, or 0 if the table lacks them.
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
