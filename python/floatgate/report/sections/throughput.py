"""Requests and bytes per second of a run."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import latency, section
from floatgate.results.result_view import look


def line(result: dict[str, Any]) -> str | None:
    """Format as ``12 300 requests/s; host 12 MB/s read, 48 MB/s written; flash 60 MB/s read, 96 MB/s programmed``."""
    facts = look(result, "throughput")
    if not facts:
        return None
    mb = {name: units.figure(value) for name, value in facts.items() if value is not None}
    return (
        f"{_iops(facts['iops'])} IOPS; host {mb['read_mb_per_s']} MB/s read, {mb['write_mb_per_s']} MB/s "
        f"written; flash {mb['flash_read_mb_per_s']} MB/s read, {mb['flash_program_mb_per_s']} MB/s programmed"
    )


def cards(result: dict[str, Any]) -> list[section.Card]:
    """Return the card of IOPS."""
    rates = look(result, "throughput")
    if not rates:
        return []
    read, written = (units.figure(rates[f"{kind}_mb_per_s"]) for kind in ("read", "write"))
    return [("IOPS", _iops(rates["iops"]), f"{read} MB/s read, {written} MB/s written")]


def cells(result: dict[str, Any], _difference: section.Difference | None) -> list[str]:
    """Return the cell of IOPS."""
    iops = look(result, "throughput", "iops")
    return ["-" if iops is None else _iops(iops)]


def _iops(rate: float) -> str:
    """Format a rate, with digits behind the point where a throttle leaves less than ten requests per second."""
    return units.count(rate) if rate >= 10 else units.figure(rate)


SECTION = section.Section(
    "throughput",
    lines=lambda _, result: [("rate", line(result))],
    cards=cards,
    columns=[section.Columns(["IOPS"], cells, applies=latency.known)],
)
