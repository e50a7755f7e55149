"""What the requests and the flash operations of a run wait for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.pages.causes import by_reason, reason
from floatgate.pages.parts import Box, Cell, Charts, Grid, Part, Swatch, figure
from floatgate.report.sections import latency_charts, section
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView

NOTHING_ELSE = 5e-4
"""Share of a mean latency below which what is left beside the waits is not worth a figure."""


def before_flash(result: dict[str, Any]) -> str | None:
    """Format the mean latencies with the waits before the flash that they include; None if no request waits.

    As ``writes take 5.9 ms on average: 5.8 ms waiting for space in the buffer, 100 us else``. The parts of such a
    phrase add up to its mean.
    """
    phrases = []
    for kind in ("read", "write"):
        waits = (
            ("for the throttle", look(result, "latency_us", "throttle_wait", kind)),
            ("in the host queue", look(result, "latency_us", "queue_wait", kind)),
            ("for space in the buffer", look(result, "latency_us", "buffer_wait", kind, "place")),
            ("until data are on flash", look(result, "latency_us", "buffer_wait", kind, "flushed")),
        )
        known = [(where, value) for where, value in waits if value]
        if known:
            phrases.append(_with_waits(result, kind, known))
    return "; ".join(phrases) or None


def _with_waits(result: dict[str, Any], kind: str, waits: list[tuple[str, float]]) -> str:
    """Return the mean latency of a kind and its parts; the waits alone where their mean is over TRIMs too."""
    facts = look(result, "latency_us", kind) or {}
    mean, counted = facts.get("mean"), look(result, "latency_us", "buffer_wait", kind, "requests")
    with_trims = bool(counted) and counted != facts.get("count")
    if not mean or with_trims:
        name = "writes and TRIMs" if with_trims else f"{kind}s"
        return f"{name} wait {', '.join(f'{units.span(value * 1e-6)} {where}' for where, value in waits)}"
    parts = ", ".join(f"{units.span(value * 1e-6)} waiting {where}" for where, value in waits)
    rest = mean - sum(value for _, value in waits)
    left = f"{units.span(rest * 1e-6)} else" if rest > NOTHING_ELSE * mean else "nothing else"
    return f"{kind}s take {units.span(mean * 1e-6)} on average: {parts}, {left}"


def flush_waiters(result: dict[str, Any]) -> str | None:
    """Return which writes wait for the flush of their own pages, as a clause; None without a buffer.

    A write is done when its pages have their places in the buffer. Only a FUA write, and a flush, waits for the flash.
    """
    if not look(result, "buffer"):
        return None
    waits = look(result, "latency_us", "buffer_wait", "write") or {}
    if not waits.get("flushed_requests"):
        return "which its own write does not wait for"
    share = waits["flushed_requests"] / waits["requests"]
    return f"which {units.share(share)} of the writes wait for"


def gathering(result: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return how many host writes gathered in how many flash pages; None with a buffer, and where none did.

    A write that only joins a page which gathers in the controller is done at once; one that fills it waits for the
    program.
    """
    writes = look(result, "latency_us", "write", "count")
    pages = look(result, "latency_us", "waiting", "write", "operations")
    unit_bytes, page_bytes = look(result, "config", "ftl", "mapping_bytes"), _page_bytes(result)
    if look(result, "buffer") or not pages or not writes or not unit_bytes or not page_bytes:
        return None
    if pages >= writes or unit_bytes >= page_bytes:
        return None
    return writes, pages


def _page_bytes(result: Mapping[str, Any]) -> int | None:
    size: int | None = look(result, "config", "drive", "geometry", "page_bytes")
    return size


def gathering_note(result: Mapping[str, Any]) -> str | None:
    """Say why half of the writes or more take no time, as a clause; None where they take some."""
    gathered = gathering(result)
    if gathered is None or look(result, "latency_us", "write", "p50") != 0:
        return None
    writes, pages = map(units.count, gathered)
    return (
        f"{writes} host writes gather in {pages} flash pages: a write that only joins a page in the controller is done "
        "at once"
    )


def few_slow(result: Mapping[str, Any], kind: str) -> tuple[float, float] | None:
    """Return which share of the requests is slower than the mean, and their share of the time of all.

    Args:
        result: of a run.
        kind: ``read`` or ``write``.

    Returns:
        None where the mean lies within the 99th percentile: there the requests share it.
    """
    facts = look(result, "latency_us", kind) or {}
    mean, p99, cdf = facts.get("mean"), facts.get("p99"), facts.get("cdf") or {}
    if not mean or p99 is None or mean <= p99 or not cdf.get("us"):
        return None
    within = faster_us = 0.0
    for time_us, share in zip(cdf["us"], cdf["share"], strict=True):
        if time_us > mean:
            break
        faster_us += (share - within) * time_us
        within = share
    return 1.0 - within, 1.0 - faster_us / mean


def few_slow_notes(result: dict[str, Any]) -> list[str]:
    """Format as ``the slowest 0.7 % of reads take 70 % of the time of all reads: ...``; empty where it is not so.

    Writes into a buffer are left out: what their pages wait for at the flash is not part of them.
    """
    notes = []
    for kind in ("read", "write"):
        slow = few_slow(result, kind)
        waits = look(result, "latency_us", "waiting", kind)
        if slow is not None and waits and not (kind == "write" and look(result, "buffer")):
            requests, time = map(units.share, slow)
            notes.append(
                f"the slowest {requests} of {kind}s take {time} of the time of all {kind}s: their mean lies above p99, "
                "and the mean waits below say little about p99"
            )
    return notes


def by_class(result: dict[str, Any]) -> list[str]:
    """Format as ``each host read spends 61 us at the flash: 82 % own work, 18 % waiting for the channel``.

    Behind a buffer, host writes at the flash are the pages that it flushes.
    """
    phrases = []
    for name, means in (look(result, "latency_us", "waiting") or {}).items():
        reasons = by_reason(means) if isinstance(means, dict) else []
        total = sum(value for _, value in reasons)
        if name == "background" or not total:
            continue
        text = ", ".join(f"{units.share(value / total)} {reason(key).label}" for key, value in reasons)
        span, waiters = units.span(total * 1e-6), flush_waiters(result) if name == "write" else None
        if name == "write" and gathering(result):
            phrases.append(f"each flash page of host writes spends {span} at the flash: {text}")
        elif waiters:
            phrases.append(f"each page that the buffer flushes spends {span} at the flash, {waiters}: {text}")
        else:
            phrases.append(f"each host {name} spends {span} at the flash: {text}")
    return phrases


def flush_note(result: dict[str, Any]) -> str | None:
    """Say what host writes at the flash are behind a buffer; None without one, and where nothing was flushed."""
    reasons = by_reason(look(result, "latency_us", "waiting", "write") or {})
    waiters = flush_waiters(result)
    if not reasons or not waiters:
        return None
    span = units.span(sum(value for _, value in reasons) * 1e-6)
    return f"Host writes at the flash are pages that the buffer flushes: {span} each, {waiters}."


def parts(run: RunView, result: dict[str, Any]) -> list[Part]:
    """Return why flash operations take as long as they do: part of the section of latencies."""
    classes = {
        name: by_reason(means)
        for name, means in (look(result, "latency_us", "waiting") or {}).items()
        if isinstance(means, dict) and by_reason(means)
    }
    if not classes:
        return []
    chart = figure(
        "why",
        "Why it takes that long",
        "Time of a flash operation from its issue to its end, by reason; the mean follows the name of each class.",
        lambda width: latency_charts.waiting(run, width),
    )
    names = list(dict.fromkeys(name for parts in classes.values() for name, _ in parts))
    header = ["time of an operation", *(latency_charts.CLASSES.get(name, name) for name in classes)]
    rows: list[list[Cell]] = [
        ["mean", *(section.span_us(sum(value for _, value in parts)) for parts in classes.values())]
    ]
    for name in names:
        cells = [_why_cell(dict(parts), name) for parts in classes.values()]
        entry = reason(name)
        rows.append([Swatch(entry, entry.label), *cells])
    return [Charts([chart, Box([Grid(header, rows)])])]


def _why_cell(parts: dict[str, float], name: str) -> str:
    return units.share(parts[name] / sum(parts.values())) if parts.get(name) else "-"


def lines(_: RunView, result: dict[str, Any]) -> list[section.Line]:
    """Return waits in front of the flash, then a line per class of flash operations."""
    why = [*few_slow_notes(result), *by_class(result)]
    before = [before_flash(result), gathering_note(result)]
    return [("waiting", text) for text in (*before, *why)]


SECTION = section.Section("waiting", lines=lines)
