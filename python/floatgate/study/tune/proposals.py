"""What Optuna proposes: its values and ours, and the file with the proposals of the trials that have ended.

``trials.jsonl`` has a line for each trial, in order. It is written by the process that has locked the folder, and needs
no lock of its own; a line that a killed search has left half written is cut off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate.base.errors import InputError, input_error, quoted
from floatgate.base.json_in import parse
from floatgate.results.flat import plain
from floatgate.study.runs.points import Axis
from floatgate.study.runs.rows import shown

FILE = "trials.jsonl"
_LINE = "a line with the proposal of a trial"
_LINE_MAX = 1 << 20


class Proposals:
    """The proposals of the trials that have ended, by their numbers."""

    def __init__(self, path: Path, axes: Sequence[Axis], *, read_only: bool = False) -> None:
        """Read the file, and open it for more unless ``read_only``.

        Raises:
            InputError: it is damaged, or cannot be read or written.
        """
        self.path, self._axes = path, axes
        self._kept: list[dict[str, Any]] = []
        self._descriptor = -1
        try:
            complete = self._read() if path.exists() else 0
            if not read_only:
                self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
                os.ftruncate(self._descriptor, complete)
        except OSError as error:
            self.close()
            raise self._no_room(error) from None

    def _read(self) -> int:
        """Read what is there; the length of what is complete."""
        place = 0
        with self.path.open("rb") as file:
            while line := file.readline(_LINE_MAX):
                where = f"{self.path}:{len(self._kept) + 1}"
                if not line.endswith(b"\n"):
                    if len(line) == _LINE_MAX:
                        raise input_error(f"{where}: has more than {_LINE_MAX >> 20} MiB; expected {_LINE}")
                    break
                self._kept.append(self._params(parse(line, where, _LINE, line=True).value, where))
                place += len(line)
        return place

    def _params(self, entry: Any, where: str) -> dict[str, Any]:
        """The proposal of a line, with values that Optuna can have proposed."""
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
        """Numbers and proposals, in order."""
        return iter(enumerate(self._kept))

    def add(self, number: int, params: Mapping[str, Any]) -> None:
        """Keep the next proposal; one that is there already stays.

        Raises:
            InputError: there is no room.
        """
        if number in self:
            return
        end = os.fstat(self._descriptor).st_size
        line = json.dumps({"trial": number, "params": params}, separators=(",", ":"), ensure_ascii=False)
        data = line.encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            os.ftruncate(self._descriptor, end)
            raise self._no_room(error) from None
        self._kept.append(dict(params))

    def _no_room(self, error: OSError) -> InputError:
        return input_error(f"{self.path}: {error.strerror or error}; expected room for the trials of a search")

    def close(self) -> None:
        """Close the file; once is enough."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _is_possible(axis: Axis, value: Any) -> bool:
    """Whether Optuna can have proposed a value."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    among = distribution(axis)
    if isinstance(among, CategoricalDistribution):
        return type(value) is str and value in among.choices
    if isinstance(among, FloatDistribution):
        return type(value) in (int, float) and among.low <= value <= among.high
    return type(value) is int and among.low <= value <= among.high


def distribution(axis: Axis) -> Any:
    """What Optuna draws the values of a key from."""
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
    """The value that Optuna proposes for a key."""
    from optuna.distributions import CategoricalDistribution, IntDistribution

    found = distribution(axis)
    if isinstance(found, CategoricalDistribution):
        return one.suggest_categorical(axis.key, found.choices)
    if isinstance(found, IntDistribution):
        return one.suggest_int(axis.key, found.low, found.high, log=found.log)
    return one.suggest_float(axis.key, found.low, found.high, log=found.log)


def setting(axis: Axis, value: Any) -> str:
    """A value that Optuna proposes, as TOML."""
    from optuna.distributions import IntDistribution

    if axis.ends is not None and axis.steps is None:
        return axis.text(float(value))
    if isinstance(distribution(axis), IntDistribution):
        return sorted(axis.listed(), key=lambda text: float(plain(text)))[int(value)]
    return str(value)


def word(axis: Axis, setting: str) -> Any:
    """A setting as Optuna has it."""
    from optuna.distributions import IntDistribution

    if isinstance(distribution(axis), IntDistribution):
        return sorted(axis.listed(), key=lambda text: float(plain(text))).index(setting)
    return setting
