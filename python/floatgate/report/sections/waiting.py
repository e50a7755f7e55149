"""What the requests and the flash operations of a run wait for."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.pages.causes import by_reason, reason
from floatgate.pages.parts import Box, Cell, Charts, Grid, Part, Swatch, figure
from floatgate.report.sections import latency_charts, section
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView


def before_flash(result: dict[str, Any]) -> str | None:
    """Format as ``reads wait 1.2 ms in the host queue; writes wait ...``, means of requests; None if none wait."""
    phrases = []
    for kind, label in (("read", "reads"), ("write", "writes")):
        waits = (
            ("for the throttle", look(result, "latency_us", "throttle_wait", kind)),
            ("in the host queue", look(result, "latency_us", "queue_wait", kind)),
            ("for space in the buffer", look(result, "latency_us", "buffer_wait", kind, "place")),
            ("until data are on flash", look(result, "latency_us", "buffer_wait", kind, "flushed")),
        )
        parts = [f"{units.span(value * 1e-6)} {where}" for where, value in waits if value]
        if parts:
            phrases.append(f"{label} wait {', '.join(parts)}")
    return "; ".join(phrases) or None


def by_class(result: dict[str, Any]) -> list[str]:
    """Format as ``each host read spends 61 us at the flash: 82 % own work, 18 % waiting for the channel``."""
    phrases = []
    for name, means in (look(result, "latency_us", "waiting") or {}).items():
        reasons = by_reason(means) if isinstance(means, dict) else []
        total = sum(value for _, value in reasons)
        if name == "background" or not total:
            continue
        text = ", ".join(f"{units.share(value / total)} {reason(key).label}" for key, value in reasons)
        phrases.append(f"each host {name} spends {units.span(total * 1e-6)} at the flash: {text}")
    return phrases


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
    return [("waiting", before_flash(result)), *(("waiting", why) for why in by_class(result))]


SECTION = section.Section("waiting", lines=lines)
