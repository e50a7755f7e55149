"""How long a drive lasts with throttling: a life of years forecast from a trace that is shorter."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base.arguments import checked
from floatgate.base.errors import input_error
from floatgate.base.numbers import demand as demand_of
from floatgate.base.numbers import volume as volume_bytes
from floatgate.report.sections import not_modelled
from floatgate.report.sections.forecast import entry, lines, modelled
from floatgate.results.flat import flat
from floatgate.results.folder import RunFolder
from floatgate.results.frames import Framed, table_of
from floatgate.results.result_view import Record, look
from floatgate.run import needs
from floatgate.run.demand import at_demand
from floatgate.run.experiment import Experiment, ExperimentLike, Overrides, Settings, resolve, toml_value
from floatgate.run.model_share import share_of
from floatgate.run.volume import volume_of

if TYPE_CHECKING:
    import pyarrow as pa

    from floatgate._core import Progress

SCHEMA = "floatgate.lifetime/1"
FILE = "lifetime.json"


class Lifetime(Framed):
    """One forecast of a drive's life.

    Everything in the JSON of ``floatgate lifetime`` is an attribute: ``life.lifetime.years``,
    ``life.latency_us.write.p99``.

    Attributes:
        result: the parsed JSON (:class:`~floatgate.results.result_view.Record`).
        experiment_toml: the resolved experiment; the same forecast again comes from it.
        label: what to call it.
    """

    def __init__(self, result: Mapping[str, object], experiment_toml: str, label: str) -> None:
        """Use :func:`lifetime`.

        Args:
            result: the parsed JSON.
            experiment_toml: the resolved experiment.
            label: what to call it.
        """
        self.result = Record(result)
        self.experiment_toml = experiment_toml
        self.label = label

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        return getattr(self.result, key)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.result]

    def __repr__(self) -> str:
        return f"<floatgate.Lifetime {self.label}>"

    def _repr_html_(self) -> str:
        """Show answer, headlines, summary and what is programmed over the life, for notebooks."""
        from floatgate.report.card import of_life

        return of_life(self)

    def to_arrow(self) -> pa.Table:
        """Return settings and figures as one flat row, with columns named by key; unknown ones are null."""
        return table_of([flat(self.result.to_dict())])

    def summary(self) -> str:
        """Return the answer and where it comes from, as lines of text."""
        from floatgate.report.lifetime_summary import text

        return text(self.result.to_dict(), self.label)

    def report(self, command: str | None = None) -> str:
        """Return the forecast as one self-contained HTML page.

        Args:
            command: the command line that made it, where there was one.
        """
        from floatgate.report.lifetime_report import page

        return page(self, command)

    def write(self, target: RunFolder, *, report: bool = True, command: str | None = None) -> Path:
        """Write ``lifetime.json``, ``experiment.toml`` and ``report.html``.

        Args:
            target: the folder.
            report: whether to draw the report.
            command: the command line that made it, where there was one.

        Returns:
            The folder.

        Raises:
            InputError: the folder cannot be written.
        """

        def fill(staging: Path, _final: Path) -> None:
            text = json.dumps(self.result.to_dict(), indent=2, ensure_ascii=False)
            (staging / FILE).write_text(text + "\n", "utf-8")
            (staging / "experiment.toml").write_text(self.experiment_toml, "utf-8")

        return target.write(fill, report=(lambda: self.report(command)) if report else None)


@checked
def lifetime(
    experiment: ExperimentLike = None,
    *,
    trace: str | os.PathLike[str] | None = None,
    format: str | None = None,
    drive: str | None = None,
    set: Settings | None = None,
    throttle: str | None = None,
    target_years: float | None = None,
    reduce: str | None = None,
    growth_per_year: float | None = None,
    demand: float | str | None = None,
    volume: str | int | None = None,
    progress: Progress | None = None,
) -> Lifetime:
    """Forecast a drive's life under a workload that is repeated until the drive is worn out or its target is reached.

    Args:
        experiment: as :func:`floatgate.run` takes it.
        trace: a trace file to take as the workload.
        format: its format; detected automatically where None.
        drive: the name of a drive of the catalogue.
        set: settings laid over everything else, with dotted keys.
        throttle: the policy of ``lifetime.throttle``.
        target_years: how long the drive should last, in years.
        reduce: the policy of ``lifetime.reduce``.
        growth_per_year: share by which the host's writes grow each year.
        demand: factor on the rate of the workload, or the bytes per day that it is to write, such as ``"350 GB/day"``.
        volume: size of the volume on the drive, such as ``"400 GB"``; the rest of the drive stays free.
        progress: called now and then with (done, total or None, phase).

    Returns:
        The forecast: lives in years, bytes in bytes, latencies in microseconds.

    Raises:
        InputError: the experiment is unusable, or its workload has no time.
        RunError: the run failed.

    Examples:
        >>> import floatgate
        >>> workload = {"workload.requests": 20_000, "workload.rate_per_s": 300.0}
        >>> life = floatgate.lifetime(workload, set={"drive.capacity": "64 MiB", "lifetime.forecast.waf": 1.5})
        >>> round(life.lifetime.years * 8760, 1)
        30.3
    """
    rate = demand_of("demand", demand)
    base = resolve(experiment, trace=trace, format=format, drive=drive, set=set)
    base = base.with_overrides(managed(throttle, target_years, reduce, growth_per_year))
    base = base.with_overrides(volume_of(base, volume_bytes("volume", volume), "volume"))
    return of(at_demand(base, rate, progress, "demand"), progress)


def managed(
    throttle: str | None,
    target_years: float | None,
    reduce: str | None = None,
    growth_per_year: float | None = None,
) -> Overrides:
    """Return the settings of a throttle, a target, a reducer and growing demand, where they are set."""
    named = {"lifetime.throttle.policy": throttle, "lifetime.throttle.target_years": target_years}
    named |= {"lifetime.reduce.policy": reduce, "lifetime.forecast.growth_per_year": growth_per_year}
    return [(key, toml_value(key, value)) for key, value in named.items() if value is not None]


def check_forecast(experiment: Experiment) -> str:
    """Resolve the experiment of a forecast to TOML without a run; in timed mode it names what shapes the close-up.

    Raises:
        InputError: the experiment is unusable.
    """
    return _core.check_forecast(experiment.toml, experiment.path, experiment.overrides)


def of(experiment: Experiment, progress: Progress | None = None) -> Lifetime:
    """Forecast one life; see :func:`lifetime`."""
    resolved = check_forecast(experiment)
    [result] = forecast(experiment, [[]], progress=progress)
    must_wear(result, resolved)
    return Lifetime(result, resolved, experiment.name())


def must_wear(result: Mapping[str, Any], resolved: str) -> None:
    """Refuse a workload that programs nothing: its lives have no end, and no drive is better than another.

    Raises:
        InputError: with the file of the trace, or the key of the generator.
    """
    if entry.wears(result):
        return
    place = look(tomllib.loads(resolved), "workload", "file") or "workload.read_share"
    raise input_error(f"{place}: no request writes, so nothing wears the drive out; expected a workload with writes")


def forecast(
    base: Experiment,
    variants: Sequence[Overrides],
    *,
    details_s: Sequence[tuple[float, float] | None] | None = None,
    intervals: bool = True,
    latencies: bool = True,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Forecast several lives of one experiment on all cores; their shared part is measured once.

    Args:
        base: the experiment.
        variants: settings laid over it, one list a life.
        details_s: for each variant the device time from and to which bytes are recorded second by second, or None.
        intervals: whether it is worked out between which bounds lives lie, which takes three times as long.
        latencies: whether to run the worn-in drive in timed mode.
        progress: called now and then with (done, total or None, phase).

    Returns:
        The JSON of ``floatgate lifetime``, one object per variant: that of the core with ``not_modelled``, the demand
        and ``basis``.

    Raises:
        InputError: a setting is unusable, or the workload has no time.
        RunError: a run failed.
    """
    laid = [[*base.overrides, *overrides] for overrides in variants]
    options: dict[str, Any] = {"intervals": intervals, "latencies": latencies}
    if details_s is not None:
        options["details"] = list(details_s)
    shares: list[float] = []
    for overrides in variants:
        one = base.with_overrides(overrides)
        resolved = check_forecast(one)
        needs.must_fit(resolved)
        shares.append(share_of(one, resolved))
    options["modelled_shares"] = shares
    made: list[dict[str, Any]] = _core.lifetime(base.toml, base.path, laid, options, progress)
    results = [modelled.as_sold(result, share) for result, share in zip(made, shares, strict=True)]
    return [{**result, **entry.rates(result), **_remarks(result)} for result in results]


def _remarks(result: dict[str, Any]) -> dict[str, list[str]]:
    """Return what the model leaves out of a forecast, and the sentences on its basis, as the summary has them."""
    return {"not_modelled": not_modelled.of(result), "basis": lines.doubts(result)}
