"""What the flash of a run did, by cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.pages.causes import by_cause, cause
from floatgate.pages.parts import Box, Cell, Charts, Grid, Part, Section, Swatch, Text, figure
from floatgate.report.sections import run_charts, section
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView


def line(result: dict[str, Any]) -> str | None:
    """Format as ``52 % host, 47 % garbage collection, 1 % partial pages``: shares of the programs, without padding."""
    counts = look(result, "flash", "pages_written") or look(result, "flash", "programs") or {}
    parts = by_cause(counts)
    total = counts.get("total") or sum(value for _, value in parts)
    return ", ".join(f"{units.share(value / total)} {cause(name).label}" for name, value in parts) if total else None


def parts(run: RunView, result: dict[str, Any]) -> list[Part]:
    """Return a chart and a table of flash work by cause; nothing where nothing was programmed."""
    flash = look(result, "flash") or {}
    programs = look(flash, "programs") or {}
    total = programs.get("total")
    if not total:
        return []
    rows: list[list[Cell]] = []
    for name in _causes(flash):
        entry = cause(name)
        done = programs.get(name, 0)
        rows.append(
            [
                Swatch(entry, entry.label),
                f"{done:,}".replace(",", " "),
                units.share(done / total),
                *(section.count(look(flash, kind, name)) for kind in ("reads", "erases")),
                _time(look(flash, "time_s", name)),
            ]
        )
    header = ["cause", "programs", "share", "reads", "erases", "time"]
    chart = figure(
        "shares",
        "Flash work by cause",
        "Share of each cause. Time is the busy time of the flash, summed over its operations.",
        lambda width: run_charts.shares(run, width),
    )
    beside = Charts([chart, Box([Grid(header, rows), *_collected(look(result, "gc") or {})])])
    return [Section("Programs and time by cause", [beside])]


def _collected(gc: dict[str, Any]) -> list[Part]:
    """Count the collected blocks, and the valid pages left in them."""
    if not gc.get("victims"):
        return []
    copied = gc.get("copied_pages_per_victim")
    per = "" if copied is None else f", {units.figure(copied)} pages copied from each"
    dead = gc.get("dead_victims")
    left = "" if dead is None else f"; {section.count(dead)} had no valid page left"
    return [Text(f"{section.count(gc['victims'])} blocks collected{per}{left}.")]


def _causes(flash: dict[str, Any]) -> list[str]:
    together: dict[str, float] = {}
    for kind in ("programs", "reads", "erases"):
        for name, value in by_cause(look(flash, kind) or {}):
            together[name] = together.get(name, 0) + value
    return [name for name, _ in by_cause(together)]


def _time(value: Any) -> str:
    return "-" if value is None else units.span(value)


def remarks(result: dict[str, Any]) -> list[str]:
    """Note that nothing was collected, and reads of pages that were never written."""
    phrases = []
    if look(result, "gc", "victims") == 0 and look(result, "flash", "programs", "total"):
        phrases.append("no block was collected: the spare space was not yet used")
    unmapped = look(result, "flash", "unmapped_reads")
    if unmapped:
        phrases.append(f"{units.count(unmapped)} pages read that were never written (they cost no flash read)")
    return phrases


def alike(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Return whether two runs did the same, operation by operation."""
    counts = [tuple(look(one, key) for key in ("seed", "host", "flash", "gc", "wear")) for one in (ours, theirs)]
    return counts[0] == counts[1] and counts[0][2] is not None


def cells(result: dict[str, Any], _difference: section.Difference | None) -> list[str]:
    """Return the shares of the host and of everything else."""
    counts = look(result, "flash", "pages_written") or look(result, "flash", "programs") or {}
    total = counts.get("total")
    if not total:
        return ["-", "-"]
    host = counts.get("host", 0)
    return [units.share(host / total), units.share((total - host) / total)]


def victim_cells(result: dict[str, Any], _difference: section.Difference | None) -> list[str]:
    """Return what collection copied from a victim, and how many victims had nothing left to copy."""
    copied, dead = look(result, "gc", "copied_pages_per_victim"), look(result, "gc", "dead_victims")
    return ["-" if copied is None else units.figure(copied), section.count(dead)]


_VICTIMS = section.Columns(
    ["pages copied per victim", "victims without valid pages"],
    victim_cells,
    applies=lambda result: bool(look(result, "gc", "victims")),
    page_only=True,
)

SECTION = section.Section(
    "programs",
    lines=lambda _, result: [("programs", line(result))],
    parts=parts,
    remarks=remarks,
    columns=[section.Columns(["host", "moved"], cells), _VICTIMS],
)
