"""Differences of metrics between two settings, with their intervals.

With the same seeds both settings serve the same requests (common random numbers). Runs are compared pair by pair, which
cancels the workload's effect on both. The interval is Student's for the mean of the differences (Law, Simulation
Modeling and Analysis, 5th ed., section 11.2). Identical runs differ by 0.00 +- 0.00. With a single seed, or seeds that
change nothing, the errors of the two runs are taken as independent, which makes intervals wide rather than narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from floatgate.report.sections import lifetime_headline, programs
from floatgate.report.sections.amplification import (
    WITH_INTERVAL,
    Delta,
    Value,
    amplification,
    difference_entry,
    in_pages,
)
from floatgate.results import metrics
from floatgate.results.result_view import look
from floatgate.results.seed_stats import Mean, seed_matters

Result = Mapping[str, Any]
BySeed = Mapping["int | None", Result]


def between(ours: BySeed, theirs: BySeed) -> dict[str, Any] | None:
    """Return the differences of two settings, ours less theirs.

    Returns:
        ``waf_bytes`` (difference in flash bytes per host byte), ``waf_bytes_95`` (its 95 % interval, or None where it
        is not known), ``waf`` and ``waf_95`` (the same in pages), ``relative`` (difference in bytes / the other's
        WAF), ``years_ratio`` (life / the other's life, or None), ``pairs`` (runs with the same seed),
        ``seed_matters`` (whether they differ from seed to seed; None for one pair) and ``figures`` (key ->
        ``difference``, ``difference_95``, ``relative``); None where one of both has no WAF. Where the seed changes
        nothing, the difference is that of the first pair, with the interval of a single run.
    """
    every = [(ours[seed], theirs[seed]) for seed in ours if seed in theirs]
    if not every:
        return None
    matters = any(seed_matters(results) for results in zip(*every, strict=True))
    pairs = every if matters else every[:1]
    of_bytes, of_pages = (_with_interval(pairs, figure) for figure in (amplification, in_pages))
    bases = [base for _, other in pairs if (base := amplification(other)[0]) is not None]
    if of_bytes is None or of_pages is None or not bases:
        return None
    lives = _values(pairs, lifetime_headline.YEARS)
    return {
        **difference_entry(of_bytes, of_pages),
        "relative": of_bytes[0] * len(bases) / math.fsum(bases),
        "years_ratio": _ratio(lives),
        "pairs": len(every),
        "seed_matters": matters if len(every) > 1 else None,
        "figures": {
            metric.key: delta for metric in metrics.compared() if (delta := _figure(pairs, metric.key)) is not None
        },
    }


Pairs = Sequence[tuple[Result, Result]]


def _with_interval(pairs: Pairs, figure: Callable[[Result], Value]) -> Delta | None:
    """Return the difference of a metric whose interval a single run knows."""
    if len(pairs) == 1:
        return _of_two(figure(pairs[0][0]), figure(pairs[0][1]), identical=programs.alike(*pairs[0]))
    values = [(one, other) for ours, theirs in pairs for one, other in [(figure(ours)[0], figure(theirs)[0])]]
    known = [one - other for one, other in values if one is not None and other is not None]
    return _paired(known) if known else None


def _of_two(
    ours: Value,
    theirs: Value,
    *,
    identical: bool,
) -> Delta | None:
    """Return the difference of two figures with their intervals, and its own interval.

    Runs that did the same, operation by operation, have the same errors, which cancel.
    """
    (value, interval), (base, base_interval) = ours, theirs
    if value is None or base is None:
        return None
    delta = value - base
    if identical:
        return 0.0, [0.0, 0.0]
    if not interval or not base_interval:
        return delta, None
    half = math.hypot(*(abs(high - low) / 2 for low, high in (interval, base_interval)))
    return delta, [delta - half, delta + half]


def _paired(differences: Sequence[float]) -> Delta:
    stats = Mean.of(differences)
    return stats.mean, None if stats.interval is None else list(stats.interval)


def _values(pairs: Pairs, key: str) -> list[tuple[float, float]]:
    """Return a figure of both runs of each pair that knows it; lives only of runs that are long enough."""
    life, keys = lifetime_headline.is_life(key), key.split(".")
    values = [
        (look(ours, *keys), look(theirs, *keys))
        for ours, theirs in pairs
        if not (life and any(lifetime_headline.too_short(one) for one in (ours, theirs)))
    ]
    return [(one, other) for one, other in values if one is not None and other is not None]


def _ratio(values: Sequence[tuple[float, float]]) -> float | None:
    base = math.fsum(other for _, other in values)
    return math.fsum(one for one, _ in values) / base if base else None


def _figure(pairs: Pairs, key: str) -> dict[str, Any] | None:
    values = _values(pairs, key)
    if not values:
        return None
    difference, interval = _paired([one - other for one, other in values])
    own = WITH_INTERVAL.get(key)
    if own is not None:
        own_interval = _with_interval(pairs, own)
        difference, interval = own_interval if own_interval is not None else (difference, interval)
    ratio = _ratio(values)
    return {
        "difference": difference,
        "difference_95": interval,
        "relative": None if ratio is None else ratio - 1,
    }
