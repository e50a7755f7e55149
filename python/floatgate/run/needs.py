"""Whether memory is enough for a drive: one that does not fit is refused before any work."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.base.errors import RunError
from floatgate.base.memory import free_bytes

TABLE_BYTES = 8.5
"""Memory per unit of the map at most: an entry in each direction, and two bits."""
WAF_SETTINGS = frozenset({"lifetime.forecast.waf", "lifetime.forecast.waf_of_bytes"})
"""Settings of write amplification: with one of them no drive is simulated."""
_SMALL_BYTES = 256 << 20
"""Tables that any machine has room for."""
_ROOM = 0.8
"""The suggested capacity, as a share of the largest that would fit."""


def stripe_bytes(resolved: str) -> int:
    """Return the bytes of one block on each plane of a resolved experiment."""
    return _stripe_bytes(tomllib.loads(resolved)["drive"]["geometry"])


def _stripe_bytes(geometry: Mapping[str, Any]) -> int:
    size = 1
    for name in ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "pages_per_block", "page_bytes"):
        size *= int(geometry[name])
    return size


def flash_bytes(settings: Mapping[str, Any]) -> int:
    """Return the bytes of flash of a resolved experiment."""
    geometry = settings["drive"]["geometry"]
    return _stripe_bytes(geometry) * int(geometry["blocks_per_plane"])


def units_of_map(settings: Mapping[str, Any]) -> int:
    """Return the physical units of the map of a resolved experiment."""
    unit = settings.get("ftl", {}).get("mapping_bytes") or settings["drive"]["geometry"]["page_bytes"]
    return flash_bytes(settings) // int(unit)


def table_bytes(resolved: str) -> tuple[int, int]:
    """Return the least and the most memory that the tables of a drive take.

    Data that a trace never writes take none under ``precondition = "auto"``; spare blocks always do. Where write
    amplification is set, no drive is simulated.
    """
    settings = tomllib.loads(resolved)
    ftl, forecast = settings.get("ftl", {}), settings.get("lifetime", {}).get("forecast", {})
    if not WAF_SETTINGS.isdisjoint(f"lifetime.forecast.{key}" for key in forecast):
        return 0, 0
    most = int(units_of_map(settings) * TABLE_BYTES)
    at_rest = ftl.get("precondition") == "auto" and "file" in settings.get("workload", {})
    return (int(most * float(ftl.get("spare_factor", 1.0))) if at_rest else most), most


def must_fit(resolved: str) -> None:
    """Refuse a drive whose tables take more memory than is free.

    Args:
        resolved: the resolved experiment.

    Raises:
        RunError: with the capacity that would fit.
    """
    least, _ = table_bytes(resolved)
    if least <= _SMALL_BYTES or least <= (free := free_bytes()):
        return
    size = flash_bytes(tomllib.loads(resolved))
    gib = max(1, int(_ROOM * size * free / least) >> 30)
    raise RunError(
        f"drive.capacity: {units.binary_bytes(size)} of flash need {units.binary_bytes(least)} of memory, and "
        f"{units.binary_bytes(free)} are free; expected --capacity {gib}GiB or less, or a larger ftl.mapping_bytes"
    )
