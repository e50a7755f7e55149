"""The folder that a study writes to while it runs."""

from __future__ import annotations

from pathlib import Path

from floatgate.base.errors import input_error
from floatgate.results.folder import DEFAULT_ROOT, RunFolder, first_free


def folder_for(
    out: str | None, name: str, plan: str, what: str, *, resume: bool, force: bool, part: str = ""
) -> RunFolder:
    """``--out``, else the first free of ``runs/NAME``, ``runs/NAME-2``, ...

    Args:
        out: as it was given.
        name: what to call the folder where none was given.
        plan: the file that makes the folder what it is.
        what: it is called in messages.
        resume: whether to go on with what is there.
        force: whether to start over.
        part: what ``plan`` makes of the folder, where that is no complete ``what``.

    Raises:
        InputError: it is not free, or there is nothing to go on with.
    """
    if resume:
        if out is None:
            raise input_error(f"--resume: the folder of the {what} is missing; expected --out DIR")
        if not (Path(out) / plan).is_file():
            raise input_error(f"{out}: holds no {what} to go on with; expected the folder of one, or no --resume")
        return RunFolder.given(out, force=True)
    if out is None:
        return RunFolder.given(str(first_free(Path(DEFAULT_ROOT) / name)), force=False)
    if (Path(out) / plan).is_file() and not force:
        raise input_error(
            f"{out}: holds {part or f'a {what}'}; expected --resume to go on with it, or --force to start over"
        )
    return RunFolder.given(out, force=force)
