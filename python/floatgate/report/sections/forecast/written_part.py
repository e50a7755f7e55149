"""The part of the drive that a trace writes, and up to which write amplification the drive meets its target."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import growing
from floatgate.report.sections.amplification import amplification
from floatgate.report.sections.forecast import entry
from floatgate.report.sections.forecast.life_range import SLACK
from floatgate.results.result_view import look

Forecast = Mapping[str, Any] | None

SMALL = 0.05
"""Share of the visible capacity below which the written part says little of the write amplification of other writes."""
WAF_MAX = 100.0
"""Write amplification that no workload causes: a target that is met up to more of it is met."""
FAR_FROM_RECORDED = (0.1, 10.0)
"""Factors on the recorded rate from which on latencies are those of a load that no host was seen to make."""


def distinct_bytes(result: Forecast) -> float | None:
    """Return the bytes of the pages that a pass over a trace writes, each once; None for generators."""
    value: float | None = look(result, "pass", "written_distinct_bytes")
    return value


def share(result: Forecast) -> float | None:
    """Return the same as a share of the visible capacity; None where it is not known."""
    written, visible = distinct_bytes(result), look(result, "drive", "logical_bytes")
    return float(written / visible) if written is not None and visible else None


def share_text(value: float) -> str:
    """Format the share: ``0.001 %``, ``none``."""
    return f"{units.figure(100 * value, 1)} %" if value else "none"


def up_to_waf(result: Forecast, judge: str = "both") -> float | None:
    """Return the write amplification, by bytes, up to which the flash meets the target.

    None where the target is missed already or by its rating, where a throttle holds the life, or nothing wears out.

    Args:
        result: a forecast, or the part of one that a plan keeps.
        judge: ``both`` for flash and rating, ``flash`` or ``rating`` for one of them.
    """
    waf, _ = amplification(result)
    years, target = entry.life_that_counts(result), entry.target_years(result)
    ends_after = entry.earliest(result, judge)[1]
    if judge == "rating" or waf is None or years is None or target is None or entry.throttled(result):
        return None
    if ends_after is not None and ends_after < target * (1 - SLACK):
        return None
    most = waf * growing.times_as_much(years, target, result)
    return most if math.isfinite(most) else None


def remarks(result: Forecast, judge: str | None = "both") -> list[str]:
    """Return what the basis of a forecast says of its writes and of its latencies; empty where all is plain.

    Args:
        result: a forecast, or the part of one that a plan keeps.
        judge: as for :func:`up_to_waf`; None leaves that out.
    """
    return [text for text in (_small_part(result, judge), _far_rate(result)) if text is not None]


def states_margin(result: Forecast) -> bool:
    """Return whether :func:`remarks` states up to which write amplification the target is met, where that is known."""
    known = share(result)
    return entry.waf_is_set(result) or (known is not None and known < SMALL)


def _small_part(result: Forecast, judge: str | None) -> str | None:
    """Say that the trace writes a small part of the drive, or that write amplification is given; and what it may be."""
    known, written = share(result), distinct_bytes(result)
    most = None if judge is None else up_to_waf(result, judge)
    waf, _ = amplification(result)
    known_most = most is not None and most <= WAF_MAX
    up_to = f"; the flash meets the target up to a WAF of {units.figure(most or 0.0, 2)}" if known_most else ""
    if waf is not None and entry.waf_is_set(result):
        is_small = known is not None and written is not None and known < SMALL
        part = f"; measured on this trace it would hold for {_part(known, written)} alone" if is_small else ""
        return f"a WAF of {waf:.2f} is given, not measured{part}{up_to}" if known_most or part else None
    if known is None or written is None or not states_margin(result):
        return None
    return (
        f"the trace rewrites {_part(known, written)}; the rest is data at rest: WAF is higher if writes reach more of "
        f"the drive{up_to}"
    )


def _part(known: float | None, written: float | None) -> str:
    """Format as ``6.31 MiB, 0.001 % of the drive``."""
    return f"{units.binary_bytes(written or 0.0)}, {share_text(known or 0.0)} of the drive"


def _far_rate(result: Forecast) -> str | None:
    """Say that latencies are those at many times the recorded rate."""
    factor, (low, high) = entry.demand_factor(result), FAR_FROM_RECORDED
    known = any(look(result, "latency_us", kind) for kind in ("read", "write"))
    if not known or low < factor < high:
        return None
    return f"latencies are those at {units.figure(factor)} times the recorded rate (--demand)"
