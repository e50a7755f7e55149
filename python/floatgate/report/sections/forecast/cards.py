"""The cards of a forecast life: the headlines of its page."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import rating, section
from floatgate.report.sections.amplification import amplification, split
from floatgate.report.sections.forecast import ends, entry, host_writes, latency, load
from floatgate.report.sections.forecast.life_range import BELOW, uneven
from floatgate.report.sections.forecast.lines import at_full_demand, part_served, under
from floatgate.report.sections.lifetime_headline import tbw_text
from floatgate.results.result_view import look


def cards(result: dict[str, Any]) -> list[section.Card]:
    """Return life, rating, share that is served, latencies, achievable cycles, WAF: name, figure, basis."""
    facts = look(result, "lifetime") or {}
    overloaded = load.overloaded(result)
    made = _lives(result, facts)
    if overloaded:
        made = [("life", "not known", f"{at_full_demand(result)} {load.IF_SO}")]
    made += _rating(result, overloaded=overloaded)
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
        parts = split(result)
        made.append(("WAF", f"{waf:.2f}", "flash bytes per host byte" + ("" if parts is None else f": {parts}")))
    return made


def _lives(result: dict[str, Any], facts: dict[str, Any]) -> list[section.Card]:
    """Return when the rated bytes are written if that ends the life, then the lives of first and average block."""
    target, holds = facts.get("target_years"), facts.get("holds")
    below = under(result)
    ends_by, after = entry.earliest(result)
    if ends_by == "rating":
        verdict = ends.verdict(result)
        text = f"until the rated bytes are written ({tbw_text(rating.tbw_bytes(result) or 0.0)})"
        life = [("life", units.life(after, target), text if verdict is None else f"{text}; {verdict}")]
        return [*life, *_of_flash(result, facts, below)]
    if target is not None and holds is not None:
        met = BELOW if ends.interval_below(result) is not None else "met"
        below += f"; the target of {units.target_years(target)} is {met if holds else 'missed'}"
    return _of_flash(result, facts, below)


def _rating(result: dict[str, Any], *, overloaded: bool) -> list[section.Card]:
    """Return when the rating is used up, unless that is the life itself."""
    if overloaded:
        return [(*card[:2], f"{card[2]}, {load.IF_SO}") for card in rating.cards(result)]
    return [] if entry.earliest(result)[0] == "rating" else rating.cards(result)


def _of_flash(result: dict[str, Any], facts: dict[str, Any], below: str) -> list[section.Card]:
    target = facts.get("target_years")
    first, average = uneven(result), units.life(facts.get("years"), target)
    if first is not None:
        return [
            ("life of the first block", units.life(first, target), "it wears out long before the average one"),
            ("life of the average block", average, below),
        ]
    return [("life" if rating.years(result) is None else "life of the flash", average, below)]
