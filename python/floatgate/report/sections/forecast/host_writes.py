"""What the host writes in a forecast life: TBW until the flash is worn out, and drive writes per day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import growing, section
from floatgate.report.sections.forecast import entry, load
from floatgate.report.sections.lifetime_headline import tbw_text
from floatgate.results.result_view import look

Facts = Mapping[str, Any]

_ALL = 0.9995
"""From this share on the whole demand counts as written: the digits shown are the same."""
_DAYS = 365.0
"""Days of a year of forecasts."""


def tbw_bytes(result: Facts) -> float | None:
    """Return the host bytes until the first block is worn out if wear is uneven, else until the average one is.

    None where a life has no end, or the rate of the workload is not known.
    """
    years, a_year = entry.life_that_counts(result), entry.host_bytes_per_year(result)
    return years * a_year * growing.written_of(years, result) if years is not None and a_year is not None else None


def written_per_day(result: Facts) -> float | None:
    """Drive writes per day (of the visible capacity) that the host does, held back as it is."""
    a_year, visible = entry.host_bytes_per_year(result), look(result, "drive", "logical_bytes")
    return a_year / _DAYS / visible if a_year is not None and visible else None


def requested_per_day(result: Facts) -> float | None:
    """Return the drive writes per day that the workload requests: more than it does if a throttle holds it back."""
    written, share = written_per_day(result), entry.served(result)
    return None if written is None else written / share if share else written


def requested_bytes_per_day(result: Facts) -> float | None:
    """Return the host bytes per day that the workload requests; None if it has no times."""
    visible, drive_writes = look(result, "drive", "logical_bytes"), requested_per_day(result)
    return None if visible is None or drive_writes is None else float(visible * drive_writes)


def line(result: Facts) -> str | None:
    """Format as ``292 TBW until the average block wears out; 0.56 drive writes per day``; None if neither is known."""
    phrases = [text for text in (_tbw(result), _per_day(result)) if text is not None]
    return "; ".join(phrases) or None


def per_day(result: Facts) -> str | None:
    """Format as ``18.8 GB written by the host, 0.039 drive writes``: the demand, whatever a throttle lets through.

    None if the workload has no times.
    """
    written, drive_writes = entry.demand_bytes_per_day(result), entry.drive_writes_per_day(result)
    if written is None:
        return None
    text = f"{units.decimal_bytes(written)} written by the host{_at_the_start(result)}"
    times = at_another_rate(result)
    text += "" if drive_writes is None else f", {units.figure(drive_writes, 2)} drive writes"
    return text if times is None else f"{text}; {times}"


def at_another_rate(result: Facts | None) -> str | None:
    """Format as ``81.8 times the workload's own rate of 4.28 GB per day (--demand)``; None at that rate."""
    factor, own = entry.demand_factor(result), entry.own_bytes_per_day(result)
    if factor == 1.0 or own is None:
        return None
    return f"{units.factor(factor)} times the workload's own rate of {units.decimal_bytes(own)} per day (--demand)"


def _tbw(result: Facts) -> str | None:
    tbw = tbw_bytes(result)
    return None if tbw is None else f"{tbw_text(tbw)} until {_block(result)} wears out"


def _block(result: Facts) -> str:
    return "the average block" if entry.first_block_years(result) is None else "the first block"


def _per_day(result: Facts) -> str | None:
    requested, written = requested_per_day(result), written_per_day(result)
    if requested is None or written is None:
        return None
    text = f"{units.figure(requested, 2)} drive writes per day{_at_the_start(result)}"
    if load.overloaded(result):
        return f"{text} requested"
    return text if written >= _ALL * requested else f"{text} requested, {units.figure(written, 2)} written"


def _at_the_start(result: Facts) -> str:
    """Name the demand that is meant, if it changes over the years."""
    return " at the start" if growing.per_year(result) else ""


def cards(result: Facts) -> list[section.Card]:
    """Return the cards of TBW and drive writes per day."""
    tbw, requested, written = tbw_bytes(result), requested_per_day(result), written_per_day(result)
    made = []
    if tbw is not None:
        made.append(("TBW of the flash", tbw_text(tbw), f"written by the host until {_block(result)} wears out"))
    if requested is not None and written is not None:
        below = f"drive writes per day that the workload requests{_at_the_start(result)}, of the visible capacity"
        below += "" if written >= _ALL * requested else f"; {units.figure(written, 2)} are written"
        made.append(("DWPD", units.figure(requested, 2), below))
    return made
