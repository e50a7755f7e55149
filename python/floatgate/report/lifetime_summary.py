"""The summary of a forecast life: the answer first, then where it comes from."""

from __future__ import annotations

from typing import Any

from floatgate.base.text_table import named
from floatgate.report.sections import amplification, drive, rating, reduce
from floatgate.report.sections.forecast import ends, entry, host_writes, latency, load
from floatgate.report.sections.forecast import lines as forecast


def text(result: dict[str, Any], label: str = "") -> str:
    """Return the summary as lines of text; ``label`` is what to call a trace."""
    return named(lines(result, label))


def lines(result: dict[str, Any], label: str = "") -> list[tuple[str, str]]:
    """Return name and text of each line; unknown ones are left out."""
    made = [
        *answer(result),
        ("interval", forecast.interval(result) or forecast.no_interval(result)),
        ("served", forecast.all_served(result)),
        ("per day", host_writes.per_day(result)),
        *_rating(result),
        ("WAF", forecast.waf(result)),
        ("", amplification.split(result)),
        *(("latency" if i == 0 else "", text) for i, text in enumerate(latency.lines(result))),
        ("drive", drive.line(result)),
        ("workload", forecast.workload(result, label)),
        ("flash", forecast.capacity(result)),
        ("cycles", forecast.cycles(result)),
        ("reduce", reduce.line(result)),
        ("", reduce.manager(result)),
        ("throttle", forecast.throttle(result)),
        ("prediction", forecast.prediction(result)),
        ("method", forecast.method(result)),
        *(("note", remark) for remark in forecast.remarks(result)),
    ]
    return [(name, value) for name, value in made if value]


def answer(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the first lines of the summary: what the load is, how long the drive lasts, and on which basis."""
    doubts = [("basis" if i == 0 else "", text) for i, text in enumerate(forecast.doubts(result))]
    lines = [("load", load.line(result)), ("life", forecast.answer(result)), *doubts]
    return [(name, text) for name, text in lines if text]


def headline(result: dict[str, Any]) -> str:
    """Return one sentence for the top of the page: what ends the life first, the target, and what is served."""
    phrases = [ends.what_ends_first(result) or "Nothing ends this life: the flash lasts without limit"]
    if load.overloaded(result):
        beyond = f"{load.BEYOND[:1].upper()}{load.BEYOND[1:]}, so its life is not known"
        return f"{beyond}. {load.IF_SO[:1].upper()}{load.IF_SO[1:]}: {phrases[0][:1].lower()}{phrases[0][1:]}."
    verdict = ends.verdict(result)
    if verdict is not None:
        phrases.append(f"{verdict[:1].upper()}{verdict[1:]}")
    part = forecast.part_served(result)
    if part is not None:
        phrases.append(f"{part} of the host's demand is served in the target time")
    return f"{'. '.join(phrases)}."


def _rating(result: dict[str, Any]) -> list[tuple[str, str | None]]:
    known, writes = rating.line(result, entry.life_that_counts(result)), host_writes.line(result)
    if known is not None and load.overloaded(result):
        known = f"{load.IF_SO}: {known}"
    if known is not None:
        return [("rating", known), ("writes", writes)]
    unrated = "none: the drive has no rated TBW" if rating.tbw_bytes(result) is None else None
    return [("rating", unrated or "not known: what the host writes in a year is not known"), ("writes", writes)]
