"""The capture of Ready/Busy pins that a timed run has written (``docs/rb-explorer.md``)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section


def line(result: Mapping[str, Any]) -> str | None:
    """Format as ``a.vcd: 1204 low phases of die 0 in 2.0 s``."""
    table = result.get("waveform")
    if table is None:
        return None
    pins = "all dies" if table["die"] is None else f"die {table['die']}"
    span = units.span(table["until_s"] - table["from_s"])
    return f"{table['file']}: {table['low_phases']} low phases of {pins} in {span}"


def command(result: Mapping[str, Any]) -> str | None:
    """Return the command that measures the capture."""
    table = result.get("waveform")
    if table is None:
        return None
    options = " ".join(f"--{key.replace('_', '-')} {value}" for key, value in table["shape"].items())
    return f"floatgate rb measure {shlex.quote(table['file'])} {options} --host-bytes {table['host_bytes']}"


SECTION = section.Section("waveform", lines=lambda _, result: [("waveform", line(result)), ("", command(result))])
