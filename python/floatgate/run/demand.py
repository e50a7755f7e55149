"""The rate of a forecast's workload: a factor on its own one, or the bytes per day that the host is to write."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate import _core
from floatgate.base import units
from floatgate.base.errors import input_error
from floatgate.base.numbers import FACTOR_MAX, FACTOR_MIN, BytesPerDay
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment, Overrides, toml_value

if TYPE_CHECKING:
    from floatgate._core import Progress

_DAY_S = 86_400.0
_STDIN = "-"


def at_demand(
    experiment: Experiment,
    demand: float | BytesPerDay | None,
    progress: Progress | None = None,
    option: str = "--demand",
) -> Experiment:
    """Return the experiment of a forecast with its workload at another rate.

    Bytes per day become a factor on the workload's own rate, for which the workload is read once.

    Args:
        experiment: the experiment of the forecast.
        demand: a factor, bytes per day, or None for the rate that the experiment has.
        progress: called now and then with (done, total or None, phase) while the workload is read.
        option: what errors call the demand.

    Raises:
        InputError: the workload is unusable, has no times, or cannot be read twice; the factor is out of range.
    """
    if isinstance(demand, BytesPerDay):
        demand = _factor_of(experiment, demand, progress, option)
    return experiment if demand is None else experiment.with_overrides(_settings(demand))


def _settings(factor: float) -> Overrides:
    return [("lifetime.forecast.demand", toml_value("lifetime.forecast.demand", factor))]


def _factor_of(experiment: Experiment, demand: BytesPerDay, progress: Progress | None, option: str) -> float | None:
    """Return the factor on the workload's own rate; None if it writes nothing, which forecasts refuse."""
    resolved = _core.check_forecast(experiment.toml, experiment.path, experiment.overrides)
    _must_be_read_twice(look(tomllib.loads(resolved), "workload", "file"), demand, option)

    def report(done: int, total: int | None, phase: str) -> None:
        # A trace does not say how many requests it has.
        if progress is not None:
            progress(done, total if done else None, phase)

    written, period_s = _core.write_rate(experiment.toml, experiment.path, experiment.overrides, report)
    if not written:
        return None
    own = written / period_s * _DAY_S
    factor = demand.written_bytes / own
    if not FACTOR_MIN <= factor <= FACTOR_MAX:
        raise input_error(
            f"{option} {demand.text}: is {factor:.3g} times the workload's own rate of {units.decimal_bytes(own)} per "
            f"day; expected a factor from {FACTOR_MIN:g} to {FACTOR_MAX:g}"
        )
    return factor


def _must_be_read_twice(file: str | None, demand: BytesPerDay, option: str) -> None:
    """Refuse standard input and pipes, which end with the pass that measures the rate.

    Raises:
        InputError: the trace is one of them.
    """
    if file is None or (file != _STDIN and not _is_pipe(Path(file))):
        return
    what = "standard input" if file == _STDIN else file
    raise input_error(
        f"{option} {demand.text}: {what} can be read only once, and its own rate must be known first; expected a trace "
        "in a file, or a factor such as 2"
    )


def _is_pipe(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()
