"""What a comparison has done so far, kept in its folder until it is complete, so that it can go on after Ctrl-C.

``DIR/unfinished/`` holds the plan, and for each run that has ended a run folder, or its error. Each comes into its
place by one rename; once the comparison is complete, all of that goes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.compare import Seeded
from floatgate.errors import RunError, input_error, one_line
from floatgate.experiment import Experiment, Overrides
from floatgate.folder import write_files
from floatgate.json_in import load as load_json
from floatgate.run import load

NAME = "unfinished"
_PLAN = "plan.json"
_ERROR = "error.json"
_BYTES_MAX = 64 << 20


class Unfinished:
    """The part of a comparison that is done.

    Attributes:
        folder: where it is kept.
    """

    def __init__(self, folder: Path, plan: dict[str, Any]) -> None:
        """Use :meth:`begin` or :meth:`go_on`."""
        self.folder, self._plan = folder, plan

    @classmethod
    def begin(cls, out: Path, plan: dict[str, Any]) -> Unfinished:
        """Start to keep what a comparison does.

        Raises:
            InputError: the folder cannot be written to.
        """
        begun = cls(out / NAME, plan)
        try:
            shutil.rmtree(begun.folder, ignore_errors=True)
            begun.folder.mkdir()
            (begun.folder / _PLAN).write_text(json.dumps(plan, indent=2) + "\n", "utf-8")
        except OSError as error:
            raise _no_room(begun.folder, error) from None
        return begun

    @classmethod
    def go_on(cls, out: Path, plan: dict[str, Any]) -> Unfinished:
        """Go on with what a folder holds.

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
        return cls(out / NAME, plan)

    def kept(self) -> dict[int, Seeded]:
        """The runs that are done, by their number.

        Raises:
            InputError: one of them cannot be read.
        """
        seeds = self._plan["seeds"] or [None]
        done: dict[int, Seeded] = {}
        for entry in sorted(self.folder.iterdir()):
            if not entry.name.isdigit():
                continue
            number = int(entry.name)
            seed = seeds[number % len(seeds)]
            if (entry / _ERROR).is_file():
                said = load_json(entry / _ERROR, "the error of a run", _BYTES_MAX)["error"].text()
                done[number] = Seeded(seed, None, RunError(said))
            else:
                run = load(entry)
                _ = run.series  # read now: the folder goes when the comparison is complete
                done[number] = Seeded(seed, run)
        return done

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
        return sum(1 for entry in self.folder.iterdir() if entry.name.isdigit())

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.folder, ignore_errors=True)


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
