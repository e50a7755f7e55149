"""The report of a sweep: how far it is, the best and the worst settings, figures against the keys that vary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floatgate.pages.page import report
from floatgate.pages.parts import Grid, Items, Part, Section, Text
from floatgate.report.sections import lifetime_headline
from floatgate.report.sections.amplification import IN_BYTES
from floatgate.study import varied_charts
from floatgate.study.runs.left_out import of_runs
from floatgate.study.runs.work import DONE

if TYPE_CHECKING:
    from floatgate.study.sweeps.loaded import LoadedSweep

TABLE_MAX = 40
"""Settings of a sweep that the page lists; of more, the first and the last in the order of write amplification."""


def page(sweep: LoadedSweep, command: str | None = None) -> str:
    """Return the sweep as one self-contained HTML page.

    Args:
        sweep: the sweep.
        command: the command line that made it, where there was one.
    """
    rows = sweep.settings()
    keys = sweep.keys
    parts = [
        *varied_charts.best(rows, keys, lambda _, row: varied_charts.keyed(row, keys)),
        *([Section("Figures", [*map(Text, sweep.notes()), *varied_charts.pages(rows, keys)])] if rows else []),
        *_table(rows, keys, [Text(lifetime_headline.OWN_PACE_NOTE)] if sweep.own_pace() else []),
        *_failures(sweep),
    ]
    title, left_out = f"sweep over {', '.join(keys)}", of_runs(sweep.plan())
    return report(title, parts, of=_progress(sweep), not_modelled=left_out, command=command)


def _progress(sweep: LoadedSweep) -> str:
    """Format as ``200 runs: 100 settings, 2 seeds each``."""
    text = f"{sweep.planned} runs: {sweep.planned // sweep.repeat} settings"
    text += f", {sweep.repeat} seeds each" if sweep.repeat > 1 else ""
    return text if len(sweep) == sweep.planned else f"{text}; {len(sweep)} have ended so far"


def _table(rows: list[dict[str, Any]], keys: list[str], notes: list[Text]) -> list[Part]:
    shown = varied_charts.listed(rows)
    if not rows or not shown:
        return []
    ranked = sorted(rows, key=lambda row: (row.get(IN_BYTES) is None, row.get(IN_BYTES) or 0.0))
    text = "By write amplification."
    if len(ranked) > TABLE_MAX:
        half = TABLE_MAX // 2
        text = f"The {half} lowest and the {half} highest of {len(ranked)} by write amplification."
        ranked = [*ranked[:half], *ranked[-half:]]
    cells = [
        [
            *(varied_charts.text(row[key]) for key in keys),
            *(cell(row) for _, cell in shown),
        ]
        for row in ranked
    ]
    header = [*(varied_charts.short(key, keys) for key in keys), *(name for name, _ in shown)]
    return [Section("Settings", [Text(text), Grid(header, cells, texts=len(keys), stacks=True), *notes])]


def _failures(sweep: LoadedSweep) -> list[Part]:
    failed = [
        row
        for row in sweep.arrow().select([*sweep.keys, "run", "status", "error"]).to_pylist()
        if row["status"] != DONE
    ]
    if not failed:
        return []
    phrases = [f"run {row['run']} ({varied_charts.label(row, sweep.keys)}): {row['error']}" for row in failed[:20]]
    more = [Text(f"and {len(failed) - 20} more")] if len(failed) > 20 else []
    return [Section(f"{len(failed)} runs without a result", [Items(phrases), *more])]
