"""Write lifetime hints by path, and the source of a library that gives them to the files a program opens.

The library is preloaded (``LD_PRELOAD``) and built where it is used, since it must fit the C library there.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from floatgate.base.errors import input_error, one_line
from floatgate.placement import paths
from floatgate.placement.answer import Placement
from floatgate.placement.keys import RECORD_AGAIN

TABLE, SOURCE = "hints.table", "hints.c"
MAKEFILE = """hints.so: hints.c
\t$(CC) -O2 -Wall -fexceptions -shared -fPIC -Wl,-z,now -o $@ hints.c -ldl -lpthread
"""
ROWS_MAX, BYTES_MAX = 65_536, 16 << 20
"""Limits of a table that the library loads."""


def usage(folder: str) -> str:
    """Return what to do with the files."""
    return f"make -C {folder} && FLOATGATE_HINTS={folder}/{TABLE} LD_PRELOAD={folder}/hints.so PROGRAM"


def files(placement: Placement) -> Mapping[str, str]:
    """Return the table, the source and a makefile.

    Raises:
        InputError: the recording does not name its files, only from a folder that it does not tell, or names more than
            the library takes.
    """
    if placement.by == "file" and placement.stand_ins:
        raise input_error(f"{placement.trace}: does not name its files, which hints go by; {RECORD_AGAIN}")
    hints = placement.hints()
    pattern_of = _whole if placement.by == "file" else _itself
    patterns = [(pattern_of(one), hints[one["handle"]]) for one in placement.keys if one["key"] is not None]
    keys = {pattern: hint for pattern, hint in patterns if pattern is not None}
    if not keys:
        raise input_error(
            f"{placement.trace}: names its files from the folder in which it was recorded, and does not say which one "
            f"that is; hints go by whole paths: expected --by path-pattern, or {RECORD_AGAIN.removeprefix('expected ')}"
        )
    missing = len(patterns) - len(keys)
    lines = [
        f"# Write lifetime hints from {one_line(placement.trace)}, by {placement.by} ({placement.policy}).",
        "# The first line whose pattern matches a path counts: hint, one space, pattern (docs/placement.md).",
        *([f"# Without {missing} of {len(patterns)} files: their whole paths are unknown."] if missing else []),
        *(f"{keys[pattern]} {pattern}" for pattern in paths.in_order(keys)),
    ]
    table = "\n".join(lines) + "\n"
    if len(keys) > ROWS_MAX or len(table.encode()) > BYTES_MAX:
        raise input_error(
            f"{placement.trace}: {len(keys)} keys make too large a table; expected at most {ROWS_MAX} rows and "
            f"{BYTES_MAX >> 20} MiB: --by path-pattern makes fewer"
        )
    source = resources.files("floatgate.placement").joinpath("preload", SOURCE).read_text("utf-8")
    return {TABLE: table, SOURCE: source, "Makefile": MAKEFILE}


def _whole(one: Mapping[str, Any]) -> str | None:
    path = one.get("path")
    return None if path is None else paths.literal(path)


def _itself(one: Mapping[str, Any]) -> str | None:
    return str(one["key"])
