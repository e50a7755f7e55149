"""The run or the forecast that is explained: its result, its settings, and an experiment that repeats it."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.errors import FloatgateError, input_error
from floatgate.results import shapes
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment, Overrides
from floatgate.run.lifetime import check_forecast
from floatgate.run.run import check, read_text
from floatgate.study.kinds.folders import must_be_one

RUN, FORECAST = "run", "lifetime"
"""Kinds of folders that can be explained."""
EXPERIMENT = "experiment.toml"
_READING = ("format", "columns", "time_unit", "lba_unit", "action", "on_bad_line")
"""Settings of the workload that say how a trace is read."""


@dataclass(frozen=True)
class Case:
    """One run or forecast.

    Attributes:
        kind: ``run`` or ``lifetime``.
        result: its ``result.json`` or ``lifetime.json``.
        config: its resolved experiment.
        folder: where it is, as the user named it.
        experiment: repeats it.
        toml: the same, resolved, as the core writes it.
    """

    kind: str
    result: Mapping[str, Any]
    config: Mapping[str, Any]
    folder: Path
    experiment: Experiment
    toml: str

    @property
    def file(self) -> Path:
        """The file of its experiment."""
        return self.folder / EXPERIMENT

    @property
    def is_forecast(self) -> bool:
        """Whether it is a forecast."""
        return self.kind == FORECAST

    def metric(self, key: str) -> Any:
        """Return a metric of the result by its dotted key; None where it is not known."""
        return look(self.result, *key.split("."))

    def setting(self, key: str) -> Any:
        """Return the value of a setting by its dotted key; None where the experiment does not have it."""
        return look(self.config, *key.split("."))

    @cached_property
    def trace_columns(self) -> frozenset[str] | None:
        """The optional columns of the trace; None without a trace, or where it cannot be read any more."""
        file = self.setting("workload.file")
        if file in (None, "-"):
            return None
        named = {key: self.setting(f"workload.{key}") for key in _READING}
        try:
            batches = _core.trace_batches(file, {key: value for key, value in named.items() if value is not None})
        except FloatgateError:
            return None
        return frozenset(batches.optional)

    def refusal(self, changes: Overrides) -> str | None:
        """Return why the core refuses the experiment with some settings changed; None where it takes it."""
        changed = self.experiment.with_overrides(changes)
        try:
            resolved(changed, self.kind)
        except FloatgateError as error:
            return error.message
        return None


@contextlib.contextmanager
def reading(place: str) -> Iterator[Case]:
    """Read the folder of a run or a forecast; errors in the block that its figures cause are errors of the folder.

    Raises:
        InputError: it is neither, its files are missing or damaged, or its experiment is refused.
    """
    folder = must_be_one(place)
    name = folder.kind.name
    if name not in (RUN, FORECAST):
        raise input_error(
            f"{place}: holds the results of several runs ('{folder.kind.file}'); expected the folder of one run "
            "('result.json') or of a forecast ('lifetime.json')"
        )
    node = shapes.read(folder.path / folder.kind.file, name, folder.kind.most_bytes)
    experiment = Experiment.of_text(read_text(folder.path / EXPERIMENT), str(folder.path / EXPERIMENT))
    toml = resolved(experiment, name)
    with shapes.consuming(name, node):
        yield Case(name, node.value, tomllib.loads(toml), folder.path, experiment, toml)


def resolved(experiment: Experiment, kind: str) -> str:
    """Return the experiment of a run or forecast with all defaults, as TOML.

    Raises:
        InputError: the core refuses it.
    """
    return check_forecast(experiment) if kind == FORECAST else check(experiment)
