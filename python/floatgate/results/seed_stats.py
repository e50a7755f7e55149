"""Means over seeds with Student's intervals, and differences of settings that ran with the same seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.results import metrics
from floatgate.results.result_view import look

# fmt: off
_T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)
# fmt: on
"""Student's t for 95 % two-sided, by degrees of freedom from 1."""


@dataclass(frozen=True)
class Mean:
    """A mean with its spread.

    Attributes:
        mean: of the values.
        sd: their standard deviation; None for a single one.
        interval: Student's 95 % interval of the mean; None for a single value.
    """

    mean: float
    sd: float | None
    interval: tuple[float, float] | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Return the mean of one value or more."""
        mean = math.fsum(values) / len(values)
        if len(values) == 1:
            return cls(mean, None, None)
        sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
        half = t_95(len(values) - 1) * sd / math.sqrt(len(values))
        return cls(mean, sd, (mean - half, mean + half))


def t_95(freedom: int) -> float:
    """Return Student's t for 95 % two-sided."""
    if freedom <= len(_T_95):
        return _T_95[freedom - 1]
    z = 1.959963985  # the expansion around the normal one that the core uses too (crates/stats/src/batch_means.rs)
    first, second = (z**3 + z) / (4 * freedom), (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return z + first + second + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)


@dataclass(frozen=True)
class Spread:
    """The mean of a figure over seeds, and what is known of its error.

    Attributes:
        mean: over the seeds.
        seeds: half of Student's interval over the seeds: how far what a seed draws moves the figure; None for one seed.
        batches: half of the interval from the batches of the runs: how far the workload moves it; None if unknown.
    """

    mean: float
    seeds: float | None
    batches: float | None

    @classmethod
    def of(cls, values: Sequence[float], halves: Sequence[float | None], *, drawn: bool) -> Spread:
        """Return the mean of one value or more.

        Args:
            values: one per seed.
            halves: half of the batch interval of each; None where one is unknown.
            drawn: whether the seed draws the workload. The seeds of a trace share it, and so its error: the interval
                is that of one run, however many seeds there are.
        """
        stats = Mean.of(values)
        seeds = None if stats.interval is None else stats.interval[1] - stats.mean
        known = [half for half in halves if half is not None]
        if len(known) < len(values):
            return cls(stats.mean, seeds, None)
        batches = math.sqrt(math.fsum(half**2 for half in known) / len(known))
        return cls(stats.mean, seeds, batches / math.sqrt(len(known)) if drawn else batches)

    @property
    def by_seeds(self) -> bool:
        """Whether the interval over seeds is the wider one."""
        return self.seeds is not None and (self.batches is None or self.seeds > self.batches)

    @property
    def interval(self) -> list[float] | None:
        """The wider of both intervals."""
        return self._around(self.seeds if self.by_seeds else self.batches)

    def to_dict(self) -> dict[str, Any]:
        """Return both intervals and the one to read, as JSON has them."""
        source = "seeds" if self.by_seeds else None if self.batches is None else "batches"
        intervals = {"seeds_95": self._around(self.seeds), "batches_95": self._around(self.batches)}
        return {"mean": self.mean, "mean_95": self.interval, "mean_95_from": source, **intervals}

    def _around(self, half: float | None) -> list[float] | None:
        return None if half is None else [self.mean - half, self.mean + half]


KIND = "workload.kind"
"""Column of flat tables with the kind of the workload."""
_TRACE = "trace"


def drawn_kind(kind: str | None) -> bool:
    """Return whether the seed draws workloads of a kind: a generator's, not that of a trace."""
    return kind != _TRACE


def draws_workload(result: Mapping[str, Any]) -> bool:
    """Return whether the seed draws the workload of a run: a generator's, not that of a trace."""
    return drawn_kind(look(result, *KIND.split(".")))


SEED_CHANGES_NOTHING = "the seed changes nothing here; the interval is from batches of the run"
"""What a reader must know of several seeds with one result."""
SEED_ACTS_ON = (
    "A seed acts on generated workloads, and on a trace through keys such as ftl.precondition (random, steady, auto), "
    "workload.shuffle_window or ftl.collect.policy = d-choices."
)
"""The settings through which a seed can change the run of a trace."""
WIDER = (
    "95 % is the wider of two intervals: over seeds (what a seed draws) and over batches of the runs (how the workload "
    "varies)."
)
"""What the interval of several seeds covers."""
SHARED_TRACE = (
    "Seeds share the trace: the intervals of other metrics than WAF cover what a seed changes on the drive, not what "
    "other traces or times would change."
)
"""What the interval of several seeds on a trace does not cover."""
ALIKE = 1e-3
"""Relative range of the values of seeds below which they agree: latencies are known to three digits."""


def agree(values: Sequence[float], *, drawn: bool) -> bool:
    """Return whether seeds on a trace agree: their interval would be that of nearly one run.

    Args:
        values: one per seed.
        drawn: whether the seed draws the workload.
    """
    return not drawn and len(values) > 1 and max(values) - min(values) <= ALIKE * max(map(abs, values))


_OF_THE_SEED = ("seed", "config", "config_hash", "run")
"""Tables of a result that differ between seeds in any case."""


def seed_matters(results: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the results of several seeds differ in more than the seed itself."""
    first, *others = ({key: value for key, value in one.items() if key not in _OF_THE_SEED} for one in results)
    return any(one != first for one in others)


def mean_result(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Average several seeds: numbers are means, intervals of write amplification those of the mean (:class:`Spread`).

    Texts are those of the first seed; a figure that one of the seeds does not know is null. The seed with the least
    evidence decides: a mean has a lifetime only if each of its runs was long enough, and is stationary only if each
    of them was. Where the seed changes nothing, the result is that of the first one, with the interval of its batches.
    """
    first = dict(results[0])
    if not seed_matters(results):
        return first
    made = {key: _mean_of([result.get(key) for result in results]) for key in first}
    for key, spread in spreads(results).items():
        made[f"{key}_95"] = spread.interval
    made["evidence"] = min((result.get("evidence") for result in results), key=_weight)
    for key in _FLAGS:
        made[key] = min((result.get(key) for result in results), key=_ORDER.index)
    return made


def spreads(results: Sequence[Mapping[str, Any]]) -> dict[str, Spread]:
    """Return the means over seeds of the metrics whose interval a single run knows, where all of them know the metric.

    Args:
        results: of several seeds; of those with the same result the first one is enough.
    """
    made = {}
    drawn = all(map(draws_workload, results))
    for key in _WITH_INTERVAL:
        values = [value for result in results if (value := look(result, key)) is not None]
        if len(values) == len(results):
            halves = [_half(look(result, f"{key}_95")) for result in results]
            made[key] = Spread.of(values, halves, drawn=drawn)
    return made


def _half(interval: Sequence[float] | None) -> float | None:
    return None if interval is None else abs(interval[1] - interval[0]) / 2


_TOP = [metric for metric in metrics.table().values() if not metric.group]
_WITH_INTERVAL = [metric.key.removesuffix("_95") for metric in _TOP if metric.key.endswith("_95")]
"""Metrics of which a result has the interval."""
_FLAGS = [metric.key for metric in _TOP if metric.kind == "flag"]
"""Metrics that say yes or no of a whole result."""

_ORDER = (False, None, True)
"""Answers from the one that settles a question for all seeds to the one that takes all of them."""


def _weight(evidence: Mapping[str, Any] | None) -> int:
    return _ORDER.index(None if evidence is None else evidence.get("enough"))


def _mean_of(values: Sequence[Any]) -> Any:
    first = values[0]
    if any(value is None for value in values):
        return None
    if isinstance(first, Mapping):
        return {key: _mean_of([value.get(key) for value in values]) for key in first}
    if isinstance(first, int | float) and not isinstance(first, bool):
        if all(value == first for value in values):
            return first
        return math.fsum(values) / len(values)
    return first
