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
    return _T_95[freedom - 1] if freedom <= len(_T_95) else 1.96 + 2.4 / freedom


SEED_CHANGES_NOTHING = "the seed changes nothing here; the interval is from batches of the run"
"""What a reader must know of several seeds with one result."""
SEED_ACTS_ON = (
    "A seed acts on generated workloads, and on a trace through keys such as ftl.precondition (random, steady, auto), "
    "workload.shuffle_window or ftl.collect.policy = d-choices."
)
"""The settings through which a seed can change the run of a trace."""
_OF_THE_SEED = ("seed", "config", "config_hash", "run")
"""Tables of a result that differ between seeds in any case."""


def seed_matters(results: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the results of several seeds differ in more than the seed itself."""
    first, *others = ({key: value for key, value in one.items() if key not in _OF_THE_SEED} for one in results)
    return any(one != first for one in others)


def mean_result(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Average several seeds: numbers are means, the intervals of write amplification are those of the mean.

    Texts are those of the first seed; a figure that one of the seeds does not know is null. The seed with the least
    evidence decides: a mean has a lifetime only if each of its runs was long enough, and is stationary only if each
    of them was. Where the seed changes nothing, the result is that of the first one, with the interval of its batches.
    """
    first = dict(results[0])
    if not seed_matters(results):
        return first
    made = {key: _mean_of([result.get(key) for result in results]) for key in first}
    for key in _WITH_INTERVAL:
        values = [value for result in results if (value := look(result, key)) is not None]
        if len(values) == len(results):
            interval = Mean.of(values).interval
            made[f"{key}_95"] = list(interval) if interval else None
    made["evidence"] = min((result.get("evidence") for result in results), key=_weight)
    for key in _FLAGS:
        made[key] = min((result.get(key) for result in results), key=_ORDER.index)
    return made


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
