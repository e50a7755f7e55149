"""A comparison as rows: of its table for people, of the flat table, and of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from floatgate.base.errors import one_line
from floatgate.report import several
from floatgate.report.sections import amplification, lifetime_headline, orders, streams
from floatgate.report.sections.section import Columns
from floatgate.results import metrics
from floatgate.results.flat import flat, plain
from floatgate.results.result_view import look
from floatgate.results.seed_stats import (
    SEED_ACTS_ON,
    SEED_CHANGES_NOTHING,
    SHARED_TRACE,
    WIDER,
    draws_workload,
    spreads,
)
from floatgate.study import also_differs, visible_capacity
from floatgate.study.runs.rows import flat_row
from floatgate.study.runs.work import DONE, FAILED

UNPAIRED = "batches are not over the same requests; errors of both runs count as independent"
"""Why an interval of a difference is not that of paired batches."""

if TYPE_CHECKING:
    from floatgate.study.compare import Comparison, Setting


def table_rows(comparison: Comparison, *, page: bool = False) -> tuple[list[str], list[list[str]]]:
    """Return header and cells: the values that vary, then the columns of the sections.

    Args:
        comparison: the settings.
        page: whether they are for a page, which has room for more columns and for the folders of runs.
    """
    header = [*(comparison.keys or ["setting"])]
    shown = _columns(comparison, page=page)
    header += [name for columns in shown for name in columns.header]
    cells = [_cells(comparison, setting, shown, len(header)) for setting in comparison]
    folders = [_folders(setting) for setting in comparison] if page else []
    if any(folders) and comparison.keys != ["run"]:
        header.append("folder")
        cells = [[*row, place or "-"] for row, place in zip(cells, folders, strict=True)]
    return header, cells


def _folders(setting: Setting) -> str:
    """Return the run folders of a setting beside the page: ``02-dac``, or the first and the last one of seeds."""
    names = [one.run.folder.name for one in setting.each if one.run is not None and one.run.folder is not None]
    return " to ".join(dict.fromkeys([names[0], names[-1]])) if names else ""


def caveats(comparison: Comparison) -> list[str]:
    """Return what a run under some of the settings notes, with the settings: its figures do not mean what they seem."""
    results = {setting.label: setting.result for setting in comparison if setting.result is not None}
    runs = {setting.label: setting.run.result.to_dict() for setting in comparison if setting.run is not None}
    return several.notes(results, runs)


def notes(comparison: Comparison) -> list[str]:
    """Return how to read the columns that need it, where seeds change nothing, and what intervals cover."""
    read = [columns.note for columns in _columns(comparison) if columns.note]
    return [
        *also_differs.notes(comparison),
        *visible_capacity.notes(comparison),
        *streams.batch_notes([run.result.to_dict() for run in comparison.runs]),
        *_matched(comparison),
        *read,
        *_seedless(comparison),
        *_intervals(comparison),
    ]


def _matched(comparison: Comparison) -> list[str]:
    """Say what differences are taken from where settings have several baselines."""
    several = len(set(comparison.baselines)) > 1
    return [f"Differences are from {comparison.against}."] if several else []


def _intervals(comparison: Comparison) -> list[str]:
    """Say what the intervals of several seeds cover, and which differences could not be paired."""
    wider = any(len(setting.seeds) > 1 and not setting.seedless for setting in comparison)
    entries = [(setting, comparison.difference(setting)) for setting in comparison]
    apart = [setting.label for setting, entry in entries if entry is not None and entry["interval_from"] == "batches"]
    return [
        *([WIDER] if wider else []),
        *([SHARED_TRACE] if wider and not all(draws_workload(run.result.to_dict()) for run in comparison.runs) else []),
        *([f"± of {', '.join(apart)}: {UNPAIRED}."] if apart else []),
    ]


def _seedless(comparison: Comparison) -> list[str]:
    """Note the settings whose seeds have one result."""
    alike = [setting for setting in comparison if setting.seedless]
    if not alike:
        return []
    which = "" if len(alike) == len(comparison) else f"{', '.join(setting.label for setting in alike)}: "
    return [f"{which}{SEED_CHANGES_NOTHING}. {SEED_ACTS_ON}"]


def _columns(comparison: Comparison, *, page: bool = True) -> list[Columns]:
    """List the columns of the metrics that at least one setting knows."""
    results = [run.result.to_dict() for run in comparison.runs]
    there = [columns for section in orders.COMPARED for columns in section.columns if page or not columns.page_only]
    applying = [columns for columns in there if columns.applies is None or any(map(columns.applies, results))]
    shown = [setting.result for setting in comparison if setting.result is not None]
    return [columns if columns.fitted is None else columns.fitted(shown) for columns in applying]


def _cells(comparison: Comparison, setting: Setting, shown: Sequence[Columns], width: int) -> list[str]:
    values = [value.strip("\"'") for _, value in setting.overrides] or ["as given"]
    result = setting.result
    if result is None:
        cells = [*values, "failed"]
        return cells + [""] * (width - len(cells))
    difference = comparison.difference(setting)
    return [*values, *(cell for columns in shown for cell in columns.cells(result, difference))]


def flat_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return one row per run: its number, the settings, seed, status and error, then the figures of a flat result."""
    rows: list[dict[str, Any]] = []
    for setting in comparison:
        over_seeds = _over_seeds(setting)
        for one in setting.each:
            figures = flat(one.run.result.to_dict()) if one.run is not None else {"seed": one.seed}
            figures |= over_seeds
            settings = {key: plain(value) for key, value in setting.overrides}
            error = one_line(one.error) if one.error else None
            rows.append(flat_row(len(rows), settings, FAILED if one.error else DONE, error, figures))
    return rows


def _over_seeds(setting: Setting) -> dict[str, Any]:
    """Return the means over seeds of a setting with their intervals, as columns: ``over_seeds.waf.mean_95.low``."""
    if len(setting.by_seed) < 2 or setting.seedless:
        return {}
    means = spreads(list(setting.by_seed.values()))
    return flat({"over_seeds": {key: spread.to_dict() for key, spread in means.items()}})


def settings_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return one row for each setting with a result, as charts are drawn of them (:data:`.varied_charts.Rows`)."""
    rows = []
    results = [setting.result for setting in comparison if setting.result is not None]
    long_enough = [one for one in results if not lifetime_headline.too_short(one)]
    uneven, own_pace = (any(map(test, long_enough)) for test in (lifetime_headline.uneven, lifetime_headline.own_pace))
    for setting in comparison:
        result = setting.result
        if result is None:
            continue
        row: dict[str, Any] = {key: plain(value) for key, value in setting.overrides} or {"setting": setting.label}
        row |= amplification.row(result) | {"seeds": 1 if setting.seedless else len(setting.by_seed)}
        row |= {"unsteady": True} if any(map(lifetime_headline.unsteady, setting.by_seed.values())) else {}
        short = lifetime_headline.too_short(result) is not None
        for metric in metrics.drawn():
            if metric.key not in amplification.WITH_INTERVAL:
                untold = short and lifetime_headline.is_life(metric.key)
                row[metric.key] = None if untold else look(result, *metric.key.split("."))
        if own_pace:
            row[lifetime_headline.YEARS] = None
        if uneven:
            key = lifetime_headline.FIRST_TBW if own_pace else lifetime_headline.FIRST_BLOCK
            row[key] = None if short else look(result, *key.split("."))
        rows.append(row)
    return rows
