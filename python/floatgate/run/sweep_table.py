"""The ``[sweep]`` table of an experiment file: which settings ``floatgate sweep`` goes through.

It stands in the file of the experiment: one file says everything. The core never sees it. Its lines are left empty
before the core reads the file, which keeps the line numbers in its messages right.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from floatgate.base.errors import input_error

_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?")


def split(text: str, path: str) -> tuple[str, dict[str, Any]]:
    """Return the text of an experiment without its ``[sweep]`` table, and that table (empty without one).

    Raises:
        InputError: it is not written as a ``[sweep]`` table.
    """
    if "sweep" not in text:
        return text, {}
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return text, {}  # the core reports the error, with its place
    table = whole.pop("sweep", None)
    if table is None:
        return text, {}
    blanked = "\n".join(_without(text.split("\n")))
    try:
        same = tomllib.loads(blanked) == whole
    except tomllib.TOMLDecodeError:
        same = False
    if not same or not isinstance(table, dict):
        raise input_error(
            f"{path}: 'sweep' is not written as a table of its own; expected lines below [sweep] and [sweep.vary]"
        )
    return blanked, table


def _without(lines: Sequence[str]) -> Iterator[str]:
    """Return the lines, with those of ``[sweep]`` and the tables below it left empty."""
    inside = False
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is not None:
            inside = re.split(r"[.\s]", match[1].replace('"', ""), maxsplit=1)[0] == "sweep"
        yield "" if inside else line
