"""``floatgate counters``: write amplification and wear from a drive's own logs."""

from __future__ import annotations

import contextlib
import functools
import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from floatgate import _core
from floatgate.base import units
from floatgate.base.errors import STATUS_DONE, input_error, meant, quote
from floatgate.base.numbers import above_zero
from floatgate.base.text_table import table
from floatgate.cli import counter_options as c
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import Pictures
from floatgate.lab.counters import collecting, summary
from floatgate.lab.counters import report as pages
from floatgate.lab.counters.attribute_table import ROWS, SURE
from floatgate.lab.counters.endurance import Endurance
from floatgate.lab.counters.facts import Rating, of_series
from floatgate.lab.counters.values import size, unit_text
from floatgate.results.folder import REPORT, RunFolder, write_text

NAME = "counters.json"
_COLUMNS = ["attribute", "numbers", "counts", "unit", "family", "how the unit is known", "remark"]
_TB = 1e12
FLASH_MAX = 1 << 60
"""Most bytes of flash of a drive."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("counters")(counters)


@g.grouped
def counters(
    readings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BEFORE AFTER [MORE ...]",
            show_default=False,
            help="Readings of one drive by smartctl, nvme-cli or a Prometheus exporter: files, logs of many, folders.",
        ),
    ] = None,
    *,
    attribute: c.Attribute = None,
    serial: c.Serial = None,
    hours: Annotated[
        float | None, typer.Option(metavar="H", help="Hours between two readings, where they have no times.")
    ] = None,
    file_times: Annotated[
        bool, typer.Option("--file-times", help="Readings without a time are from when their file was last changed.")
    ] = False,
    rated_tbw: Annotated[
        str | None, typer.Option(metavar="TB", help="Rated life: terabytes that the host may write.")
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Take rated life, flash and P/E cycles of this drive (floatgate drives)."),
    ] = None,
    flash_bytes: Annotated[
        str | None, typer.Option(metavar="N", help="All flash of the drive with its spare space, such as 8TiB.")
    ] = None,
    pe_cycles: Annotated[
        str | None, typer.Option(metavar="N", help="P/E cycles that a block endures; with --flash-bytes.")
    ] = None,
    list_attributes: Annotated[
        bool, typer.Option("--list-attributes", help="List the attributes of SATA drives that are known, and stop.")
    ] = False,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Write counters.json and report.html to a folder.")
    ] = None,
    force: o.Force = False,
    json: o.Json = None,
    report: o.Report = None,
    pictures: Pictures,
    quiet: o.Quiet = False,
) -> int:
    """Measure write amplification, rates and the rest of the life from a drive's own logs.

    Logs of one moment may be in several files: BEFORE.smart BEFORE.ocp AFTER.smart AFTER.ocp. See docs/counters.md.
    """
    output = Output(json, quiet=quiet, force=force)
    if list_attributes:
        return _listed(output)
    if not readings:
        raise input_error("no readings; expected two files of one drive or more, as in counters BEFORE.json AFTER.json")
    rating, endurance = _lives(drive, rated_tbw, flash_bytes, pe_cycles)
    wanted = collecting.Wanted(c.stated(attribute), serial, file_times)
    drawn = pictures.checked(out, force=force)
    folder = None if out is None else RunFolder.named(out, force=force)
    if folder is not None and json not in (None, "-"):
        folder.expect(json)
    draws = output.draws(report)
    with folder or contextlib.nullcontext():
        facts = of_series(collecting.series(readings, wanted), rating, c.hours(hours), endurance)
        place = None if folder is None else _write(folder, facts, draws=draws)
    output.give(facts)
    output.say(summary.screen(facts))
    if place is not None:
        output.say(o.place_line(place, report=draws))
    if drawn is not None:
        drawn.write(functools.partial(pages.page, facts, o.command_line()))
        output.say(drawn.line())
    return STATUS_DONE


def _write(folder: RunFolder, facts: dict[str, Any], *, draws: bool) -> Path:
    """Write the figures, and the report if it is wanted."""

    def fill(staging: Path, _: Path) -> None:
        text = json_module.dumps(facts, indent=2, ensure_ascii=False)
        write_text(str(staging / NAME), f"{text}\n", "a file for the figures")

    def remove_old(target: Path) -> None:
        (target / REPORT).unlink(missing_ok=True)

    page = functools.partial(pages.page, facts, o.command_line()) if draws else None
    return folder.write(fill, remove_old, page)


def _entry(drive: str) -> dict[str, Any]:
    """Return a drive of the catalogue.

    Raises:
        InputError: the catalogue has no such drive.
    """
    entries = json_module.loads(_core.catalogue(("drives",)))["drives"]
    entry: dict[str, Any] | None = next((entry for entry in entries if entry["name"] == drive), None)
    if entry is None:
        names = [entry["name"] for entry in entries]
        raise input_error(f"--drive: unknown drive {quote(drive)}; {meant(drive, names, 'floatgate drives')}")
    return entry


def _lives(
    drive: str | None, rated_tbw: str | None, flash_bytes: str | None, pe_cycles: str | None
) -> tuple[Rating | None, Endurance | None]:
    """Return the rated life and what the flash endures; of the drive of the catalogue where an option names none.

    Raises:
        InputError: the drive is unknown or has neither; an option has no such figure.
    """
    entry = None if drive is None else _entry(drive)
    rating, endurance = _rating(rated_tbw, entry), _endurance(flash_bytes, pe_cycles, entry)
    if entry is not None and rating is None and endurance is None:
        raise input_error(f"--drive: {quote(entry['name'])} has no rating; expected --rated-tbw TB of its data sheet")
    return rating, endurance


def _rating(rated_tbw: str | None, entry: dict[str, Any] | None) -> Rating | None:
    """Return the rated life that the options name.

    Raises:
        InputError: it is no figure, or stands twice.
    """
    if rated_tbw is not None and entry is not None:
        raise input_error("--rated-tbw and --drive exclude each other; expected one of them")
    if rated_tbw is not None:
        terabytes = above_zero("--rated-tbw", rated_tbw, "not an amount of data", "terabytes, more than 0, such as 600")
        return None if terabytes is None else Rating(terabytes * _TB, "--rated-tbw")
    rated = (entry or {}).get("rated") or {}
    if entry is None or not rated.get("tbw_bytes"):
        return None
    return Rating(rated["tbw_bytes"], f"the catalogue's {entry['name']}", rated.get("user_bytes"))


def _endurance(flash_bytes: str | None, pe_cycles: str | None, entry: dict[str, Any] | None) -> Endurance | None:
    """Return what the flash endures, by the options, else by the catalogue's drive.

    Raises:
        InputError: a figure is none, or one of the two is missing.
    """
    cycles = above_zero("--pe-cycles", pe_cycles, "not a number of cycles", "cycles, more than 0, such as 3000")
    flash = None if flash_bytes is None else size(flash_bytes, FLASH_MAX)
    if flash_bytes is not None and flash is None:
        raise input_error(f"--flash-bytes: {quote(flash_bytes)} is no size of flash; expected bytes, such as 8TiB")
    sources = [name for name, value in (("--flash-bytes", flash), ("--pe-cycles", cycles)) if value is not None]
    if entry is not None:
        flash, cycles = flash or entry["physical_bytes"], cycles or entry["pe_cycles"]
        sources += [f"the catalogue's {entry['name']}"][len(sources) // 2 :]
    if not flash or not cycles:
        if sources and entry is None:
            other = "--pe-cycles" if flash else "--flash-bytes"
            raise input_error(f"{sources[0]}: alone gives no life; expected it with {other}, or --drive NAME")
        return None
    return Endurance(float(flash), float(cycles), ", ".join(sources))


def _listed(output: Output) -> int:
    """List the attributes that are known."""
    rows: list[dict[str, Any]] = [
        {
            "name": row.name,
            "numbers": list(row.numbers),
            "role": "programs" if row.programs else row.role.value,
            "unit_bytes": row.unit_bytes,
            "family": row.family or None,
            "sure": None if row.unit_bytes is None and row.sure == "name" else SURE[row.sure],
            "note": row.note,
        }
        for row in ROWS
    ]
    output.give({"attributes": rows})
    if not output.prints_json:
        cells: list[list[str]] = [
            [
                row["name"],
                ", ".join(map(str, row["numbers"])),
                row["role"],
                "" if row["unit_bytes"] is None else unit_text(row["unit_bytes"]),
                row["family"] or "",
                row["sure"] or "",
                row["note"],
            ]
            for row in rows
        ]
        output.say(table(_COLUMNS, cells))
        output.say(f"\n{units.counted(len(rows), 'attribute')}; other names are read by what they say")
    return STATUS_DONE
