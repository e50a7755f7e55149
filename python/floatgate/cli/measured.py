"""Readings of the drive in use beside a forecast: host writes per day of both, and a warning where they differ.

The readings change no figure of a forecast: their write amplification is that of the drive in use, with its spare space
and its policies, and their rate belongs to the days between them. What they can show is whether the workload of the
forecast writes as much as the real one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from floatgate.base import units
from floatgate.base.text_table import named
from floatgate.lab.counters import collecting
from floatgate.lab.counters.facts import of_series
from floatgate.report.sections.forecast import host_writes

_NO_TIMES = "the readings have no times; documents behind date lines, or smartctl --json, have them"
_APART = 2.0
"""Rates that differ by more than this factor make a warning."""

Readings = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--counters",
        metavar="BEFORE AFTER",
        help="Two readings of the drive in use (floatgate counters): compare its host writes per day with those of the "
        "workload.",
    ),
]

Facts = dict[str, Any]


def measured(readings: tuple[str, str] | None) -> Facts | None:
    """Return the figures of two readings, read before any other work is done.

    Raises:
        InputError: they cannot be read, or count nothing.
    """
    return None if readings is None else of_series(collecting.series(readings, collecting.Wanted()))


def beside(facts: Facts | None, results: Iterable[Mapping[str, Any] | None]) -> str:
    """Return the lines to print below a forecast or a plan; empty without readings.

    Args:
        facts: the figures of the readings.
        results: the forecasts, whose workload is the same.
    """
    if facts is None:
        return ""
    total = facts["total"]
    per_day, waf = total["host_bytes_per_day"], total["waf"]
    if per_day is None:
        why = "the host's bytes are not counted" if total["host_bytes"] is None else _NO_TIMES
        return named([("counters", f"no rate to compare: {why}")])
    text = f"the drive in use takes {units.decimal_bytes(per_day)} of host writes per day"
    if waf is not None:
        text += f", with a write amplification of {units.figure(waf)} of its own, which no figure here uses"
    requested = next((rate for rate in map(_requested_per_day, results) if rate), None)
    if requested is None or not per_day:
        return named([("counters", text)])
    ratio = requested / per_day
    lines = [("counters", f"{text}; the workload here writes {units.decimal_bytes(requested)} per day")]
    if not 1 / _APART <= ratio <= _APART:
        times = f"{units.figure(ratio)} times" if ratio > 1 else f"1/{units.figure(1 / ratio)} of"
        warning = (
            f"the workload writes {times} what the drive in use takes; lives change in this proportion: check that the "
            "trace stands for whole days, or change its times (floatgate trace convert --time-scale "
            f"{units.figure(ratio)})"
        )
        lines.append(("warning", warning))
    return named(lines)


def _requested_per_day(result: Mapping[str, Any] | None) -> float | None:
    """Return the host bytes per day that the workload of a forecast requests."""
    if result is None:
        return None
    return host_writes.requested_bytes_per_day(result)
