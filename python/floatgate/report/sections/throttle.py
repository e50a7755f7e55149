"""The throttle of a run."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.pages import palette, vega
from floatgate.pages.charts import HEIGHT, TIME_UNITS, WIDTH, axis_title, data_chart, finished
from floatgate.pages.parts import Box, Charts, Part, Rows, Section, Text, figure
from floatgate.report.sections import section
from floatgate.report.sections.run_charts import course
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView


def line(result: dict[str, Any]) -> str | None:
    """Format as ``static: 80 % of page writes delayed, mean delay 0.9 s over all``; None where there is no throttle."""
    facts = look(result, "throttle")
    if not facts:
        return None
    pages = look(result, "host", "page_writes")
    parts = [f"{units.share(facts.get('held_share') or 0.0)} of page writes delayed"]
    if pages and facts.get("held_back_s"):
        parts.append(f"mean delay {units.span(facts['held_back_s'] / pages)} over all")
    if facts.get("waits"):
        parts.append(f"{units.count(facts['waits'])} page writes waited for the throttle's budget")
    if facts.get("epochs"):
        last = f", the last one {units.span(facts['epoch_s'])} long" if facts.get("epoch_s") else ""
        parts.append(f"{units.count(facts['epochs'])} epochs{last}")
    return f"{facts['policy']}: {', '.join(parts)}"


def parts(run: RunView, result: dict[str, Any]) -> list[Part]:
    """Show the delayed writes over time; empty if the run has no throttle."""
    facts = look(result, "throttle")
    summary = line(result)
    if not facts or not summary:
        return []
    rows = [
        ("page writes delayed or waiting", units.share(facts.get("held_share") or 0.0)),
        ("mean delay of a page write", units.span((facts.get("delay_us_mean") or 0.0) * 1e-6)),
        ("page writes that waited for the throttle's budget", units.count(facts["waits"])),
        ("total of these waits", units.span(facts["wait_s"])),
        ("total delays and waits", units.span(facts["held_back_s"])),
    ]
    if facts.get("epochs") is not None:
        rows.append(("epochs", units.count(facts["epochs"])))
        rows.append(("times the epoch length was chosen again", units.count(facts["selections"])))
        rows.append(("length of the last epoch", units.span(facts["epoch_s"])))
    prediction = facts.get("prediction") or {}
    if prediction.get("compared"):
        share = f"{units.share(prediction['within'])} of {units.count(prediction['compared'])}"
        rows.append((f"demand within {units.share(prediction['error_max'])} of the prediction", share))
    beside: list[Part] = [Box([Rows(rows)])]
    if run.series.num_rows > 1 and "held_back_s" in run.series.column_names:
        drawn = figure(
            "held-back",
            "Throttling over time",
            "Mean delay of a page write in each interval.",
            lambda width: over_time(run, width),
        )
        beside.insert(0, drawn)
    return [Section("Throttle", [Text(f"{summary}."), Charts(beside)])]


def over_time(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Draw the mean delay of a page write, interval by interval."""
    rows, axis = course(run)
    points = [
        {"at": row["at"], "s": (row.get("held_back_s") or 0.0) / row["page_writes"]}
        for row in rows
        if row.get("page_writes")
    ]
    title, unit = axis_title("mean delay", max((point["s"] for point in points), default=0.0), TIME_UNITS)
    chart = (
        data_chart([{"at": point["at"], "held": point["s"] / unit} for point in points])
        .mark_line(color=palette.INK, interpolate="step-before", strokeWidth=1.4)
        .encode(
            x=vega.X("at:Q", title=axis, scale=vega.Scale(nice=False)),
            y=vega.Y("held:Q", title=title, scale=vega.Scale(zero=True)),
        )
    )
    return finished(chart, width, HEIGHT)


def remark(result: dict[str, Any]) -> str | None:
    """Warn of a run that is too short for a throttle, or manager, that learns from epoch to epoch; else None."""
    facts = look(result, "throttle") or {}
    epochs, epoch_s = facts.get("epochs"), facts.get("epoch_s")
    if epochs is None or epochs > FEW_EPOCHS:
        return None
    span = look(result, "span_s")
    lasts = "" if span is None else f" in {units.span(span)}"
    length = f" of {units.span(epoch_s)}" if epoch_s else ""
    return (
        f"{facts['policy']} decides at the end of an epoch{length}, and the run has had {units.count(epochs)}{lasts}: "
        "what it would do later is not seen; a longer workload shows it"
    )


FEW_EPOCHS = 2
"""Minimum of epochs: the first is decided without any demand known, the next by that one alone."""

SECTION = section.Section(
    "throttle",
    lines=lambda _, result: [("throttle", line(result))],
    parts=parts,
    remarks=lambda result: [remark(result)],
)
