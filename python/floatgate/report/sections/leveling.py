"""Wear-leveling in words: what it did, and what it cost."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look


def line(result: dict[str, Any]) -> str | None:
    """Format as ``swl: 12 rounds, 3,412 blocks moved (210 k pages), 1.3 % of flash time``.

    None where no wear-leveler is set.
    """
    facts, policy = look(result, "level"), look(result, "config", "ftl", "level", "policy")
    if not facts or policy in (None, "none"):
        return None
    parts = (
        [f"{units.count(facts['rounds'])} {'round' if facts['rounds'] == 1 else 'rounds'}"] if facts["rounds"] else []
    )
    if facts["moved_pages"]:
        blocks = f"{units.count(facts['triggered'])} {'block' if facts['triggered'] == 1 else 'blocks'} moved"
        parts.append(f"{blocks} ({units.count(facts['moved_pages'])} pages)")
    if facts["pairs"]:
        parts.append(f"{units.count(facts['pairs'])} of them paired by reads")
    if facts.get("alike"):
        parts.append(f"{units.count(facts['alike'])} split with no partner read otherwise")
    if facts["unpaired"]:
        parts.append(f"{units.count(facts['unpaired'])} destinations closed unpaired")
    if facts["passed_over"]:
        parts.append(f"{units.count(facts['passed_over'])} victims passed over")
    if not parts:
        return f"{policy}: nothing moved"
    return f"{policy}: {', '.join(parts)}, {units.share(time_share(result))} of flash time"


def time_share(result: dict[str, Any]) -> float:
    """Share of the nominal flash time that moves for the sake of wear take."""
    times = look(result, "flash", "time_s") or {}
    total = times.get("total") or 0.0
    return times.get("level", 0.0) / total if total else 0.0


SECTION = section.Section("leveling", lines=lambda _, result: [("leveling", line(result))])
