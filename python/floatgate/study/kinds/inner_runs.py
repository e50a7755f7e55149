"""Run folders within a folder of several runs."""

from __future__ import annotations

from pathlib import Path

from floatgate.base.errors import input_error
from floatgate.run.run import Run, load


def load_inner(folder: Path) -> Run:
    """Read a run back that stands in the folder of several.

    Raises:
        InputError: it is missing or damaged.
    """
    if not folder.is_dir():
        raise input_error(f"{folder}: no such folder; expected that run beside the comparison")
    return load(folder)
