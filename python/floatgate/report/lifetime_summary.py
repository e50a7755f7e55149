"""The summary of a forecast life: the answer first, then where it comes from."""

from __future__ import annotations

from typing import Any

from floatgate.base.text_table import named
from floatgate.report.sections import drive, rating, reduce
from floatgate.report.sections.forecast import entry, latency
from floatgate.report.sections.forecast import lines as forecast


def text(result: dict[str, Any], label: str = "") -> str:
    """The summary as lines of text; ``label`` is what to call a trace."""
    return named(lines(result, label))


def lines(result: dict[str, Any], label: str = "") -> list[tuple[str, str]]:
    """Name and text of each line; what the result knows nothing of is left out."""
    made = [
        ("load", latency.overload(result)),
        ("life", forecast.answer(result)),
        ("basis", forecast.basis(result)),
        ("interval", forecast.interval(result)),
        ("rating", rating.line(result, entry.life_that_counts(result))),
        *(("latency" if i == 0 else "", told) for i, told in enumerate(latency.lines(result))),
        ("drive", drive.line(result)),
        ("workload", forecast.workload(result, label)),
        ("WAF", forecast.waf(result)),
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
