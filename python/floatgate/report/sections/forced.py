"""Host writes that waited for whole blocks under incremental collection (``gc.forced``): too little spare space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look


def forced(result: Mapping[str, Any]) -> int | None:
    """Return how often host writes waited for whole blocks; None where collection takes whole blocks in any case."""
    if look(result, "config", "ftl", "collect", "mode") != "incremental":
        return None
    times = look(result, "gc", "forced")
    return None if times is None else int(times)


def remarks(result: dict[str, Any]) -> list[str]:
    """Note such waits, and what avoids them."""
    times = forced(result)
    if not times:
        return []
    waited = f"host writes waited {units.count(times)} times until whole blocks were collected (gc.forced)"
    why = "the spare space is too small for incremental collection beside the open blocks of the separator"
    return [f"{waited}: {why} (more ftl.spare_factor, or a separator with fewer streams)"]


SECTION = section.Section("forced", remarks=remarks)
"""Remarks on host writes that waited for whole blocks."""
