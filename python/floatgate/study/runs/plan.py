"""The plan of many runs: the experiment, the settings that vary, seeds, and the files that they read.

A run is made from its number when it is needed. A resumed study compares its plan with the one in its folder.
"""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floatgate.base.errors import InputError, input_error
from floatgate.base.json_in import Node
from floatgate.results.flat import plain
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment, Overrides
from floatgate.run.run import check
from floatgate.study.runs.files import FILE_KEYS, content_of, names_file
from floatgate.study.runs.points import RUNS_END, Points
from floatgate.study.runs.rows import wrong_against
from floatgate.study.runs.work import Job

_NAMES = {
    "version": "the version of floatgate",
    "experiment": "the experiment",
    "points": "the settings that vary",
    "axes": "the settings that vary",
    "goal": "the goal",
    "batch": "--batch",
    "repeat": "--repeat",
    "seed": "the seed",
    "search_seed": "--search-seed",
    "shadow": "--shadow",
    "files": "the files that vary",
    "contents": "the content of a trace or snapshot",
}
"""Parts that a plan must share with the one that was begun, in words."""


@dataclass(frozen=True)
class RunPlan:
    """The runs of a study.

    Attributes:
        base: the experiment, without its ``[sweep]`` table.
        points: the settings that vary.
        repeat: how often each point runs, with seeds counted up from ``seed``.
        seed: the first seed.
        files: where the files are that points name, by the values of the points.
        shadow: whether to check against a shadow model.
        contents: hashes of the files, by name.
        memory_bytes: the most that a run may take; None for no limit. A study may go on with another.
        notes: how to read the results.
    """

    base: Experiment
    points: Points
    repeat: int = 1
    seed: int = 1
    files: Mapping[str, str] = field(default_factory=dict)
    shadow: bool = False
    contents: Mapping[str, str] = field(default_factory=dict)
    memory_bytes: int | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.points) * self.repeat

    @property
    def keys(self) -> list[str]:
        """The keys that vary."""
        return self.points.keys

    def settings(self, number: int) -> Overrides:
        """Return what run ``number`` sets, as the user wrote it, with its seed.

        Every point has the same seeds: points differ by their settings, not by their random numbers.
        """
        point, repetition = divmod(number, self.repeat)
        settings = self.points.at(point)
        if "seed" in self.keys:
            return settings
        return [*settings, ("seed", str(self.seed + repetition))]

    def job(self, number: int, *, whole: bool = False) -> Job:
        """Run ``number`` as an engine takes it; its answer has the figures, or the ``whole`` run."""
        experiment = self.base.with_overrides(placed(self.settings(number), self.files))
        return Job(number, experiment, self.shadow, whole, self.memory_bytes)

    def row(self, number: int) -> dict[str, Any]:
        """Return what run ``number`` sets, as values of the table."""
        return {key: plain(value) for key, value in self.settings(number)}

    def wrong(self, number: int, settings: Mapping[str, Any]) -> str | None:
        """Describe how a journal's settings of a run differ from the expected ones; None if all fit."""
        if number >= len(self):
            return f"no run of the plan; expected a number below {len(self)}"
        return wrong_against(settings, self.row(number))

    def to_dict(self) -> dict[str, Any]:
        """Return it as the file of the plan keeps it."""
        return {
            "experiment": experiment_dict(self.base),
            "points": self.points.to_dict(),
            "repeat": self.repeat,
            "seed": self.seed,
            "shadow": self.shadow,
            "files": dict(self.files),
            "contents": dict(self.contents),
        }

    @classmethod
    def from_kept(cls, kept: Node) -> RunPlan:
        """Read what :meth:`to_dict` has made.

        Raises:
            InputError: it is damaged.
        """
        return cls(
            kept_experiment(kept["experiment"]),
            Points.from_kept(kept["points"]),
            kept["repeat"].whole(1, RUNS_END),
            kept["seed"].whole(),
            kept["files"].table(),
            kept["shadow"].flag(),
            kept["contents"].table(),
            notes=kept_notes(kept),
        )


def experiment_dict(base: Experiment) -> dict[str, Any]:
    """Return an experiment as plans keep it."""
    return {"toml": base.toml, "path": base.path, "overrides": [list(pair) for pair in base.overrides]}


def kept_experiment(kept: Node) -> Experiment:
    """Return the experiment that a plan keeps."""
    overrides = []
    for pair in kept["overrides"].elements():
        parts = pair.elements()
        if len(parts) != 2:
            pair.refuse("a key and its value")
        overrides.append((parts[0].text(), parts[1].text()))
    toml = kept.get("toml")
    return Experiment(None if toml is None else toml.text(), kept["path"].text(), overrides)


def kept_notes(kept: Node) -> tuple[str, ...]:
    """Return the notes that a plan keeps; none of a plan without them."""
    notes = kept.get("notes")
    return () if notes is None else tuple(note.text() for note in notes.elements())


def must_be_same(folder: Path, before: Mapping[str, Any], now: Mapping[str, Any], *, alone: str = "") -> None:
    """Refuse to go on with a study that was begun with other settings.

    Args:
        folder: of the study.
        before: the plan that it was begun with, as a dict.
        now: the plan that is required.
        alone: the command that resumes without settings, for the message.

    Raises:
        InputError: naming what differs.
    """
    differing = dict.fromkeys(name for key, name in _NAMES.items() if key in now and before.get(key) != now[key])
    if differing:
        raise input_error(
            f"{folder}: was begun with other settings ({', '.join(differing)} differ); expected the same command, "
            f"{alone}or a new folder"
        )


def plan_runs(
    base: Experiment,
    points: Points,
    repeat: int = 1,
    *,
    shadow: bool = False,
    files: Mapping[str, str] | None = None,
    reads_files: bool = True,
) -> RunPlan:
    """Plan runs: their first seed, and the content of the files that they read.

    Args:
        base: the experiment.
        points: the settings that vary.
        repeat: seeds of each point.
        shadow: whether to check against a shadow model.
        files: where the files are that points name; None where they are named as they are.
        reads_files: whether to hash the files, for a study that may be resumed.

    Raises:
        InputError: seeds vary and are repeated too, no point can be used, or a file cannot be read.
    """
    if repeat > 1 and "seed" in points.keys:
        raise input_error(f"--repeat {repeat}: the seeds vary already; expected one of --repeat and --vary seed=...")
    placed_files = dict(files or {})
    resolved = _resolved(base, points, placed_files)
    named = {placed_files.get(value, value) for key, value in named_values(points) if names_file(key, value)}
    read = {*map(plain, named)} | {path for key in FILE_KEYS if (path := look(resolved, *key.split("."))) is not None}
    # A pipe can only be read once, by the run.
    kept = [path for path in sorted(read) if path != "-" and not Path(path).is_fifo()] if reads_files else []
    contents = {path: content_of(path) for path in kept}
    return RunPlan(base, points, repeat, int(resolved.get("seed", 1)), placed_files, shadow, contents)


def named_values(points: Points) -> list[tuple[str, str]]:
    """Return keys and values that points have, each once; of ranges none."""
    named = [(axis.key, value) for axis in points.axes for value in axis.values]
    return list(dict.fromkeys([*named, *(setting for point in points.listed for setting in point)]))


def _resolved(base: Experiment, points: Points, files: Mapping[str, str]) -> dict[str, Any]:
    """Resolve the base; if it lacks what varies, the first point that can be used."""
    try:
        return tomllib.loads(check(base))
    except InputError:
        for point in points:
            with contextlib.suppress(InputError):
                return tomllib.loads(check(base.with_overrides(placed(point, files))))
        raise


def placed(point: Sequence[tuple[str, str]], files: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return a point as the core takes it: files by where they are, and a trace as the workload where one varies."""
    keys = [key for key, _ in point]
    kind = [("workload.kind", '"trace"')] if "workload.file" in keys and "workload.kind" not in keys else []
    return kind + [(key, files.get(value, value) if names_file(key, value) else value) for key, value in point]
