"""Resuming a study of whole runs: its folder keeps finished runs until the study is complete.

``DIR/unfinished/`` holds the plan, the journal, and a folder for each run with a result, which comes into its place by
one rename before its line is written. Once the study is complete, all of that goes by one rename too, before
it is removed. Reused data are checked: lines by the plan, whole runs by their lines.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base import unfinished_files
from floatgate.base.errors import input_error, quote, reading
from floatgate.base.json_in import Node
from floatgate.results import shapes
from floatgate.results.folder import write_text
from floatgate.run.experiment import Experiment
from floatgate.study.runs.journal import FILE as JOURNAL
from floatgate.study.runs.journal import Journal, no_room
from floatgate.study.runs.plan import RunPlan, must_be_same
from floatgate.study.runs.points import Points
from floatgate.study.runs.rows import WrongFigures, same, shown
from floatgate.study.runs.work import DONE, Answer

NAME = "unfinished"
PLAN = f"{NAME}/plan.json"
SCHEMA = "floatgate.runs/1"


@dataclass(frozen=True)
class Whole:
    """The way in which a kind of study keeps its whole runs.

    Attributes:
        study: the kind, as the plan names it.
        what: what messages call it.
        file: the file with the result of a run.
        write: writes a run into a folder.
        read: reads it back; refuses one that is not that of the experiment.
        figures: the figures of a run, as its line in the journal has them.
        wrong_figures: checks those of a line; None where they are the flat row of a result.
    """

    study: str
    what: str
    file: str
    write: Callable[[Any, Path], None]
    read: Callable[[Path, Experiment], Any]
    figures: Callable[[Any], Mapping[str, Any]]
    wrong_figures: WrongFigures | None = None


class Unfinished:
    """The part of a study that is done.

    Attributes:
        plan: the runs of the study.
        folder: where the part is kept.
        done: the runs that :meth:`go_on` has found, by their number.
    """

    def __init__(self, out: Path, plan: RunPlan, whole: Whole) -> None:
        """Open the part of the study in the folder ``out``; nothing is written before a run has ended."""
        self.plan, self.folder = plan, out / NAME
        self._out, self._whole = out, whole
        self.done: dict[int, Answer] = {}
        self._journal: Journal | None = None

    def go_on(self) -> None:
        """Take over the runs that are done.

        Raises:
            InputError: they are missing, they belong to another plan, or one of them cannot be read.
        """
        kept = _read(self._out, self._whole)
        before = RunPlan.from_kept(kept)
        own = self.plan.points.listed
        if own and before.points.listed[: len(own)] == own:
            self.plan = replace(self.plan, points=before.points)
        must_be_same(self._out, {"version": kept["version"].text(), **before.to_dict()}, _plan_dict(self.plan))
        self._journal = self._opened()
        self.done = {entry["run"]: self._answer(entry) for entry in self._journal.entries()}

    def _opened(self) -> Journal:
        checks = self._whole.wrong_figures
        return Journal(self.folder / JOURNAL, self.plan.keys, self.plan.wrong, wrong_figures=checks)

    def _answer(self, entry: Mapping[str, Any]) -> Answer:
        """Read the answer from a line on a run, with the whole run that lies beside it."""
        number, kept = entry["run"], entry["figures"]
        if entry["status"] != DONE:
            return Answer(number, entry["status"], entry["error"])
        place = self.place(number)
        run = self._whole.read(place, self.plan.job(number).experiment)
        with reading(place / self._whole.file, "expected the result of a run"):
            figures = self._whole.figures(run)
        for key in sorted({*figures, *kept}):
            if not same(figures.get(key), kept.get(key)):
                what = f"{quote(key)} is {shown(figures.get(key))}; expected {shown(kept.get(key))}, as in the journal"
                raise input_error(f"{place / self._whole.file}: {what}")
        return Answer(number, DONE, None, kept, run, entry["spent"])

    def place(self, number: int) -> Path:
        """Return the folder of a run that is done and has a result."""
        return self.folder / f"{number:06d}"

    def add(self, answer: Answer) -> None:
        """Keep a run that has ended.

        Raises:
            InputError: there is no room.
        """
        if self._journal is None:
            self._begin()
            self._journal = self._opened()
        if answer.status == DONE:
            place, part = self.place(answer.number), self.folder / f".part-{answer.number}"
            try:
                for left in (part, place):  # by a process that was killed
                    shutil.rmtree(left, ignore_errors=True)
                part.mkdir()
                self._whole.write(answer.run, part)
                part.rename(place)
            except OSError as error:
                raise no_room(self.folder, error) from None
        self._journal.add(answer, self.plan.row(answer.number))

    def _begin(self) -> None:
        """Write the plan; a folder without one could neither go on nor be started over without --force."""
        try:
            remove(self._out)
            hidden = unfinished_files.folder_in(self._out)
            (hidden / NAME).mkdir()
            (hidden / PLAN).write_text(self._text(), "utf-8")
            (hidden / NAME).rename(self.folder)
            hidden.rmdir()
        except OSError as error:
            raise no_room(self.folder, error) from None

    def _text(self) -> str:
        document = {"schema": SCHEMA, "study": self._whole.study, **_plan_dict(self.plan)}
        return json.dumps(document, indent=2) + "\n"

    def extend(self, points: Points) -> None:
        """Plan further runs, which follow from those that are done.

        Raises:
            InputError: other ones were planned before, or there is no room.
        """
        known = self.plan.points.listed
        if known[: len(points.listed)] == points.listed:
            return
        if points.listed[: len(known)] != known:
            raise input_error(f"{self.folder}: its further runs do not follow from its results; expected a new folder")
        self.plan = replace(self.plan, points=points)
        if self._journal is not None:
            write_text(str(self._out / PLAN), self._text(), "a folder that can be written to")

    def __len__(self) -> int:
        return 0 if self._journal is None else len(self._journal)

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()


def _plan_dict(plan: RunPlan) -> dict[str, Any]:
    return {"version": _core.__version__, **plan.to_dict()}


def _read(out: Path, whole: Whole) -> Node:
    file = out / PLAN
    kept = shapes.read(file, "runs") if file.is_file() else None
    if kept is None or kept["study"].text() != whole.study:
        what = f"holds no {whole.what} to go on with"
        raise input_error(f"{out}: {what}; expected the folder of one, or no --resume")
    return kept


def planned(out: Path, whole: Whole) -> RunPlan:
    """Return the plan of the study that a folder holds a part of.

    Raises:
        InputError: the folder has no study of this kind, or it is damaged.
    """
    return RunPlan.from_kept(_read(out, whole))


def remove(out: Path) -> None:
    """Remove what a study has kept, where there is any; what a killed process leaves of it has a hidden name."""
    folder = out / NAME
    if not folder.exists():
        return
    try:
        hidden = unfinished_files.folder_in(out)
        folder.rename(hidden / NAME)
    except OSError:
        hidden = folder
    shutil.rmtree(hidden, ignore_errors=True)
