"""Demand that grows by a share each year, as in ``lifetime/src/demand_growth.rs``; and the trend of a trace."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.results.result_view import look

Facts = Mapping[str, Any] | None

_NOTEWORTHY = 0.2
"""The smallest change over the whole trace, as a share of its mean, that is reported."""


def per_year(result: Facts) -> float:
    """Return the share by which demand grows each year."""
    return float(look(result, "lifetime", "growth_per_year") or 0.0)


def years_of(years: float, result: Facts) -> float:
    """Return after how many years the writes equal those of ``years`` without growth; infinite if they never do."""
    rate = math.log1p(per_year(result))
    if rate == 0.0:
        return years
    return math.log1p(years * rate) / rate if years * rate > -1.0 else math.inf


def written_of(years: float, result: Facts) -> float:
    """Return the writes of this many years, relative to the same years without growth."""
    rate = math.log1p(per_year(result))
    return math.expm1(rate * years) / (rate * years) if rate and years else 1.0


def times_as_much(years: float, than_years: float, result: Facts) -> float:
    """Return how many times as much is written in one span of years as in another: the factor of the drive's size."""
    return years * written_of(years, result) / (than_years * written_of(than_years, result))


def words(result: Facts) -> str | None:
    """Format as ``demand growing 20 % a year``; None where it does not."""
    share = per_year(result)
    return f"demand {'growing' if share > 0 else 'shrinking'} {units.share(abs(share))} a year" if share else None


def remark(result: Facts) -> str | None:
    """Note that the trace itself grows or shrinks, where that is certain and not a little; None else."""
    parts = look(result, "pass", "parts") or {}
    trend, error, written = parts.get("trend"), parts.get("trend_95"), parts.get("written_bytes") or []
    if trend is None or error is None or abs(trend) <= error or abs(trend) * (len(written) - 1) < _NOTEWORTHY:
        return None
    goes = f"{'grows' if trend > 0 else 'shrinks'} by {units.share(abs(trend))} of its mean"
    name = str(parts["are"]).removesuffix("s")
    return (
        f"what the host writes {goes} from each {name} of the trace to the next, and the forecast repeats the trace "
        "as it is; --growth says how demand goes on by the year"
    )
