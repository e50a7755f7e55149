"""The part of a run's report about its streams, where a separator looks at pages."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.pages.parts import Grid, Part, Rows, Section, Text
from floatgate.report.summary import streams as said_of
from floatgate.results.result_view import look

SHOWN_MAX = 32
"""Streams with a row of their own; the smallest of more share one."""

_COUNTS = ("host_pages", "moved_pages", "opened", "victims", "dead_victims", "copied_pages")
_HEADER = ["stream", "host pages", "moved in", "opened", "collected", "dead", "copied per block"]


def streams(result: dict[str, Any]) -> list[Part]:
    """What became of each stream's pages and blocks, and what open blocks cost; nothing where no page is looked at."""
    found = look(result, "separate", "streams")
    said = said_of(result)
    if not found or not said:
        return []
    facts = result["separate"]
    costs = (
        [("largest number of open blocks", units.count(facts["open_blocks_max"]))] if "open_blocks_max" in facts else []
    )
    if facts.get("open_free_pages_mean") is not None:
        costs.append(("free pages in them, on average", units.figure(facts["open_free_pages_mean"])))
    costs.append(("open blocks at the end", units.count(facts["open_blocks"])))
    costs.append(("free pages in them", units.count(facts["open_free_pages"])))
    strayed = sum(stream.get("strayed_pages") or 0 for stream in found)
    if strayed:
        costs.append(("pages that joined another stream", units.count(strayed)))
    costs += [(name.replace("_", " "), _figure(value)) for name, value in (facts.get("found") or {}).items()]
    note = (
        "For each stream: pages that the host wrote into it, pages moved into it, blocks opened, blocks collected, "
        "collected blocks without a valid page (dead), and pages copied per collected block."
    )
    return [Section("Streams", [Text(f"{said}."), Grid(_HEADER, rows(found)), Text(note), Rows(costs)])]


def rows(found: list[dict[str, Any]]) -> list[list[str]]:
    """A row a stream, by number; beyond :data:`SHOWN_MAX` the ones with the fewest pages together; last their sum."""

    def pages(stream: dict[str, Any]) -> int:
        return int(stream["host_pages"] + stream["moved_pages"])

    largest = sorted(found, key=pages, reverse=True)
    shown, rest = largest[:SHOWN_MAX], largest[SHOWN_MAX:]
    made = [_row(str(stream["stream"]), stream) for stream in sorted(shown, key=lambda stream: stream["stream"])]
    if rest:
        made.append(_row(f"{len(rest)} others", _sum(rest)))
    if len(found) > 1:
        made.append(_row("all", _sum(found)))
    return made


def _figure(value: float) -> str:
    return units.count(int(value)) if float(value).is_integer() else units.figure(value)


def _sum(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: sum(stream.get(key) or 0 for stream in found) for key in _COUNTS}


def _row(name: str, stream: dict[str, Any]) -> list[str]:
    counts = [f"{stream.get(key) or 0:,}".replace(",", " ") for key in _COUNTS[:-1]]
    victims = stream.get("victims") or 0
    copied = units.figure(stream["copied_pages"] / victims) if victims else "-"
    return [name, *counts, copied]
