"""How the figures of one setting differ from another's.

With the same seeds both settings serve the same requests (common random numbers), so runs are compared pair by pair:
what the workload does to both cancels, and the interval is Student's of the mean of the differences (Law, Simulation
Modeling and Analysis, 5th ed., section 11.2). Identical runs differ by 0.00 +- 0.00. With a single seed the errors of
the two runs are taken as independent, which makes intervals wide rather than narrow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.report.sections import lifetime_headline
from floatgate.report.sections.amplification import amplification
from floatgate.results import metrics
from floatgate.results.result_view import look
from floatgate.results.seed_stats import Mean

Result = Mapping[str, Any]
BySeed = Mapping["int | None", Result]


def between(ours: BySeed, theirs: BySeed) -> dict[str, Any] | None:
    """The differences of two settings, ours less theirs.

    Returns:
        ``waf_bytes`` (difference in flash bytes per host byte), ``waf_bytes_95`` (its 95 % interval, or None where it
        is not known), ``waf`` and ``waf_95`` (the same in pages), ``relative`` (difference in bytes / the other's
        WAF), ``years_ratio`` (life / the other's life, or None), ``pairs`` (runs with the same seed) and ``figures``
        (key -> ``difference``, ``difference_95``, ``relative``); None where one of both has no WAF.
    """
    seeds = [seed for seed in ours if seed in theirs]
    pairs = [(ours[seed], theirs[seed]) for seed in seeds]
    if not pairs:
        return None
    in_bytes, in_pages = _amplification(pairs, in_bytes=True), _amplification(pairs, in_bytes=False)
    bases = [base for _, other in pairs if (base := amplification(other)[0]) is not None]
    if in_bytes is None or in_pages is None or not bases:
        return None
    lives = _values(pairs, ("lifetime", "years"))
    return {
        "waf_bytes": in_bytes[0],
        "waf_bytes_95": in_bytes[1],
        "waf": in_pages[0],
        "waf_95": in_pages[1],
        "relative": in_bytes[0] * len(bases) / math.fsum(bases),
        "years_ratio": _ratio(lives),
        "pairs": len(pairs),
        "figures": {
            metric.key: found
            for metric in metrics.compared()
            if (found := _figure(pairs, metric.key.split("."))) is not None
        },
    }


Pairs = Sequence[tuple[Result, Result]]


def _amplification(pairs: Pairs, *, in_bytes: bool) -> tuple[float, list[float] | None] | None:
    def figure(result: Result) -> tuple[float | None, list[float] | None]:
        return amplification(result) if in_bytes else (look(result, "waf"), look(result, "waf_95"))

    if len(pairs) == 1:
        return _of_two(figure(pairs[0][0]), figure(pairs[0][1]), identical=_identical(*pairs[0]))
    found = [(one, other) for ours, theirs in pairs for one, other in [(figure(ours)[0], figure(theirs)[0])]]
    known = [one - other for one, other in found if one is not None and other is not None]
    return _paired(known) if known else None


def _of_two(
    ours: tuple[float | None, list[float] | None],
    theirs: tuple[float | None, list[float] | None],
    *,
    identical: bool,
) -> tuple[float, list[float] | None] | None:
    """Difference of two figures with their intervals, and the interval of the difference."""
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


def _identical(ours: Result, theirs: Result) -> bool:
    """Whether two runs did the same, operation by operation: then their errors are the same too, and cancel."""
    counts = [tuple(look(one, key) for key in ("seed", "host", "flash", "gc", "wear")) for one in (ours, theirs)]
    return counts[0] == counts[1] and counts[0][2] is not None


def _paired(differences: Sequence[float]) -> tuple[float, list[float] | None]:
    found = Mean.of(differences)
    return found.mean, None if found.interval is None else list(found.interval)


def _values(pairs: Pairs, keys: Sequence[str]) -> list[tuple[float, float]]:
    """A figure of both runs of each pair that knows it; lives only where the run is long enough to tell one."""
    life = keys[0] == "lifetime"
    found = [
        (look(ours, *keys), look(theirs, *keys))
        for ours, theirs in pairs
        if not (life and any(lifetime_headline.too_short(one) for one in (ours, theirs)))
    ]
    return [(one, other) for one, other in found if one is not None and other is not None]


def _ratio(values: Sequence[tuple[float, float]]) -> float | None:
    base = math.fsum(other for _, other in values)
    return math.fsum(one for one, _ in values) / base if base else None


def _figure(pairs: Pairs, keys: Sequence[str]) -> dict[str, Any] | None:
    values = _values(pairs, keys)
    if not values:
        return None
    difference, interval = _paired([one - other for one, other in values])
    if keys[0] in ("waf_bytes", "waf"):
        found = _amplification(pairs, in_bytes=keys[0] == "waf_bytes")
        difference, interval = found if found is not None else (difference, interval)
    ratio = _ratio(values)
    return {
        "difference": difference,
        "difference_95": interval,
        "relative": None if ratio is None else ratio - 1,
    }
