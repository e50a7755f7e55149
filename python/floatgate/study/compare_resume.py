"""What a comparison has done so far, kept in its folder until it is complete, so that it can go on after Ctrl-C.

``DIR/unfinished/`` holds the plan, and for each run that has ended a run folder, or its error. Each comes into its
place by one rename; once the comparison is complete, all of that goes by one rename too, before it is removed. A run
that is kept has to be one of the plan: its settings, its seed and the types of its figures are checked.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base import unfinished_files
from floatgate.base.errors import RunError, input_error, one_line, reading
from floatgate.base.json_in import load as load_json
from floatgate.results.flat import flat
from floatgate.run.experiment import Experiment, Overrides
from floatgate.run.run import Run, check, load
from floatgate.run.saving import write_files
from floatgate.study.compare import Seeded
from floatgate.study.runs.rows import shown, wrong_figures

NAME = "unfinished"
_PLAN = "plan.json"
_ERROR = "error.json"
_BYTES_MAX = 64 << 20
_RUN = re.compile(r"[0-9]{6,}")
"""Names of the folders of runs: numbers with six digits at least."""


class Unfinished:
    """The part of a comparison that is done.

    Attributes:
        folder: where it is kept.
    """

    def __init__(self, folder: Path, plan: dict[str, Any], path: str = "") -> None:
        """Use :meth:`begin` or :meth:`go_on`."""
        self.folder, self._plan, self._path = folder, plan, path

    @classmethod
    def begin(cls, out: Path, plan: dict[str, Any]) -> Unfinished:
        """Start to keep what a comparison does.

        Raises:
            InputError: the folder cannot be written to.
        """
        begun = cls(out / NAME, plan)
        try:
            begun.remove()
            hidden = unfinished_files.folder_in(out)
            (hidden / NAME).mkdir()
            (hidden / NAME / _PLAN).write_text(json.dumps(plan, indent=2) + "\n", "utf-8")
            # A folder without a plan could neither be resumed nor be started over without --force.
            (hidden / NAME).rename(begun.folder)
            hidden.rmdir()
        except OSError as error:
            raise _no_room(begun.folder, error) from None
        return begun

    @classmethod
    def go_on(cls, out: Path, plan: dict[str, Any], path: str) -> Unfinished:
        """Go on with what a folder holds.

        Args:
            out: the folder of the comparison.
            plan: as :func:`plan_of` makes it.
            path: of the experiment.

        Raises:
            InputError: it holds nothing to go on with, or was begun with other settings.
        """
        file = out / NAME / _PLAN
        if not file.is_file():
            raise input_error(f"{out}: holds no comparison to go on with; expected the folder of one, or no --resume")
        before = load_json(file, "the plan of a comparison", _BYTES_MAX).table()
        differing = [key for key in plan if before.get(key) != plan[key]]
        if differing:
            what = f"was begun with other settings ({', '.join(differing)} differ)"
            raise input_error(f"{out}: {what}; expected the same command, or a new folder")
        return cls(out / NAME, plan, path)

    def kept(self) -> dict[int, Seeded]:
        """The runs that are done, by their number.

        Raises:
            InputError: one of them cannot be read.
        """
        done: dict[int, Seeded] = {}
        for entry in sorted(self._entries()):
            number = int(entry.name)
            if entry.name != f"{number:06d}" or number >= self._count:
                raise input_error(f"{entry}: no run of this comparison; expected numbers below {self._count}")
            seed = self._seeds[number % len(self._seeds)]
            if (entry / _ERROR).is_file():
                done[number] = Seeded(seed, None, RunError(_error_in(entry / _ERROR)))
            else:
                run = load(entry)
                self._must_be(run, entry, number)
                _ = run.series  # read now: the folder goes when the comparison is complete
                _ = run.timeline
                done[number] = Seeded(seed, run)
        return done

    @property
    def _seeds(self) -> list[int | None]:
        return self._plan["seeds"] or [None]

    @property
    def _count(self) -> int:
        """How many runs the comparison has."""
        return len(self._plan["vary"]) * len(self._seeds)

    def _entries(self) -> Iterator[Path]:
        """The folders of the runs that are done."""
        return (entry for entry in self.folder.iterdir() if _RUN.fullmatch(entry.name))

    def _must_be(self, run: Run, entry: Path, number: int) -> None:
        """Refuse a run that is not that of the plan, or whose figures no run makes."""
        file = entry / "result.json"
        with reading(file, "expected a floatgate result"):
            figures = flat(run.result.to_dict())
            what = wrong_figures(figures) if figures else "has no figures; expected those of a run"
        if what is not None:
            raise input_error(f"{file}: {what}")
        wanted = check(self._experiment(number))
        if run.experiment_toml != wanted:
            file = entry / "experiment.toml"
            raise input_error(f"{file}: has other settings than run {number}; expected those of the comparison")
        seed, known_hash = tomllib.loads(wanted).get("seed", 1), _core.config_hash(wanted, self._path, [])
        if figures["seed"] != seed:
            raise input_error(f"{file}: 'seed' is {figures['seed']}; expected {seed}, as planned")
        if known_hash is not None and figures["config_hash"] != known_hash:
            raise input_error(f"{file}: 'config_hash' is {shown(figures['config_hash'])}; expected {shown(known_hash)}")

    def _experiment(self, number: int) -> Experiment:
        """The experiment of a run, as the plan has it."""
        place, each = divmod(number, len(self._seeds))
        seed = self._seeds[each]
        pairs = [*self._plan["set"], *self._plan["vary"][place], *([] if seed is None else [("seed", str(seed))])]
        return Experiment(self._plan["experiment"], self._path, [(key, value) for key, value in pairs])

    def add(self, number: int, one: Seeded) -> None:
        """Keep a run that has ended.

        Raises:
            InputError: there is no room.
        """
        part = self.folder / f".part-{number}"
        try:
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            if one.run is not None:
                write_files(one.run, part)
            else:
                (part / _ERROR).write_text(json.dumps({"error": one_line(one.error)}), "utf-8")
            part.rename(self.folder / f"{number:06d}")
        except OSError as error:
            raise _no_room(self.folder, error) from None

    def __len__(self) -> int:
        return sum(1 for _ in self._entries())

    def remove(self) -> None:
        """Remove all of it, where there is any; what a killed process leaves of it has a hidden name."""
        if not self.folder.exists():
            return
        try:
            hidden = unfinished_files.folder_in(self.folder.parent)
            self.folder.rename(hidden / NAME)
        except OSError:
            hidden = self.folder
        shutil.rmtree(hidden, ignore_errors=True)


def _error_in(file: Path) -> str:
    """Read the message of a run that failed."""
    kept = load_json(file, "the error of a run", _BYTES_MAX)
    for key in kept.table():
        if key != "error":
            raise kept.at(key).refusal("is no key of this file", "'error' alone")
    return kept["error"].text()


def plan_of(
    base: Experiment, points: Sequence[Overrides], seeds: Sequence[int] | None, *, shadow: bool
) -> dict[str, Any]:
    """What tells a comparison from another one."""
    return {
        "version": _core.__version__,
        "experiment": base.toml,
        "set": [list(pair) for pair in base.overrides],
        "vary": [[list(pair) for pair in point] for point in points],
        "seeds": None if seeds is None else list(seeds),
        "shadow": shadow,
    }


def _no_room(folder: Path, error: OSError) -> Exception:
    said = error.strerror or str(error)
    return input_error(f"{folder}: {said}; expected room for the results; make some, then go on with --resume")
