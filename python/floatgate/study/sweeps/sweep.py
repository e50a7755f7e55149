"""A sweep in its folder: the plan, the journal, the table, and how it goes on after it was stopped."""

from __future__ import annotations

import contextlib
import json
import os
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.errors import InputError, input_error, one_line
from floatgate.base.json_in import Node
from floatgate.base.parallel import RUNS_MAX
from floatgate.results import shapes
from floatgate.results.flat import plain
from floatgate.results.folder import write_text
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment, Overrides
from floatgate.run.run import check
from floatgate.study.runs.engine import Engine, Progress
from floatgate.study.runs.files import FILE_KEYS, content_of, names_file
from floatgate.study.runs.journal import FILE as JOURNAL
from floatgate.study.runs.journal import TABLE, Journal
from floatgate.study.runs.points import RUNS_END, Points
from floatgate.study.runs.requested import Requested
from floatgate.study.runs.rows import wrong_against
from floatgate.study.runs.work import DONE, FAILED, UNUSABLE, Answer, Job
from floatgate.study.sweeps.spec import must_be_usable, placed

SCHEMA = "floatgate.sweep/1"
PLAN = "sweep.json"
WRITABLE = "a folder that can be written to"
_TABLE_EVERY_S = 5.0
"""Seconds between two versions of the table while a sweep runs, at the least."""
_TABLE_SHARE = 0.02
"""Most of the time of a sweep that may go into writing the table before the end."""

Told = Callable[[Answer, int, int], None]
"""Called with each answer, how many runs have ended and how many there are."""


@dataclass(frozen=True)
class Plan:
    """What a sweep runs.

    Attributes:
        base: the experiment, without its ``[sweep]`` table.
        points: the settings that vary.
        repeat: how often each point runs, with seeds counted up from ``seed``.
        seed: the first seed.
        files: where the files are that points name, by the values of the points.
        shadow: whether to check against a shadow model.
        contents: what is in the files, by name.
        memory_bytes: the most that a run may take; None for no limit. No part of what the sweep is: where it goes on,
            it may be another.
    """

    base: Experiment
    points: Points
    repeat: int
    seed: int
    files: Mapping[str, str] = field(default_factory=dict)
    shadow: bool = False
    contents: Mapping[str, str] = field(default_factory=dict)
    memory_bytes: int | None = None

    def __len__(self) -> int:
        return len(self.points) * self.repeat

    @property
    def keys(self) -> list[str]:
        """The keys that vary."""
        return self.points.keys

    def settings(self, number: int) -> Overrides:
        """What run ``number`` sets, as the user wrote it, with its seed.

        Every point has the same seeds, so that points differ by their settings and not by their random numbers.
        """
        point, repetition = divmod(number, self.repeat)
        settings = self.points.at(point)
        if "seed" in self.keys:
            return settings
        return [*settings, ("seed", str(self.seed + repetition))]

    def job(self, number: int) -> Job:
        """Run ``number`` as an engine takes it."""
        experiment = self.base.with_overrides(placed(self.settings(number), self.files))
        return Job(number, experiment, self.shadow, memory_bytes=self.memory_bytes)

    def row(self, number: int) -> dict[str, Any]:
        """What run ``number`` sets, as values of the table."""
        return {key: plain(value) for key, value in self.settings(number)}

    def wrong(self, number: int, settings: Mapping[str, Any]) -> str | None:
        """Say what differs where a journal has other settings for a run, with what is expected; None where all fits."""
        if number >= len(self):
            return f"no run of this sweep; expected a number below {len(self)}"
        return wrong_against(settings, self.row(number))

    def to_dict(self) -> dict[str, Any]:
        """As ``sweep.json`` keeps it."""
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "runs": len(self),
            "experiment": {
                "toml": self.base.toml,
                "path": self.base.path,
                "overrides": [list(pair) for pair in self.base.overrides],
            },
            "points": self.points.to_dict(),
            "repeat": self.repeat,
            "seed": self.seed,
            "shadow": self.shadow,
            "files": dict(self.files),
            "contents": dict(self.contents),
        }


def plan_of(base: Experiment, points: Points, repeat: int, *, shadow: bool = False) -> Plan:
    """Plan a sweep: its first seed, and the files that it reads.

    Raises:
        InputError: seeds vary and are repeated too, no point can be used, or a file cannot be read.
    """
    if repeat > 1 and "seed" in points.keys:
        raise input_error(f"--repeat {repeat}: the seeds vary already; expected one of --repeat and --vary seed=...")
    named = [(axis.key, value) for axis in points.axes for value in axis.values]
    named += [setting for point in points.listed for setting in point]
    files = {value: _toml_path(value) for key, value in named if names_file(key, value)}
    must_be_usable(base, points, files)
    base = replace(
        base,
        path=os.path.abspath(base.path) if base.toml is not None else "",  # noqa: PTH100
        overrides=[(key, _toml_path(value) if names_file(key, value) else value) for key, value in base.overrides],
    )
    resolved = _resolved(base, points, files)
    read = {*map(plain, files.values())} | {
        found for key in FILE_KEYS if (found := look(resolved, *key.split("."))) is not None
    }
    contents = {path: content_of(path) for path in sorted(read) if path != "-"}
    return Plan(base, points, repeat, int(resolved.get("seed", 1)), files, shadow, contents)


def _resolved(base: Experiment, points: Points, files: Mapping[str, str]) -> dict[str, Any]:
    """The resolved base; where it lacks what varies, the first point that can be used."""
    try:
        return tomllib.loads(check(base))
    except InputError:
        for point in points:
            with contextlib.suppress(InputError):
                return tomllib.loads(check(base.with_overrides(placed(point, files))))
        raise


def _toml_path(value: str) -> str:
    """The text of a path that is right from anywhere, as TOML."""
    path = str(plain(value))
    return json.dumps(os.path.abspath(path), ensure_ascii=False) if path != "-" else value  # noqa: PTH100


def must_be_few(count: int, *, yes: bool) -> None:
    """Refuse a sweep of more than a million runs that nobody has confirmed."""
    if count > RUNS_MAX and not yes:
        raise input_error(
            f"floatgate sweep: {count} runs; expected at most {RUNS_MAX}, or --yes to do so many "
            "(--sample latin-hypercube --samples N covers the same ranges with fewer)"
        )


class Sweep:
    """A sweep in its folder: what is planned, and how far it is."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        """Use :meth:`open`."""
        self.folder, self.plan = folder, plan
        self.journal = Journal(folder / JOURNAL, plan.keys, plan.wrong)

    @classmethod
    def open(cls, folder: Path, plan: Plan, *, fresh: bool) -> Sweep:
        """Open a folder for a sweep: a new one with ``fresh``, else the one that was begun there.

        Raises:
            InputError: the folder cannot be written to.
        """
        if fresh:
            for name in (PLAN, JOURNAL, TABLE):
                (folder / name).unlink(missing_ok=True)
            write_text(str(folder / PLAN), json.dumps(plan.to_dict(), indent=2, ensure_ascii=False) + "\n", WRITABLE)
        return cls(folder, plan)

    @property
    def table(self) -> Path:
        """Where the flat table is."""
        return self.folder / TABLE

    def run(self, engine: Engine, told: Told | None = None, progress: Progress | None = None) -> None:
        """Do what is left to do, and write the table.

        The table is written now and then while the sweep runs, and when it is stopped.

        Raises:
            KeyboardInterrupt: Ctrl-C; what has been done is kept.
            InputError: there is no room on the disk, the engine cannot be used, or its answers are not as requested.
        """
        start = last = time.monotonic()
        spent = 0.0

        requested = Requested(engine)

        def done(answer: Answer) -> None:
            nonlocal last, spent
            requested.must_have(answer)
            self.journal.add(answer, self.plan.row(answer.number))
            if told is not None:
                told(answer, len(self.journal), len(self.plan))
            now = time.monotonic()
            if now - last > _TABLE_EVERY_S and spent < _TABLE_SHARE * (now - start):
                self.journal.write_table(self.table)
                last = time.monotonic()
                spent += last - now

        try:
            engine.run(requested.noted(self._left()), done, progress)
            requested.must_be_answered()
        finally:
            if len(self.journal):
                self.journal.write_table(self.table)

    def _left(self) -> Iterator[Job]:
        """The runs that are not done, in order."""
        return (self.plan.job(number) for number in range(len(self.plan)) if number not in self.journal)

    def summary(self) -> dict[str, Any]:
        """How far the sweep is, as JSON gives it (schema ``floatgate.sweep/1``)."""
        counts = self.journal.counts
        return {
            "schema": SCHEMA,
            "folder": str(self.folder),
            "table": str(self.table),
            "runs": len(self.plan),
            **{status: counts.get(status, 0) for status in (DONE, FAILED, UNUSABLE)},
        }

    def first_failure(self) -> str | None:
        """How many runs have no result, and the first of them; None where all have one."""
        if not self.journal.failed:
            return None
        first = min(
            (entry for entry in (self.journal.first(FAILED), self.journal.first(UNUSABLE)) if entry is not None),
            key=lambda entry: int(entry["run"]),
        )
        named = ", ".join(f"{key} = {value}" for key, value in first["set"].items())
        said = f"{self.journal.failed} of {len(self.plan)} runs have no result"
        return f"{said}; run {first['run']} ({named}): {first['error']}"

    def text(self) -> str:
        """How many runs ended how, as a line of text."""
        counts = ", ".join(f"{count} {status}" for status, count in sorted(self.journal.counts.items()))
        return f"{'runs':<10} {len(self.plan)}: {counts}"

    def clear(self) -> None:
        """Remove what was written, where no run has ended."""
        for name in (PLAN, JOURNAL, TABLE):
            (self.folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()


def planned(folder: Path) -> Plan:
    """The plan that a folder holds.

    Raises:
        InputError: there is none, or it is damaged or of another version.
    """
    path = folder / PLAN
    if not path.is_file():
        raise input_error(f"{folder}: holds no sweep; expected a folder that floatgate sweep --out has begun")
    kept = shapes.read(path, "sweep")
    return Plan(
        kept_experiment(kept["experiment"]),
        Points.from_kept(kept["points"]),
        kept["repeat"].whole(1, RUNS_END),
        kept["seed"].whole(),
        kept["files"].table(),
        kept["shadow"].flag(),
        kept["contents"].table(),
    )


def kept_experiment(kept: Node) -> Experiment:
    """The experiment that a plan keeps."""
    overrides = []
    for pair in kept["overrides"].elements():
        parts = pair.elements()
        if len(parts) != 2:
            pair.refuse("a key and its value")
        overrides.append((parts[0].text(), parts[1].text()))
    toml = kept.get("toml")
    return Experiment(None if toml is None else toml.text(), kept["path"].text(), overrides)


def must_be_same(folder: Path, plan: Plan) -> None:
    """Refuse to go on with a sweep that was begun with other settings.

    Raises:
        InputError: naming what differs.
    """
    before, now = planned(folder).to_dict(), plan.to_dict()
    names = {
        "experiment": "the experiment",
        "points": "the settings that vary",
        "repeat": "--repeat",
        "seed": "the seed",
        "shadow": "--shadow",
        "contents": "the content of a trace or snapshot",
    }
    differing = [said for key, said in names.items() if before[key] != now[key]]
    if differing:
        raise input_error(
            f"{folder}: was begun with other settings ({one_line(', '.join(differing))} differ); expected the same "
            "command, --resume without an experiment, or a new folder"
        )
