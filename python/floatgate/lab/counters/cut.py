"""Files of readings that end within a line, as those do that were cut when they were copied."""

from __future__ import annotations

import re
from pathlib import Path

from floatgate.base import units
from floatgate.base.errors import InputError, input_error
from floatgate.lab.counters.packed import unpacked

_LINE = re.compile(r":(\d+):\d+: ")


def within_line(path: str, most_bytes: int) -> tuple[int, int] | None:
    """Return the number of the line that a file ends within, and its bytes; None where it ends with a line break.

    Args:
        path: the file.
        most_bytes: a larger one is not read.

    A file of one line is none that was cut, and one that cannot be read has no last line.
    """
    try:
        if not Path(path).is_file() or Path(path).stat().st_size > most_bytes:
            return None
        raw = unpacked(path, most_bytes)
        raw = Path(path).read_bytes() if raw is None else raw
    except (OSError, ValueError, InputError):
        return None
    if raw.lstrip()[:1] in (b"{", b"[") and raw.rstrip()[-1:] in (b"}", b"]"):
        return None  # whole JSON, which many programs write without a line break
    before, line_break, last = raw.rpartition(b"\n")
    return (before.count(b"\n") + 2, len(last)) if line_break and last.strip() else None


def with_cut(path: str, error: InputError, most_bytes: int) -> InputError:
    """Return an error that adds where the file ends within a line; the same error where it does not.

    Args:
        path: the file.
        error: of the file. One that names another line than the last one stays as it is.
        most_bytes: a larger file is not read.
    """
    message = str(error)
    end = within_line(path, most_bytes)
    named = _LINE.match(message, len(path)) if message.startswith(path) else None
    if end is None or (named is not None and int(named[1]) != end[0]):
        return error
    number, length = end
    what = message.rpartition("; expected ")[0] or message
    return input_error(
        f"{what}, and the file ends within its line {number}, after {units.counted(length, 'byte')}: it was probably "
        "cut when it was copied; expected the whole file: copy it again"
    )
