"""The interval in which a forecast life lies, and what it is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from floatgate.base import units
from floatgate.report.sections.lifetime_headline import UNEVEN
from floatgate.results.result_view import look

SLACK = 1e-3
"""A target counts as met a thousandth below it, as in the forecast itself."""

BELOW = "met, but the interval reaches below"
"""Judgement of a target that the life meets and the lower end of its interval misses."""

SOURCES = {
    "waf": "the error of write amplification",
    "days": "day-to-day variation of the trace",
    "hours": "hour-to-hour variation of the trace",
    "blocks": "the spread of block endurance",
    "wear": "the first block where wear is uneven",
}
"""The sources of an interval, in words."""


@dataclass(frozen=True)
class LifeRange:
    """Where a life lies in 19 of 20 cases, as far as the sources are known.

    Attributes:
        low: the shortest, in years.
        high: the longest; None where it has no end.
        sources: keys of :data:`SOURCES`.
        target: the years that the life should have; None for none.
    """

    low: float
    high: float | None
    sources: tuple[str, ...]
    target: float | None = None

    @property
    def text(self) -> str:
        """``4.7-5.4 years``, ``5.0 years (WAF alone)``; one figure where both ends read alike."""
        # A narrow interval must not look as if all were known.
        return f"{self.ends} (WAF alone)" if self.sources == ("waf",) else self.ends

    @property
    def ends(self) -> str:
        """Both ends without their source: ``4.7-5.4 years``; one figure where both read alike."""
        return between(units.life(self.low, self.target), units.life(self.high, self.target))

    def ended_by(self, rated_years: float | None) -> LifeRange | None:
        """Return the interval of a life that ends by the rating at the latest; None if it ends by it in all cases.

        Rated bytes are bytes of the host: neither write amplification nor wear changes when they are written.
        """
        if rated_years is None or (self.high is not None and self.high <= rated_years):
            return self
        return None if self.low >= rated_years else replace(self, high=rated_years)

    def reaches_below(self, target_years: float) -> bool:
        """Return whether the target may be missed."""
        return self.low < target_years * (1 - SLACK)


def of(result: Mapping[str, Any] | None) -> LifeRange | None:
    """Return the interval of a forecast; None where no source is known.

    Where wear is uneven it begins with the life of the first block.
    """
    years = look(result, "lifetime", "years")
    if result is None or years is None:
        return None
    low, high = look(result, "lifetime", "years_range") or (years, years)
    sources = list(look(result, "lifetime", "years_range_from") or [])
    first, first_range = uneven(result), look(result, "lifetime", "years_first_block_range")
    if first is not None:
        shortest = first if first_range is None else first_range[0]
        low = min(low, shortest * low / years)
        sources.append("wear")
    target = look(result, "lifetime", "target_years")
    return LifeRange(low, high, tuple(sources), target) if sources and low is not None else None


def uneven(result: Mapping[str, Any] | None) -> float | None:
    """Return years of the first block where it wears out long before the average one; None where wear is even."""
    life, first = (look(result, "lifetime", key) for key in ("years", "years_first_block"))
    return float(first) if life and first and life > UNEVEN * first else None


def between(low: str, high: str) -> str:
    """Format two figures with their units as a range: ``4.7-5.4 years``, ``300 days to 1.2 years``."""
    if low == high:
        return low
    (first, *unit), (_, *other) = low.split(" ", 1), high.split(" ", 1)
    return f"{first}-{high}" if unit == other and first[:1].isdigit() else f"{low} to {high}"


def served_text(result: Mapping[str, Any] | None) -> str:
    """Format as ``64 % (51-82 %)``: the share of the workload that is written in the target time, and its interval."""
    share = look(result, "throttle", "demand_share")
    if share is None:
        return "-"
    ends = look(result, "throttle", "demand_share_range")
    text = units.share(share)
    known = "" if ends is None else between(*(units.share(end) for end in ends))
    return text if known in ("", text) else f"{text} ({known})"


NO_INTERVAL = "rating"
"""What stands for the interval of a life that ends by the rating in all cases (:meth:`LifeRange.ended_by`)."""


def basis(results: Sequence[Mapping[str, Any]]) -> str | None:
    """Describe the sources of the intervals of several forecasts, and what is not known; None without intervals."""
    ranges = [life for life in map(of, results) if life is not None]
    if not ranges:
        return None
    known = [name for name in SOURCES if any(name in life.sources for life in ranges)]
    includes, ignores = ("the interval (95 %) includes", "it ignores")
    if len(results) > 1:
        includes, ignores = ("intervals (95 %) include", "they ignore")
    text = f"{includes} {_list([SOURCES[name] for name in known])}"
    missing = []
    if "waf" not in known:
        missing.append(SOURCES["waf"])
    generated = all(look(result, "workload", "kind") == "synthetic" for result in results)
    if not generated and not {"days", "hours"} & set(known):
        missing.append("day-to-day variation (the trace is shorter than four hours)")
    if "blocks" not in known:
        missing.append(f"{SOURCES['blocks']} (lifetime.forecast.cycles_spread)")
    return text + (f"; {ignores} {_list(missing)}" if missing else "")


def _list(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
