"""A comparison as rows: of its table for people, of the flat table, and of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from floatgate.base import units
from floatgate.base.errors import one_line
from floatgate.report.sections import disturb, lifetime_headline, reduce
from floatgate.report.sections.amplification import amplification, digits, text
from floatgate.results import metrics
from floatgate.results.flat import flat, plain
from floatgate.results.result_view import look
from floatgate.study.runs.rows import flat_row
from floatgate.study.runs.work import DONE, FAILED

if TYPE_CHECKING:
    from floatgate.study.compare import Comparison, Setting

_QUANTILES = {"p99": "p99", "p99.9": "p999"}


def table_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Header and cells: the values that vary, then the figures, then the difference against the baseline."""
    keys = comparison.keys or ["setting"]
    runs = comparison.runs
    timed = [kind for kind in ("read", "write") if any(look(run.result, "latency_us", kind) for run in runs)]
    header = [*keys, "WAF", "95 %", "difference", "life", "host", "moved", "erases per block", "most"]
    header += disturb.HEADER if any(look(run.result, "reclaim") for run in runs) else []
    header += reduce.HEADER if comparison.reduces() else []
    header += [f"{kind} {q}" for kind in timed for q in _QUANTILES] + (["IOPS"] if timed else [])
    return header, [_cells(comparison, setting, len(header), timed) for setting in comparison]


def _cells(comparison: Comparison, setting: Setting, columns: int, timed: Sequence[str]) -> list[str]:
    values = [value.strip("\"'") for _, value in setting.overrides] or ["as given"]
    result = setting.result
    if result is None:
        cells = [*values, "failed"]
        return cells + [""] * (columns - len(cells))
    waf, interval = amplification(result)
    cells = [
        *values,
        "-" if waf is None else text(waf, interval),
        "-" if waf is None or not interval else "-".join(digits(waf, interval)),
        difference_text(comparison.difference(setting)),
        _life_cell(result),
        *_program_shares(result),
        *(_or_dash(look(result, "wear", key)) for key in ("erases_mean", "erases_max")),
    ]
    if any(look(run.result, "reclaim") for run in comparison.runs):
        cells += disturb.cells(result)
    if comparison.reduces():
        cells += reduce.cells(result)
    for kind in timed:
        for key in _QUANTILES.values():
            time_us = look(result, "latency_us", kind, key)
            cells.append("-" if time_us is None else units.span(time_us * 1e-6))
    if timed:
        iops = look(result, "throughput", "iops")
        cells.append("-" if iops is None else units.count(iops))
    return cells


def difference_text(difference: dict[str, Any] | None) -> str:
    """``+0.12 ± 0.03``."""
    if difference is None:
        return "-"
    delta, interval = difference["waf_bytes"], difference["waf_bytes_95"]
    half = None if interval is None else (interval[1] - interval[0]) / 2
    decimals = 3 if half is not None and 0 < half < 0.005 else 2
    shown = f"{round(delta, decimals) + 0.0:+.{decimals}f}"
    return shown if half is None else f"{shown} ± {half:.{decimals}f}"


def _life_cell(result: dict[str, Any]) -> str:
    if lifetime_headline.too_short(result):
        return "too short"
    life, tbw = lifetime_headline.years(result), lifetime_headline.tbw_bytes(result)
    mark = " (first block)" if lifetime_headline.uneven(result) else ""
    if life is not None:
        return units.years(life) + mark
    return "-" if tbw is None else f"{units.figure(tbw / 1e12)} TBW{mark}"


def _program_shares(result: dict[str, Any]) -> list[str]:
    counts = look(result, "flash", "pages_written") or look(result, "flash", "programs") or {}
    total = counts.get("total")
    if not total:
        return ["-", "-"]
    host = counts.get("host", 0)
    return [units.share(host / total), units.share((total - host) / total)]


def _or_dash(value: float | None) -> str:
    return "-" if value is None else units.figure(value)


def flat_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One row for each run: its number, the settings, seed, status and error, then the figures of a flat result."""
    rows: list[dict[str, Any]] = []
    for setting in comparison:
        for one in setting.each:
            figures = flat(one.run.result.to_dict()) if one.run is not None else {"seed": one.seed}
            settings = {key: plain(value) for key, value in setting.overrides}
            error = one_line(one.error) if one.error else None
            rows.append(flat_row(len(rows), settings, FAILED if one.error else DONE, error, figures))
    return rows


def settings_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One row for each setting with a result: its values and figures, with intervals where they are known."""
    rows = []
    for setting in comparison:
        result = setting.result
        if result is None:
            continue
        row: dict[str, Any] = {key: plain(value) for key, value in setting.overrides} or {"setting": setting.label}
        waf, interval = amplification(result)
        row["waf_bytes"] = waf
        if interval:
            row["waf_bytes.low"], row["waf_bytes.high"] = min(interval), max(interval)
        for metric in metrics.drawn()[1:]:
            value = look(result, *metric.key.split("."))
            if metric.group == "lifetime" and lifetime_headline.too_short(result):
                value = None
            row[metric.key] = value
        rows.append(row)
    return rows
