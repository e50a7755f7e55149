"""What a forecast rests on: how long the workload is, how often it is repeated, how far the drive was worn in."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.pages.parts import Grid, Part, Rows, Section, Text
from floatgate.report.sections import section
from floatgate.report.sections.forecast import entry, life_range, lines, load
from floatgate.results.result_view import look

Facts = dict[str, Any]

_LIKE_A_WEEK_S = 7 * 86_400.0
_PARTS = (("busiest", "busiest"), ("typical", "typical"))
_QUANTILES = (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"), ("max", "max"))


def parts(result: Facts) -> list[Part]:
    """Return the basis of the forecast, the spread of wear, and latencies with the load at which they were measured."""
    return [*_basis(result), *_wear(result), *_latencies(result)]


def plainly(result: Facts) -> str | None:
    """Note that minutes of a trace represent years, or what a longer one lacks; None if that is not known."""
    span, target = entry.trace_span_s(result), look(result, "lifetime", "target_years")
    kind = look(result, "workload", "kind")
    years = "the life" if target is None else units.target_years(target)
    if kind != "trace" and look(result, "config", "workload", "twin") is not None:
        return f"A twin stands for {years}: it is generated from figures of a recorded host, and is not the record."
    if kind != "trace":
        return f"A generator stands for {years}: the forecast is as good as its settings, and no host was recorded."
    if span is None:
        return None
    short = lines.basis(result)
    if short is not None:
        return f"{short}."
    text = f"{units.span(span)} of trace stand for {years}"
    if span < _LIKE_A_WEEK_S:
        return f"{text}: not all weekdays are in them. Record a week."
    return f"{text}: a load that grows over the years is not in them."


def _basis(result: Facts) -> list[Part]:
    method = look(result, "method") or {}
    one = look(result, "pass") or {}
    # The laps are those of the model.
    visible = (look(result, "drive", "logical_bytes") or 0) * entry.modelled_share(result)
    rows = [("workload", _pass(result))]
    if method.get("waf_given"):
        rows.append(("drive writes", "none: write amplification is given, and no drive was worn in"))
    elif method.get("laps") and method.get("passes") and one.get("page_writes") and visible:
        written = method["passes"] * one["page_writes"] * (look(result, "drive", "mapping_bytes") or 4096) / visible
        passes = "1 pass" if method["passes"] == 1 else f"{method['passes']} passes"
        laps = units.counted(method["laps"], "lap")
        rows.append(("drive writes", f"{units.figure(written)} of the visible capacity ({laps}, {passes} in all)"))
    rows.append(("WAF", lines.waf(result)))
    rows.append(("interval", lines.interval(result) or lines.no_interval(result)))
    rows.append(("method", lines.method(result)))
    verdict = plainly(result)
    shown = [(name, text) for name, text in rows if text]
    return [Section("What this rests on", [*([] if verdict is None else [Text(verdict, strong=True)]), Rows(shown)])]


def _pass(result: Facts) -> str | None:
    span, passes = look(result, "pass", "span_s"), look(result, "pass", "passes")
    if span is None:
        return None
    text = f"a pass of {units.span(span)}"
    return text if not passes else f"{text}, repeated {units.count(passes)} times"


def _wear(result: Facts) -> list[Part]:
    """Show when the first block and the average one are worn out, with their intervals."""
    facts = look(result, "lifetime") or {}
    first, average = facts.get("years_first_block"), facts.get("years")
    target = facts.get("target_years")
    if average is None:
        return []
    rows = [("average block", _life(average, facts.get("years_range"), target))]
    if first is None:
        assumed = look(result, "method", "waf_given")
        why = (
            "write amplification is given, and no drive was worn in" if assumed else "the forecast has no figure of it"
        )
        rows.insert(0, ("first block", f"not known: {why}"))
    else:
        rows.insert(0, ("first block", _life(first, facts.get("years_first_block_range"), target)))
        ratio = average / first if first else None
        if ratio is not None:
            times = f"{units.figure(ratio)} times the erases of the mean block when it wears out"
            rows.append(("most erased block", times))
    spare = facts.get("years_spare_blocks")
    if spare is not None:
        rows.insert(1, ("spare blocks", _life(spare, facts.get("years_spare_blocks_range"), target, "used up")))
    leveler = look(result, "config", "ftl", "level", "policy")
    if leveler is not None:
        rows.append(("wear-leveling", "none" if leveler == "none" else f"{leveler}{_at_work(result)}"))
    beyond = [Text(f"Under the full demand of the host: {load.BEYOND}.")] if load.overloaded(result) else []
    return [Section("Spread of wear", [*beyond, Rows(rows)])]


def _at_work(result: Facts) -> str:
    """Show how far blocks get ahead near the end of life, and what is moved; empty if that is not known."""
    seen = look(result, "method", "leveling")
    if not seen:
        return ""
    ahead = f"{units.figure(seen['lead_first_block'])} erases ahead of the mean"
    moved = f"{units.share(seen['moved'])} of what is programmed is moved for wear"
    return f": near the end of life the most erased block is {ahead}, and {moved}"


def _life(years: float, ends: list[float | None] | None, target: float | None, how: str = "worn out") -> str:
    text = f"{how} after {units.life(years, target)}"
    if ends is None or ends[0] is None:
        return f"{text}; interval not known"
    known = life_range.between(units.life(ends[0], target), units.life(ends[1], target))
    return text if known == units.life(years, target) else f"{text} ({known} in 19 of 20 cases)"


def _latencies(result: Facts) -> list[Part]:
    """Show how long requests take in the busiest part and in a typical one."""
    unknown = look(result, "close_up", "unknown")
    if unknown is not None:
        return [Section("Latencies", [Text(f"Not known: {unknown}.")])]
    header = ["part", "requests", *(name for _, name in _QUANTILES)]
    cells, loads = [], []
    for part, name in _PARTS:
        facts = look(result, "close_up", part)
        if facts is None:
            continue
        span = units.span(facts["span_s"])
        loads.append((f"{name} {span}", _load(facts)))
        # Those of the busiest part are the headline of the forecast.
        latencies = look(result, "latency_us") if part == "busiest" else facts.get("latency_us")
        for kind in ("read", "write"):
            times = look(latencies, kind)
            if times is not None:
                row = [section.span_us(times.get(key)) for key, _ in _QUANTILES]
                cells.append([f"{name} {span}", f"{kind}s", *row])
    if not cells:
        return []
    held = look(result, "throttle", "delay_us") is not None
    note = [Text("Without the delays of the throttle, which are drawn above.", soft=True)] if held else []
    return [Section("Latencies", [Grid(header, cells, texts=2), Rows(loads), *note])]


def _load(facts: Facts) -> str:
    offered, possible = facts.get("offered_bytes_per_s"), facts.get("possible_bytes_per_s")
    text = f"{units.counted(facts['requests'], 'request')}" if facts.get("requests") is not None else "load"
    text += "" if offered is None else f", {units.decimal_bytes(offered)}/s requested"
    if possible is not None:
        text += f", {units.decimal_bytes(possible)}/s possible"
    return text + (": more than the drive can do" if facts.get("overloaded") else "")
