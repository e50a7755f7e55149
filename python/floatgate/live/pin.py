"""The Ready/Busy pin of a die of a live drive, and what a measurement of it says."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base.errors import InputError
from floatgate.lab import rb
from floatgate.live.history import Sample

if TYPE_CHECKING:
    from floatgate.live.drive import LiveDrive

_NS = 1e9


def measured(drive: LiveDrive, die: int, samples: Sequence[Sample]) -> dict[str, Any]:
    """Capture the pin between the first of some looks and the last, and measure it as ``floatgate rb measure`` does.

    Args:
        drive: the drive, in timed mode and with pins.
        die: number of the die.
        samples: looks, of which those from the first on count whose low phases are kept.

    Returns:
        ``wa``, ``wa_low`` and ``wa_high`` (None where they are withheld), ``withheld``, ``counted`` (flash bytes per
        host byte that the drive itself counted in this time), ``span_s`` and ``warnings``; or ``error``.
    """
    for first in range(len(samples) - 1):
        from_s, until_s = samples[first]["time_s"], samples[-1]["time_s"]
        if until_s <= from_s:
            break
        captured = _captured(drive, die, (from_s, until_s), samples[first], samples[-1])
        if captured is not None:
            return captured
    return {"error": "nothing to measure: the drive has done no work yet"}


def _captured(
    drive: LiveDrive, die: int, span: tuple[float, float], before: Sample, after: Sample
) -> dict[str, Any] | None:
    """Measure between two looks; None if low phases of that time are no longer kept."""
    host_bytes = after["write_bytes"] - before["write_bytes"]
    flash_bytes = after["flash_bytes"] - before["flash_bytes"]
    if host_bytes <= 0:
        return {"error": "nothing to measure: the host has written nothing in this time"}
    with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
        path = Path(folder) / "pin.vcd"
        shape = drive.capture(die, (round(span[0] * _NS), round(span[1] * _NS)), path)
        if shape is None:
            return None
        try:
            facts = rb.measure([path], rb.Shape(**shape), host=rb.Host(round(host_bytes)))
        except InputError as error:
            return {"error": error.message}
    return _shown(facts) | {"counted": flash_bytes / host_bytes, "span_s": span[1] - span[0], "die": die}


def _shown(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: facts[key] for key in ("wa", "wa_low", "wa_high", "withheld", "warnings")}
