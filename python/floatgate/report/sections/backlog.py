"""Timed drives that fell behind the stamps of their requests: latencies have a growing queue, days measure speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look

COLUMNS = ("workload.arrival", "latency_us.arrivals_s", "span_s")
"""Columns of flat tables that say whether a drive fell behind."""
_LAG = 1.1
"""Time of the run over that of the arrivals from which on a queue grows; the last requests may take a moment."""
_REMEDY = 'use more channels or dies, or workload.arrival = "closed"'


def spans(result: Mapping[str, Any] | None) -> tuple[float, float] | None:
    """Return within how many seconds requests arrived and how long they took; None where the drive kept up."""
    return _spans(
        look(result, "config", "workload", "arrival"), look(result, "latency_us", "arrivals_s"), look(result, "span_s")
    )


def spans_of_row(row: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the same of a flat row with the columns :data:`COLUMNS`."""
    return _spans(*(row.get(key) for key in COLUMNS))


def _spans(arrival: Any, arrived_s: Any, served_s: Any) -> tuple[float, float] | None:
    if not arrived_s or not served_s or arrival != "open" or served_s < _LAG * arrived_s:
        return None
    return float(arrived_s), float(served_s)


def remark(result: Mapping[str, Any]) -> str | None:
    """Note that a timed drive fell behind the stamps of its requests, where it did."""
    both = spans(result)
    if both is None:
        return None
    arrived, served = map(units.span, both)
    return (
        f"the drive could not keep up: requests that arrived within {arrived} took {served}; "
        f"latencies include the growing queue, and life counts the longer time ({_REMEDY})"
    )


def notes(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Name the settings under which the drive fell behind; their lives are compared in bytes.

    Args:
        results: by the labels of the settings.
    """
    behind = {label: both for label, result in results.items() if (both := spans(result)) is not None}
    if not behind:
        return []
    arrived = units.span(max(one for one, _ in behind.values()))
    low, high = (units.span(most(one for _, one in behind.values())) for most in (min, max))
    took = high if low == high else f"{low} to {high}"
    named = section.which(list(behind), len(results), section.LISTED_MAX)
    fact = f"{named}: the drive could not keep up: requests that arrived within {arrived} took {took}"
    return [f"{fact}. Latencies include the growing queue, and rates are what the drive can do ({_REMEDY})."]


SECTION = section.Section("backlog", remarks=lambda result: [remark(result)], notes=notes)
"""Remarks on drives that fell behind."""
