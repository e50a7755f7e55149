"""How many page writes the paper's printed responses require for each 4 KiB that the host writes.

Where delays move all that follows, five years hold ``W / W_NT`` of the page writes. Each of them was then held back
``(W_NT / W - 1)`` times the time between two of them, whatever held them. Volumes and lives do not depend on the unit
of a page write, mean responses do: with K units per 4 KiB of Table 1's volume, K times as many share the same hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

GIB = float(1 << 30)
SERVICE_US = 600.0
"""Program time of a page, section 4.1."""

GIB_PER_HOUR = {"proxy": 4.94, "proj": 2.08, "exchange": 20.61, "map": 23.82, "msnfs": 18.19}
"""Table 1."""
WAF = {"proxy": 1.93, "proj": 1.62, "exchange": 2.24, "map": 1.68, "msnfs": 2.26}
"""Table 1: flash bytes for each byte that the host writes."""

MOST = 1000.0
STEPS = 200
PRINTED = {"near_nt": 2.13, "ready_over_dt": 2.57, "dt_over_st": 1.7, "ready_over_st": 4.4, "proj": 1.019}
"""Section 4.4 and the abstract."""


def held_us(trace: str, over: float, units: float) -> float:
    """Compute the mean time for which a page write is held back, us.

    Args:
        trace: a trace of Table 1.
        over: W_NT / W_work.
        units: page writes for each 4 KiB that the host writes.
    """
    return (over - 1) / (GIB_PER_HOUR[trace] * GIB / 4096 / 3600 * units) * 1e6


def required(ratio_at: Callable[[float], float], printed: float) -> float | None:
    """Return the units at which a ratio that falls with them is the printed one; None if none gives it."""
    low, high = 1e-6, MOST
    if not ratio_at(high) <= printed <= ratio_at(low):
        return None
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if ratio_at(middle) > printed else (low, middle)
    return low


def values(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the responses that Table 1 and the measured volumes force by unit, and the units that are required."""
    over = over_nt(known)
    if over is None:
        return {}
    made: dict[str, Any] = {}
    for name, units in (("1", 1.0), ("2", 2.0), ("211", 2.11), ("waf", None)):
        for figure in PRINTED:
            made[f"per_4kib.{figure}.{name}"] = quotient(over, figure, units)
    for figure, printed in PRINTED.items():
        made[f"per_4kib.{figure}.required"] = required(lambda units: quotient(over, figure, units), printed)  # noqa: B023
        made[f"per_4kib.{figure}.most"] = quotient(over, figure, 1e-6)
    made["per_4kib.proj.required"] = held_us("proj", 144.4 / 141.0, 1.0) / (SERVICE_US * (PRINTED["proj"] - 1))
    return made


def over_nt(known: Mapping[str, Any]) -> dict[str, dict[str, float]] | None:
    """Return W_NT / W_work by trace and throttle; None where a life is missing."""
    over: dict[str, dict[str, float]] = {}
    for trace in GIB_PER_HOUR:
        plain = known.get(f"tib.{trace}.none.w_work")
        for throttle in ("static", "dynamic", "ready-optimistic"):
            written = known.get(f"tib.{trace}.{throttle}.w_work")
            if not plain or not written:
                return None
            over.setdefault(trace, {})[throttle] = plain / written
    return over


def quotient(over: Mapping[str, Mapping[str, float]], figure: str, units: float | None) -> float:
    """Compute one of the printed ratios; without ``units``, each trace has as many as its write amplification."""

    def response(trace: str, throttle: str) -> float:
        return SERVICE_US + held_us(trace, over[trace][throttle], WAF[trace] if units is None else units)

    if figure in ("near_nt", "proj"):
        return response("proxy" if figure == "near_nt" else "proj", "ready-optimistic") / SERVICE_US
    slower, faster = {
        "ready_over_dt": ("dynamic", "ready-optimistic"),
        "dt_over_st": ("static", "dynamic"),
        "ready_over_st": ("static", "ready-optimistic"),
    }[figure]
    ratios = [response(trace, slower) / response(trace, faster) for trace in GIB_PER_HOUR]
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
