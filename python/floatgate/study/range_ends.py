"""Keys whose best value lies at an end of the tried range: a better one may lie beyond.

Ends beyond which a setting cannot go are passed over, as are names and seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from floatgate.results import metrics
from floatgate.results.flat import plain
from floatgate.run.setting_keys import setting_schemas
from floatgate.study.runs.points import Axis

_AT_END = 0.02
"""A value is at an end of a range if it is within this share of the range's width."""
_LEAST_VALUES = 3
"""Values of a list that leave one between its ends: of two, the best is always at an end."""
_NO_OPTIMUM = frozenset({"seed"})
"""Numeric keys that have no better and worse values."""
_MORE_IS_BETTER = frozenset({"ftl.spare_factor"})
"""Keys of which more is better by nature, at a cost that no metric has: the best of a list is no news."""


@dataclass(frozen=True)
class End:
    """A key whose best value is at an end.

    Attributes:
        key: the key.
        value: the best one.
        upper: whether it is at the upper end.
        ends: of the tried range, the lower one first.
    """

    key: str
    value: float
    upper: bool
    ends: tuple[float, float]

    def text(self) -> str:
        """Format as ``ftl.spare_factor = 0.299 is at the upper end of 0.05..0.3: ...; widen the range above 0.3``."""
        low, high = self.ends
        side, beyond = ("upper", f"above {high:g}") if self.upper else ("lower", f"below {low:g}")
        place = f"{self.key} = {self.value:.6g} is at the {side} end of {low:g}..{high:g}"
        return f"{place}: better settings may lie beyond; widen the range {beyond}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it."""
        side = "upper" if self.upper else "lower"
        return {"key": self.key, "value": self.value, "end": side, "range": list(self.ends)}


def of_search(axes: Sequence[Axis], settings: Mapping[str, Any], ties: Iterable[Mapping[str, Any]]) -> list[End]:
    """Return the keys of a search that are best at an end of their range, or of the numbers that were listed.

    Args:
        axes: the keys that vary.
        settings: the best ones.
        ties: other settings that are as good: a key that has a value between the ends in one of them is left out.
    """
    others = list(ties)
    at_ends = []
    for axis in axes:
        ends, values = axis.ends, [plain(value) for value in axis.values]
        if ends is None and _has_order(axis.key, values):
            ends = (min(values), max(values))
        if ends is not None and (end := _at_end(axis.key, settings[axis.key], ends, log=axis.log)) is not None:
            tied = (_at_end(axis.key, one[axis.key], ends, log=axis.log) for one in others)
            at_ends += [end] if all(one is not None for one in tied) else []
    return at_ends


def remark(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str | None:
    """Format as ``At an end of what was tried: spare_factor = 0.3 (lowest WAF, longest life). ...``, or None.

    Args:
        rows: a row for each setting that was tried, with its keys and figures.
        keys: the keys that vary.
    """
    by_setting: dict[str, list[str]] = {}
    for metric in metrics.looked_for():
        best = metric.best_of(rows)
        if best is None:
            continue
        as_good = [row for row in rows if row.get(metric.key) == best[metric.key]]
        for key in keys:
            values = [row[key] for row in rows if key in row]
            if key in _MORE_IS_BETTER or not _has_order(key, values):
                continue
            at_ends = [_at_end(key, row[key], (min(values), max(values)), width=0.0) for row in as_good]
            if at_ends[0] is not None and None not in at_ends:
                which = "largest" if at_ends[0].upper else "smallest"
                by_setting.setdefault(f"{key} = {at_ends[0].value:.6g}, the {which}", []).append(metric.best)
    if not by_setting:
        return None
    text = "; ".join(f"{setting} ({', '.join(names)})" for setting, names in by_setting.items())
    return f"Best at an end of what was tried: {text}. Better settings may lie beyond; try values there."


def _has_order(key: str, values: Sequence[Any]) -> bool:
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one) for one in values)
    return numbers and key not in _NO_OPTIMUM and len(set(values)) >= _LEAST_VALUES


def _at_end(
    key: str, value: float, ends: tuple[float, float], *, log: bool = False, width: float = _AT_END
) -> End | None:
    """Return the end at which a value is; None if it is between them, or at a limit of the setting itself."""
    low, high = ends
    at = math.log if log else float
    near = width * (at(high) - at(low))
    upper = at(high) - at(value) <= near
    if not upper and at(value) - at(low) > near:
        return None
    least, most = _limits().get(key, (None, None))
    limit = most if upper else least
    beyond = limit is None or (high < limit if upper else low > limit)
    return End(key, value, upper, (low, high)) if beyond else None


@cache
def _limits() -> Mapping[str, tuple[float | None, float | None]]:
    """Return the least and the most value of each key, from the schema of experiments; None without a bound."""
    least: dict[str, list[float | None]] = {}
    most: dict[str, list[float | None]] = {}
    for key, table in setting_schemas():
        types = table.get("type", ())
        # Keys in bytes take sizes in text beside whole numbers.
        types = {types} if isinstance(types, str) else set(types) - {"string", "null"}
        if not types or not types <= {"number", "integer"}:
            continue
        step = 1 if types == {"integer"} else 0
        low, high = table.get("exclusiveMinimum"), table.get("exclusiveMaximum")
        least.setdefault(key, []).append(table.get("minimum") if low is None else low + step)
        most.setdefault(key, []).append(table.get("maximum") if high is None else high - step)

    def widest(limits: Sequence[float | None], choose: Any) -> float | None:
        known = [limit for limit in limits if limit is not None]
        return choose(known) if len(known) == len(limits) else None

    return {key: (widest(least[key], min), widest(most[key], max)) for key in least}
