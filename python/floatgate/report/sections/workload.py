"""The workload of a run: what the host requested, and how its trace was read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from floatgate.base import units
from floatgate.pages.parts import Grid, Part, Section
from floatgate.report import timestamp_warning, trace_format
from floatgate.report.sections import section
from floatgate.results.result_view import look


def line(result: dict[str, Any], experiment: dict[str, Any]) -> str | None:
    """Format as ``web.csv.zst (msr): 4.2 M requests, 87 % writes, 148 GB written in 7.0 days, 21 GiB footprint``."""
    facts, host = look(result, "workload") or {}, look(result, "host") or {}
    if not host:
        return None
    reads, writes, trims = (host.get(f"{kind}_requests") or 0 for kind in ("read", "write", "trim"))
    requests = reads + writes + trims
    parts = [f"{units.count(requests)} requests"]
    if requests:
        parts.append(f"{units.share(writes / requests)} writes")
    if trims:
        parts.append(f"{units.share(trims / requests)} trims")
    written = f"{units.decimal_bytes(host.get('write_bytes') or 0)} written"
    seconds = span_s(result)
    parts.append(f"{written} in {units.span(seconds)}" if seconds else written)
    footprint = facts.get("footprint_bytes")
    if footprint:
        parts.append(f"{units.binary_bytes(footprint)} footprint")
    return f"{workload_name(facts, experiment)}: {', '.join(parts)}"


def workload_name(facts: dict[str, Any], experiment: dict[str, Any]) -> str:
    """Format as ``web.csv.zst (msr)`` for a trace, the pattern for a synthetic workload."""
    file = look(experiment, "workload", "file")
    if file:
        form = facts.get("format") or look(experiment, "workload", "format")
        return f"{Path(file).name} ({trace_format.named(form, facts)})" if form else Path(file).name
    return str(look(experiment, "workload", "pattern") or facts.get("kind") or "workload")


def span_s(result: dict[str, Any]) -> float | None:
    """Return the time that the counted workload took by its own clock, in seconds; None where it has none."""
    for place in (("workload", "span_s"), ("workload", "duration_s"), ("span_s",)):
        seconds = look(result, *place)
        if seconds:
            return float(seconds)
    return None


def short_name(result: Mapping[str, Any]) -> str:
    """Return ``uniform`` or ``msr``: the pattern of a synthetic workload, the format of a trace; empty if unknown."""
    kind = str(look(result, "workload", "format") or look(result, "workload", "kind") or "")
    pattern = look(result, "config", "workload", "pattern") if kind == "synthetic" else None
    return str(pattern or kind)


def content_hash(result: dict[str, Any]) -> str | None:
    """Return the hash of what a trace holds; None for a workload that is generated."""
    known = look(result, "workload", "content_hash")
    return str(known) if known else None


def remarks(result: dict[str, Any]) -> list[str]:
    """Return lines skipped, requests moved, and time stamps that run backwards."""
    facts = look(result, "workload") or {}
    phrases = []
    skipped = facts.get("bad_lines_skipped")
    if skipped:
        first = facts.get("first_bad_line")
        lines = "bad line" if skipped == 1 else "bad lines"
        phrases.append(f"{skipped} {lines} skipped" + (f" (the first bad line: {first})" if first else ""))
    moved = look(facts, "beyond", "requests_moved")
    if moved:
        phrases.append(
            f"{units.count(moved)} requests beyond the end of the drive moved ({look(facts, 'beyond', 'policy')})"
        )
    ran_backwards = timestamp_warning.remark(facts)
    return [*phrases, ran_backwards] if ran_backwards else phrases


def devices(result: dict[str, Any]) -> list[Part]:
    """Return a row per device of the trace; nothing where there is only one."""
    devices = look(result, "workload", "devices") or []
    if len(devices) < 2:
        return []
    rows = [
        [
            str(device.get("name", "-")),
            *(section.count(device.get(f"{kind}_requests")) for kind in ("read", "write", "trim")),
            *(_bytes(device.get(f"{kind}_bytes")) for kind in ("read", "write", "trim")),
            section.count(device.get("page_writes")),
        ]
        for device in devices
    ]
    header = ["device", "reads", "writes", "trims", "read", "written", "trimmed", "page writes"]
    return [Section("Devices of the trace", [Grid(header, rows)])]


def _bytes(value: Any) -> str:
    return "-" if value is None else units.decimal_bytes(value)


SECTION = section.Section(
    "workload",
    lines=lambda run, result: [("workload", line(result, run.experiment()))],
    parts=lambda _, result: devices(result),
    remarks=remarks,
)
