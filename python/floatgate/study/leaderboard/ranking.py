"""Statistics of a leaderboard: adjusted means, intervals and ranks by resampling traces, tests between two policies.

A field is a trace on a drive. Values are logarithms of write amplification, one per policy and field; NaN where the
policy could not run. Traces are the sample: the drives of one trace are no independent evidence, and seeds even less.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Table = NDArray[np.float64]

RESAMPLES = 2_000
TRACES_MIN = 6
"""Traces from which on intervals and tests are stated: no test of fewer is clear."""
_SEED = "floatgate.leaderboard:1"


def adjusted_means(values: Table, base: int, weights: Table | None = None) -> Table:
    """Return the mean of each policy less that of the policy ``base``, as if all had run on all fields.

    Least squares of an additive model, value = policy + field, as for incomplete blocks. Without gaps it is the mean
    difference.

    Args:
        values: policies in rows, fields in columns; NaN for gaps. ``base`` has none.
        base: the row of the policy to compare with.
        weights: of the fields; None for 1 each.

    Returns:
        A mean per policy; NaN for one that ran on no field of positive weight.
    """
    import numpy as np

    weight = np.ones(values.shape[1]) if weights is None else weights
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    filled = np.where(there, values, 0.0)
    mean = filled.sum(axis=0) / np.maximum(count, 1)
    share = there * (weight / np.maximum(count, 1))
    matrix = np.diag((there * weight).sum(axis=1)) - share @ there.T
    right = ((filled - there * mean) * weight).sum(axis=1)
    known = (there * weight).sum(axis=1) > 0
    others = known.copy()
    others[base] = False
    result = np.full(len(values), np.nan)
    result[base] = 0.0
    if others.any():
        result[others] = np.linalg.solve(matrix[np.ix_(others, others)], right[others])
    return result


def resampled_means(values: Table, base: int, trace_of: Sequence[int]) -> Table:
    """Return adjusted means of samples of the traces, drawn with replacement: samples in rows, policies in columns.

    Args:
        values: see :func:`adjusted_means`.
        base: likewise.
        trace_of: the trace of each field, numbered from 0.
    """
    import numpy as np

    traces, place = max(trace_of) + 1, np.asarray(trace_of)
    stream = random.Random(_SEED)  # noqa: S311 - a sample, no secret
    samples = np.empty((RESAMPLES, len(values)))
    for number in range(RESAMPLES):
        drawn = [int(stream.random() * traces) for _ in range(traces)]
        weights = np.bincount(drawn, minlength=traces).astype(float)[place]
        samples[number] = adjusted_means(values, base, weights)
    return samples


def ranks(means: Table) -> list[int | None]:
    """Return the rank of each mean from 1, the least first; equal ones share the better rank, NaN has none."""
    known = [mean for mean in means if not math.isnan(mean)]
    return [None if math.isnan(mean) else 1 + int(sum(other < mean for other in known)) for mean in means]


def middle_95(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 2.5th and the 97.5th percentile by nearest rank; None where more than a tenth of the values is NaN.

    A sample of traces may hold none on which a policy ran; it tells nothing of that policy.
    """
    ordered = sorted(value for value in values if not math.isnan(value))
    if not ordered or len(ordered) < 0.9 * len(values):
        return None
    return ordered[math.floor(0.025 * (len(ordered) - 1))], ordered[math.ceil(0.975 * (len(ordered) - 1))]


def signed_rank_p(differences: Sequence[float]) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test, exact for ties too.

    Differences of zero are left out (Wilcoxon, Biometrics Bulletin 1, 1945). All signs of the ranks are equally likely
    if no policy is better; the distribution of the sum of the positive ones is counted out.

    Args:
        differences: one per trace.
    """
    there = [one for one in differences if one != 0]
    if not there:
        return 1.0
    sizes = sorted(map(abs, there))
    # Twice the mean rank of those of one size: a whole number.
    doubled = {size: 2 * sizes.index(size) + 1 + sizes.count(size) for size in set(sizes)}
    each = [doubled[abs(one)] for one in there]
    positive = sum(rank for rank, one in zip(each, there, strict=True) if one > 0)
    least = min(positive, sum(each) - positive)
    ways = [1] + [0] * sum(each)
    for rank in each:
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return float(min(1.0, 2 * sum(ways[: least + 1]) / 2 ** len(each)))


def least_p(traces: int, tests: int) -> float:
    """Return the least p value, after correction, that so many tests over so many traces can give.

    Args:
        traces: differences of each test, none of them zero.
        tests: how many are corrected for.
    """
    return min(1.0, tests * 2.0 / 2.0**traces)


def holm(values: Sequence[float]) -> list[float]:
    """Return p values corrected for their number, by Holm's method (Scandinavian Journal of Statistics 6, 1979)."""
    corrected, most = [0.0] * len(values), 0.0
    for place, number in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        most = max(most, min(1.0, (len(values) - place) * values[number]))
        corrected[number] = most
    return corrected


def front(rows: Sequence[tuple[float, float]]) -> list[bool]:
    """Return which pairs no other beats in both numbers, or in one with the other equal; less is better."""
    return [not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in rows) for one in rows]
