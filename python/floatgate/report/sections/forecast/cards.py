"""The cards of a forecast life: the headlines of its page."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import rating, section
from floatgate.report.sections.amplification import amplification
from floatgate.report.sections.forecast import host_writes, latency, load
from floatgate.report.sections.forecast.life_range import uneven
from floatgate.report.sections.forecast.lines import at_full_demand, part_served, under
from floatgate.results.result_view import look


def cards(result: dict[str, Any]) -> list[section.Card]:
    """Return life, rating, share that is served, latencies, achievable cycles, WAF: name, figure, basis."""
    facts = look(result, "lifetime") or {}
    overloaded = load.overloaded(result)
    made = _lives(result, facts)
    if overloaded:
        made = [("life", "not known", f"{at_full_demand(result)} {load.IF_SO}")]
    made += [(*card[:2], f"{card[2]}, {load.IF_SO}") if overloaded else card for card in rating.cards(result)]
    made += host_writes.cards(result)
    if (part := part_served(result)) is not None and not overloaded:
        made.append(("served", part, "of the host's demand in the target time"))
    if (load_text := load.card(result)) is not None:
        made.insert(0, ("load", "too high", load_text.partition(", unthrottled")[0]))
    for kind in ("read", "write"):
        p99 = look(result, "latency_us", kind, "p99")
        if p99 is not None:
            made.append((f"p99 of {kind}s", units.span(p99 * 1e-6), latency.where(result)))
    held, rare = look(result, "throttle", "delay_us", "p99"), latency.rare(result)
    if rare is not None:
        made.append(("page writes delayed", units.share(rare.share), rare.by))
    elif held is not None:
        made.append(("p99 of delays", units.span(held * 1e-6), "by which the throttle holds page writes back"))
    if facts.get("pe_cycles_achievable") is not None:
        rest = facts.get("mean_idle_h")
        text = "" if rest is None else f"at {units.span(rest * 3600)} of rest"
        made.append(("cycles per block", f"{facts['pe_cycles_achievable']:.0f}", text))
    waf, _ = amplification(result)
    if waf is not None:
        made.append(("WAF", f"{waf:.2f}", "flash bytes per host byte"))
    return made


def _lives(result: dict[str, Any], facts: dict[str, Any]) -> list[section.Card]:
    """Return the life of the first block if wear is uneven, and that of the average one."""
    target, holds = facts.get("target_years"), facts.get("holds")
    below = under(result)
    if target is not None and holds is not None:
        below += f"; the target of {units.target_years(target)} is {'met' if holds else 'missed'}"
    first, average = uneven(result), units.life(facts.get("years"), target)
    if first is not None:
        return [
            ("life of the first block", units.life(first, target), "it wears out long before the average one"),
            ("life of the average block", average, below),
        ]
    return [("life" if rating.years(result) is None else "life of the flash", average, below)]
