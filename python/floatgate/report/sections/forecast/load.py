"""Whether the drive keeps up with the host's requests, and the consequence for the life."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections.forecast import latency
from floatgate.results.result_view import look

Facts = Mapping[str, Any]

BEYOND = "the host requests more than this drive can do"
"""Why the life of an overloaded drive is not known."""
IF_SO = "if the drive could write that fast"
"""Condition of figures that count the writes of the host at its full rate."""


def overloaded(result: Facts | None) -> bool:
    """Return whether the host requests more than the drive can do, and not in its busiest part alone.

    A throttle lowers the demand to the share that it serves. A drive that still cannot keep up is overloaded.
    """
    part = "busiest" if look(result, "close_up", "typical") is None else "typical"
    facts = look(result, "close_up", part) or {}
    if not facts.get("overloaded"):
        return False
    offered, possible = facts.get("offered_bytes_per_s"), facts.get("possible_bytes_per_s")
    share = look(result, "throttle", "demand_share")
    return None in (offered, possible, share) or share * offered > possible


def line(result: Facts) -> str | None:
    """Format as ``more than this drive can do: 31.9 MB/s requested, 8.45 MB/s possible, ...``; None if it keeps up."""
    return f"more than this drive can do: {_rates(result)}" if overloaded(result) else None


def card(result: Facts) -> str | None:
    """Return the rates alone; None where the drive keeps up."""
    return _rates(result) if overloaded(result) else None


def remark(result: Facts) -> str | None:
    """Note that the busiest part is more than the drive can do, where the life stands all the same."""
    if not look(result, "close_up", "busiest", "overloaded") or overloaded(result):
        return None
    text = f"more than this drive can do: {_rates(result)}"
    if look(result, "close_up", "typical", "overloaded") is False:
        return f"{text}; requests queue until the drive catches up"
    return f"{text}; what the throttle lets through is less"


def _rates(result: Facts) -> str:
    """Format as ``31.9 MB/s requested, 8.45 MB/s possible, in its busiest 64 s; also in a typical 64 s``."""
    busiest, typical = (look(result, "close_up", part) or {} for part in ("busiest", "typical"))
    offered, possible = (_rate(busiest[f"{which}_bytes_per_s"]) for which in ("offered", "possible"))
    text = f"{offered} requested, {possible} possible, {latency.where(result)}"
    if not typical:
        return text
    return f"{text}; {'also' if typical.get('overloaded') else 'but not'} in a typical {units.span(typical['span_s'])}"


def _rate(bytes_per_s: float) -> str:
    return f"{units.decimal_bytes(bytes_per_s)}/s"
