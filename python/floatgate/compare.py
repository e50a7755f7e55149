"""The same workload under several settings, side by side, on all cores."""

from __future__ import annotations

import itertools
import json
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate import disturb, reduce, units, worth
from floatgate.amplification import amplification, digits, text
from floatgate.arguments import checked
from floatgate.errors import STATUS_UNUSABLE_INPUT, FloatgateError, one_line
from floatgate.experiment import Experiment, ExperimentLike, Overrides, resolve, toml_value
from floatgate.folder import RunFolder, write_files
from floatgate.parallel import at_once, cores, must_be_few
from floatgate.record import look
from floatgate.run import Run, check, execute
from floatgate.text_table import table

SCHEMA = "floatgate.compare/1"

_QUANTILES = {"p99": "p99", "p99.9": "p999"}

Progress = Callable[[int, int, "int | None", str], None]
"""Called with the number of the setting, what is done, the total or None, and the phase."""


@dataclass(frozen=True)
class Setting:
    """One setting of a comparison and what came of it: a run, or the error that ended it."""

    overrides: Overrides
    run: Run | None = None
    error: FloatgateError | None = None

    @property
    def label(self) -> str:
        """``greedy, 0.07``: the values alone, in the order in which they vary."""
        return ", ".join(value.strip("\"'") for _, value in self.overrides) or "as given"

    def named(self) -> str:
        """``ftl.collect.policy = greedy, ftl.spare_factor = 0.07``, for messages."""
        return ", ".join(f"{key} = {value}" for key, value in self.overrides) or "as given"


class Comparison:
    """What several settings gave. The first setting is the one that the others are measured against."""

    file_name = "compare.json"

    def __init__(self, settings: Sequence[Setting]) -> None:
        """Use :func:`compare`."""
        self.settings = list(settings)

    def __iter__(self) -> Iterator[Setting]:
        return iter(self.settings)

    def __len__(self) -> int:
        return len(self.settings)

    @property
    def runs(self) -> list[Run]:
        """The runs that finished, in order."""
        return [setting.run for setting in self.settings if setting.run is not None]

    def text(self) -> str:
        """The comparison as a table of plain text."""
        header, rows = self.rows()
        lines = [table(header, rows, right=frozenset(range(self._keys(), len(header))))]
        note = [reduce.READING] if self.reduces() else []
        return "\n".join([*lines, *note, *self.failures()])

    def reduces(self) -> bool:
        """Whether any setting has deduplication or compression."""
        return any(reduce.at_work(run.result) for run in self.runs)

    def failures(self) -> list[str]:
        """What ended the runs that failed, one text each."""
        return [f"{setting.named()}: {one_line(setting.error)}" for setting in self.settings if setting.error]

    def _folder_name(self, number: int, setting: Setting) -> str:
        label = "-".join(value for _, value in setting.overrides)
        name = "".join(char if char.isalnum() or char in "._" else "-" for char in label).strip("-")
        return f"{number:02d}-{name[:60]}"

    def _keys(self) -> int:
        return max(1, len(self.settings[0].overrides))

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and cells: the values that vary, then the figures, then the difference against the first setting."""
        keys = [key for key, _ in self.settings[0].overrides] or ["setting"]
        timed = [kind for kind in ("read", "write") if any(look(run.result, "latency_us", kind) for run in self.runs)]
        header = [*keys, "WAF", "95 %", "difference", "life", "host", "moved", "erases per block", "most"]
        header += disturb.HEADER if any(look(run.result, "reclaim") for run in self.runs) else []
        header += reduce.HEADER if self.reduces() else []
        header += [f"{kind} {q}" for kind in timed for q in _QUANTILES] + (["IOPS"] if timed else [])
        return header, [self._cells(setting, len(header), timed) for setting in self.settings]

    def _cells(self, setting: Setting, columns: int, timed: Sequence[str]) -> list[str]:
        values = [value.strip("\"'") for _, value in setting.overrides] or ["as given"]
        if setting.run is None:
            cells = [*values, "failed"]
            return cells + [""] * (columns - len(cells))
        result = setting.run.result.to_dict()
        waf, interval = amplification(result)
        cells = [
            *values,
            "-" if waf is None else text(waf, interval),
            "-" if waf is None or not interval else "-".join(digits(waf, interval)),
            _difference_text(self.difference(setting)),
            _life_cell(result),
            *_program_shares(result),
            *(_or_dash(look(result, "wear", key)) for key in ("erases_mean", "erases_max")),
        ]
        if any(look(run.result, "reclaim") for run in self.runs):
            cells += disturb.cells(result)
        if self.reduces():
            cells += reduce.cells(result)
        for kind in timed:
            for key in _QUANTILES.values():
                time_us = look(result, "latency_us", kind, key)
                cells.append("-" if time_us is None else units.span(time_us * 1e-6))
        if timed:
            iops = look(result, "throughput", "iops")
            cells.append("-" if iops is None else units.count(iops))
        return cells

    def difference(self, setting: Setting) -> dict[str, Any] | None:
        """How the WAF differs from the first setting's.

        Returns:
            ``waf_bytes`` (difference in flash bytes per host byte), ``waf_bytes_95`` (its 95 % interval, or None where
            one of both is unknown), ``waf`` and ``waf_95`` (the same in pages), ``relative`` (difference in bytes / the
            first WAF), ``years_ratio`` (life / the first life, or None); None for the first setting itself and where
            one of both has no WAF. The two runs' errors are taken as independent, which makes the intervals wide rather
            than narrow where both serve the same requests.
        """
        first = self.settings[0]
        if setting is first or setting.run is None or first.run is None:
            return None
        ours, theirs = setting.run.result, first.run.result
        in_bytes = _between(amplification(ours), amplification(theirs))
        in_pages = _between(*((look(result, "waf"), look(result, "waf_95")) for result in (ours, theirs)))
        base, _ = amplification(theirs)
        if in_bytes is None or in_pages is None or base is None:
            return None
        life, base_life = look(ours, "lifetime", "years"), look(theirs, "lifetime", "years")
        return {
            "waf_bytes": in_bytes[0],
            "waf_bytes_95": in_bytes[1],
            "waf": in_pages[0],
            "waf_95": in_pages[1],
            "relative": in_bytes[0] / base,
            "years_ratio": life / base_life if life is not None and base_life else None,
        }

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON gives it (schema ``floatgate.compare/1``)."""
        settings = [
            {
                "set": dict(setting.overrides),
                "result": setting.run.result.to_dict() if setting.run else None,
                "error": one_line(setting.error) if setting.error else None,
                "difference": self.difference(setting),
            }
            for setting in self.settings
        ]
        return {"schema": SCHEMA, "settings": settings}

    def report(self, command: str | None = None) -> str:
        """The comparison as one self-contained HTML page."""
        from floatgate.compare_report import page

        return page(self, command)

    def save(
        self, folder: str | os.PathLike[str], *, force: bool = False, report: bool = True, command: str | None = None
    ) -> Path:
        """Write ``compare.json``, ``report.html`` and one run folder for each setting.

        Raises:
            InputError: the folder is not empty (and not ``force``), or cannot be written.
        """
        return self.write(RunFolder.given(os.fspath(folder), force=force), report=report, command=command)

    def write(self, target: RunFolder, *, report: bool, command: str | None) -> Path:
        """Write to a :class:`~floatgate.folder.RunFolder`; see :meth:`save`."""

        def fill(staging: Path, final: Path) -> None:
            for number, setting in enumerate(self.settings, start=1):
                if setting.run is not None:
                    name = self._folder_name(number, setting)
                    (staging / name).mkdir()
                    write_files(setting.run, staging / name)
                    setting.run.folder = final / name
            (staging / self.file_name).write_text(json.dumps(self.to_dict(), indent=2) + "\n", "utf-8")

        return target.write(fill, report=(lambda: self.report(command)) if report else None)


@checked
def compare(
    experiment: ExperimentLike,
    vary: Mapping[str, Sequence[Any]],
    *,
    set: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    shadow: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Run one experiment under every combination of settings.

    Args:
        experiment: as :func:`floatgate.run` takes it.
        vary: key -> values: ``{"ftl.collect.policy": ["greedy", "fifo"]}``; several keys give all combinations.
        set: settings that all share.
        jobs: how many run at a time; None for one a core. Each holds a drive of its own in memory.
        shadow: check against a shadow model; slow.
        progress: called with (number of the setting, done, total or None, phase).

    Raises:
        InputError: one of the settings is unusable; nothing has run then.
        ValueError: ``jobs`` below 1, or no values for a key.

    A setting whose run fails (exit status 1) keeps its error; the others go on.
    """
    if not all(vary.values()):
        raise ValueError("vary: each key needs a value at least")
    base = resolve(experiment, set=set)
    must_be_few(math.prod(len(values) for values in vary.values()), "vary")
    axes = [[(key, toml_value(key, value)) for value in values] for key, values in vary.items()]
    return run_settings(base, [list(point) for point in itertools.product(*axes)], jobs, shadow, progress)


def run_settings(
    base: Experiment,
    points: Sequence[Overrides],
    jobs: int | None = None,
    shadow: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Check every point, then run them all; see :func:`compare`."""
    jobs = cores() if jobs is None else jobs
    if jobs < 1:
        raise ValueError("jobs: expected 1 or more")
    experiments = [base.with_overrides(list(point)) for point in points]
    for experiment in experiments:
        check(experiment)
    stop = threading.Event()

    def work(number: int) -> Setting:
        def report(done: int, total: int | None, phase: str) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if progress is not None:
                progress(number, done, total, phase)

        report(0, None, "waiting")
        try:
            return Setting(points[number], execute(experiments[number], shadow=shadow, progress=report))
        except FloatgateError as error:
            if error.status == STATUS_UNUSABLE_INPUT:
                raise
            return Setting(points[number], error=error)

    return Comparison(at_once(work, len(points), stop, jobs))


def _between(
    ours: tuple[float | None, list[float] | None], theirs: tuple[float | None, list[float] | None]
) -> tuple[float, list[float] | None] | None:
    """Difference of two figures with their intervals, and the interval of the difference."""
    (value, interval), (base, base_interval) = ours, theirs
    if value is None or base is None:
        return None
    delta = value - base
    if not interval or not base_interval:
        return delta, None
    half = math.hypot(*(abs(high - low) / 2 for low, high in (interval, base_interval)))
    return delta, [delta - half, delta + half]


def _difference_text(difference: dict[str, Any] | None) -> str:
    if difference is None:
        return "-"
    delta, interval = difference["waf_bytes"], difference["waf_bytes_95"]
    half = None if interval is None else (interval[1] - interval[0]) / 2
    decimals = 3 if half is not None and half < 0.005 else 2
    text = f"{round(delta, decimals) + 0.0:+.{decimals}f}"
    return text if half is None else f"{text} ± {half:.{decimals}f}"


def _life_cell(result: dict[str, Any]) -> str:
    if worth.too_short(result):
        return "too short"
    life, tbw = worth.years(result), worth.tbw_bytes(result)
    mark = " (first block)" if worth.uneven(result) else ""
    if life is not None:
        return units.years(life) + mark
    return "-" if tbw is None else f"{units.figure(tbw / 1e12)} TBW{mark}"


def _program_shares(result: dict[str, Any]) -> list[str]:
    counts = look(result, "flash", "pages_written") or look(result, "flash", "programs") or {}
    total = counts.get("total")
    if not total:
        return ["-", "-"]
    host = counts.get("host", 0)
    return [units.share(host / total), units.share((total - host) / total)]


def _or_dash(value: float | None) -> str:
    return "-" if value is None else units.figure(value)
