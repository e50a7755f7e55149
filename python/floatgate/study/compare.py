"""The same workload under several settings, side by side, on all cores."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base.arguments import checked
from floatgate.base.errors import FloatgateError, input_error, meant, one_line, quote
from floatgate.base.parallel import must_be_few
from floatgate.base.text_table import table
from floatgate.results.batch_means import Batches
from floatgate.results.flat import flat
from floatgate.results.folder import RunFolder
from floatgate.results.frames import Framed, table_of
from floatgate.results.seed_stats import mean_result, seed_matters, spreads
from floatgate.results.table_files import write_table
from floatgate.run.experiment import Experiment, ExperimentLike, Overrides, Settings, resolve, toml_value
from floatgate.run.run import Run, check, load
from floatgate.run.saving import write_files
from floatgate.study import also_differs, differences, range_ends
from floatgate.study.compare_rows import caveats, flat_rows, notes, settings_rows, table_rows
from floatgate.study.runs.engine import Engine, Local, Progress
from floatgate.study.runs.plan import RunPlan, plan_runs
from floatgate.study.runs.points import Axis, Points
from floatgate.study.runs.requested import carry_out, left
from floatgate.study.runs.resume import Unfinished, Whole
from floatgate.study.runs.work import UNUSABLE, Answer, Job
from floatgate.study.same_in_all import Shared, defaults_left, shared, stated

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "floatgate.compare/1"


@dataclass(frozen=True)
class Seeded:
    """One run of a setting: its seed (None where the experiment's own is taken), and the run or what ended it."""

    seed: int | None
    run: Run | None = None
    error: FloatgateError | None = None


@dataclass(frozen=True)
class Setting:
    """One setting of a comparison and its outcome: a run, or the error that ended it; with several seeds, one of each.

    Attributes:
        overrides: of the setting.
        run: the run, with several seeds that of the first one that has ended well.
        error: what ended it, with several seeds the first error.
        seeds: all of its runs.
    """

    overrides: Overrides
    run: Run | None = None
    error: FloatgateError | None = None
    seeds: tuple[Seeded, ...] = ()

    @classmethod
    def of(cls, overrides: Overrides, seeds: Sequence[Seeded]) -> Setting:
        """Return a setting with the runs of its seeds."""
        run = next((one.run for one in seeds if one.run is not None), None)
        error = next((one.error for one in seeds if one.error is not None), None)
        return cls(overrides, run, error, tuple(seeds))

    @property
    def label(self) -> str:
        """``greedy, 0.07``: the values alone, in the order in which they vary."""
        return ", ".join(value.strip("\"'") for _, value in self.overrides) or "as given"

    def named(self) -> str:
        """Format as ``ftl.collect.policy = greedy, ftl.spare_factor = 0.07``, for messages."""
        return ", ".join(f"{key} = {value}" for key, value in self.overrides) or "as given"

    @property
    def each(self) -> tuple[Seeded, ...]:
        """Its runs; of a setting that was made of a single one, that one."""
        return self.seeds or (Seeded(None, self.run, self.error),)

    @property
    def by_seed(self) -> dict[int | None, dict[str, Any]]:
        """The results of the seeds that have one."""
        return {one.seed: one.run.result.to_dict() for one in self.each if one.run is not None}

    @cached_property
    def batches(self) -> dict[int | None, Batches | None]:
        """The batches of the seeds that have a result, from their series."""
        runs = {one.seed: one.run for one in self.each if one.run is not None}
        return {seed: Batches.of(run.series, run.result.to_dict()) for seed, run in runs.items()}

    @cached_property
    def seedless(self) -> bool:
        """Whether it has several seeds, and all of them the same result."""
        results = list(self.by_seed.values())
        return len(results) > 1 and not seed_matters(results)

    @cached_property
    def result(self) -> dict[str, Any] | None:
        """The result; with several seeds, their mean (:func:`floatgate.results.seed_stats.mean_result`)."""
        results = list(self.by_seed.values())
        return mean_result(results) if results else None


class Comparison(Framed):
    """The results of several settings, and those that the others are compared with.

    Attributes:
        settings: with their outcomes.
        baselines: for each setting the number of the one that it is measured against; of a baseline its own.
        same_in_all: keys that have one value in all settings, though their defaults differ.
    """

    file_name = "compare.json"

    def __init__(
        self,
        settings: Sequence[Setting],
        baseline: int | Sequence[int] = 0,
        same_in_all: Sequence[Shared] = (),
    ) -> None:
        """Use :func:`compare`.

        Args:
            settings: with their outcomes.
            baseline: the number of the setting that the others are measured against, or one number for each setting.
            same_in_all: keys that have one value in all settings, though their defaults differ.
        """
        self.settings = list(settings)
        self.same_in_all = tuple(same_in_all)
        self.baselines = [baseline] * len(self.settings) if isinstance(baseline, int) else list(baseline)
        self._numbers = {id(setting): number for number, setting in enumerate(self.settings)}

    def __iter__(self) -> Iterator[Setting]:
        return iter(self.settings)

    def __len__(self) -> int:
        return len(self.settings)

    def __repr__(self) -> str:
        return f"<floatgate.Comparison of {len(self)} settings by {', '.join(self.keys) or 'nothing'}>"

    def _repr_html_(self) -> str:
        """Show the table and the first figure as a chart, for notebooks."""
        from floatgate.study.cards import of_comparison

        return of_comparison(self)

    def base_of(self, setting: Setting) -> Setting:
        """Return the setting that one is measured against; of a baseline itself.

        Args:
            setting: one of this comparison.
        """
        return self.settings[self.baselines[self._numbers[id(setting)]]]

    @property
    def against(self) -> str:
        """Return what the others are measured against: ``none``, or ``none at the same ftl.spare_factor``."""
        bases = [self.settings[number] for number in dict.fromkeys(self.baselines)]
        if len(bases) == 1:
            return bases[0].label
        values = [dict(base.overrides) for base in bases]
        matched = [key for key in self.keys if len({each[key] for each in values}) > 1]
        named = [value.strip("\"'") for key, value in bases[0].overrides if key not in matched]
        return f"{', '.join(named)} at the same {' and '.join(matched)}"

    @property
    def keys(self) -> list[str]:
        """Return the keys that vary."""
        return [key for key, _ in self.settings[0].overrides]

    @property
    def repeated(self) -> bool:
        """Return whether settings have several seeds."""
        return any(len(setting.seeds) > 1 for setting in self.settings)

    @property
    def runs(self) -> list[Run]:
        """Return the runs that finished, in order; with several seeds one of each setting."""
        return [setting.run for setting in self.settings if setting.run is not None]

    def text(self) -> str:
        """Return the comparison as a table of plain text."""
        header, rows = self.rows()
        lines = [table(header, rows, right=frozenset(range(max(1, len(self.keys)), len(header))))]
        at_end = range_ends.remark(settings_rows(self), self.keys)
        return "\n".join([*lines, *notes(self), *caveats(self), *([at_end] if at_end else []), *self.failures()])

    def failures(self) -> list[str]:
        """Return what ended the runs that failed, one text each."""
        phrases = []
        for setting in self.settings:
            for one in setting.each:
                if one.error:
                    seed = f", seed = {one.seed}" if len(setting.seeds) > 1 else ""
                    phrases.append(f"{setting.named()}{seed}: {one_line(one.error)}")
        return phrases

    def folder_name(self, number: int, setting: Setting, seed: int | None = None) -> str:
        """Return the name of a setting's run folder, or of that of one of its seeds: ``01-greedy``.

        Args:
            number: of the setting, from 1 on.
            setting: with its values.
            seed: None for the setting's only run.
        """
        label = "-".join(value for _, value in setting.overrides)
        name = "".join(char if char.isalnum() or char in "._" else "-" for char in label).strip("-")
        return f"{number:02d}-{name[:60]}" + ("" if seed is None else f"-seed-{seed}")

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return header and cells: the values that vary, then the figures, then the difference against the baseline."""
        return table_rows(self)

    def to_arrow(self) -> pa.Table:
        """Return one flat row for each run, with columns named by key as a sweep has them, as an Arrow table."""
        return table_of(flat_rows(self))

    def difference(self, setting: Setting) -> dict[str, Any] | None:
        """Return how the figures differ from the baseline's; see :func:`floatgate.study.differences.between`.

        Args:
            setting: one of this comparison; a baseline itself has no difference (None).
        """
        base = self.base_of(setting)
        if setting is base:
            return None
        return differences.between(setting.by_seed, base.by_seed, setting.batches, base.batches)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON gives it (schema ``floatgate.compare/1``)."""
        entries = [self._entry(one) | {"baseline": at} for one, at in zip(self.settings, self.baselines, strict=True)]
        differing = {key: list(values) for key, values in also_differs.of_comparison(self).items()}
        same = {one.key: one.to_dict() for one in self.same_in_all}
        return {
            "schema": SCHEMA,
            "baseline": self.baselines[0],
            "same_in_all": same,
            "also_differs": differing,
            "settings": entries,
        }

    def _entry(self, setting: Setting) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "set": dict(setting.overrides),
            "result": setting.run.result.to_dict() if setting.run else None,
            "error": one_line(setting.error) if setting.error else None,
            "difference": self.difference(setting),
        }
        if len(setting.seeds) > 1:
            entry["seeds"] = [one.seed for one in setting.seeds]
            entry["results"] = [one.run.result.to_dict() if one.run else None for one in setting.seeds]
            entry["errors"] = [one_line(one.error) if one.error else None for one in setting.seeds]
            entry["seed_matters"] = not setting.seedless
            results = list(setting.by_seed.values())
            means = spreads(results[:1] if setting.seedless else results) if results else {}
            entry["over_seeds"] = {key: spread.to_dict() for key, spread in means.items()}
        return entry

    def report(self, command: str | None = None) -> str:
        """Return the comparison as one self-contained HTML page.

        Args:
            command: the command line that made it, where there was one.
        """
        from floatgate.study.compare_report import page

        return page(self, command)

    def save(
        self, folder: str | os.PathLike[str], *, force: bool = False, report: bool = True, command: str | None = None
    ) -> Path:
        """Write ``compare.json``, the flat table, ``report.html`` and one run folder for each run.

        Args:
            folder: the folder itself; made where it is missing, used where it is empty.
            force: write into a folder that is not empty too.
            report: whether to draw the report.
            command: the command line that made it, where there was one.

        Returns:
            The folder.

        Raises:
            InputError: the folder is not empty (and not ``force``), or cannot be written.
        """
        return self.write(RunFolder.named(os.fspath(folder), force=force), report=report, command=command)

    def write(self, target: RunFolder, *, report: bool, command: str | None) -> Path:
        """Write to a :class:`~floatgate.results.folder.RunFolder` and return its path; see :meth:`save`.

        Args:
            target: the folder.
            report: whether to draw the report.
            command: the command line that made it, where there was one.
        """

        def fill(staging: Path, final: Path) -> None:
            for number, setting in enumerate(self.settings, start=1):
                several = len(setting.seeds) > 1
                for one in setting.each:
                    if one.run is not None:
                        name = self.folder_name(number, setting, one.seed if several else None)
                        (staging / name).mkdir()
                        write_files(one.run, staging / name)
                        one.run.folder = final / name
            self.write_summary(staging)

        return target.write(fill, report=(lambda: self.report(command)) if report else None)

    def write_summary(self, folder: Path) -> None:
        """Write the files on all settings: the JSON, and the flat table as Parquet and CSV.

        Args:
            folder: an existing folder.
        """
        stem = Path(self.file_name).stem
        (folder / self.file_name).write_text(json.dumps(self.to_dict(), indent=2) + "\n", "utf-8")
        flat = self.arrow()
        for suffix in (".parquet", ".csv"):
            write_table(flat, folder / f"{stem}{suffix}")


@checked
def compare(
    experiment: ExperimentLike,
    vary: Mapping[str, Sequence[object]],
    *,
    set: Settings | None = None,
    repeat: int = 1,
    baseline: Settings | None = None,
    own_defaults: bool = False,
    jobs: int | None = None,
    shadow: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Run one experiment under every combination of settings.

    Args:
        experiment: as :func:`floatgate.run` takes it.
        vary: key -> values: ``{"ftl.collect.policy": ["greedy", "fifo"]}``; several keys give all combinations.
        set: settings that all share.
        repeat: seeds of each setting, the same for all; differences are those of runs with the same seed.
        baseline: what the others are measured against, ``{"ftl.collect.policy": "fifo"}``, within each combination of
            the keys that it does not name; None for the first value of the first key with several.
        own_defaults: leave each setting its own default of ``ftl.collect.trigger_free_blocks``; else all have the
            largest one, where nothing states it.
        jobs: how many run at a time; None for one per core. Each holds a drive of its own in memory.
        shadow: check against a shadow model; slow.
        progress: called with (number of the run, done, total or None, phase).

    Returns:
        The settings in the order of their values. One whose run fails keeps its error; the others go on.

    Raises:
        InputError: one of the settings is unusable; nothing has run then.
        ValueError: ``jobs`` or ``repeat`` below 1, or no values for a key.

    Examples:
        >>> import floatgate
        >>> small = {"drive.capacity": "64 MiB", "workload.requests": 40_000}
        >>> by_spare = floatgate.compare(small, {"ftl.spare_factor": [0.1, 0.25]})
        >>> [round(run.waf, 2) for run in by_spare.runs]
        [1.84, 1.43]
    """
    if not all(vary.values()):
        raise ValueError("vary: each key needs a value at least")
    if repeat < 1:
        raise ValueError("repeat: expected 1 or more")
    base = resolve(experiment, set=set)
    axes = tuple(Axis(key, tuple(toml_value(key, value) for value in values)) for key, values in vary.items())
    points = Points(axes)
    must_be_few(len(points) * repeat, "vary")
    places = baselines_of(points, {key: toml_value(key, value) for key, value in (baseline or {}).items()})
    base, same = defaults_left(base, points) if own_defaults else shared(base, points)
    same = (*same, *stated(base, points))
    plan = plan_runs(base, points, repeat, shadow=shadow, reads_files=False)
    return Comparison(run_settings(plan, Local(jobs), progress), places, same)


def baselines_of(points: Iterable[Overrides], wanted: Mapping[str, str]) -> list[int]:
    """Return for each setting the number of the one that it is measured against.

    A baseline has the wanted values, and those of the setting itself for the other keys. Where none are wanted, it has
    the first value of the first key that has several.

    Args:
        points: the settings.
        wanted: key -> value of the baseline.

    Raises:
        InputError: a key does not vary, or no setting has such values.
    """
    every = [{key: value.strip("\"'") for key, value in point} for point in points]
    keys = list(every[0])
    first = next((key for key in keys if len({one[key] for one in every}) > 1), keys[0])
    values = {key: value.strip("\"'") for key, value in wanted.items()} or {first: every[0][first]}
    unknown = [key for key in values if key not in keys]
    if unknown:
        raise input_error(f"--baseline: {quote(unknown[0])} does not vary; {meant(unknown[0], keys)}")
    numbers = {tuple(one.items()): number for number, one in enumerate(every)}
    places = [numbers.get(tuple((one | values).items())) for one in every]
    if None in places:
        named = ", ".join(f"{key}={value}" for key, value in values.items())
        raise input_error(f"--baseline {quote(named)}: no setting has it; expected values that are given with --vary")
    return [number for number in places if number is not None]


def run_settings(
    plan: RunPlan, engine: Engine, progress: Progress | None = None, kept: Unfinished | None = None
) -> list[Setting]:
    """Check every setting, then do the remaining runs of all.

    Args:
        plan: the settings and their seeds.
        engine: who does the runs.
        progress: called with the number of a run.
        kept: has the earlier runs, and keeps the new ones; None to keep nothing.

    Raises:
        InputError: as :func:`compare`.
    """
    for first in range(0, len(plan), plan.repeat):
        check(plan.job(first).experiment)
    done = kept.done if kept is not None else {}

    def take(answer: Answer) -> None:
        failure = answer.failure()
        if failure is not None and answer.status == UNUSABLE:
            raise failure
        done[answer.number] = answer
        if kept is not None:
            kept.add(answer)

    def waiting() -> Iterator[Job]:
        for job in left(plan, done, whole=True):
            if progress is not None:
                progress(job.number, 0, None, "waiting")
            yield job

    carry_out(engine, waiting(), take, progress)

    def seeded(number: int) -> Seeded:
        seed = plan.seed + number % plan.repeat if plan.repeat > 1 else None
        return Seeded(seed, done[number].run, done[number].failure())

    size = plan.repeat
    return [
        Setting.of(point, [seeded(first * size + each) for each in range(size)])
        for first, point in enumerate(plan.points)
    ]


def whole_runs(study: str, what: str) -> Whole:
    """Return how a study keeps its runs: as run folders."""
    return Whole(study, what, "result.json", write_files, _read_run, lambda run: flat(run.result.to_dict()))


def _read_run(folder: Path, experiment: Experiment) -> Run:
    run = load(folder)
    if run.experiment_toml != check(experiment):
        raise input_error(f"{folder / 'experiment.toml'}: has other settings than its run; expected those of the plan")
    _ = run.series  # read now: the folder goes when the study is complete
    _ = run.timeline
    return run


WHOLE = whole_runs("compare", "comparison")
