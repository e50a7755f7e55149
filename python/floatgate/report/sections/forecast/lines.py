"""The lines of the summary of a forecast life, and its notes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report import trace_format
from floatgate.report.sections import erase_modes, growing, reduce
from floatgate.report.sections.amplification import amplification, differs
from floatgate.report.sections.forecast import (
    ends,
    entry,
    latency,
    life_range,
    load,
    modelled,
    workload_notes,
    written_part,
)
from floatgate.report.sections.forecast.life_range import uneven
from floatgate.results.result_view import look

Facts = dict[str, Any]

UNTHROTTLED = "none"

SHORT_S = 60.0
"""A shorter trace is no basis for years."""
_LIKE_A_DAY_S = 86_400.0
NOT_ALL_SERVED = 0.9995
"""Below this share of the demand, the served part does not round to 100 %."""

_IN_PARTS = 1.01
"""Ratio of whole pages to bytes of the host from which on the host writes parts of pages."""
_AT_REST_MIN = 0.02
"""Share of blocks that are not erased below which their data are negligible."""
_DRIFT_LAPS, _DRIFT_LAPS_MAX = 4, 10_000
"""Laps in which all blocks would be erased: fewer is no drift, more is no movement."""
_MOVED_MIN = 0.0005
"""Share of programs for wear-leveling below which it is not mentioned."""
_LEAST_US = 0.01
"""A shorter mean wait is negligible."""
_ALL_WAITS = 0.995
"""From this share of the mean delay on, waits and delays read alike."""


def under(result: Facts) -> str:
    """Format as ``under ready-optimistic``, ``with compression, without throttling``, ``under the ... manager``."""
    policy, reducer = look(result, "throttle", "policy"), reduce.policy(result)
    if reducer == reduce.INTEGRATED:
        return "under the integrated manager"
    throttled = "without throttling" if policy in (None, UNTHROTTLED) else f"under {policy}"
    return throttled if reducer is None else f"with {reduce.NAMES.get(reducer, reducer)}, {throttled}"


def answer(result: Facts) -> str:
    """Format as ``5.0 years under qos: the target of 5 years is met; 86 % of the host's demand is served; p99 ...``."""
    text = at_full_demand(result)
    if load.overloaded(result):
        return f"not known: {load.BEYOND}; {load.IF_SO}: {text}"
    if (verdict := ends.verdict(result)) is not None:
        text += f": {verdict}"
    if (part := part_served(result)) is not None:
        text += f"; {part} of the host's demand is served"
    if (p99 := latency.p99s(result)) is not None:
        text += f"; {p99}"
    if (rare := latency.rare(result)) is not None:
        text += f"; the throttle delays {units.share(rare.share)} of page writes, {rare.by}"
    elif (held := look(result, "throttle", "delay_us", "p99")) is not None:
        text += f"; p99 of the throttle's delay {units.span(held * 1e-6)}"
    return text


def at_full_demand(result: Facts) -> str:
    """Format as ``5.0 years under qos``: the life if the drive takes all writes that its throttle lets through.

    Whatever ends first leads (:func:`.entry.earliest`): when the rated bytes are written, the maker's promise ends.
    """
    target, first = look(result, "lifetime", "target_years"), uneven(result)
    ends_by, after = entry.earliest(result)
    average = units.life(look(result, "lifetime", "years"), target)
    flash = [f"{average} for the average block"]
    if first is not None:
        flash.insert(0, f"{units.life(first, target)} until the first block wears out")
    if ends_by == "rating":
        others = flash if first is not None else [f"{average} for the flash"]
        text = f"{units.life(after, target)} until the rated bytes are written ({', '.join(others)}) {under(result)}"
    elif first is not None:
        text = f"{flash[0]} ({flash[1]}) {under(result)}"
    else:
        text = f"{average} {under(result)}"
    growth = growing.words(result)
    return text if growth is None else f"{text}, {growth}"


def part_served(result: Facts) -> str | None:
    """Format as ``64 % (51-82 %)``: the share of the demand that is written in the target time; None if it is all."""
    share: float | None = look(result, "throttle", "demand_share")
    return None if share is None or share >= NOT_ALL_SERVED else life_range.served_text(result)


def all_served(result: Facts) -> str | None:
    """Note that all is served, with the interval; or why that is not known. None where the answer says the share."""
    share = look(result, "throttle", "demand_share")
    if load.overloaded(result):
        return None
    if share is None:
        return "not known: the forecast does not say how much of the demand is written in the target time"
    return None if share < NOT_ALL_SERVED else f"{life_range.served_text(result)} of the host's demand"


def doubts(result: Facts, judge: str | None = "both") -> list[str]:
    """Return what makes the years doubtful, as the basis of a summary.

    Stamps that look like no clock, a trace of less than a day, writes to a small part of the drive, and a rate far from
    the recorded one.

    Args:
        result: a forecast, or the part of one that a plan keeps.
        judge: what ends a life: ``both``, ``flash`` or ``rating``; None leaves out up to which WAF the target is met.
    """
    short = basis(result)
    return [
        *workload_notes.suspicions(result),
        *([] if short is None else [short]),
        *written_part.remarks(result, judge),
    ]


def basis(result: Facts) -> str | None:
    """Note that less than a day of trace represents years; None for longer ones and for generators."""
    span, target = entry.trace_span_s(result), look(result, "lifetime", "target_years")
    if span is None or span >= _LIKE_A_DAY_S or look(result, "workload", "kind") != "trace":
        return None
    text = f"{units.span(span)} of trace stand for {'years' if target is None else units.target_years(target)}"
    return f"{text}{too_short(span)}"


def too_short(span_s: float) -> str:
    """Return what a trace of less than a day lacks, behind a phrase on its length; empty for longer ones."""
    if span_s >= _LIKE_A_DAY_S:
        return ""
    if span_s < SHORT_S:
        return ", which is no basis for a decision; record an hour or more, best a week"
    return ": nights, weekends and busy days are not in them; record a week"


def interval(result: Facts) -> str | None:
    """Format as ``4.7-5.4 years; the interval (95 %) includes the error of write amplification ...``, or None."""
    life, basis = life_range.of(result), life_range.basis([result])
    if life is None or basis is None or load.overloaded(result):
        return None
    target = look(result, "lifetime", "target_years")
    below = look(result, "lifetime", "holds") and target is not None and life.reaches_below(target)
    of_flash = entry.earliest(result)[0] == "rating"
    whose, life = ("the flash lasts ", life) if of_flash else ("", life.ended_by(entry.rated_years(result)) or life)
    alike = life.ends[:1].isdigit() and " to " not in life.ends and "-" not in life.ends
    ends = f"{life.ends.split(' ')[0]} to {life.ends}" if alike else life.ends
    return f"{whose}{ends}{', which reaches below the target' if below else ''}; {basis}"


def no_interval(result: Facts) -> str:
    """Return why a life has no interval."""
    if load.overloaded(result):
        return "not known, as the life is not known"
    if look(result, "lifetime", "years") is None:
        return "not known: the life has no end"
    assumed = look(result, "method", "waf_given")
    return f"not known: {'write amplification is given' if assumed else 'no source of error is known'}"


def workload(result: Facts, label: str = "") -> str | None:
    """Format as ``twin exchange: 531 GB in page writes per pass of 24.0 hours, repeated 1825 times``.

    Where the host writes parts of pages: ``46.5 MB, in whole pages of 4 KiB 99.6 MB (2.1 times), per pass of ...``.
    """
    one = look(result, "pass") or {}
    if one.get("span_s") is None:
        return None
    name = _workload_name(result, label)
    page = look(result, "drive", "mapping_bytes") or look(result, "drive", "page_bytes") or 4096
    written, in_pages = look(result, "workload", "write_bytes"), one["page_writes"] * page
    text = f"{units.decimal_bytes(in_pages)} in page writes"
    if written and in_pages > written * _IN_PARTS:
        times = f"{units.figure(in_pages / written, 2)} times"
        text = f"{units.decimal_bytes(written)}, in whole pages of {units.binary_bytes(page)} "
        text += f"{units.decimal_bytes(in_pages)} ({times}),"
    text += f" per pass of {units.span(one['span_s'])}"
    passes = one.get("passes")
    return f"{name}: {text}" + (f", repeated {units.count(passes)} times" if passes else "")


def _workload_name(result: Facts, label: str) -> str:
    settings = look(result, "config", "workload") or {}
    if settings.get("twin"):
        return f"twin {settings['twin']}"
    kind = str(look(result, "workload", "kind") or "workload")
    if kind == "trace":
        form = trace_format.named(look(result, "workload", "format"), look(result, "workload") or {})
        return f"{label or kind} ({form})"
    return str(settings.get("pattern") or kind)


def waf(result: Mapping[str, Any]) -> str | None:
    """Format as ``1.93, stationary after 4 laps (the next would differ by 0.2 %)``, or ``2.24, as given``."""
    value, _ = amplification(result)
    if value is None:
        return None
    facts = look(result, "method") or {}
    if facts.get("waf_given"):
        pages = look(result, "config", "lifetime", "forecast", "waf")
        if pages is not None and differs(result):
            return f"{value:.2f} in bytes, from the {pages:.2f} by page writes that are given (lifetime.forecast.waf)"
        return f"{value:.2f}, as given"
    laps = facts.get("waf_by_lap") or []
    if not laps:
        return f"{value:.2f}"
    error = facts.get("waf_error")
    count = f"{len(laps)} lap" + ("s" if len(laps) > 1 else "")
    how = "stationary after" if facts.get("stationary") else "not stationary after"
    text = f"{value:.2f}, {how} {count}" + ("" if error is None else f" (error {units.share(error)})")
    moved = look(result, "method", "leveling", "moved_over_life")
    return (
        text
        if not moved or moved < _MOVED_MIN
        else f"{text}; wear-leveling causes {units.share(moved)} of the programs"
    )


def capacity(result: Facts) -> str | None:
    """Format as ``5 years would program 1066 TB; the flash endures 1078 TB (375 TB at nominal cycles)``."""
    facts = look(result, "lifetime") or {}
    if facts.get("w_work_bytes") is None or facts.get("c_ssd_bytes") is None:
        return None
    recovered = facts.get("c_ssd_recovered_bytes")
    stands = facts["c_ssd_bytes"] if recovered is None else recovered
    target = facts.get("target_years", 5)
    text = f"{units.target_years(target)} would program {units.decimal_bytes(facts['w_work_bytes'])}; "
    text += f"the flash endures {units.decimal_bytes(stands)}"
    if recovered is not None and abs(recovered - facts["c_ssd_bytes"]) > 0.001 * facts["c_ssd_bytes"]:
        text += f" ({units.decimal_bytes(facts['c_ssd_bytes'])} at nominal cycles)"
    return text


def cycles(result: Facts) -> str | None:
    """Format as ``8615 per block at 5.1 hours of rest between erases``."""
    facts = look(result, "lifetime") or {}
    if facts.get("pe_cycles_achievable") is None:
        return None
    rest = facts.get("mean_idle_h")
    text = f"{facts['pe_cycles_achievable']:.0f} per block"
    return text + ("" if rest is None else f" at {units.span(rest * 3600)} of rest between erases")


def throttle(result: Facts) -> str | None:
    """Format as ``93 % of page writes delayed, 0.72 ms on average; epochs of 30 min at last``, or None."""
    facts = look(result, "throttle") or {}
    if facts.get("policy") in (None, UNTHROTTLED) and reduce.policy(result) != reduce.INTEGRATED:
        return None
    parts = []
    served = facts.get("demand_share")
    if served is not None and served < NOT_ALL_SERVED:
        parts.append(f"{units.share(served)} of the host's demand written in the target time")
    rare, mean_us = latency.rare(result), look(facts, "delay_us", "mean")
    if facts.get("held_share") is not None:
        by = "" if rare is None else f" {rare.by}"
        parts.append(f"{units.share(facts['held_share'])} of page writes delayed{by}")
    if mean_us is not None:
        over = "" if rare is None else " over all page writes"
        parts.append(f"mean delay {units.span(mean_us * 1e-6)}{over} ({latency.delay(result)})")
    if facts.get("waits"):
        parts.append(
            f"{units.count(facts['waits'])} page writes waited for the throttle's budget{_of_the_delay(facts, mean_us)}"
        )
    if facts.get("epochs"):
        parts.append(f"{units.count(facts['epochs'])} epochs")
    if facts.get("epoch_s"):
        parts.append(f"the last one {units.span(facts['epoch_s'])} long")
    return ", ".join(parts) or None


def _of_the_delay(facts: Facts, mean_us: float | None) -> str:
    """Describe which part of the delay is waiting for capacity: all of it, or its mean over all page writes."""
    waited = facts.get("wait_us_mean")
    if not waited or waited < _LEAST_US:
        return ""
    if mean_us and waited >= _ALL_WAITS * mean_us:
        return " (no other delay)"
    return f" (mean wait {units.span(waited * 1e-6)} over all)"


def prediction(result: Facts) -> str | None:
    """Format as ``right within 25 % in 80 % of 1200 epochs``."""
    facts = look(result, "throttle", "prediction") or {}
    compared = facts.get("compared")
    if not compared:
        return None
    share, error = accuracy(facts), facts.get("error_max", 0.25)
    if share is None:
        return None
    epochs = f"{units.share(share)} of {units.count(compared)} epochs"
    return f"right within {units.share(error)} in {epochs}"


def accuracy(facts: Facts | None) -> float | None:
    """Share of the compared epochs whose demand was predicted within 25 %; None where none was compared."""
    within = (facts or {}).get("within")
    return None if within is None else float(within)


def method(result: Facts) -> str | None:
    """Format as ``windows of 600 s``: how the life was run through."""
    facts = look(result, "method") or {}
    name = facts.get("name")
    if not name:
        return None
    named = {
        "windows": "demand by windows",
        "requests": "request by request",
        "full": "the whole life simulated",
    }
    text = named.get(str(name), str(name))
    return f"{text} ({units.span(facts['window_s'])} each)" if name == "windows" and facts.get("window_s") else text


_HELD_LONG_US = 60e6
"""A page write that is delayed longer deserves a note."""


def _held_long(result: Facts) -> str | None:
    """Warn that a page write was held back for very long, or that delays reached their bound; None otherwise."""
    facts = look(result, "throttle") or {}
    bound, most = facts.get("max_delay_s"), look(result, "throttle", "delay_us", "max")
    reached = facts.get("epochs_at_max_delay")
    if bound and reached:
        epochs = f"{units.count(reached)} of {units.count(facts['epochs'])} epochs"
        return f"delays reached their bound of {units.span(bound)} in {epochs} (lifetime.throttle.max_delay_s)"
    if facts.get("policy") in (None, UNTHROTTLED) or most is None or most <= _HELD_LONG_US:
        return None
    text = f"one page write was held back {units.span(most * 1e-6)}"
    return text if bound else f"{text}; lifetime.throttle.max_delay_s bounds the delay of a page write"


def _drifts(result: Facts) -> str | None:
    """Warn that data at rest are still being moved, block by block: laps cannot show the final effect."""
    shares = look(result, "method", "never_erased_by_lap") or []
    if len(shares) < _DRIFT_LAPS or shares[-1] < _AT_REST_MIN:
        return None
    before, now = shares[-2:]
    laps = math.inf if before <= now else now / (before - now)
    if not _DRIFT_LAPS < laps < _DRIFT_LAPS_MAX:
        return None
    return (
        f"{units.share(now)} of the blocks were not erased in the laps, and a few more of them are in each lap: "
        f"write amplification may change until they all were, in some {units.figure(laps, 1)} laps "
        "(lifetime.forecast.laps_max)"
    )


def _cut_short(result: Facts) -> str | None:
    """Warn that laps ended before they had programmed all pages among which data move."""
    if not look(result, "method", "cut_short"):
        return None
    return (
        "most requests read, and laps ended at their limit of requests before they had programmed all pages among "
        "which data move: write amplification may not have settled (lifetime.forecast.waf sets it)"
    )


def programs_nothing(result: Facts) -> bool:
    """Return whether the host writes, and nothing of it reached the flash in the laps."""
    return bool(look(result, "workload", "page_writes")) and look(result, "lifetime", "w_work_bytes") == 0


def unsettled(result: Mapping[str, Any]) -> bool:
    """Return whether write amplification still changed when the laps ended."""
    return look(result, "method", "stationary") is False and bool(look(result, "method", "waf_by_lap"))


def remarks(result: Facts) -> list[str]:
    """Return what a reader must know: a target that is missed and what to do, a WAF that has not settled."""
    phrases = []
    if load.overloaded(result):
        phrases.append("floatgate plan finds a drive that keeps up with the load and meets the target")
    elif ends.missed(result):
        phrases.append("floatgate plan finds a drive that meets the target")
    if (modes := erase_modes.remark_of_forecast(result)) is not None:
        phrases.append(modes)
    if uneven(result) is not None:
        phrases.append("wear is uneven: target, cycles and flash endurance are those of the average block")
        if look(result, "config", "ftl", "level", "policy") == "none":
            phrases[-1] += ' (ftl.level.policy = "hot-cold-swap" levels it)'
    if programs_nothing(result):
        phrases.append("no flash page is programmed: the buffer holds all that is written, so flash wear is not known")
    elif unsettled(result):
        phrases.append(
            "write amplification still changes from pass to pass; raise lifetime.forecast.laps_max to run more laps"
        )
    others = (modelled.remark, _cut_short, _drifts, growing.remark, load.remark, latency.falls_behind, _held_long)
    phrases += [text for text in (remark(result) for remark in others) if text is not None]
    if look(result, "method", "tails") == "mean-cost":
        phrases.append("p99 and the like leave out waits behind collection: each page write counts at the mean cost")
    # A throttled host writes the capacity, so every delay predicts itself (READY, Eq. 4), and lumps decide.
    if (
        look(result, "method", "tails") == "lumps"
        and look(result, "config", "lifetime", "throttle", "predict") == "written"
    ):
        phrases.append(
            'p50, p99 and the like rest on chance where lifetime.throttle.predict is "written": a life is held back '
            'by delays or by waits, and lifetime.forecast.method = "full" tells which; the mean holds'
        )
    return phrases + workload_notes.remarks(result)
