"""Drives of the catalogue as they are sold: some are modelled with a share of their blocks, as the map has a limit."""

from __future__ import annotations

from typing import Any

from floatgate.results.drive_array import entries_of_catalogue

AS_SOLD = 0.01
"""A drive that shows its capacity as sold but for this share of it has all its blocks."""


def entry_of(name: str | None) -> dict[str, Any] | None:
    """Return a drive of the catalogue as ``floatgate drives --json`` lists it; None for no or an unknown name."""
    return None if name is None else next((entry for entry in entries_of_catalogue() if entry["name"] == name), None)


def modelled_share(entry: dict[str, Any]) -> float:
    """Return the share of a drive as sold that its entry of the catalogue models: ``0.5`` of one with half the blocks.

    1 for a drive with all its blocks, and for one that is not sold.
    """
    sold = (entry["rated"] or {}).get("user_bytes")
    share = 1.0 if sold is None else float(entry["logical_bytes"] / sold)
    return share if share < 1.0 - AS_SOLD else 1.0


def flash_and_capacity(name: str) -> tuple[int, int | None]:
    """Return flash and capacity of a drive as sold: 0 for an unknown drive, no capacity for one that is not sold."""
    entry = entry_of(name)
    if entry is None:
        return 0, None
    return round(entry["physical_bytes"] / modelled_share(entry)), (entry["rated"] or {}).get("user_bytes")
