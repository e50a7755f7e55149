"""Read disturb in words: what was reclaimed, what it cost, and what to try."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.results.result_view import look

NOTABLE = 0.01
"""Share of flash time from which on reclaim is worth a remark."""
MANAGERS = ("baseline", "rrb", "redftl", "redftl-plus")


def line(result: dict[str, Any]) -> str | None:
    """``baseline: 412 blocks reclaimed on demand, the first after 3.2 M reads, 3.1 % of flash time; ...``.

    None where reads disturb nothing.
    """
    facts = look(result, "reclaim")
    if not facts:
        return None
    stands = f"a block stands {units.count(facts['max_reads'])} reads"
    if policy(result) == "none":
        beyond = facts["reads_beyond_max"]
        said = f"{units.count(beyond)} reads of blocks beyond that" if beyond else "none was read beyond that"
        return f"nothing is reclaimed: {stands}, {said}"
    kinds = [
        f"{units.count(facts[key])} {words}"
        for key, words in (("on_demand", "on demand"), ("background", "in the background"))
        if facts[key]
    ]
    most = f"the most disturbed one reached {units.percent1(facts['largest_disturbance_share'])} of that"
    if not kinds:
        return f"{policy(result)}: no block reclaimed ({stands}; {most})"
    first = f", the first after {units.count(facts['first_after_reads'])} reads" if facts["first_after_reads"] else ""
    parts = [f"blocks reclaimed: {' and '.join(kinds)}{first}"]
    if facts["replicas"]["made"]:
        parts.append(f"{units.count(facts['replicas']['made'])} replicas made")
    parts.append(f"{units.share(time_share(result))} of flash time")
    return f"{policy(result)}: {', '.join(parts)} ({stands})"


def remark(result: dict[str, Any]) -> str | None:
    """What to try where reclaim takes a notable share of flash time."""
    facts = look(result, "reclaim")
    if not facts or policy(result) == "none" or time_share(result) < NOTABLE:
        return None
    kinds = len(facts["reads_by_page_type"])
    others = [name for name in MANAGERS if kinds > 1 or name != "redftl-plus"]
    return (
        f"read reclaim takes {units.share(time_share(result))} of flash time; "
        f"floatgate compare with --vary ftl.reclaim.policy={','.join(others)} shows which manager needs least"
    )


def policy(result: dict[str, Any]) -> str:
    """The manager's name."""
    return str(look(result, "config", "ftl", "reclaim", "policy") or "reclaim")


def time_share(result: dict[str, Any]) -> float:
    """Share of the nominal flash time that reclaims and replicas take."""
    times = look(result, "flash", "time_s") or {}
    total = times.get("total") or 0.0
    return (times.get("reclaim", 0.0) + times.get("replica", 0.0)) / total if total else 0.0


HEADER = ["reclaimed", "reclaim time"]
"""What a comparison says of reads that disturb: blocks reclaimed, share of flash time of reclaims and replicas."""


def cells(result: dict[str, Any]) -> list[str]:
    """The cells under :data:`HEADER`."""
    facts = look(result, "reclaim")
    if not facts:
        return ["-", "-"]
    return [units.count(facts["on_demand"] + facts["background"]), units.percent1(time_share(result))]
