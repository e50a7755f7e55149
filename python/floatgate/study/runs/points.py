"""The settings of a sweep: grids, lists, random samples and Latin hypercubes over any keys.

A point is made from its number when it is needed: a grid of a million points takes no memory. Samples come
from Python's Mersenne Twister with a stream for each key, named by the key. The same file gives the same points on
every machine, and another key shifts none of the others.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from floatgate.base.errors import InputError, input_error, quote, quoted, repeated
from floatgate.base.json_in import Node
from floatgate.run.experiment import Overrides, parse_set, split_values, toml_value

SAMPLES = ("grid", "list", "random", "latin-hypercube")
"""How points are taken from the values of the keys."""

RUNS_END = 10_000_000
"""Most steps, samples or seeds of a plan that is read back."""
_NUMBER = r"[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::(\d+))?(?::(log|linear))?")
_DIGITS = 6
"""Significant digits of a value between two ends: enough to tell points apart, few enough to read."""


@dataclass(frozen=True)
class Axis:
    """A key that varies: over ``values`` (TOML texts), or between two ends.

    Attributes:
        key: the dotted key.
        values: TOML texts, in order; empty where the axis is a range.
        ends: both ends of a range.
        steps: values of a range in a grid; None where only samples are taken from it.
        log: whether steps and samples are even in the logarithm.
        whole: whether values are whole numbers.
    """

    key: str
    values: tuple[str, ...] = ()
    ends: tuple[float, float] | None = None
    steps: int | None = None
    log: bool = False
    whole: bool = False

    def at(self, share: float) -> str:
        """Return the value at a share of the way, from 0 to just below 1."""
        if self.ends is None:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        low, high = self.ends
        if self.whole:
            # Every whole number has an equal share.
            low, high = (low - 0.5, high + 0.5) if not self.log else (low, high)
        return self.text(self._between(low, high, share))

    def _between(self, low: float, high: float, share: float) -> float:
        return math.exp(math.log(low) + share * math.log(high / low)) if self.log else low + share * (high - low)

    def listed(self) -> tuple[str, ...]:
        """Return the values in a grid.

        Raises:
            InputError: a range without steps.
        """
        if self.ends is None:
            return self.values
        if self.steps is None:
            raise input_error(
                f"{self.key}: a range without a number of steps; expected FROM..TO:STEPS, or --sample random or "
                "latin-hypercube with --samples N"
            )
        low, high = self.ends
        if self.steps == 1:
            return (self.text(low),)
        made = [self._between(low, high, step / (self.steps - 1)) for step in range(self.steps)]
        made[0], made[-1] = low, high
        return tuple(dict.fromkeys(map(self.text, made)))

    def text(self, value: float) -> str:
        """Format a value of a range as TOML: whole, or with this many digits."""
        if self.whole and self.ends is not None:
            return str(int(min(max(round(value), self.ends[0]), self.ends[1])))
        return toml_value(self.key, float(f"{value:.{_DIGITS}g}"))

    def to_dict(self) -> dict[str, Any]:
        """Return it as the plan of a sweep keeps it."""
        if self.ends is None:
            return {"key": self.key, "values": list(self.values)}
        scale = "log" if self.log else "linear"
        return {"key": self.key, "ends": list(self.ends), "steps": self.steps, "scale": scale, "whole": self.whole}

    @classmethod
    def from_kept(cls, kept: Node) -> Axis:
        """Read what :meth:`to_dict` has made.

        Raises:
            InputError: it is damaged.
        """
        key = kept["key"].text()
        values = kept.get("values")
        if values is not None:
            if not values.elements():
                values.refuse("a value or more")
            return cls(key, tuple(one.text() for one in values.elements()))
        ends, steps, log = kept["ends"], kept.get("steps"), kept["scale"].text() == "log"
        low, high = [one.value for one in ends.elements()] if len(ends.elements()) == 2 else (0, 0)
        if not low < high or (log and low <= 0):
            raise ends.refusal("is not a range", "two numbers, the smaller one first, above 0 on a logarithmic scale")
        taken = None if steps is None else steps.whole(1, RUNS_END)
        return cls(key, (), (low, high), taken, log, kept["whole"].flag())


@dataclass(frozen=True)
class Points:
    """The points of a sweep: how the axes are combined, and further listed points.

    Attributes:
        axes: the keys that vary.
        sample: one of :data:`SAMPLES`.
        samples: how many points a sample has.
        seed: of the sample.
        listed: settings that are listed one by one; each is combined with every point of the axes.
    """

    axes: tuple[Axis, ...]
    sample: str = "grid"
    samples: int = 0
    seed: int = 1
    listed: tuple[tuple[tuple[str, str], ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what makes no points."""
        sizes = [len(column) for column in self._made]
        if self.sample == "list" and len(set(sizes)) > 1:
            counts = ", ".join(f"{axis.key} has {size}" for axis, size in zip(self.axes, sizes, strict=True))
            raise input_error(f"--sample list: {counts} values; expected as many of each key")

    @cached_property
    def _made(self) -> list[Sequence[str]]:
        """The values of each axis: those of the grid, or one for each sample."""
        if self.sample in ("grid", "list"):
            return [axis.listed() for axis in self.axes]
        return [_drawn(axis, self.samples, self.seed, strata=self.sample != "random") for axis in self.axes]

    @cached_property
    def keys(self) -> list[str]:
        """The keys that vary, in the order of the columns."""
        listed = [key for point in self.listed for key, _ in point]
        return list(dict.fromkeys([*listed, *(axis.key for axis in self.axes)]))

    def __len__(self) -> int:
        return max(1, len(self.listed)) * self._of_axes()

    def _of_axes(self) -> int:
        if not self._made:
            return 1
        return math.prod(map(len, self._made)) if self.sample == "grid" else len(self._made[0])

    def at(self, number: int) -> Overrides:
        """Return the point of a number from 0: settings in the order of the keys, the last one varying fastest."""
        first, rest = divmod(number, self._of_axes())
        named = list(self.listed[first]) if self.listed else []
        chosen: list[str] = []
        if self.sample == "grid":
            for column in reversed(self._made):
                rest, place = divmod(rest, len(column))
                chosen.append(column[place])
            chosen.reverse()
        else:
            chosen = [column[rest] for column in self._made]
        return [*named, *((axis.key, value) for axis, value in zip(self.axes, chosen, strict=True))]

    def __iter__(self) -> Iterator[Overrides]:
        return map(self.at, range(len(self)))

    def to_dict(self) -> dict[str, Any]:
        """Return it as the plan of a sweep keeps it."""
        return {
            "axes": [axis.to_dict() for axis in self.axes],
            "sample": self.sample,
            "samples": self.samples,
            "seed": self.seed,
            "listed": [dict(point) for point in self.listed],
        }

    @classmethod
    def from_kept(cls, kept: Node) -> Points:
        """Read what :meth:`to_dict` has made.

        Raises:
            InputError: it is damaged.
        """
        axes = tuple(map(Axis.from_kept, kept["axes"].elements()))
        listed = tuple(tuple(point.table().items()) for point in kept["listed"].elements())
        sample = kept["sample"]
        if sample.text() not in SAMPLES:
            sample.refuse(f"one of {quoted(list(SAMPLES))}")
        samples = kept["samples"].whole(0 if sample.value in ("grid", "list") else 1, RUNS_END)
        try:
            return cls(axes, sample.text(), samples, kept["seed"].whole(), listed)
        except InputError as error:
            raise kept.refusal(f"makes no points ({error})", "those of a sweep") from None


def _drawn(axis: Axis, count: int, seed: int, *, strata: bool) -> list[str]:
    """Draw ``count`` values of an axis: independent ones, or one from each of ``count`` equal parts in random order.

    The latter is the Latin hypercube of McKay, Beckman and Conover (Technometrics 21, 1979): each axis is cut into as
    many parts as there are points, and each part has one point.
    """
    stream = random.Random(f"floatgate.sweep:{seed}:{axis.key}")  # noqa: S311 - a sample, no secret
    if not strata:
        return [axis.at(stream.random()) for _ in range(count)]
    places = list(range(count))
    # By hand: what `random.shuffle` draws may differ between versions of Python.
    for last in range(count - 1, 0, -1):
        other = int(stream.random() * (last + 1))
        places[last], places[other] = places[other], places[last]
    return [axis.at((place + stream.random()) / count) for place in places]


def axes_of(vary: Sequence[str]) -> tuple[Axis, ...]:
    """Return the axes of every ``--vary``.

    Raises:
        InputError: one is invalid, or a key comes twice.
    """
    axes = tuple(map(parse_axis, vary))
    twice = repeated([axis.key for axis in axes])
    if twice:
        raise input_error(f"--vary {quoted(twice)} given twice; expected all its values in one --vary")
    return axes


def parse_axis(text: str) -> Axis:
    """Parse ``KEY=a,b,c`` or ``KEY=FROM..TO[:STEPS][:log]``; commas inside quotes or brackets do not count.

    Raises:
        InputError: it can be neither, or a value is given twice.
    """
    key, values = parse_set(text, "--vary")
    match = _RANGE.fullmatch(values)
    place = f"--vary {quote(text)}"
    if match is not None:
        low, high, steps, scale = match.groups()
        whole = all(re.fullmatch(r"[-+]?[\d_]+", end) for end in (low, high))
        return range_of(key, place, float(low), float(high), int(steps) if steps else None, scale == "log", whole)
    parts = [part.strip() for part in split_values(values)]
    if not all(parts):
        raise input_error(f"{place}: an empty value; expected KEY=VALUE,VALUE,... or KEY=FROM..TO:STEPS")
    return values_of(key, place, parts)


def values_of(key: str, place: str, parts: Sequence[str]) -> Axis:
    """Return an axis of values as TOML texts; raises InputError where one is given twice."""
    twice = repeated(parts)
    if twice:
        raise input_error(f"{place}: {quoted(twice)} given twice; expected each value once")
    return Axis(key, tuple(parts))


def range_of(key: str, place: str, low: float, high: float, steps: int | None, log: bool, whole: bool) -> Axis:
    """Return an axis between two ends.

    Raises:
        InputError: the ends are no range, or have no logarithm.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise input_error(
            f"{place}: from {low:g} to {high:g} is not a range; expected two numbers, the smaller one first"
        )
    if log and low <= 0:
        raise input_error(f"{place}: a logarithmic range from {low:g}; expected one that begins above 0")
    if steps is not None and steps < 1:
        raise input_error(f"{place}: {steps} steps; expected 1 or more")
    return Axis(key, (), (low, high), steps, log, whole)
