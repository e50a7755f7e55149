"""``floatgate placement``."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.errors import STATUS_DONE, one_line
from floatgate.base.progress import busy
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.results.folder import RunFolder

By = Annotated[
    str,
    typer.Option(
        metavar="KEY", help="What gets a handle: context, file, path-pattern, process, thread or fd (descriptor)."
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="pds or ids (--by context only), or lifetime. Default: pds or lifetime."),
]
Handles = Annotated[int, typer.Option(metavar="N", help="Number of placement handles of the drive.")]
Isolation = Annotated[
    str,
    typer.Option(
        metavar="TYPE",
        help="Where moved pages go: persistent (stay with their handle), persistent-apart (the same, in units of "
        "their own) or initial (one unit for all handles).",
    ),
]
ReclaimUnit = Annotated[
    int | None,
    typer.Option("--reclaim-unit-kib", metavar="N", help="Size of a reclaim unit. Default: a block of the drive."),
]
Apply = Annotated[
    str | None,
    typer.Option(metavar="OTHER.parquet", help="Also evaluate the table on another recording of the program."),
]
Format = Annotated[
    str,
    typer.Option(
        metavar="FORMAT",
        help="table, csv (print the table), fio (a job for FDP), fcntl (hints by path, and a library that sets them) "
        "rocksdb (its hints, as text) or live (exports of a live drive).",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("placement")(placement)


def placement(
    trace: Annotated[str, typer.Argument(metavar="TRACE.parquet", show_default=False, help="A recording.")],
    by: By = "context",
    policy: Policy = None,
    handles: Handles = 8,
    isolation: Isolation = "persistent",
    reclaim_unit_kib: ReclaimUnit = None,
    apply: Apply = None,
    format: Format = "table",
    drive: o.Drive = None,
    capacity: o.Capacity = None,
    set: o.Set = None,
    out: o.Out = None,
    force: o.Force = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> int:
    """Assign placement handles (NVMe FDP, streams, write hints) to contexts, files or writers of a program.

    The trace must come from floatgate trace record. The folder gets the table, placement.csv, and placement.json, and
    what --format names. Simpler rules run on the same drive; the answer begins with the best of all.
    By default the drive is sized to the data that the trace writes, plus 15 %; --drive and --set override this.
    With --apply, keys of the other recording get their handle from the table, or 0 if the table lacks them.
    """
    from floatgate.placement import place
    from floatgate.placement.formats import check, files_of, usage_of

    output = Output(json, quiet=quiet, force=force)
    check(format, by)
    settings = g.built(None, g.Source(drive=drive, capacity=capacity), sets=set).overrides
    target = RunFolder.default(f"placement-{Path(trace).stem}") if out is None else RunFolder.named(out, force=force)

    def fill(staging: Path, _final: Path) -> None:
        document = json_module.dumps(answer.to_dict(), indent=2, ensure_ascii=False) + "\n"
        for name, text in {"placement.csv": answer.table(), "placement.json": document, **files}.items():
            (staging / name).write_text(text, "utf-8")

    with target:
        with busy(Path(trace).name, quiet=quiet):
            answer = place(
                trace,
                by=by,
                policy=policy,
                handles=handles,
                isolation=isolation,
                reclaim_unit_kib=reclaim_unit_kib,
                overrides=settings,
                apply=apply,
            )
        files = files_of(format, answer)
        folder = target.write(fill)
    output.give(answer.to_dict())
    if format == "csv" and not (quiet or output.prints_json):
        sys.stdout.write(answer.table())
        return STATUS_DONE
    output.say(answer.text())
    output.say(f"table      {one_line(folder / 'placement.csv')}")
    if (usage := usage_of(format, one_line(folder.resolve()))) is not None:
        output.say(f"{format:<10} {usage}")
    return STATUS_DONE
