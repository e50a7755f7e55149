"""The state in which a drive began to count, where ``precondition = "auto"`` brought it there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look

Facts = Mapping[str, Any]

_VAGUE = 0.5
"""A larger distance is shown without its value."""
_READS = 1.5
"""Requests per page write from which on the limit of requests ends laps, long before that of writes (wear_in.rs)."""


def line(result: Facts | None) -> str | None:
    """Format as ``auto: filled to the state ...; worn in by 12 passes over the trace``, or None."""
    facts = look(result, "precondition")
    if not facts:
        return None
    policy = look(result, "config", "ftl", "collect", "policy") or "the victim policy"
    steady = facts.get("became") == "steady"
    text = (
        f"filled to the state that {policy} collection reaches under uniform writes"
        if steady
        else "filled and overwritten at random"
    )
    if facts.get("why") and not steady:
        text += f" ({facts['why']}: {policy})"
    return f"auto: {text}; {_laps(facts)}"


def _laps(facts: Facts) -> str:
    passes = facts.get("wear_in_passes") or 0
    if not passes:
        return f"no laps of the trace: {facts.get('ended')}"
    times = "1 pass" if passes == 1 else f"{units.count(passes)} passes"
    text = f"worn in by {times} over the trace ({units.figure(facts['wear_in_drive_writes'], 2)} drive writes)"
    waf = facts.get("wear_in_waf") or []
    if len(waf) > 1:
        # The first laps fill the drive: beside "stationary" they would read as a contradiction.
        text += f", WAF {units.figure(waf[-2])} and {units.figure(waf[-1])} in the last two laps"
    if facts.get("stationary"):
        return f"{text}: stationary"
    error = facts.get("error")
    verdict = "too few laps to tell whether WAF is stationary" if error is None else "not stationary yet"
    if error is not None and error <= _VAGUE:
        verdict += f", WAF may still change by {units.share(error)}"
    if (facts.get("wear_in_requests") or 0) > _READS * (facts.get("wear_in_page_writes") or math.inf):
        verdict += "; most requests read, and the limit of requests ended the laps"
    return f"{text}: {verdict} (ftl.wear_in_max allows more laps)"


SECTION = section.Section("precondition", lines=lambda _, result: [("state", line(result))])
