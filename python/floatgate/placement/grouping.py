"""Assigns keys to handles by how long their data live.

Data whose lives are of one order of magnitude should share reclaim units: a unit can be erased without a copy once its
last page is dead. Keys are sorted by the mean lives of their data and cut into neighbouring groups, one per handle. The
cuts minimize the sum, over all page writes, of the squared distance between the logarithms of a key's mean life and of
its group's. This is k-means in one dimension, weighted with page writes, by an exact dynamic programme
(Bellman, 1973; Wang and Song, The R Journal 2011). Logarithms, since it is ratios that matter: a page that lives twice
as long as its neighbours keeps their unit for twice the time, long or short.

Handle 0 is for keys of unknown life: none of their data dies within the trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NO_HANDLE = 0
"""The handle of keys without a group, and of writes without a key."""


def by_life(mean_life: Any, page_writes: Any, handles: int) -> Any:
    """Return the handle of each key: 0, or from 1 for the shortest lives on.

    Args:
        mean_life: of the keys' data, in page writes; infinite where none dies.
        page_writes: of the keys.
        handles: of the drive, handle 0 included.
    """
    known = np.flatnonzero(np.isfinite(mean_life) & (page_writes > 0))
    handle = np.full(len(mean_life), NO_HANDLE, dtype=np.uint32)
    if len(known):
        order = known[np.lexsort((known, mean_life[known]))]
        # Data that die at once have lived for less than one page write of others; they count as one.
        groups = clusters(np.log(np.maximum(mean_life[order], 1.0)), page_writes[order], handles - 1)
        handle[order] = groups + 1
    return handle


def clusters(values: Any, weights: Any, most: int) -> Any:
    """Cut ascending values into at most this many groups of neighbours, with the least weighted squares about means.

    Equal values stay together. Costs a square of the number of distinct values in numpy for each group.

    Returns:
        the number of the group of each value, from 0.
    """
    distinct, place = np.unique(values, return_inverse=True)
    distinct, weight, place = _thinned(distinct, np.bincount(place, weights=weights), place)
    n, most = len(distinct), min(most, len(distinct))
    # About the mean, or the squares of large values would drown the differences.
    centred = distinct - np.average(distinct, weights=weight)
    w, first, second = (np.concatenate([[0.0], np.cumsum(weight * centred**power)]) for power in (0, 1, 2))
    # Of the values from the row's number to before the column's, as one group.
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = (second[None, :] - second[:, None]) - (first[None, :] - first[:, None]) ** 2 / (w[None, :] - w[:, None])
    cost = np.where(np.arange(n + 1)[:, None] < np.arange(n + 1)[None, :], np.maximum(cost, 0.0), np.inf)
    least, begins = cost[0], []
    for _ in range(1, most):
        all_ways = least[:, None] + cost
        begins.append(all_ways.argmin(axis=0))
        least = all_ways.min(axis=0)
    group, end = np.zeros(n, dtype=np.int64), n
    for number in range(most - 1, 0, -1):
        start = int(begins[number - 1][end])
        group[start:end] = number
        end = start
    return group[place]


_DISTINCT_MAX = 1024
"""Values beyond which neighbours are put together first."""


def _thinned(values: Any, weights: Any, place: Any) -> tuple[Any, Any, Any]:
    """Reduce to at most :data:`_DISTINCT_MAX` values: of more, the mean of each of so many equal steps."""
    if len(values) <= _DISTINCT_MAX:
        return values, weights, place
    step = (values[-1] - values[0]) / _DISTINCT_MAX
    bins = np.minimum(((values - values[0]) / step).astype(np.int64), _DISTINCT_MAX - 1)
    _, bins = np.unique(bins, return_inverse=True)
    total = np.bincount(bins, weights=weights)
    return np.bincount(bins, weights=weights * values) / total, total, bins[place]
