"""The report of a trace as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from floatgate.base import units
from floatgate.pages.page import report
from floatgate.pages.parts import Cards, Charts, Code, Grid, Part, Picture, Rows, Section, Text, figure
from floatgate.report import trace_format
from floatgate.report.sections.not_modelled import NO_DRIVE
from floatgate.results.result_view import look
from floatgate.trace.charts import busiest_contexts, pictures
from floatgate.trace.summary import context_name, lines

Facts = dict[str, Any]

_SECTIONS = (
    ("Requests", ("demand", "sizes")),
    ("Pages and addresses", ("update-interval", "update-interval-time", "lru", "runs", "frequency", "lorenz")),
    ("Content", ("content",)),
)


def page(path: str, facts: Facts, command: str | None = None) -> str:
    """Return the report as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        path: the trace as the user called it.
        facts: the JSON of ``floatgate trace info``, with its distributions.
        command: the command line that made it, where there was one.
    """
    drawn = {picture.name: picture for picture in pictures(facts)}
    parts = [
        Cards(headline(facts)),
        Rows(lines(path, facts)),
        *(part for name, keys in _SECTIONS for part in _section(name, [drawn[key] for key in keys if key in drawn])),
        *_contexts(facts, drawn),
        *_devices(facts),
        *_repeat(facts, command),
    ]
    of = f"format {trace_format.named(facts['format'], facts)}"
    return report(Path(path).name, parts, not_modelled=[NO_DRIVE], of=of, kind="floatgate trace")


def headline(facts: Facts) -> list[tuple[str, str, str]]:
    """Return the cards on top: name, figure, text below; unknown ones are left out."""
    span = facts.get("duration_s")
    cards = [
        ("requests", units.count(facts["requests"]), "" if span is None else f"in {units.span(span)}"),
        ("written", units.decimal_bytes(facts["write_bytes"]), f"{units.count(facts['writes'])} writes"),
        ("read", units.decimal_bytes(facts["read_bytes"]), f"{units.count(facts['reads'])} reads"),
        ("footprint", units.binary_bytes(facts["footprint_bytes"]), "pages read or written"),
    ]
    if facts.get("rewrite_share") is not None:
        cards.append(("rewrites", units.share(facts["rewrite_share"]), "of the page writes"))
    median = look(facts, "update_interval", "bytes", "p50")
    if median is not None:
        age = look(facts, "update_interval", "time_s", "p50")
        below = "of page writes until overwritten, median" + ("" if age is None else f"; {units.span(age)}")
        cards.append(("data live for", units.decimal_bytes(median), below))
    return cards


def _section(title: str, drawn: list[Picture]) -> list[Part]:
    figures = [figure(one.name, one.title, one.caption, one.draw) for one in drawn]
    return [Section(title, [Charts(figures)])] if figures else []


def _contexts(facts: Facts, drawn: dict[str, Picture]) -> list[Part]:
    if "contexts" not in drawn:
        return []
    picture = drawn["contexts"]
    rows = [
        [
            f"{entry['rank']}. {context_name(entry)}",
            units.share(entry["share"]),
            units.share(entry["together"]),
            units.share(entry["page_write_share"]),
            _bytes(entry["update_interval_median_bytes"]),
        ]
        for entry in busiest_contexts(facts)
    ]
    count, listed = facts["contexts"]["count"], len(rows)
    rest = [] if count <= listed else [Text(f"{count - listed} more contexts write.")]
    table = Grid(["context", "share", "together", "page writes", "median interval"], rows)
    charts = Charts([figure(picture.name, picture.title, picture.caption, picture.draw)])
    return [Section("Program contexts", [charts, table, *rest])]


def _devices(facts: Facts) -> list[Part]:
    devices = facts.get("devices") or []
    if len(devices) < 2:
        return []
    rows = [
        [
            device["name"],
            *(f"{device[key]:,}".replace(",", " ") for key in ("reads", "writes", "trims")),
            *(units.decimal_bytes(device[key]) for key in ("read_bytes", "write_bytes")),
            units.binary_bytes(device["footprint_bytes"]),
        ]
        for device in devices
    ]
    header = ["device", "reads", "writes", "trims", "read", "written", "footprint"]
    return [Section("Devices", [Grid(header, rows)])]


def _repeat(facts: Facts, command: str | None) -> list[Part]:
    content = facts.get("content_hash")
    parts: list[Part] = [Code(command)] if command else []
    if content:
        parts.append(Rows([("content (blake3)", str(content))]))
    return [Section("How to repeat it", parts)] if parts else []


def _bytes(value: float | None) -> str:
    return "-" if value is None else units.decimal_bytes(value)
