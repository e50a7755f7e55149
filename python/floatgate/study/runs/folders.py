"""The folder that a study writes to while it runs."""

from __future__ import annotations

import shlex
from pathlib import Path

from floatgate.base.errors import input_error
from floatgate.results.folder import DEFAULT_ROOT, RunFolder, first_free


def folder_for(
    out: str | None,
    name: str,
    plan: str,
    what: str,
    *,
    resume: bool,
    force: bool,
    part: str = "",
    finished: str | None = None,
) -> RunFolder:
    """Return ``--out``, else the first free of ``runs/NAME``, ``runs/NAME-2``, ...

    Args:
        out: the value of the option.
        name: of the folder without ``--out``.
        plan: the file that marks such a folder.
        what: its name in messages.
        resume: whether to resume from the folder.
        force: whether to start over.
        part: what ``plan`` makes of the folder if that is no complete ``what``.
        finished: the file of a complete ``what``, whose ``plan`` is gone.

    Raises:
        InputError: it is not free, or there is nothing to resume.
    """
    if resume:
        if out is None:
            raise input_error(f"--resume: the folder of the {what} is missing; expected --out DIR")
        if not (Path(out) / plan).is_file() and finished is not None and (Path(out) / finished).is_file():
            raise input_error(
                f"{out}: this {what} is finished, no run is left; expected no --resume and a new folder. 'floatgate "
                f"report {shlex.quote(out)}' draws its page again"
            )
        if not (Path(out) / plan).is_file():
            raise input_error(f"{out}: holds no {what} to go on with; expected the folder of one, or no --resume")
        return RunFolder.named(out, force=True)
    if out is None:
        return RunFolder.named(str(first_free(Path(DEFAULT_ROOT) / name)), force=False)
    if (Path(out) / plan).is_file() and not force:
        raise input_error(
            f"{out}: holds {part or f'a {what}'}; expected --resume to go on with it, or --force to start over"
        )
    return RunFolder.named(out, force=force)
