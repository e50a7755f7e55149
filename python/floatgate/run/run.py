"""Runs an experiment and holds its result."""

from __future__ import annotations

import contextlib
import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base.arguments import checked
from floatgate.base.errors import InputError, input_error, reading
from floatgate.base.json_in import Node
from floatgate.results import shapes
from floatgate.results.flat import flat
from floatgate.results.folder import SNAPSHOT, RunFolder, must_be_file_place
from floatgate.results.frames import Part, must_be_part, pandas_frame, polars_frame, table_of
from floatgate.results.result_view import Record, look
from floatgate.results.series import table as series_table
from floatgate.results.timeline import SPANS_MAX, interval, renamed
from floatgate.results.timeline import table as timeline_table
from floatgate.run import needs
from floatgate.run.experiment import Experiment, ExperimentLike, Settings, resolve
from floatgate.run.request_log import logging_to
from floatgate.run.saving import write_run
from floatgate.run.waveform import Waveform

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from floatgate._core import Progress

SCHEMA = "floatgate.result/1"
TEXT_MAX = 64 << 20
"""Most characters of a result: ours have some thousands, and a device has no end."""


class Run:
    """One finished run.

    Everything in ``result.json`` is an attribute: ``run.waf``, ``run.flash.programs.total``, ``run.lifetime.years``.
    Counts are whole numbers, capacities bytes, times seconds where a name ends in ``_s``; a figure that the run cannot
    know is None.

    Attributes:
        result: the parsed ``result.json`` (:class:`~floatgate.results.result_view.Record`).
        result_json: its text, byte for byte as the core wrote it.
        experiment_toml: the resolved experiment; running it again gives the same result.
        folder: the run folder it was saved to or loaded from, or None.
        command: the command line that started it, where it was one that was interrupted and resumed, or None.
    """

    def __init__(
        self,
        result_json: str,
        experiment_toml: str,
        series: pa.Table | Callable[[], pa.Table],
        folder: Path | None = None,
        timeline: pa.Table | Callable[[], pa.Table | None] | None = None,
    ) -> None:
        """Use :func:`floatgate.run` or :func:`floatgate.load`.

        Args:
            result_json: the text of ``result.json``.
            experiment_toml: the resolved experiment.
            series: a table, or what makes it when it is first read.
            folder: where the run is kept, if it is.
            timeline: likewise a table; None, or a function that returns it, for a run without one.
        """
        self.result = Record(json.loads(result_json))
        self.result_json = result_json
        self.experiment_toml = experiment_toml
        self.folder = folder
        self.command: str | None = None
        self._series = series
        self._timeline = timeline

    @classmethod
    def of(cls, output: _core.RunOutput) -> Run:
        """Return the run of an output of the core.

        Args:
            output: what ``floatgate._core`` returned.
        """

        def series() -> pa.Table:

            return series_table(output.series, output.series_types)

        def timeline() -> pa.Table | None:

            columns, interval = output.timeline, output.timeline_ns
            return None if columns is None or interval is None else timeline_table(columns, interval)

        run = cls(output.result_json, output.experiment_toml, series, timeline=timeline)
        run.command = output.command
        return run

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        return getattr(self.result, key)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the series itself, not the way to make it."""
        return self.__dict__ | {"_series": self.series, "_timeline": self.timeline}

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.result]

    def __repr__(self) -> str:
        from floatgate.report.sections.amplification import in_pages

        return f"<floatgate.Run {self.name()}: WAF {in_pages(self.result)[0]}, seed {look(self.result, 'seed')}>"

    def _repr_html_(self) -> str:
        """Show headlines, summary and write amplification over time, for notebooks."""
        from floatgate.report.card import of_run

        return of_run(self)

    @property
    def series(self) -> pa.Table:
        """Return what happened in each interval: a pyarrow Table, see :func:`floatgate.results.series.table`."""
        if callable(self._series):
            self._series = self._series()
        table: pa.Table = self._series
        return table

    @property
    def timeline(self) -> pa.Table | None:
        """Return what dies and channels did in the recorded interval (:mod:`floatgate.results.timeline`), or None."""
        if callable(self._timeline):
            self._timeline = self._timeline()
        table: pa.Table | None = self._timeline
        return table

    @checked
    def to_arrow(self, part: Part = "series") -> pa.Table:
        """Return a table of the run as an Arrow table.

        Args:
            part: ``series`` for one row per interval (:attr:`series`), or ``figures`` for one row with the settings and
                the figures, in columns named by key (``ftl.spare_factor``, ``latency_us.read.p99``). A figure that
                the run cannot know is null. Runs below one another make a table of a study.

        Raises:
            InputError: no such part.
        """
        must_be_part(part)
        return self.series if part == "series" else table_of([flat(self.result.to_dict())])

    @checked
    def to_pandas(self, part: Part = "series") -> pd.DataFrame:
        """Return a table of the run as a pandas DataFrame.

        Args:
            part: as for :meth:`to_arrow`.

        Raises:
            InputError: no such part.
            RunError: pandas is not installed.
        """
        return pandas_frame(self.to_arrow(part))

    @checked
    def to_polars(self, part: Part = "series") -> pl.DataFrame:
        """Return a table of the run as a polars DataFrame.

        Args:
            part: as for :meth:`to_arrow`.

        Raises:
            InputError: no such part.
            RunError: polars is not installed.
        """
        return polars_frame(self.to_arrow(part))

    def experiment(self) -> dict[str, Any]:
        """Return the resolved experiment as a dict."""
        return tomllib.loads(self.experiment_toml)

    def name(self) -> str:
        """Return what to call the run: its folder's name, else the trace's file name, else the workload's pattern."""
        if self.folder is not None:
            return self.folder.absolute().name
        file = look(self.experiment(), "workload", "file")
        return Path(file).name if file else str(look(self.experiment(), "workload", "pattern") or "run")

    def summary(self) -> str:
        """Return the summary that the command line prints: drive, workload, life, WAF, programs, wear, latency."""
        from floatgate.report.summary import text

        return text(self)

    def plot_waf(self) -> alt.LayerChart:
        """Return a chart of write amplification over time, with the run's mean and its 95 % interval."""
        return self._plot(lambda charts: charts.waf)

    def plot_writes(self) -> alt.Chart:
        """Return a chart of pages programmed over time, stacked by cause."""
        return self._plot(lambda charts: charts.writes)

    def plot_wear(self) -> alt.Chart:
        """Return a chart of blocks by number of erases."""
        return self._plot(lambda charts: charts.wear)

    def plot_valid_pages(self) -> alt.Chart:
        """Return a chart of closed blocks by number of valid pages at the end of the run."""
        return self._plot(lambda charts: charts.valid_pages)

    def _plot(self, chosen: Callable[[Any], Any]) -> Any:
        """Draw the chosen chart of :mod:`floatgate.report.sections.run_charts`."""
        from floatgate.pages import vega
        from floatgate.report.sections import run_charts

        return vega.altair_chart(chosen(run_charts)(self))

    def report(self, command: str | None = None) -> str:
        """Return the report as one self-contained HTML page.

        Args:
            command: the command line that made the run, where there was one.
        """
        from floatgate.report.page import page

        return page(self, command)

    @checked
    def save(self, folder: str | os.PathLike[str], *, force: bool = False, report: bool = True) -> Path:
        """Write the run folder: result, experiment, series, timeline (where there is one) and report.

        Args:
            folder: the folder itself; made where it is missing, used where it is empty.
            force: write into a folder that is not empty too.
            report: whether to draw the report.

        Returns:
            The folder.

        Raises:
            InputError: the folder is not empty, or cannot be written.
        """
        return write_run(self, RunFolder.named(os.fspath(folder), force=force), report=report)


@checked
def run(
    experiment: ExperimentLike = None,
    *,
    trace: str | os.PathLike[str] | None = None,
    format: str | None = None,
    drive: str | None = None,
    set: Settings | None = None,
    shadow: bool = False,
    save_drive: str | os.PathLike[str] | None = None,
    timeline: str | None = None,
    log_requests: str | os.PathLike[str] | None = None,
    waveform: Waveform | None = None,
    snapshot: str | os.PathLike[str] | None = None,
    snapshot_every: float | None = None,
    progress: Progress | None = None,
) -> Run:
    """Run an experiment.

    Args:
        experiment: a path to a TOML file, TOML text, a dict of settings, or None for the defaults.
        trace: a trace file to take as the workload.
        format: its format; detected automatically where None.
        drive: the name of a drive of the catalogue (``floatgate drives``).
        set: settings over everything else: ``{"ftl.spare_factor": 0.28}``.
        shadow: check every read, the maps and the counts against a shadow model; slow.
        save_drive: a file to leave the drive in at the end; ``set={"ftl.snapshot": file}`` starts from it.
        timeline: the interval of a timed run in which to record what dies and channels are busy with, such as
            ``"1.5s..1.52s"`` after the first counted request; None for the first 20 ms.
        log_requests: a Parquet file to write with one row per request (docs/host-queues.md); timed mode only.
        waveform: the capture of Ready/Busy pins to write (docs/rb-explorer.md); timed mode only.
        snapshot: a file to leave the run in when it is interrupted (Ctrl-C, or an exception from ``progress``), for
            :func:`resume`; removed once the run has ended. A file that was there before and that no snapshot has
            replaced stays.
        snapshot_every: seconds after which that file is rewritten during the run, in case it is killed.
        progress: called a few times per second with ``(done, total or None, phase)``; may raise to stop the run.

    Returns:
        The finished run. The interpreter is free for other threads meanwhile.

    Raises:
        InputError: unusable input; the message names file and line, or the setting.
        RunError: the run failed (free blocks or P/E cycles ran out, or an invariant broke); the message says when.

    Examples:
        >>> import floatgate
        >>> result = floatgate.run({"drive.capacity": "64 MiB", "workload.requests": 40_000})
        >>> round(result.waf, 2), round(result.lifetime.tbw_bytes / 1e12, 3)
        (1.97, 0.102)
    """
    resolved = resolve(experiment, trace=trace, format=format, drive=drive, set=set)
    if snapshot is not None:
        must_be_file_place(os.fspath(snapshot), "a file for the snapshot")
    before = _identity(snapshot)
    run = execute(
        resolved,
        shadow=shadow,
        save_drive=save_drive,
        timeline=timeline,
        log_requests=log_requests,
        waveform=waveform,
        snapshot=snapshot,
        snapshot_every=snapshot_every,
        progress=progress,
    )
    # What stood there before and was not replaced is no snapshot of this run.
    if snapshot is not None and _identity(snapshot) not in (None, before):
        Path(snapshot).unlink(missing_ok=True)
    return run


def _identity(path: str | os.PathLike[str] | None) -> tuple[int, int, int] | None:
    """Return what distinguishes a file from the one that replaces it; None without a file."""
    if path is None:
        return None
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def execute(
    experiment: Experiment,
    *,
    shadow: bool = False,
    save_drive: str | os.PathLike[str] | None = None,
    timeline: str | None = None,
    log_requests: str | os.PathLike[str] | None = None,
    waveform: Waveform | None = None,
    snapshot: str | os.PathLike[str] | None = None,
    snapshot_every: float | None = None,
    command: str | None = None,
    telling: bool = False,
    alone: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Run a resolved :class:`~floatgate.run.experiment.Experiment`; raises as :func:`run`. Snapshots stay.

    ``telling``: say on standard error what bringing the drive into its first state will take.
    ``alone``: no other run goes on, so a second core may decompress the trace.
    """
    recorded = None
    if timeline is not None:
        recorded = (*interval(timeline), SPANS_MAX)
    needs.must_fit(check(experiment))
    with logging_to(log_requests) as log:
        output = _core.run(
            experiment.toml,
            experiment.path,
            experiment.overrides,
            shadow=shadow,
            save_drive=None if save_drive is None else os.fspath(save_drive),
            timeline=recorded,
            request_log=log,
            waveform=None if waveform is None else waveform.arguments(),
            snapshot=None if snapshot is None else os.fspath(snapshot),
            snapshot_every=snapshot_every,
            command=command,
            telling=telling,
            alone=alone,
            progress=progress,
        )
    return Run.of(output)


@checked
def resume(
    snapshot: str | os.PathLike[str], *, snapshot_every: float | None = None, progress: Progress | None = None
) -> Run:
    """Go on with a run that was interrupted, to its end: the result is that of a run that never stopped.

    Args:
        snapshot: the file passed to :func:`run`, or the folder of ``floatgate run --out``. Removed at the end.
        snapshot_every: as for :func:`run`.
        progress: as for :func:`run`.

    Returns:
        The finished run.

    Raises:
        InputError: no such file, a damaged one, one of another version, or a trace that has changed since.
        RunError: as :func:`run`.
    """
    path = Path(snapshot)
    path = path / SNAPSHOT if path.is_dir() else path
    run = go_on(path, snapshot_every=snapshot_every, progress=progress)
    remove_snapshot(path)
    return run


def go_on(snapshot: Path, *, snapshot_every: float | None = None, progress: Progress | None = None) -> Run:
    """Resume a run as :func:`resume` does, and keep the snapshot."""
    return Run.of(_core.resume(os.fspath(snapshot), snapshot_every=snapshot_every, progress=progress))


def remove_snapshot(path: str | os.PathLike[str]) -> None:
    """Remove the snapshot of a run that has ended, and what a killed run left of one."""
    for name in (os.fspath(path), f"{os.fspath(path)}.part"):
        with contextlib.suppress(OSError):  # a path that is no file, or cannot be removed, costs no result
            Path(name).unlink()


def check(experiment: Experiment) -> str:
    """Return the resolved experiment as TOML, without running it; raises InputError."""
    return _core.check(experiment.toml, experiment.path, experiment.overrides)


def document(folder: str | os.PathLike[str]) -> Node:
    """Read the ``result.json`` of a run folder.

    Raises:
        InputError: it is missing, damaged or of another version.
    """
    path = Path(folder)
    return shapes.read(path if path.name == "result.json" else path / "result.json", "run", TEXT_MAX)


@checked
def load(folder: str | os.PathLike[str]) -> Run:
    """Read a run folder back.

    Args:
        folder: the run folder, or the ``result.json`` in it.

    Returns:
        The run; its series is read when it is first used.

    Raises:
        InputError: no run folder, or one of another version of floatgate's result.
    """
    path = Path(folder)
    path = path.parent if path.name == "result.json" else path
    _must_hold_a_run(path)
    document(path)
    result_json = read_text(path / "result.json")

    def read(name: str) -> pa.Table:
        import pyarrow.parquet as pq

        file = path / f"{name}.parquet"
        try:
            # pq.read_table would import all of pandas where that is installed.
            with reading(file, f"expected the {name} of a run"), pq.ParquetFile(file) as parquet:
                return parquet.read()
        except InputError:
            raise input_error(f"{file}: cannot be read; expected the {name} of a run") from None

    def timeline() -> pa.Table | None:
        return renamed(read("timeline")) if (path / "timeline.parquet").exists() else None

    return Run(result_json, read_text(path / "experiment.toml"), lambda: read("series"), path, timeline)


_LOADERS = {"compare": "load_comparison", "sweep": "load_sweep", "tune": "load_sweep"}
"""Functions of Python that read other kinds of results."""


def _must_hold_a_run(path: Path) -> None:
    """Refuse the folder of a comparison, a sweep or a search, and name what reads it."""
    if (path / shapes.DOCUMENTS["run"].file).is_file():
        return
    for kind, loader in _LOADERS.items():
        if (path / shapes.DOCUMENTS[kind].file).is_file():
            what = f"holds no run but {shapes.DOCUMENTS[kind].file}, {shapes.DOCUMENTS[kind].what}"
            raise input_error(f"{path}: {what}; expected a run folder. floatgate.{loader} reads this one")


def read_text(path: Path) -> str:
    """Read a text of a run folder.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(TEXT_MAX + 1)
        if len(text) > TEXT_MAX:
            raise input_error(
                f"{path}: is larger than {TEXT_MAX >> 20} MiB; expected a run folder that floatgate wrote"
            )
        return text
    except FileNotFoundError:
        raise input_error(f"{path}: no such file; expected a run folder that floatgate wrote") from None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise input_error(f"{path}: {reason}; expected a run folder that floatgate wrote") from None
