"""The course of a run: write amplification, programs by cause, free blocks."""

from __future__ import annotations

from floatgate.pages.parts import Charts, Part, Section, figure
from floatgate.report.sections import run_charts, section
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView


def parts(run: RunView) -> list[Part]:
    """Return charts of write amplification, programs and free blocks; nothing where the series has a single row."""
    if run.series.num_rows < 2:
        return []
    figures: list[Part] = []
    if look(run.result, "waf") is not None:
        figures.append(
            figure(
                "waf",
                "Write amplification",
                "Flash programs per host page write in each interval; dashed: mean of the run with its 95 % interval.",
                lambda width: run_charts.waf(run, width),
            )
        )
    # What reclaim moves is worth a picture even where the host writes nothing.
    if look(run.result, "flash", "programs", "total"):
        figures.append(
            figure(
                "writes",
                "Programs by cause",
                "Flash programs over the whole run.",
                lambda width: run_charts.writes(run, width),
            )
        )
    if "free_blocks" in run.series.column_names:
        figures.append(
            figure(
                "free", "Free blocks", "At the end of each interval.", lambda width: run_charts.free_blocks(run, width)
            )
        )
    return [Section("Over time", [Charts(figures)])] if figures else []


SECTION = section.Section("over time", parts=lambda run, _: parts(run))
