"""Where commands that describe a trace write: a report, and a folder of pictures."""

from __future__ import annotations

from pathlib import Path

from floatgate.base.errors import input_error
from floatgate.results.folder import RunFolder, must_be_file_place

EXPECTED_REPORT = "a file for the report"


def must_write_something(*places: str | None, force: bool) -> None:
    """Refuse ``--force`` where nothing is written that could be there already.

    Raises:
        InputError: there is no place.
    """
    if force and all(place is None for place in places):
        raise input_error("--force: nothing is written; expected it with --report or --pictures")


def report_places(report: str | None, pictures: str | None, *, force: bool) -> RunFolder | None:
    """Refuse places that cannot be used before the trace is read; the folder of the pictures.

    Raises:
        InputError: a place cannot be written to, or is taken.
    """
    if report == "-":
        raise input_error("-: a report is not written to standard output; expected the name of a file")
    if report is not None:
        must_be_file_place(report, EXPECTED_REPORT)
        if Path(report).is_file() and not force:
            raise input_error(f"{report}: exists already; expected a new file, or --force")
    if pictures is None:
        return None
    folder = RunFolder.given(pictures, force=force)
    folder.expect(report)
    return folder
