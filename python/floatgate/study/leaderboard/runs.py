"""The runs of a leaderboard in its folder: begun, resumed, cleared."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from floatgate.base import unfinished_files
from floatgate.base.errors import input_error, quote
from floatgate.plugins import kept
from floatgate.results import shapes
from floatgate.results.folder import write_text
from floatgate.study.leaderboard.request import FILE, Prepared, Request, planned, prepare
from floatgate.study.leaderboard.traces import FOLDER
from floatgate.study.runs.files import content_of
from floatgate.study.runs.journaled import WRITABLE
from floatgate.study.runs.plan import RunPlan
from floatgate.study.sweeps import sweep


class Runs(sweep.Sweep):
    """The runs, as those of a sweep, with what is compared and its traces beside them."""

    files: ClassVar[tuple[str, ...]] = (*sweep.Sweep.files, FILE)

    def clear(self) -> None:
        """Remove the files, if no run has ended."""
        super().clear()
        shutil.rmtree(self.folder / FOLDER, ignore_errors=True)


def begun(
    folder: Path,
    request: Request | None,
    *,
    resume: bool,
    memory_bytes: int | None = None,
    progress: Prepared | None = None,
) -> Runs:
    """Open the runs of a leaderboard in its folder.

    Args:
        folder: claimed for it.
        request: what to compare; None to go on with what the folder holds.
        resume: go on with what the folder holds, which must be the same.
        memory_bytes: the most that a run may take.
        progress: called after each trace that is prepared.

    Raises:
        InputError: the request is unusable, or another one than that of the folder; a trace or the code of a policy has
            changed.
    """
    if request is None:
        plan = sweep.planned(folder)
        _must_be_as_before(folder, plan)
        return Runs.open(folder, replace(plan, memory_bytes=memory_bytes), fresh=False)  # type: ignore[return-value]
    hidden = unfinished_files.folder_in(folder)
    try:
        (hidden / FOLDER).mkdir()
        made = prepare(request, hidden / FOLDER, progress)
        if resume:
            _must_hold(folder, hidden / FOLDER)
            plan = planned(made, folder.absolute())
            sweep.must_go_on(folder, plan)
            _must_be_as_before(folder, plan)
            runs = Runs.open(folder, replace(plan, memory_bytes=memory_bytes), fresh=False)
        else:
            with _in_place(hidden, folder):
                plan = planned(made, folder.absolute())
            runs = Runs.open(folder, replace(plan, memory_bytes=memory_bytes), fresh=True)
            text = json.dumps(made.board.to_dict(), indent=2, ensure_ascii=False)
            write_text(str(folder / FILE), f"{text}\n", WRITABLE)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return runs  # type: ignore[return-value]


@contextlib.contextmanager
def _in_place(hidden: Path, folder: Path) -> Iterator[None]:
    """Move prepared traces to where they stay; those of an earlier leaderboard return if the block fails."""
    before = hidden / "before"
    if (folder / FOLDER).exists():
        (folder / FOLDER).rename(before)
    (hidden / FOLDER).rename(folder / FOLDER)
    try:
        yield
    except BaseException:
        shutil.rmtree(folder / FOLDER, ignore_errors=True)
        if before.exists():
            before.rename(folder / FOLDER)
        raise


def _must_hold(folder: Path, traces: Path) -> None:
    """Refuse to go on with other traces under the same names."""
    for trace in sorted(traces.iterdir()):
        there = folder / FOLDER / trace.name
        if not there.is_file() or there.read_bytes() != trace.read_bytes():
            raise input_error(f"{there}: was made of another trace; expected the same command, or a new folder")


def _must_be_as_before(folder: Path, plan: RunPlan) -> None:
    """Refuse to go on where a trace or the code of a policy has changed, or a policy is not loaded."""
    for path, content in plan.contents.items():
        if content_of(path) != content:
            raise input_error(f"{path}: has changed since the leaderboard was begun; expected it as it was")
    loaded = kept.codes()
    for name, code in shapes.read(folder / FILE, "leaderboard")["own"].table().items():
        if loaded.get(name) != code:
            what = "has changed since the leaderboard was begun" if name in loaded else "is not loaded"
            raise input_error(f"{folder}: its policy {quote(name)} {what}; expected --policy with its file as it was")
