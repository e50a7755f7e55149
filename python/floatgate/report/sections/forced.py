"""Host writes that waited for whole blocks under incremental collection (``gc.forced``): too little spare space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look

KEY = "gc.forced"
_WHY = "the spare space is too small for incremental collection beside the open blocks of the separator"
_REMEDY = "(more ftl.spare_factor, or a separator with fewer streams)"


def forced(result: Mapping[str, Any]) -> int | None:
    """Return how often host writes waited for whole blocks; None where collection takes whole blocks in any case."""
    times = _times(result)
    return None if times is None else int(times)


def _times(result: Mapping[str, Any]) -> float | None:
    """Return the same; of several seeds it may be a fraction, their mean."""
    if look(result, "config", "ftl", "collect", "mode") != "incremental":
        return None
    times: float | None = look(result, *KEY.split("."))
    return times


def remarks(result: dict[str, Any]) -> list[str]:
    """Note such waits, and what avoids them."""
    times = forced(result)
    if not times:
        return []
    waited = f"host writes waited {units.count(times)} times until whole blocks were collected (gc.forced)"
    return [f"{waited}: {_WHY} {_REMEDY}"]


def notes(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Name the settings with such waits: beside them the others look better than their policies make them.

    Args:
        results: by the labels of the settings.
    """
    waited = {label: math.ceil(times) for label, result in results.items() if (times := _times(result))}
    if not waited:
        return []
    if len(waited) > section.LISTED_MAX:
        which = f"{section.which(list(waited), len(results), 0)}, up to {units.count(max(waited.values()))} times"
    else:
        which = ", ".join(f"{units.counted(times, 'time')} under {label}" for label, times in waited.items())
    fact = f"Host writes waited until whole blocks were collected (gc.forced: {which})"
    return [f"{fact}, which their latencies and rates include: {_WHY} {_REMEDY}."]


SECTION = section.Section("forced", remarks=remarks, notes=notes)
"""Remarks on host writes that waited for whole blocks."""
