"""Differences of metrics between two settings, with their intervals.

With the same seeds both settings serve the same requests (common random numbers), and errors that both share cancel.
Write amplification has two intervals. That of batches pairs the batches of two runs over the same requests
(:mod:`floatgate.results.batch_means`): how far the workload moves the difference. Where the runs do not share their
batches, their errors are taken as independent. That of seeds is Student's for the mean of the differences of runs with
the same seed (Law, Simulation Modeling and Analysis, 5th ed., section 11.2): how far what a seed draws moves it. The
wider one is shown. Other metrics know that of seeds alone. Identical runs differ by 0.00 +- 0.00.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.report.sections import lifetime_headline, programs
from floatgate.report.sections.amplification import (
    IN_BYTES,
    IN_PAGES,
    WITH_INTERVAL,
    Delta,
    Value,
    amplification,
    difference_entry,
)
from floatgate.results import metrics
from floatgate.results.batch_means import Batches, paired_half_width
from floatgate.results.result_view import look
from floatgate.results.seed_stats import Mean, Spread, agree, draws_workload, seed_matters

Result = Mapping[str, Any]
BySeed = Mapping["int | None", Result]
BatchesBySeed = Mapping["int | None", "Batches | None"]


@dataclass(frozen=True)
class _Pair:
    """A run of both settings with the same seed, and their batches where they are known."""

    ours: Result
    theirs: Result
    batches: tuple[Batches | None, Batches | None] = (None, None)

    @property
    def share_batches(self) -> bool:
        """Whether the batches of both are over the same requests."""
        ours, theirs = self.batches
        return ours is not None and theirs is not None and paired_half_width(ours, theirs) is not None


def between(
    ours: BySeed,
    theirs: BySeed,
    our_batches: BatchesBySeed | None = None,
    their_batches: BatchesBySeed | None = None,
) -> dict[str, Any] | None:
    """Return the differences of two settings, ours less theirs.

    Args:
        ours: the results of a setting.
        theirs: those of the setting that it is compared with.
        our_batches: the batches of the runs of a setting; None where their series are not at hand.
        their_batches: the same of the other setting.

    Returns:
        None where one of both has no WAF. Where the seed changes nothing, the difference is that of the first pair,
        with the interval of a single run. The keys:

        - ``waf_bytes``, ``waf``: differences in flash bytes per host byte and in pages;
        - ``waf_bytes_95``, ``waf_95``: their 95 % intervals, or None where they are not known;
        - ``interval_from``: ``seeds``, ``paired batches``, ``batches`` or None;
        - ``seeds_95`` and ``batches_95``: key -> either interval;
        - ``relative``: the difference in bytes over the other's WAF; ``years_ratio``: life over the other's, or None;
        - ``pairs``: runs with the same seed; ``seed_matters``: whether they differ by seed, None for one pair;
        - ``figures``: key -> ``difference``, ``difference_95``, ``relative``; without an interval and with
          ``seeds_agree`` where the seeds on a trace change almost nothing.
    """
    every = [
        _Pair(ours[seed], theirs[seed], ((our_batches or {}).get(seed), (their_batches or {}).get(seed)))
        for seed in ours
        if seed in theirs
    ]
    if not every:
        return None
    matters = seed_matters([pair.ours for pair in every]) or seed_matters([pair.theirs for pair in every])
    pairs = every if matters else every[:1]
    spreads = {key: _with_interval(pairs, figure) for key, figure in WITH_INTERVAL.items()}
    of_bytes, of_pages = spreads[IN_BYTES], spreads[IN_PAGES]
    bases = [base for pair in pairs if (base := amplification(pair.theirs)[0]) is not None]
    if of_bytes is None or of_pages is None or not bases:
        return None
    known = {key: spread for key, spread in spreads.items() if spread is not None}
    return {
        **difference_entry((of_bytes.mean, of_bytes.interval), (of_pages.mean, of_pages.interval)),
        "interval_from": _source(pairs, of_bytes),
        **{name: {key: one.to_dict()[name] for key, one in known.items()} for name in ("seeds_95", "batches_95")},
        "relative": of_bytes.mean * len(bases) / math.fsum(bases),
        "years_ratio": _ratio(_values(pairs, lifetime_headline.YEARS)),
        "pairs": len(every),
        "seed_matters": matters if len(every) > 1 else None,
        "figures": {
            metric.key: delta for metric in metrics.compared() if (delta := _figure(pairs, metric.key)) is not None
        },
    }


Pairs = Sequence[_Pair]


def _source(pairs: Pairs, spread: Spread) -> str | None:
    """Return what the interval is made of."""
    if spread.interval is None:
        return None
    if spread.by_seeds:
        return "seeds"
    return "paired batches" if all(pair.share_batches for pair in pairs) else "batches"


def _with_interval(pairs: Pairs, figure: Callable[[Result], Value]) -> Spread | None:
    """Return the difference of a metric whose interval a single run knows."""
    deltas, halves = [], []
    for pair in pairs:
        (value, _), (base, _) = figure(pair.ours), figure(pair.theirs)
        if value is not None and base is not None:
            deltas.append(value - base)
            halves.append(_half(pair, figure))
    drawn = all(draws_workload(pair.ours) for pair in pairs)
    return Spread.of(deltas, halves, drawn=drawn) if deltas else None


def _half(pair: _Pair, figure: Callable[[Result], Value]) -> float | None:
    """Return half of the interval of the difference of two runs, by pairs of batches where they share them.

    Runs that did the same, operation by operation, have the same errors, which cancel.
    """
    if programs.alike(pair.ours, pair.theirs):
        return 0.0
    (value, interval), (base, base_interval) = figure(pair.ours), figure(pair.theirs)
    if not interval or not base_interval:
        return None
    ours, theirs = pair.batches
    if ours is not None and theirs is not None and value is not None and base is not None:
        # Bytes are pages times the same factor in all batches, as in the interval of a run.
        paired = paired_half_width(ours, theirs, (value / ours.waf, base / theirs.waf))
        if paired is not None:
            return paired
    return math.hypot(*(abs(high - low) / 2 for low, high in (interval, base_interval)))


def _paired(differences: Sequence[float]) -> Delta:
    stats = Mean.of(differences)
    return stats.mean, None if stats.interval is None else list(stats.interval)


def _values(pairs: Pairs, key: str) -> list[tuple[float, float]]:
    """Return a figure of both runs of each pair that knows it; lives only of runs that are long enough."""
    life, keys = lifetime_headline.is_life(key), key.split(".")
    values = [
        (look(pair.ours, *keys), look(pair.theirs, *keys))
        for pair in pairs
        if not (life and any(lifetime_headline.too_short(one) for one in (pair.ours, pair.theirs)))
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
        spread = _with_interval(pairs, own)
        difference, interval = (difference, interval) if spread is None else (spread.mean, spread.interval)
    drawn = all(draws_workload(pair.ours) for pair in pairs)
    alike = own is None and all(agree(side, drawn=drawn) for side in zip(*values, strict=True))
    ratio = _ratio(values)
    return {
        "difference": difference,
        "difference_95": None if alike else interval,
        "relative": None if ratio is None else ratio - 1,
        **({"seeds_agree": True} if alike else {}),
    }
