"""The map on flash: what its journal and its pages cost."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look


def line(result: dict[str, Any]) -> str | None:
    """Format what keeping the map cost; nothing if the map costs no programs.

    As ``320 journal pages and 48 map pages for 160 k changes by the host``.
    """
    facts = look(result, "metadata")
    if not facts:
        return None
    journal, pages, updates = (units.count(facts[key]) for key in ("journal_pages", "map_pages", "updates"))
    text = f"{journal} journal pages and {pages} map pages for {updates} changes by the host"
    flushed = facts["flushed_pages"]
    return f"{text}; {units.count(flushed)} journal pages were flushed before they were full" if flushed else text


SECTION = section.Section(
    "metadata",
    lines=lambda _, result: [("metadata", text)] if (text := line(result)) else [],
)
