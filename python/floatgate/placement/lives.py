"""How long written data live, by key.

The clock counts page writes. Data die where the page is written again or trimmed; what is alive at the end has lived at
least until then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from floatgate.placement.keys import NOBODY
from floatgate.trace.dense_traces import PAGE_BYTES


@dataclass(frozen=True)
class Lives:
    """The page writes of a trace, in order.

    Attributes:
        row: of the trace.
        page: that is written.
        rewritten: whether another write of the page follows.
        died: whether the data are replaced or trimmed.
        life: for how many page writes they live; up to the end of the trace if they do not die.
    """

    row: Any
    page: Any
    rewritten: Any
    died: Any
    life: Any


def lives_of(table: Any) -> Lives:
    """Return the page writes of a trace with columns ``op``, ``offset`` and ``bytes``."""
    op = np.asarray(table["op"].combine_chunks().cast("string"))
    offset, length = (np.asarray(table[name], dtype=np.int64) for name in ("offset", "bytes"))
    first = offset // PAGE_BYTES
    count = -(-(offset + length) // PAGE_BYTES) - first
    row = np.repeat(np.arange(len(first)), count)
    page = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    writes = op[row] == "write"
    clock = np.cumsum(writes) - writes
    total = int(writes.sum())

    def next_of(events: Any) -> tuple[Any, Any]:
        """Return whether and when the next of these events at the same page is; the end for a page without one."""
        order = events[np.lexsort((events, page[events]))]
        follows = page[order][1:] == page[order][:-1]
        after, there = np.full(len(row), total, dtype=np.int64), np.zeros(len(row), dtype=bool)
        after[order[:-1][follows]] = clock[order[1:][follows]]
        there[order[:-1][follows]] = True
        return after[writes], there[writes]

    dies, died = next_of(np.flatnonzero((op[row] == "write") | (op[row] == "trim")))
    _, rewritten = next_of(np.flatnonzero(writes))
    return Lives(row[writes], page[writes], rewritten, died, dies - clock[writes])


@dataclass(frozen=True)
class OfKeys:
    """The lives of a trace, summarized by key.

    Attributes:
        page_writes: of each key.
        updates: page writes that another write of the page follows.
        deaths: page writes whose data die before the end.
        mean_life: in page writes, infinite if none dies. Data alive at the end count as no death, with the time that
            they have lived. This is the maximum-likelihood estimate for censored lives under an exponential law
            (Epstein and Sobel, 1953); keys that write late are not biased towards short lives.
    """

    page_writes: Any
    updates: Any
    deaths: Any
    mean_life: Any


def of_keys(lives: Lives, of_row: Any, keys: int) -> OfKeys:
    """Sum the page writes of a trace up by key.

    Args:
        lives: the page writes.
        of_row: by row of the trace the number of its key, or :data:`~floatgate.placement.keys.NOBODY`.
        keys: how many there are.
    """
    key = of_row[lives.row]
    some = key != NOBODY

    def per_key(chosen: Any, weights: Any = None) -> Any:
        chosen = chosen & some
        return np.bincount(key[chosen], weights=None if weights is None else weights[chosen], minlength=keys)

    everyone = np.ones(len(key), dtype=bool)
    deaths, lived = per_key(lives.died), per_key(everyone, lives.life.astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(deaths > 0, lived / deaths, np.inf)
    return OfKeys(per_key(everyone), per_key(lives.rewritten), deaths, mean)
