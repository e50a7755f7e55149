"""The plan of Python's interface: which drive to buy for a workload."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from floatgate.base.arguments import checked
from floatgate.base.errors import InputError, input_error
from floatgate.base.numbers import demand as demand_of
from floatgate.base.numbers import growth, years
from floatgate.base.numbers import volume as bytes_of
from floatgate.run.demand import at_demand
from floatgate.run.experiment import Experiment, ExperimentLike, Settings, resolve
from floatgate.run.lifetime import managed
from floatgate.study import planning
from floatgate.study.plan import Plan
from floatgate.study.plan_prices import Texts
from floatgate.study.plan_request import bounds_of, must_be_variants, must_name_drives_once

if TYPE_CHECKING:
    from floatgate._core import Progress

_SHARED = "drive drives capacities spare-factors throttles reducers prices price-per-tb min-served judge demand volume"
_ARGUMENTS = {
    **{option: option.replace("-", "_") for option in _SHARED.split()},
    "growth": "growth_per_year",
    "max-write-p99": "max_write_p99_ms",
    "target": "target_years",
}
"""Arguments by the option of the command line that errors name."""
_OPTION = re.compile(rf"(?<!\S)--({'|'.join(sorted(_ARGUMENTS, key=len, reverse=True))})(?![\w./-])")


@checked
def plan(
    experiment: ExperimentLike = None,
    *,
    trace: str | os.PathLike[str] | None = None,
    format: str | None = None,
    drive: str | None = None,
    set: Settings | None = None,
    target_years: float | None = None,
    growth_per_year: float | None = None,
    demand: float | str | None = None,
    volume: str | int | None = None,
    drives: Sequence[str] | None = None,
    capacities: Sequence[str] | None = None,
    spare_factors: Sequence[float] | None = None,
    throttles: Sequence[str] | None = None,
    reducers: Sequence[str] | None = None,
    prices: Texts | None = None,
    price_per_tb: float | None = None,
    min_served: float | None = None,
    max_write_p99_ms: float | None = None,
    judge: Literal["both", "flash", "rating"] = "both",
    progress: Progress | None = None,
) -> Plan:
    """Find the cheapest drive that lasts long enough under a workload and serves it, on all cores.

    Without ``drives`` and ``capacities``, half to four times the capacity of the experiment's drive, or more, is tried.

    Args:
        experiment: as :func:`floatgate.run` takes it.
        trace: a trace file to take as the workload.
        format: its format; detected automatically where None.
        drive: the name of a drive of the catalogue, which the plan varies.
        set: settings laid over everything else, with dotted keys.
        target_years: how long the drive should last, in years.
        growth_per_year: share by which the host's writes grow each year.
        demand: factor on the rate of the workload, or the bytes per day that it is to write, such as ``"350 GB/day"``.
        volume: size of the volume on each drive, such as ``"400 GB"``; the rest of the drive stays free.
        drives: names or groups of the catalogue to try, such as ``["client-tlc", "ent-qlc"]``.
        capacities: sizes to try, such as ``["64 GiB", "128 GiB"]``.
        spare_factors: shares to try.
        throttles: policies of ``lifetime.throttle`` to try; ``["all"]`` for all of them.
        reducers: policies of ``lifetime.reduce`` to try.
        prices: of drives of the catalogue, by name or group: a figure per drive, or a text such as ``60/TB``.
        price_per_tb: price of a TB of the capacity as sold, for drives without a price; of flash where none is sold.
        min_served: least share of the workload that is written in the target time; 0.99 where None.
        max_write_p99_ms: longest time, in milliseconds, that 99 of 100 page writes may take.
        judge: what ends a life: ``flash``, ``rating``, or whichever of ``both`` ends first.
        progress: called now and then with (done, total, phase).

    Returns:
        The choices, ``.best`` among them and ``.answer()`` in words; after Ctrl-C those of the finished drives.

    Raises:
        InputError: an argument or the experiment is unusable, or none of the drives can hold the workload.
        RunError: a forecast failed.

    Examples:
        >>> import floatgate
        >>> workload = {"workload.requests": 20_000, "workload.rate_per_s": 3.0, "lifetime.forecast.waf": 1.5}
        >>> plan = floatgate.plan(workload, capacities=["64 MiB", "128 MiB"], target_years=0.5)
        >>> [point.capacity for point in plan.best]
        ['128 MiB']
    """
    with _naming_arguments():
        must_name_drives_once(drive, drives)
        tried = (*_variants(capacities, spare_factors), throttles, reducers)
        bounds = bounds_of(drives, min_served, max_write_p99_ms, price_per_tb, judge, prices)
        base = resolve(experiment, trace=trace, format=format, drive=drive, set=set)
        base = _required(base, target_years, growth_per_year, demand, progress)
        return planning.plan(base, *tried, progress, bounds, drives=drives, volume_bytes=bytes_of("--volume", volume))


def _variants(
    capacities: Sequence[str] | None, spare_factors: Sequence[float] | None
) -> tuple[Sequence[str] | None, list[str] | None]:
    """Return capacities and spare factors as texts.

    Raises:
        InputError: one is no size or no share.
    """
    spares = None if spare_factors is None else [str(factor) for factor in spare_factors]
    must_be_variants(capacities, spares)
    return capacities, spares


def _required(
    base: Experiment,
    target_years: float | None,
    growth_per_year: float | None,
    demand: float | str | None,
    progress: Progress | None,
) -> Experiment:
    """Return an experiment with the target, the growth and the rate of its workload.

    Raises:
        InputError: one of them is unusable, or the rate of the workload cannot be measured.
    """
    rate = demand_of("--demand", demand)
    base = base.with_overrides(managed(None, years(target_years), None, growth(growth_per_year)))
    return at_demand(base, rate, progress)


@contextlib.contextmanager
def _naming_arguments() -> Iterator[None]:
    """Name arguments in place of the options of the command line in errors."""
    try:
        yield
    except InputError as error:
        raise input_error(_OPTION.sub(lambda option: _ARGUMENTS[option[1]], error.message)) from None
