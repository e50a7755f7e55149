"""The drive of a run: its size and spare room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results import drive_array
from floatgate.results.drive_array import DriveArray
from floatgate.results.result_view import look

LOGICAL_BYTES, PAGE_BYTES = "drive.logical_bytes", "drive.page_bytes"
"""Columns of flat tables with the bytes that the host sees, and those of a page."""


def name(result: Mapping[str, Any]) -> str | None:
    """Return the name of the drive."""
    value: str | None = look(result, "drive", "name")
    return value


def physical_bytes(result: Mapping[str, Any] | None) -> int | None:
    """Return the bytes of its flash."""
    value: int | None = look(result, "drive", "physical_bytes")
    return value


def spare_factor(result: Mapping[str, Any] | None) -> float | None:
    """Return the spare flash, as a share of all."""
    value: float | None = look(result, "drive", "spare_factor")
    return value


def line(result: dict[str, Any]) -> str | None:
    """Format as ``mlc-20nm: 128 GiB flash, 119 GiB visible, 7.0 % spare (6.8 % not counting free and open blocks)``.

    In timed mode the array follows, as ``; 8 channels x 1 die, 1 plane each``.
    """
    facts = look(result, "drive")
    if not facts:
        return None
    parts = []
    if facts.get("physical_bytes") is not None:
        parts.append(f"{units.binary_bytes(facts['physical_bytes'])} flash")
    if facts.get("logical_bytes") is not None:
        parts.append(f"{units.binary_bytes(facts['logical_bytes'])} visible")
    if facts.get("spare_factor") is not None:
        effective = facts.get("effective_spare_factor")
        more = "" if effective is None else f" ({units.percent1(effective)} not counting free and open blocks)"
        parts.append(f"{units.percent1(facts['spare_factor'])} spare{more}")
    name, flash = facts.get("name"), _timed_array(result)
    text = ", ".join(parts) + (f"; {flash.words()}" if flash else "")
    return f"{name}: {text}" if name else text


def _timed_array(result: Mapping[str, Any]) -> DriveArray | None:
    """Return what works at the same time, of a run with time."""
    geometry = look(result, "config", "drive", "geometry")
    return DriveArray.of(geometry) if geometry and look(result, "mode") == "timed" else None


def collection(result: Mapping[str, Any]) -> str | None:
    """Format as ``whole-block (from drive mlc-20nm), victims greedy, until 8 blocks per plane are free``.

    Latencies depend on the mode more than on most settings, and a drive of the catalogue may bring its own. None where
    the run has no time.
    """
    levels = look(result, "config", "ftl", "collect") or {}
    mode, preset = levels.get("mode"), look(result, "config", "drive", "preset")
    if mode is None or look(result, "mode") != "timed":
        return None
    own = look(drive_array.settings_of(preset), "ftl", "collect", "mode")
    parts = [f"{mode} (from drive {preset})" if own == mode else str(mode), f"victims {levels.get('policy')}"]
    stop = levels.get("stop_free_blocks")
    if mode == "whole-block" and stop is not None:
        name, per = ("superblock", "") if levels.get("scope") == "superblock" else ("block", " per plane")
        parts.append(f"until {stop} {name}{'' if stop == 1 else 's'}{per} {'is' if stop == 1 else 'are'} free")
    return ", ".join(parts)


def _fewer_dies(result: Mapping[str, Any]) -> str | None:
    """Note that a timed drive has fewer dies than its drive of the catalogue."""
    preset, flash = look(result, "config", "drive", "preset"), _timed_array(result)
    whole = drive_array.of_drive(preset) if flash else None
    if whole is None or flash is None or flash.dies >= whole.dies:
        return None
    return (
        f"{flash.dies} of {whole.dies} dies of {preset}: it does fewer operations at a time; latencies and throughput "
        "are those of the smaller drive"
    )


def visible_bytes(result: Mapping[str, Any] | None) -> int | None:
    """Return the bytes that the drive shows to the host; None where they are not known."""
    size: int | None = look(result, "drive", "logical_bytes")
    return size


def remarks(result: dict[str, Any]) -> list[str]:
    """Note that the drive was not full, and that it has fewer dies than its model."""
    fewer = _fewer_dies(result)
    phrases = [fewer] if fewer else []
    if (look(result, "drive") or {}).get("effective_spare_factor", 0) is None:
        phrases.append("the drive was not full: garbage collection had more free space than on a used drive")
    return phrases


SECTION = section.Section(
    "drive",
    lines=lambda _, result: [("drive", line(result)), ("collection", collection(result))],
    remarks=remarks,
)
