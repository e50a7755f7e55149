"""The summary of a run: the answer first, then where it comes from."""

from __future__ import annotations

from typing import Any

from floatgate.base.text_table import named
from floatgate.report.sections import orders
from floatgate.results.run_view import RunView


def text(run: RunView) -> str:
    """Return the summary as lines of text."""
    return named(lines(run))


def lines(run: RunView) -> list[tuple[str, str]]:
    """Name and text of each line; a line that the result knows nothing for is left out."""
    result = run.result.to_dict()
    made = [line for section in orders.SUMMARY for line in section.lines(run, result)]
    made += [("note", remark) for remark in remarks(result)]
    return [(name, value) for name, value in made if value]


def remarks(result: dict[str, Any]) -> list[str]:
    """Return caveats for a reader of the metrics: skipped lines, moved requests, decreasing stamps, an empty drive."""
    return [remark for section in orders.REMARKS for remark in section.remarks(result) if remark]
