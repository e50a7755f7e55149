"""What pages and charts see of a run and of a forecast: results, not how they came about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from floatgate.results.result_view import Record

if TYPE_CHECKING:
    import pyarrow as pa


class RunView(Protocol):
    """A finished run; :class:`floatgate.Run` is one."""

    @property
    def result(self) -> Record:
        """The parsed ``result.json``."""

    @property
    def experiment_toml(self) -> str:
        """The resolved experiment."""

    @property
    def folder(self) -> Path | None:
        """The run folder, where there is one."""

    @property
    def series(self) -> pa.Table:
        """What happened in each interval (:func:`floatgate.results.series.table`)."""

    @property
    def timeline(self) -> pa.Table | None:
        """What dies and channels did in the recorded interval (:mod:`floatgate.results.timeline`), or None."""

    def experiment(self) -> dict[str, Any]:
        """Return the resolved experiment as a dict."""

    def name(self) -> str:
        """Return what to call the run."""


class ForecastView(Protocol):
    """A forecast life; :class:`floatgate.Lifetime` is one."""

    @property
    def result(self) -> Record:
        """The parsed ``lifetime.json``."""

    @property
    def experiment_toml(self) -> str:
        """The resolved experiment."""

    @property
    def label(self) -> str:
        """What to call it."""
