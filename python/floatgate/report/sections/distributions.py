"""Distributions over the blocks of a run: wear, rest, valid pages."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.pages.parts import Charts, Part, Section, figure
from floatgate.report.sections import leveling, run_charts, section
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView


def parts(run: RunView, result: dict[str, Any]) -> list[Part]:
    """Return charts of the blocks of a run, as far as it knows them."""
    figures: list[Part] = []
    if look(result, "wear", "histogram", "blocks"):
        leveled = leveling.line(result)
        text = f" Wear-leveling by {leveled}." if leveled else ""
        figures.append(
            figure(
                "wear",
                "Wear",
                f"Blocks by number of erases in the counted phase.{text}",
                lambda width: run_charts.wear(run, width),
            )
        )
    idle = look(result, "wear", "idle_h")
    if idle:
        mean, p50 = (units.span(3600.0 * idle[key]) for key in ("mean", "p50"))
        caption = f"Time between two erases of a block: {mean} on average over blocks, median {p50}."
        figures.append(figure("rest", "Rest of blocks", caption, lambda width: run_charts.rest(run, width)))
    if look(result, "valid_pages", "units"):
        figures.append(
            figure(
                "valid",
                "Valid pages",
                "Closed blocks by valid pages at the end of the run; full blocks are costly victims.",
                lambda width: run_charts.valid_pages(run, width),
            )
        )
    return [Section("Distributions", [Charts(figures)])] if figures else []


SECTION = section.Section("distributions", parts=parts)
