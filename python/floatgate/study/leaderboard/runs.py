"""The runs of a leaderboard in its folder: begun, resumed, cleared."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from floatgate.results.folder import write_text
from floatgate.study.leaderboard.request import FILE, Prepared, Request, planned
from floatgate.study.leaderboard.traces import FOLDER
from floatgate.study.runs.journaled import WRITABLE
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
        InputError: the request is unusable, or another one than that of the folder.
    """
    if request is None:
        plan = sweep.planned(folder)
        return Runs.open(folder, replace(plan, memory_bytes=memory_bytes), fresh=False)  # type: ignore[return-value]
    try:
        board, plan = planned(request, folder.absolute(), progress)
        if resume:
            sweep.must_go_on(folder, plan)
    except BaseException:
        if not resume:
            shutil.rmtree(folder / FOLDER, ignore_errors=True)
        raise
    runs = Runs.open(folder, replace(plan, memory_bytes=memory_bytes), fresh=not resume)
    text = json.dumps(board.to_dict(), indent=2, ensure_ascii=False)
    write_text(str(folder / FILE), f"{text}\n", WRITABLE)
    return runs  # type: ignore[return-value]
