"""The statistics of a trace, for Python."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from floatgate import _core
from floatgate.base.arguments import checked
from floatgate.results.result_view import Record


@checked
def trace_info(path: str | os.PathLike[str], **options: str) -> Record:
    """Return what is in a trace: counts, update intervals, reuse distances, skew, demand; see ``docs/trace-info.md``.

    Args:
        path: the trace; .gz, .xz and .zst are unpacked on the way.
        options: ``format``, ``time_unit``, ``lba_unit``, ``action``, ``on_bad_line``, and for a slice of the trace
            ``from_``, ``until``, ``device``, ``op``, ``requests``, ``fold``, ``time_scale``, as the command line has
            them.

    Returns:
        The statistics, as ``floatgate trace info --json`` prints them.

    Raises:
        InputError: the trace cannot be read; the message names file and line.
    """
    # An underscore keeps words of Python apart.
    named = {key.removesuffix("_"): value for key, value in options.items()}
    info: Mapping[str, Any] = json.loads(_core.trace_info(os.fspath(path), named))
    return Record(info)
