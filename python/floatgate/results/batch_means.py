"""Intervals of write amplification from the batches of a run's series, and of the difference of two runs by pairs.

The estimator is that of the core (``crates/stats/src/batch_means.rs`` has the reasons): batches of equal numbers of
requests, residuals without the bursts of collection, variance raised for the correlation of neighbours, Student's t.
Two runs that serve the same requests have batches over the same requests. The residuals of one less those of the other
are the residuals of the difference: what the workload does to both cancels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floatgate.results.result_view import look
from floatgate.results.seed_stats import t_95

if TYPE_CHECKING:
    import pyarrow as pa

BATCHES, BATCHES_MIN = 32, 8
"""Intended number of batches, and the fewest that make an interval."""
_CORRELATION_MAX = 0.9
"""Largest correlation of neighbours that is accepted."""


@dataclass(frozen=True)
class Batches:
    """The batches of a run.

    Attributes:
        waf: flash programs over host page writes of the whole run.
        ends: requests from the beginning of the run to the end of each batch.
        residuals: programs of each batch for its own space beyond the mean amplification, per host page write.
        ahead: programs of each batch for space that later ones use, per host page write.
    """

    waf: float
    ends: tuple[int, ...]
    residuals: tuple[float, ...]
    ahead: tuple[float, ...]

    @classmethod
    def of(cls, series: pa.Table, result: Mapping[str, Any]) -> Batches | None:
        """Cut a series into batches; None where it has too few, or nothing was written.

        Args:
            series: a row per interval, as :func:`floatgate.results.series.table` makes it.
            result: of the same run; it has the pages of a block.
        """
        pages, rows = _pages_per_erase(result), series.num_rows
        count = min(BATCHES, rows)
        if pages is None or count < BATCHES_MIN:
            return None
        names = series.column_names
        programs, copied, freed = (
            _totals(series, [name for name in names if name.startswith(prefixes)])
            for prefixes in ("programs_", ("programs_gc", "programs_repack"), "erases_")
        )
        writes, requests = _totals(series, ["page_writes"]), series["requests"].to_pylist()
        others = programs[-1] - copied[-1]
        cost = copied[-1] / others if others > 0 else 0.0
        size = rows // count
        ends = [rows - number * size - 1 for number in reversed(range(count))]
        cut = [
            (requests[end], *(total[end] - (total[start] if start >= 0 else 0) for total in (programs, writes, freed)))
            for start, end in itertools.pairwise([-1, *ends])
        ]
        kept = [batch for batch in cut if batch[2] > 0]
        if len(kept) < BATCHES_MIN:
            return None
        waf = programs[-1] / writes[-1]
        mean = math.fsum(batch[2] for batch in kept) / len(kept)
        ahead = [cost * (pages * freed - programs) / mean for _, programs, _, freed in kept]
        residuals = [
            (programs - waf * writes) / mean - over for (_, programs, writes, _), over in zip(kept, ahead, strict=True)
        ]
        return cls(waf, tuple(batch[0] for batch in kept), tuple(residuals), tuple(ahead))


def half_width(residuals: Sequence[float], ahead: Sequence[float]) -> float:
    """Return half of the 95 % interval of a mean whose batches have these residuals and this collection ahead."""
    count = len(residuals)
    return t_95(count - 1) * math.sqrt(_noise(residuals) / count + _variance(ahead) / count**2)


def paired_half_width(ours: Batches, theirs: Batches, scales: tuple[float, float] = (1.0, 1.0)) -> float | None:
    """Return half of the 95 % interval of the difference of two runs; None where they do not share their batches.

    Args:
        ours: of one run.
        theirs: of the run that it is compared with.
        scales: factors of both, such as from pages to bytes.
    """
    if ours.ends != theirs.ends:
        return None
    one, other = scales

    def less(first: Sequence[float], second: Sequence[float]) -> list[float]:
        return [one * mine - other * base for mine, base in zip(first, second, strict=True)]

    return half_width(less(ours.residuals, theirs.residuals), less(ours.ahead, theirs.ahead))


def _pages_per_erase(result: Mapping[str, Any]) -> int | None:
    """Return the pages that an erase frees, in pages of the map: a flash page may hold several of them."""
    pages, page, mapped = (look(result, "drive", key) for key in ("pages_per_block", "page_bytes", "mapping_bytes"))
    if pages is None or not page or not mapped:
        return None if pages is None else int(pages)
    return int(pages * page // mapped)


def _totals(series: pa.Table, names: Sequence[str]) -> list[int]:
    """Return the running total of some columns."""
    columns = [series[name].to_pylist() for name in names]
    return list(itertools.accumulate(map(sum, zip(*columns, strict=True)))) if columns else [0] * series.num_rows


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _noise(residuals: Sequence[float]) -> float:
    """Return the variance of the residuals, raised for the correlation of neighbours where it is positive."""
    count, variance = len(residuals), _variance(residuals)
    if variance == 0.0:
        return 0.0
    mean = math.fsum(residuals) / count
    products = math.fsum((one - mean) * (two - mean) for one, two in itertools.pairwise(residuals))
    correlation = min(max(products / ((count - 1) * variance), 0.0), _CORRELATION_MAX)
    return variance * (1.0 + correlation) / (1.0 - correlation)
