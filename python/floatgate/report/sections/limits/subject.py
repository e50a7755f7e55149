"""The run or the forecast that is explained: its result and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from floatgate import _core
from floatgate.base.errors import FloatgateError
from floatgate.results.result_view import look

RUN, FORECAST = "run", "lifetime"
"""Kinds of results that can be explained."""
_READING = ("format", "columns", "time_unit", "lba_unit", "action", "on_bad_line")
"""Settings of the workload that say how a trace is read."""


@dataclass(frozen=True)
class Subject:
    """One run or forecast.

    Attributes:
        kind: ``run`` or ``lifetime``.
        result: its ``result.json`` or ``lifetime.json``.
        config: its resolved experiment.
    """

    kind: str
    result: Mapping[str, Any]
    config: Mapping[str, Any]

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
