"""A sweep that is read back: its table for Arrow, pandas and polars, means over seeds, and plots."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base.arguments import checked
from floatgate.base.errors import InputError, input_error, quote, quoted
from floatgate.report.sections import amplification, lifetime_headline
from floatgate.results import metrics
from floatgate.results.flat import LEADING
from floatgate.results.frames import Framed
from floatgate.results.seed_stats import KIND, Mean, Spread, agree, drawn_kind
from floatgate.study.runs.journal import FILE as JOURNAL
from floatgate.study.runs.journal import TABLE, Journal, Wrong
from floatgate.study.runs.work import DONE
from floatgate.study.sweeps import steadiness
from floatgate.study.sweeps.read_table import read_table
from floatgate.study.sweeps.sweep import planned

if TYPE_CHECKING:
    import altair as alt
    import pyarrow as pa

    from floatgate.study.runs.plan import RunPlan


TUNE = "tune.json"


class LoadedSweep(Framed):
    """The table of a sweep.

    Attributes:
        folder: where it is.
        keys: the keys that vary.
        planned: how many runs it has when it is complete.
        repeat: seeds of each setting.
    """

    def __init__(
        self,
        folder: Path,
        keys: list[str],
        planned: int,
        repeat: int,
        wrong: Wrong | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """Use :func:`load_sweep`.

        Args:
            folder: where it is.
            keys: the keys that vary.
            planned: how many runs it has when it is complete.
            repeat: seeds of each setting.
            wrong: checks the figures of its journal; None where they are flat rows.
            notes: how to read the results, from its plan.
        """
        self.folder, self.keys, self.planned, self.repeat = folder, keys, planned, repeat
        self._wrong = wrong
        self._begun_with = tuple(notes)
        self._table: pa.Table | None = None

    def __repr__(self) -> str:
        return f"<floatgate.LoadedSweep {self.folder}: {len(self)} of {self.planned} runs>"

    def _repr_html_(self) -> str:
        """Show the settings and the first figure as a chart, for notebooks."""
        from floatgate.study.cards import of_sweep

        return of_sweep(self)

    def __len__(self) -> int:
        return int(self.arrow().num_rows)

    def to_arrow(self) -> pa.Table:
        """Return the table: one row per run, columns named by key (``ftl.spare_factor``, ``waf``, ``seed``)."""
        if self._table is None:
            self._table = read_table(self.folder / TABLE, self.keys, self.planned)
        return self._table

    def runs(self) -> pa.Table:
        """Return what differs each time that a sweep runs: wall and CPU time, memory, who did the run; by ``run``."""
        import pyarrow as pa

        with contextlib.closing(Journal(self.folder / JOURNAL, self.keys, self._wrong, read_only=True)) as journal:
            rows = [{"run": entry["run"], **entry["spent"]} for entry in journal.entries()]
        names = list(dict.fromkeys(key for row in rows for key in row))
        return pa.table({name: [row.get(name) for row in rows] for name in names or ["run"]})

    def settings(self, figures: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return one row per setting: its keys, means over seeds, and ``KEY.low`` and ``KEY.high``, their intervals.

        ``runs`` has the number of its runs, ``seeds`` how many seeds count: 1 where they change nothing. ``unsteady``
        is there where one of them has no steady write amplification. Seeds on a trace that agree have no interval.

        Args:
            figures: the columns; those that pictures are drawn of where None.

        The interval of ``waf_bytes`` is the wider one of that over seeds and that from batches of the runs
        (:class:`~floatgate.results.seed_stats.Spread`); where there is one seed, or seeds change nothing, it is that of
        the run. Runs without a result are left out, and so are lives of runs that were too short to tell one
        (``evidence.enough``). Where the drive sets the rate of a run, the default columns lack lives in years.
        """
        table = self.arrow()
        drawn = [metric.key for metric in metrics.drawn()] if figures is None else list(figures)
        wanted = [key for key in drawn if key in table.column_names]
        life = (*lifetime_headline.DECIDES, lifetime_headline.FIRST_BLOCK) if figures is None else ()
        ends = [end for end in (*amplification.ENDS, *life) if end in table.column_names]
        facts = ("status", lifetime_headline.ENOUGH, lifetime_headline.REASON, KIND)
        phrases = [key for key in facts if key in table.column_names]
        columns = table.select(list(dict.fromkeys([*self.keys, *phrases, *wanted, *ends]))).to_pylist()
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in columns:
            if row["status"] == DONE:
                groups.setdefault(tuple(row[key] for key in self.keys), []).append(row)
        uneven = figures is None and any(map(_uneven, groups.values()))
        first = lifetime_headline.FIRST_BLOCK
        if figures is None and self.own_pace():
            first = lifetime_headline.FIRST_TBW
            wanted = [key for key in wanted if key != lifetime_headline.YEARS]
        wanted += [first] if uneven and first in table.column_names else []
        return [dict(zip(self.keys, values, strict=True)) | _means(rows, wanted) for values, rows in groups.items()]

    def notes(self) -> list[str]:
        """Return how to read the figures: keys with one value in all runs, collection in batches, runs not steady."""
        return [*self._begun_with, *steadiness.notes(self)]

    def own_pace(self) -> bool:
        """Return whether the drive sets the rate of a run, as in a closed loop: then lives are compared in bytes."""
        table = self.arrow()
        there = [key for key in lifetime_headline.PACE if key in table.column_names]
        return any(map(lifetime_headline.own_pace_row, table.select(there).to_pylist()))

    def plot(self, figure: str = amplification.IN_BYTES, *, width: int | None = None) -> alt.Chart | alt.LayerChart:
        """Return a chart of a figure against the keys that vary.

        Lines where a key is a number, bars where it is a name. Where the settings need several panels, this is the
        first; :meth:`plots` has all.

        Args:
            figure: the column.
            width: in pixels; None for that of reports.

        Raises:
            InputError: no such figure, or no run knows it.
        """
        return self.plots(figure, width=width)[0]

    def plots(self, figure: str = amplification.IN_BYTES, *, width: int | None = None) -> list[alt.Chart]:
        """Return all panels of a figure; see :meth:`plot`.

        Args:
            figure: the column.
            width: in pixels; None for that of reports.

        Raises:
            InputError: no such figure, or no run knows it.
        """
        from floatgate.pages import charts, vega
        from floatgate.study import varied_charts

        rows = self.settings([figure])
        if not any(row.get(figure) is not None for row in rows):
            known = [key for key in LEADING if any(row.get(key) is not None for row in self.settings(LEADING))]
            raise input_error(
                f"{quote(figure)}: no run of this sweep has such a figure; expected one such as {quoted(known)}"
            )
        one = next((each for each in varied_charts.figures() if each.key == figure), None)
        drawn = one or varied_charts.Figure(figure, figure, figure)
        panels = varied_charts.drawings(rows, self.keys, drawn)
        return [vega.altair_chart(draw(width or charts.WIDTH)) for _, _, draw in panels]

    def plan(self) -> RunPlan | None:
        """Return the plan of its runs; None of a search, whose plan is a space."""
        return None if (self.folder / TUNE).is_file() else planned(self.folder)

    def report(self, command: str | None = None) -> str:
        """Return the sweep as one self-contained HTML page.

        Args:
            command: the command line that made it, where there was one.
        """
        from floatgate.study.sweeps.page import page

        return page(self, command)


def _uneven(rows: list[dict[str, Any]]) -> bool:
    """Return whether the mean of some seeds, all long enough for a life, wears unevenly."""
    if any(row.get(lifetime_headline.ENOUGH) is False for row in rows):
        return False
    means = {}
    for key in lifetime_headline.DECIDES:
        values = [row[key] for row in rows if row.get(key) is not None]
        means[key] = Mean.of(values).mean if len(values) == len(rows) else None
    return lifetime_headline.uneven_row(means)


def _means(rows: list[dict[str, Any]], figures: list[str]) -> dict[str, Any]:
    read = [*figures, *amplification.ENDS]
    alike = all(row.get(key) == rows[0].get(key) for row in rows for key in read)
    made: dict[str, Any] = {"runs": len(rows), "seeds": 1 if alike else len(rows)}
    made |= {"unsteady": True} if any(map(lifetime_headline.unsteady_row, rows)) else {}
    for figure in figures:
        if lifetime_headline.is_life(figure) and any(row.get(lifetime_headline.ENOUGH) is False for row in rows):
            continue
        values = [row[figure] for row in rows if row[figure] is not None]
        if not values:
            continue
        if figure == amplification.IN_BYTES and len(values) == len(rows):
            mean, interval = _amplification(rows[:1] if alike else rows, figure)
        else:
            stats = Mean.of(values[:1] if alike else values)
            mean = stats.mean
            interval = None if agree(values, drawn=all(drawn_kind(row.get(KIND)) for row in rows)) else stats.interval
        made[figure] = mean
        if interval is not None:
            made[f"{figure}.low"], made[f"{figure}.high"] = interval
    return made


def _amplification(rows: list[dict[str, Any]], figure: str) -> tuple[float, Sequence[float] | None]:
    """Return the mean of the metric whose interval a single run knows, and its interval."""
    low, high = amplification.ENDS
    known = [(row[low], row[high]) if None not in (row.get(low), row.get(high)) else None for row in rows]
    mean: float = rows[0][figure]
    if len(rows) == 1:
        return mean, known[0]
    halves = [None if ends is None else abs(ends[1] - ends[0]) / 2 for ends in known]
    drawn = all(drawn_kind(row.get(KIND)) for row in rows)
    spread = Spread.of([row[figure] for row in rows], halves, drawn=drawn)
    return spread.mean, spread.interval


@checked
def load_sweep(folder: str | os.PathLike[str]) -> LoadedSweep:
    """Read a sweep back, also one that is still running or was stopped.

    Args:
        folder: the folder of ``floatgate sweep --out``, or the ``sweep.parquet`` in it.

    Returns:
        The sweep, with the runs that have ended.

    Raises:
        InputError: no sweep, or one without a single run yet.
    """
    path = Path(folder)
    path = path.parent if path.name == TABLE else path
    if (path / TUNE).is_file():
        from floatgate.study.tune.search import begun

        search = begun(path)
        plan, wrong = search.runs, search.wrong
        runs = search.trials * plan.repeat
    else:
        plan = planned(path)
        runs, wrong = len(plan), plan.wrong
    if not (path / TABLE).is_file():
        raise InputError(f"{path}: no run of the sweep has ended yet; expected a sweep with results")
    return LoadedSweep(path, plan.keys, runs, plan.repeat, wrong, plan.notes)
