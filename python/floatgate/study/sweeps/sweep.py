"""A sweep in its folder: the plan, the journal, the table, and resuming."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from floatgate import _core
from floatgate.base.errors import input_error
from floatgate.base.parallel import RUNS_MAX
from floatgate.results import shapes
from floatgate.results.flat import plain
from floatgate.run.experiment import Experiment
from floatgate.study.also_differs import differing_notes, same_notes
from floatgate.study.runs.engine import Engine, Progress
from floatgate.study.runs.files import names_file
from floatgate.study.runs.journal import FILE as JOURNAL
from floatgate.study.runs.journal import TABLE
from floatgate.study.runs.journaled import Journaled
from floatgate.study.runs.plan import RunPlan, must_be_same, named_values, plan_runs
from floatgate.study.runs.points import Points
from floatgate.study.runs.requested import carry_out, left
from floatgate.study.runs.work import DONE, FAILED, UNUSABLE, Answer
from floatgate.study.same_in_all import defaults_left, shared_in_sweep
from floatgate.study.sweeps.spec import must_be_usable

SCHEMA = "floatgate.sweep/1"
PLAN = "sweep.json"
_TABLE_EVERY_S = 5.0
"""Seconds between two versions of the table while a sweep runs, at the least."""
_TABLE_SHARE = 0.02
"""Most of the time of a sweep that may go into writing the table before the end."""

OnAnswer = Callable[[Answer, int, int], None]
"""Called with each answer, how many runs have ended and how many there are."""


def begun_from(base: Experiment, points: Points, *, own_defaults: bool) -> tuple[Experiment, tuple[str, ...]]:
    """Give all points one trigger of collection where its default follows from what varies, as a comparison does.

    Args:
        base: the experiment.
        points: the settings that vary.
        own_defaults: leave each point its own default.

    Returns:
        The experiment for all points, and what to say of it.
    """
    made, same, checked = shared_in_sweep(base, points)
    if own_defaults:
        differing = {one.key: one.defaults for one in same}
        return defaults_left(base, points)[0], tuple(differing_notes(differing, points.keys, checked))
    return made, tuple(same_notes(same, points.keys, checked))


def plan_of(
    base: Experiment, points: Points, repeat: int, *, shadow: bool = False, notes: tuple[str, ...] = ()
) -> RunPlan:
    """Plan a sweep; it may go on from another folder, so files are named by whole paths.

    Args:
        base: the experiment.
        points: the settings that vary.
        repeat: seeds of each point.
        shadow: whether to check against a shadow model.
        notes: how to read the results.

    Raises:
        InputError: seeds vary and are repeated too, no point can be used, or a file cannot be read.
    """
    files = {value: _toml_path(value) for key, value in named_values(points) if names_file(key, value)}
    must_be_usable(base, points, files)
    base = replace(
        base,
        path=os.path.abspath(base.path) if base.toml is not None else "",  # noqa: PTH100
        overrides=[(key, _toml_path(value) if names_file(key, value) else value) for key, value in base.overrides],
    )
    return replace(plan_runs(base, points, repeat, shadow=shadow, files=files), notes=notes)


def plan_dict(plan: RunPlan) -> dict[str, Any]:
    """Return a plan as ``sweep.json`` keeps it."""
    return {
        "schema": SCHEMA,
        "version": _core.__version__,
        "runs": len(plan),
        **plan.to_dict(),
        "notes": list(plan.notes),
    }


def _toml_path(value: str) -> str:
    """Return the text of a path that is valid from anywhere, as TOML."""
    path = str(plain(value))
    return json.dumps(os.path.abspath(path), ensure_ascii=False) if path != "-" else value  # noqa: PTH100


def must_be_few(count: int, *, yes: bool) -> None:
    """Refuse a sweep of more than a million runs that the user has not confirmed."""
    if count > RUNS_MAX and not yes:
        raise input_error(
            f"floatgate sweep: {count} runs; expected at most {RUNS_MAX}, or --yes to do so many "
            "(--sample latin-hypercube --samples N covers the same ranges with fewer)"
        )


class Sweep(Journaled):
    """A sweep in its folder: its plan and its progress."""

    files: ClassVar[tuple[str, ...]] = (PLAN, JOURNAL, TABLE)

    def __init__(self, folder: Path, plan: RunPlan) -> None:
        """Use :meth:`open`."""
        super().__init__(folder, plan.keys, plan.wrong)
        self.plan = plan

    @classmethod
    def open(cls, folder: Path, plan: RunPlan, *, fresh: bool) -> Sweep:
        """Open a folder for a sweep: a new one with ``fresh``, else the one that was begun there.

        Raises:
            InputError: the folder cannot be written to.
        """
        if fresh:
            # What marks a folder of another kind would be read in place of this one.
            for document in shapes.DOCUMENTS.values():
                (folder / document.file).unlink(missing_ok=True)
            cls.remove(folder)
            cls.write_plan(folder, plan_dict(plan))
        return cls(folder, plan)

    def run(self, engine: Engine, on_answer: OnAnswer | None = None, progress: Progress | None = None) -> None:
        """Do the remaining runs, and write the table.

        The table is written now and then while the sweep runs, and when it is stopped.

        Raises:
            KeyboardInterrupt: Ctrl-C; finished runs are kept.
            InputError: there is no room on the disk, the engine cannot be used, or its answers are not as requested.
        """
        start = last = time.monotonic()
        spent = 0.0

        def done(answer: Answer) -> None:
            nonlocal last, spent
            self.journal.add(answer, self.plan.row(answer.number))
            if on_answer is not None:
                on_answer(answer, len(self.journal), len(self.plan))
            now = time.monotonic()
            if now - last > _TABLE_EVERY_S and spent < _TABLE_SHARE * (now - start):
                self.journal.write_table(self.table)
                last = time.monotonic()
                spent += last - now

        with self.leaving_table():
            carry_out(engine, left(self.plan, self.journal), done, progress)

    def summary(self) -> dict[str, Any]:
        """Return how far the sweep is, as JSON gives it (schema ``floatgate.sweep/1``)."""
        counts = self.journal.counts
        return {
            "schema": SCHEMA,
            "folder": str(self.folder),
            "table": str(self.table),
            "runs": len(self.plan),
            **{status: counts.get(status, 0) for status in (DONE, FAILED, UNUSABLE)},
        }

    def first_failure(self) -> str | None:
        """Return how many runs have no result, and the first of them; None where all have one."""
        if not self.journal.failed:
            return None
        first = min(
            (entry for entry in (self.journal.first(FAILED), self.journal.first(UNUSABLE)) if entry is not None),
            key=lambda entry: int(entry["run"]),
        )
        named = ", ".join(f"{key} = {value}" for key, value in first["set"].items())
        text = f"{self.journal.failed} of {len(self.plan)} runs have no result"
        return f"{text}; run {first['run']} ({named}): {first['error']}"

    def text(self) -> str:
        """Return how many runs ended how, as a line of text."""
        counts = ", ".join(f"{count} {status}" for status, count in sorted(self.journal.counts.items()))
        return f"{'runs':<10} {len(self.plan)}: {counts}"


def planned(folder: Path) -> RunPlan:
    """Return the plan that a folder holds.

    Raises:
        InputError: it is missing, damaged or of another version.
    """
    path = folder / PLAN
    if not path.is_file():
        if (folder / shapes.DOCUMENTS["compare"].file).is_file():
            raise input_error(
                f"{folder}: holds a comparison; expected a sweep. floatgate.load_comparison reads this one"
            )
        raise input_error(f"{folder}: holds no sweep; expected a folder that floatgate sweep --out has begun")
    return RunPlan.from_kept(shapes.read(path, "sweep"))


def must_go_on(folder: Path, plan: RunPlan) -> None:
    """Refuse to go on with a sweep that was begun with other settings.

    Raises:
        InputError: naming what differs.
    """
    must_be_same(folder, planned(folder).to_dict(), plan.to_dict(), alone="--resume without an experiment, ")
