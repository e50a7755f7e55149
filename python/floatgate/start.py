"""The state in which a drive began to count, where ``precondition = "auto"`` brought it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate import units
from floatgate.record import look

Facts = Mapping[str, Any]


def line(result: Facts | None) -> str | None:
    """``filled at greedy's steady state, then worn in by 12 passes (0.9 drive writes): stationary``; None otherwise."""
    facts = look(result, "precondition")
    if not facts:
        return None
    policy = look(result, "config", "ftl", "collect", "policy") or "the victim policy"
    steady = facts.get("became") == "steady"
    said = f"filled at the steady state of {policy} under uniform writes" if steady else "filled and overwritten at random"
    if facts.get("why") and not steady:
        said += f" ({facts['why']}: {policy})"
    return f"auto: {said}; {_laps(facts)}"


def _laps(facts: Facts) -> str:
    passes = facts.get("wear_in_passes") or 0
    if not passes:
        return f"no laps of the trace: {facts.get('ended')}"
    times = "1 pass" if passes == 1 else f"{units.count(passes)} passes"
    said = f"worn in by {times} over the trace ({units.figure(facts['wear_in_drive_writes'], 2)} drive writes)"
    if facts.get("stationary"):
        return f"{said} until stationary"
    error = facts.get("error")
    moves = "too few laps to tell" if error is None else f"WAF may still move by {units.share(error)}"
    return f"{said}, not stationary yet: {moves} (ftl.wear_in_max allows more)"
