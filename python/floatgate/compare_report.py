"""The report of a comparison: settings side by side, with the difference and its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floatgate import _core, charts, html, reduce, timed_report
from floatgate.amplification import amplification
from floatgate.record import look
from floatgate.summary import lines

if TYPE_CHECKING:
    from floatgate.compare import Comparison


def page(comparison: Comparison, command: str | None = None) -> str:
    """The comparison as one self-contained HTML page.

    Args:
        comparison: the settings and what they gave.
        command: the command line that made it, where there was one.
    """
    keys = [key for key, _ in comparison.settings[0].overrides]
    title = f"comparison by {', '.join(keys)}" if keys else "comparison"
    header, rows = comparison.rows()
    first = comparison.settings[0].label
    sections = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="soft">floatgate {html.escape(_core.__version__)}, {len(comparison)} settings</p>',
        html.grid(header, rows, texts=max(1, len(keys))),
        "".join(f"<p>Failed: {html.escape(text)}</p>" for text in comparison.failures()),
        _reading(first),
        f"<p>{html.escape(reduce.READING)}</p>" if comparison.reduces() else "",
        _chart(comparison),
        _latency(comparison),
        _workload(comparison),
        html.left_out([text for run in comparison.runs for text in look(run.result, "not_modelled") or []]),
        f"<h2>How to repeat it</h2><pre>{html.escape(command)}</pre>" if command else "",
        _experiment(comparison),
    ]
    return html.document(f"{title}: floatgate", "\n".join(section for section in sections if section))


def _reading(first: str) -> str:
    return (
        f"<p>Differences are against {html.escape(first)}; ± is half the 95 % interval of the difference, "
        "assuming independent errors of the two runs. Moved: programs that were not host writes.</p>"
    )


def _chart(comparison: Comparison) -> str:
    rows: list[dict[str, Any]] = []
    for setting in comparison.settings:
        waf, interval = amplification(setting.run.result if setting.run else None)
        if waf is None:
            continue
        ends = {"low": min(interval), "high": max(interval)} if interval else {}
        rows.append({"label": setting.label, "waf": waf, **ends})
    if not rows:
        return ""
    labels = [row["label"] for row in rows]
    chart = html.figure(
        "compared",
        "Write amplification",
        "One bar per setting; the black line is its 95 % interval.",
        lambda width: charts.compared(labels, rows, width),
    )
    return f'<h2>Side by side</h2><div class="charts">{chart}</div>'


def _latency(comparison: Comparison) -> str:
    results = [setting.run.result.to_dict() if setting.run else None for setting in comparison.settings]
    return timed_report.compared_latency([setting.label for setting in comparison.settings], results)


def _workload(comparison: Comparison) -> str:
    if not comparison.runs:
        return ""
    kept = [line for line in lines(comparison.runs[0]) if line[0] in ("drive", "workload", "note")]
    return f"<h2>The first setting's drive and workload</h2>{html.rows_table(kept)}"


def _experiment(comparison: Comparison) -> str:
    if not comparison.runs:
        return ""
    return (
        f"<h2>The first setting's resolved experiment</h2><pre>{html.escape(comparison.runs[0].experiment_toml)}</pre>"
    )
