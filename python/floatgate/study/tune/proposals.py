"""Proposals of Optuna: its values and ours, and the file with the proposals of the trials that have ended.

``trials.jsonl`` has a line for each trial, in order. The process that has locked the folder writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate.base.errors import InputError, input_error, quoted
from floatgate.base.json_in import parse
from floatgate.results.flat import plain
from floatgate.study.runs.lines import Lines
from floatgate.study.runs.points import Axis
from floatgate.study.runs.rows import shown

FILE = "trials.jsonl"
_LINE = "a line with the proposal of a trial"


class Proposals:
    """The proposals of the trials that have ended, by their numbers."""

    def __init__(self, path: Path, axes: Sequence[Axis], *, read_only: bool = False) -> None:
        """Read the file, and open it for more unless ``read_only``.

        Raises:
            InputError: it is damaged, or cannot be read or written.
        """
        self.path, self._axes = path, axes
        self._kept: list[dict[str, Any]] = []
        self._lines: Lines | None = None
        if path.exists() or not read_only:
            self._lines = Lines(path, _LINE, self._take, self._no_room, read_only=read_only)

    def _take(self, line: bytes, where: str, _place: int) -> None:
        self._kept.append(self._params(parse(line, where, _LINE, line=True).value, where))

    def _params(self, entry: Any, where: str) -> dict[str, Any]:
        """Read the proposal of a line, with values that Optuna can have proposed."""
        number, keys = len(self._kept), [axis.key for axis in self._axes]
        if not isinstance(entry, dict) or list(entry) != ["trial", "params"]:
            raise input_error(f"{where}: has other keys than 'trial', 'params'; expected {_LINE}")
        if type(entry["trial"]) is not int or entry["trial"] != number:
            raise input_error(f"{where}: 'trial' is {shown(entry['trial'])}; expected {number}")
        params = entry["params"]
        if not isinstance(params, dict) or list(params) != keys:
            raise input_error(f"{where}: 'params' is {shown(params)}; expected values of {quoted(keys)}")
        for axis in self._axes:
            if not _is_possible(axis, params[axis.key]):
                raise input_error(f"{where}: {axis.key} is {shown(params[axis.key])}; expected a value that varies")
        return params

    def __contains__(self, number: int) -> bool:
        return number < len(self._kept)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self._kept[number]

    def items(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield numbers and proposals, in order."""
        return iter(enumerate(self._kept))

    def add(self, number: int, params: Mapping[str, Any]) -> None:
        """Keep the next proposal; one that is there already stays.

        Raises:
            InputError: there is no room.
        """
        if number not in self and self._lines is not None:
            self._lines.add({"trial": number, "params": params})
            self._kept.append(dict(params))

    def _no_room(self, error: OSError) -> InputError:
        return input_error(f"{self.path}: {error.strerror or error}; expected room for the trials of a search")

    def close(self) -> None:
        """Close the file; once is enough."""
        if self._lines is not None:
            self._lines.close()


def _is_possible(axis: Axis, value: Any) -> bool:
    """Return whether Optuna can have proposed a value."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    among = distribution(axis)
    if isinstance(among, CategoricalDistribution):
        return type(value) is str and value in among.choices
    if isinstance(among, FloatDistribution):
        return type(value) in (int, float) and among.low <= value <= among.high
    return type(value) is int and among.low <= value <= among.high


def distribution(axis: Axis) -> Any:
    """Return what Optuna draws the values of a key from."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if axis.ends is not None and axis.steps is None:
        if axis.whole:
            return IntDistribution(int(axis.ends[0]), int(axis.ends[1]), log=axis.log)
        return FloatDistribution(*axis.ends, log=axis.log)
    values = axis.listed()
    # Numbers have an order that a search can use; names have none.
    if all(isinstance(plain(value), int | float) and not isinstance(plain(value), bool) for value in values):
        return IntDistribution(0, len(values) - 1)
    return CategoricalDistribution(values)


def suggested(one: Any, axis: Axis) -> Any:
    """Return the value that Optuna proposes for a key."""
    from optuna.distributions import CategoricalDistribution, IntDistribution

    space = distribution(axis)
    if isinstance(space, CategoricalDistribution):
        return one.suggest_categorical(axis.key, space.choices)
    if isinstance(space, IntDistribution):
        return one.suggest_int(axis.key, space.low, space.high, log=space.log)
    return one.suggest_float(axis.key, space.low, space.high, log=space.log)


def setting(axis: Axis, value: Any) -> str:
    """Return a value that Optuna proposes, as TOML."""
    from optuna.distributions import IntDistribution

    if axis.ends is not None and axis.steps is None:
        return axis.text(float(value))
    if isinstance(distribution(axis), IntDistribution):
        return sorted(axis.listed(), key=lambda text: float(plain(text)))[int(value)]
    return str(value)


def word(axis: Axis, setting: str) -> Any:
    """Return a setting as Optuna has it."""
    from optuna.distributions import IntDistribution

    if isinstance(distribution(axis), IntDistribution):
        return sorted(axis.listed(), key=lambda text: float(plain(text))).index(setting)
    return setting
