"""How long a live drive would last at the rate at which it has been written."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from floatgate.live.history import Sample
from floatgate.report.sections.rating import SECONDS_PER_YEAR

OBSERVED_MIN_S = 60.0
"""A rate that was observed for less says nothing about years."""
SEGMENTS = 10
_T = 2.262
"""Student's t for 95 % and ten segments."""


def at_rate(samples: Sequence[Sample], rated_erases: float, capacity_bytes: int) -> dict[str, Any]:
    """Forecast the life of the average block at the observed rate, from a new drive on.

    The interval is that of the mean rate of ten equal parts of the observation. It says how far the rate varied while
    the drive was watched, not what the program will do next week.

    Args:
        samples: counts at equal distances.
        rated_erases: erases that a block endures.
        capacity_bytes: of the flash.

    Returns:
        ``years``, ``low``, ``high`` (None without an upper end) and ``observed_s``; ``years`` None where it was
        observed for less than a minute, or nothing was written.
    """
    observed_s = samples[-1]["uptime_s"] - samples[0]["uptime_s"] if samples else 0.0
    none = {"years": None, "low": None, "high": None, "observed_s": observed_s}
    if observed_s < OBSERVED_MIN_S or len(samples) < SEGMENTS + 1:
        return none
    rates = _rates(samples)
    mean = sum(rates) / len(rates)
    if mean <= 0.0:
        return none
    spread = math.sqrt(sum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1))
    beside = _T * spread / math.sqrt(len(rates))
    total = rated_erases * capacity_bytes / SECONDS_PER_YEAR
    high = total / (mean - beside) if mean > beside else None
    return {"years": total / mean, "low": total / (mean + beside), "high": high, "observed_s": observed_s}


def _rates(samples: Sequence[Sample]) -> list[float]:
    """Return the bytes that the flash programmed per second in each of ten equal parts of the time."""
    first, last = samples[0]["uptime_s"], samples[-1]["uptime_s"]
    step = (last - first) / SEGMENTS
    written = [_at(samples, first + step * number) for number in range(SEGMENTS + 1)]
    return [(after - before) / step for before, after in itertools.pairwise(written)]


def _at(samples: Sequence[Sample], uptime_s: float) -> float:
    """Return the bytes that the flash had programmed at a time, between two samples in proportion."""
    for before, after in itertools.pairwise(samples):
        if after["uptime_s"] >= uptime_s:
            width = after["uptime_s"] - before["uptime_s"]
            share = (uptime_s - before["uptime_s"]) / width if width > 0 else 1.0
            return before["flash_bytes"] + share * (after["flash_bytes"] - before["flash_bytes"])
    return samples[-1]["flash_bytes"]
