"""The energy of a run: joules by operation and cause."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.pages.causes import by_cause, cause
from floatgate.pages.parts import Box, Cell, Charts, Grid, Part, Section, Swatch, Text, figure
from floatgate.report.sections import latency_charts, section
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView


def line(result: dict[str, Any]) -> str | None:
    """Format as ``12.4 J (61 % host, 39 % garbage collection)``; None where the experiment gives no energies."""
    table = look(result, "energy") or {}
    total, parts = table.get("total_j"), by_cause(table.get("by_cause_j") or {})
    if total is None or engines_alone(table):
        return None
    phrases = [f"{units.share(value / total)} {cause(name).label}" for name, value in parts]
    if look(table, "by_operation_j", "program") is None and "hash" in (table.get("by_operation_j") or {}):
        phrases.append("programs not counted: the drive does not say what one takes")
    return f"{units.joules(total)} ({', '.join(phrases)})" if phrases else units.joules(total)


def engines_alone(table: dict[str, Any]) -> bool:
    """Return whether energies are only known of hash and compressor, since the drive says none of its flash."""
    flash = ("read", "program", "erase", "transfer")
    known = table.get("by_operation_j") or {}
    return bool(known) and all(known.get(name) is None for name in flash)


def cards(result: dict[str, Any]) -> list[section.Card]:
    """Return the total; nothing where it is of hash and compressor alone."""
    energy = look(result, "energy") or {}
    if energy.get("total_j") is None or engines_alone(energy):
        return []
    name = "energy" if "hash" in (energy.get("by_operation_j") or {}) else "energy of the flash"
    return [(name, units.joules(energy["total_j"]), basis(energy))]


def parts(run: RunView, result: dict[str, Any]) -> list[Part]:
    """Return joules by operation and cause; nothing where the experiment gives no energies."""
    table = look(result, "energy")
    if not table:
        return []
    chart = figure(
        "energy",
        "Energy by operation and cause",
        _measured(table),
        lambda width: latency_charts.energy(run, width),
    )
    operations = [name for name, joules in (table.get("by_operation_j") or {}).items() if name != "total"]
    known = [name for name in operations if table["by_operation_j"][name] is not None]
    total = table.get("total_j") or 0.0
    rows: list[list[Cell]] = []
    by = table.get("by_cause_j") or {}
    for name, joules in [*by_cause(by), ("total", by.get("total") or 0.0)]:
        entry = cause(name)
        first = "total" if name == "total" else Swatch(entry, entry.label)
        split = [look(table, f"{operation}_j", name) for operation in known]
        rows.append(
            [
                first,
                units.joules(joules),
                units.share(joules / total) if total else "-",
                *("-" if part is None else units.joules(part) for part in split),
            ]
        )
    header = ["cause", "energy", "share", *(latency_charts.OPERATIONS.get(name, name) for name in known)]
    source = basis(table)
    below = [Text(f"{source[:1].upper()}{source[1:]}.")] if source else []
    return [Section("Energy", [Charts([chart, Box([Grid(header, rows), *below])])])]


def _measured(table: dict[str, Any]) -> str:
    """Describe what the joules include."""
    engines = "hash" in (table.get("by_operation_j") or {})
    if engines_alone(table):
        return "Hash and compressor only: the drive does not say what flash takes."
    return "Flash, hash and compressor." if engines else "Flash only: arrays and channels."


def basis(table: dict[str, Any]) -> str:
    """Format as ``0.21 uJ per byte written by the host; no figure for reads and erases``."""
    phrases = []
    per_byte = table.get("j_per_host_byte_written")
    if per_byte:
        phrases.append(f"{units.joules(per_byte)} per byte written by the host")
    missing = [
        latency_charts.OPERATIONS.get(name, name)
        for name, joules in (table.get("by_operation_j") or {}).items()
        if joules is None
    ]
    if missing:
        listed = ", ".join(missing[:-1]) + (" and " if missing[:-1] else "") + missing[-1]
        phrases.append(f"no figure for {listed}")
    return "; ".join(phrases)


SECTION = section.Section("energy", lines=lambda _, result: [("energy", line(result))], cards=cards, parts=parts)
