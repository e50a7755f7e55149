"""The goal of a search: metrics to minimise or maximise, and bounds on others."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.base.errors import InputError, input_error, meant, quote, quoted, repeated
from floatgate.results.flat import CONTRACT, LEADING, figures_known

_BOUND = re.compile(r"\s*([A-Za-z0-9_.]+)\s*(<=|>=|<|>)\s*([-+]?[\d_.]+(?:[eE][-+]?\d+)?)\s*")
_KEY = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*")
_SHOWN = 5


@dataclass(frozen=True)
class Objective:
    """A figure of the result that should be as small, or as large, as possible."""

    key: str
    maximise: bool = False

    @property
    def option(self) -> str:
        """The option that requests it."""
        return "--maximise" if self.maximise else "--minimise"

    @property
    def direction(self) -> str:
        """As Optuna says it."""
        return "maximize" if self.maximise else "minimize"


@dataclass(frozen=True)
class Bound:
    """A figure that must be below, or above, a number."""

    key: str
    sign: str
    limit: float

    option = "--subject-to"

    def excess(self, value: float) -> float:
        """Return how far a value is beyond the bound; 0 or less where it keeps to it."""
        over = value - self.limit if self.sign.startswith("<") else self.limit - value
        # A strict bound is missed by a value that equals it.
        return math.ulp(abs(self.limit) or 1.0) if over == 0 and len(self.sign) == 1 else over

    def __str__(self) -> str:
        return f"{self.key} {self.sign} {self.limit:g}"


@dataclass(frozen=True)
class Goal:
    """All objectives and bounds."""

    objectives: tuple[Objective, ...]
    bounds: tuple[Bound, ...] = ()

    @property
    def keys(self) -> list[str]:
        """The figures that count, each once."""
        return list(dict.fromkeys([*(one.key for one in self.objectives), *(one.key for one in self.bounds)]))

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``tune.json`` keeps it."""
        return {
            "minimise": [one.key for one in self.objectives if not one.maximise],
            "maximise": [one.key for one in self.objectives if one.maximise],
            "subject_to": [str(bound) for bound in self.bounds],
        }

    def must_be_known(self, row: Mapping[str, Any]) -> None:
        """Refuse a figure that a run of this experiment does not tell.

        Args:
            row: the flat row of one run.

        Raises:
            InputError: naming those that it tells.
        """
        wanted: list[Objective | Bound] = [*self.objectives, *self.bounds]
        for one in wanted:
            value = row.get(one.key)
            if value is None or isinstance(value, bool | str):
                raise _unknown(one, value, row)


def goal_of(minimise: Sequence[str], maximise: Sequence[str], subject_to: Sequence[str]) -> Goal:
    """Return the goal that the options state.

    Raises:
        InputError: the objective is missing, or a bound is invalid.
    """
    objectives = [Objective(key.strip()) for key in minimise] + [Objective(key.strip(), True) for key in maximise]
    if not objectives:
        raise input_error("floatgate tune: no objective; expected --minimise waf_bytes or --maximise lifetime.years")
    for one in objectives:
        if not _KEY.fullmatch(one.key):
            raise input_error(f"{one.option} {quote(one.key)}: not a metric; expected one such as waf_bytes")
    twice = repeated([one.key for one in objectives])
    if twice:
        raise input_error(f"{quoted(twice)} requested twice; expected each figure once")
    return Goal(tuple(objectives), tuple(_bound(text) for text in subject_to))


def _bound(text: str) -> Bound:
    match = _BOUND.fullmatch(text)
    try:
        if match is not None:
            return Bound(match[1], match[2], float(match[3]))
    except ValueError:
        pass
    raise input_error(
        f"--subject-to {quote(text)}: not a bound; expected FIGURE < NUMBER, such as 'latency_us.read.p99 < 500'"
    )


def _unknown(one: Objective | Bound, value: Any, row: Mapping[str, Any]) -> InputError:
    known = figures_known(row)
    where = f"{one.option} {quote(one.key)}"
    if one.key in row or one.key in CONTRACT:
        mode = row.get("mode")
        what = "is not a number" if value is not None else f"is null in mode = {quote(mode)} for this experiment"
        leading = [key for key in LEADING if key in known] or known[:_SHOWN]
        return input_error(f"{where}: {what}; expected another metric, such as {quoted(leading[:_SHOWN])}")
    leading = sorted(known, key=lambda key: key not in LEADING)
    return input_error(f"{where}: unknown metric; {meant(one.key, leading)}")
