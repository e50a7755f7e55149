"""The drive of a run: its size and spare room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look


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
    """Format as ``mlc-20nm: 128 GiB flash, 119 GiB visible, 7.0 % spare (6.8 % not counting free and open blocks)``."""
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
    name = facts.get("name")
    return f"{name}: {', '.join(parts)}" if name else ", ".join(parts)


def remarks(result: dict[str, Any]) -> list[str]:
    """Note that the drive was not full."""
    if (look(result, "drive") or {}).get("effective_spare_factor", 0) is None:
        return ["the drive was not full: garbage collection had more free space than on a used drive"]
    return []


SECTION = section.Section("drive", lines=lambda _, result: [("drive", line(result))], remarks=remarks)
