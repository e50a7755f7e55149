"""The outcomes of the runs of a reproduction: results, and the drives from which other runs start.

With a folder for them, each result is kept there together with its drive (:mod:`floatgate.study.runs.resume`), and a
reproduction can be resumed after a kill. The plan lists every run: batch, workload, variant and settings. Workloads
that a paper prepares are made again each time, in another folder. The plan names them without that folder, and has the
hash of their content.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.base.json_in import load
from floatgate.papers.jobs import Job, Place
from floatgate.papers.paper import Paper
from floatgate.results.flat import plain
from floatgate.run.experiment import Experiment, Overrides, toml_value
from floatgate.study.runs.files import content_of, names_file, paths_in
from floatgate.study.runs.plan import RunPlan
from floatgate.study.runs.points import Points
from floatgate.study.runs.resume import Unfinished, Whole
from floatgate.study.runs.rows import shown
from floatgate.study.runs.work import DONE, Answer

Result = dict[str, Any]
Keep = Callable[[RunPlan], AbstractContextManager["Unfinished | None"]]
"""Opens the store of the runs of a plan; yields None if nothing is kept."""
FILE, DRIVE = "result.json", "end.drive"
_BYTES_MAX = 1 << 30
_PREPARED = "prepared"
"""Replaces the folder of prepared workloads in plans."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run, and the drive that it saved, if another run starts from it."""

    result: Result
    drive: Path | None = None


def _text(result: Result) -> str:
    return json.dumps(result, ensure_ascii=False) + "\n"


def _write(outcome: Outcome, folder: Path) -> None:
    (folder / FILE).write_text(_text(outcome.result), "utf-8")
    if outcome.drive is not None:
        shutil.move(outcome.drive, folder / DRIVE)


def _read(folder: Path, _experiment: Experiment) -> Outcome:
    result = load(folder / FILE, "the result of a run of a reproduction", _BYTES_MAX).table()
    drive = folder / DRIVE
    return Outcome(result, drive if drive.is_file() else None)


def _hashes(outcome: Outcome) -> dict[str, Any]:
    """Hash what the journal has of a run: not its figures, since results of some commands are no flat rows."""
    hashes = {"result_hash": hashlib.blake2b(_text(outcome.result).encode(), digest_size=20).hexdigest()}
    if outcome.drive is not None:
        hashes["drive_hash"] = content_of(str(outcome.drive))
    return hashes


def _wrong_hashes(figures: Mapping[str, Any]) -> str | None:
    wrong = [key for key, value in figures.items() if not isinstance(value, str)]
    return f"'{wrong[0]}' is {shown(figures[wrong[0]])}; expected a hash" if wrong else None


WHOLE = Whole("reproduce", "reproduction", FILE, _write, _read, _hashes, _wrong_hashes)


def plan_of(paper: Paper, todo: Sequence[Job], prepared: Path) -> RunPlan:
    """Plan the runs of some jobs.

    Args:
        paper: the paper.
        todo: its jobs.
        prepared: the folder of the workloads that were made for them.

    Raises:
        InputError: one of their files cannot be read.
    """
    points: list[tuple[tuple[str, str], ...]] = []
    files = set(paths_in(paper.experiment.toml or ""))
    for job in todo:
        for number, overrides in enumerate(job.variants):
            settings = dict([*job.base.overrides, *overrides])
            files |= {str(plain(value)) for key, value in settings.items() if names_file(key, value)}
            entries = _run_settings(job, number) | settings
            points.append(tuple((key, toml_value(key, _without(prepared, text))) for key, text in entries.items()))
    contents = {_without(prepared, path): content_of(path) for path in sorted(files) if Path(path).is_file()}
    return RunPlan(paper.experiment, Points((), listed=tuple(points)), contents=contents)


def _run_settings(job: Job, number: int) -> dict[str, str]:
    """Return what identifies the run, and what it does besides its settings."""
    batch, workload, variant = job.places[number]
    document = {"batch": batch, "workload": workload, "variant": variant, "command": job.command}
    more = {
        "from": job.starts[number],
        "detail_s": job.details_s[number],
        "responses": job.responses[number] or None,
        "capture": job.captures[number],
        "search": job.searches[number],
    }
    return document | {key: str(value) for key, value in more.items() if value is not None}


def _without(prepared: Path, text: str) -> str:
    """Return a path or a setting without the folder of prepared workloads, whose name changes each time."""
    folder = str(prepared)
    return text.replace(toml_value("", folder)[1:-1], _PREPARED).replace(folder, _PREPARED)


class Outcomes:
    """Results and drives by batch, workload and variant; threads share it."""

    def __init__(self, todo: Sequence[Job], folder: Path, part: Unfinished | None) -> None:
        """Start with the runs of some jobs.

        Args:
            todo: the jobs, as the plan of ``part`` has them.
            folder: where runs save their drives.
            part: where outcomes are kept, with those that are done; None for nowhere.
        """
        self._part, self._lock = part, threading.Lock()
        self._numbers = {place: number for number, place in enumerate(place for job in todo for place in job.places)}
        needed = {start for job in todo for start in job.starts if start is not None}
        self._drives = {place: folder / f"{number}.drive" for number, place in enumerate(sorted(needed))}
        done = {} if part is None else part.done
        self._results: dict[Place, Result] = {
            place: done[number].run.result for place, number in self._numbers.items() if number in done
        }

    def result(self, place: Place) -> Result | None:
        """Return the result of a run; None where it is not done."""
        return self._results.get(place)

    def to_save(self, place: Place) -> Path | None:
        """Return where a run saves its drive; None where no other run starts from it."""
        return self._drives.get(place)

    def start(self, place: Place) -> Overrides:
        """Return the settings of a run that starts from the drive of another, which is done."""
        kept = None if self._part is None else self._part.place(self._numbers[place]) / DRIVE
        return [("ftl.precondition", '"snapshot"'), ("ftl.snapshot", json.dumps(str(kept or self._drives[place])))]

    def add(self, place: Place, result: Result) -> Result:
        """Keep what a run gave, and return it; the first result of a run counts.

        Raises:
            InputError: there is no room.
        """
        with self._lock:
            first = self._results.setdefault(place, result)
            if first is result and self._part is not None:
                outcome = Outcome(result, self._drives.get(place))
                self._part.add(Answer(self._numbers[place], DONE, None, _hashes(outcome), outcome))
            return first
