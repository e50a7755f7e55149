"""Latencies of requests on the worn-in drive, as far as a forecast simulated it in timed mode; a throttle's delays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.results.result_view import look

Facts = Mapping[str, Any]

_KINDS = ("read", "write")
_LONG_US = 1e6
"""A request that takes longer waits behind others."""
_SURE = 0.1
"""An interval that reaches no further than this share to either side goes without saying."""


def where(result: Facts) -> str:
    """Format as ``in the busiest 32 s of the workload``, or ``over the 20 min of the workload`` for all of it."""
    busiest = look(result, "close_up", "busiest") or {}
    span = units.span(busiest.get("span_s") or 0.0)
    whole = look(result, "close_up", "typical") is None
    text = f"over the {span} of the workload" if whole else f"in the busiest {span} of the workload"
    return text if look(result, "throttle", "delay_us") is None else f"{text}, unthrottled"


def p99s(result: Facts) -> str | None:
    """Format as ``p99 of reads 0.68 ms and of writes 0.61 ms in the busiest 32 s of the workload``; None if unknown."""
    known = [(kind, look(result, "latency_us", kind, "p99")) for kind in _KINDS]
    quantiles = [
        f"of {kind}s {with_interval(us, interval_us(result, kind, 'p99'))}" for kind, us in known if us is not None
    ]
    return f"p99 {' and '.join(quantiles)} {where(result)}" if quantiles else None


def interval_us(result: Facts | None, kind: str, key: str) -> list[float] | None:
    """Return the 95 % interval of a latency in the busiest part (``mean``, ``p50``, ``p99``, ``p999``), or None."""
    interval: list[float] | None = look(result, "close_up", "busiest", "latency_95_us", kind, key)
    return interval


def with_interval(us: float, interval: list[float] | None) -> str:
    """Format as ``1.1 ms``, ``1.1 ms (0.8-1.4 ms)`` or ``1.1 ms (784 us-1.4 ms)`` if it is wide."""
    text = units.span(us * 1e-6)
    if interval is None or ((1.0 - _SURE) * us < interval[0] and interval[1] < (1.0 + _SURE) * us):
        return text
    low, high = (units.span(end * 1e-6) for end in interval)
    if low == high:
        return text
    number, unit = low.split(" ")
    return f"{text} ({number if high.endswith(f' {unit}') else low}-{high})"


def lines(result: Facts) -> list[str]:
    """Return latencies of reads and writes of the close-up; or why there are no figures."""
    unknown = look(result, "close_up", "unknown")
    if unknown is not None:
        return [f"not known: {unknown}"]
    busiest, typical = look(result, "close_up", "busiest"), look(result, "close_up", "typical")
    made = [f"{text}, {where(result)}" for text in _each(look(result, "latency_us"), busiest)]
    if made and look(result, "latency_us", "read") is None:
        made[0] += "; no reads"
    if typical:
        span = units.span(typical["span_s"])
        made += [f"{text}, in a typical {span}" for text in _each(typical["latency_us"], typical)]
    return made


def _each(latencies: Facts | None, part: Facts | None) -> list[str]:
    named = (("mean", "mean"), ("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"), ("max", "max"))
    return [
        f"{kind}s: "
        + ", ".join(
            f"{name} {with_interval(facts[key], look(part, 'latency_95_us', kind, key))}" for key, name in named
        )
        for kind in _KINDS
        if (facts := look(latencies, kind) or {})
    ]


def falls_behind(result: Facts) -> str | None:
    """Note that requests queue up in bursts of a load that the drive stands on average; None where they do not."""
    longest = max((look(result, "latency_us", kind, "max") or 0.0 for kind in _KINDS), default=0.0)
    if look(result, "close_up", "busiest", "overloaded") or longest < _LONG_US:
        return None
    return f"the drive falls behind in bursts, in which requests take up to {units.span(longest * 1e-6)}"


def delay(result: Facts) -> str | None:
    """Format as ``p50 0.6 ms, p99 1.5 ms, max 9 ms``: the throttle's delay of page writes; None without one."""
    facts = look(result, "throttle", "delay_us") or {}
    named = (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"), ("max", "max"))
    return ", ".join(f"{name} {units.span(facts[key] * 1e-6)}" for key, name in named if key in facts) or None


@dataclass(frozen=True)
class Rare:
    """Delays of so few page writes that their p99 is below their mean.

    Attributes:
        share: of page writes that are delayed.
        mean_us: delay of these alone.
        max_us: the longest delay.
    """

    share: float
    mean_us: float
    max_us: float

    @property
    def by(self) -> str:
        """``by 538 ms on average, at most 982 ms``."""
        return f"by {units.span(self.mean_us * 1e-6)} on average, at most {units.span(self.max_us * 1e-6)}"


def rare(result: Facts | None) -> Rare | None:
    """Return the delays that p99 hides; None where it shows them."""
    facts, share = look(result, "throttle", "delay_us") or {}, look(result, "throttle", "held_share")
    mean, p99 = facts.get("mean"), facts.get("p99")
    if not share or mean is None or p99 is None or mean <= p99:
        return None
    return Rare(share, mean / share, facts["max"])


def response_us(result: Facts | None, key: str) -> float | None:
    """Add the nominal time of a page write and the throttle's delay, as papers on throttles do: ``mean``, ``p99``."""
    service = look(result, "throttle", "service_us")
    held = look(result, "throttle", "delay_us", key)
    return None if service is None else float(service) + (held or 0.0)
