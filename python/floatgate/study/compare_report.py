"""The report of a comparison: settings side by side, with the difference and its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floatgate.pages.page import report
from floatgate.pages.parts import Box, Charts, Code, Grid, Part, Rows, Section, Text, figure
from floatgate.report.sections import latency_charts, lifetime_headline, not_modelled
from floatgate.report.sections.latency import QUANTILES, quantiles
from floatgate.report.summary import lines
from floatgate.results import metrics
from floatgate.results.flat import plain
from floatgate.study import also_differs, difference_charts, varied_charts
from floatgate.study.compare_rows import caveats, notes, settings_rows, table_rows

if TYPE_CHECKING:
    from floatgate.study.compare import Comparison, Setting


_SETTING = "<setting>"
"""The key of a row's setting, distinct from those of figures."""


def page(comparison: Comparison, command: str | None = None) -> str:
    """Return the comparison as one self-contained HTML page.

    Args:
        comparison: the settings and their results.
        command: the command line that made it, where there was one.
    """
    keys = comparison.keys
    title = f"comparison by {', '.join(keys)}" if keys else "comparison"
    header, rows = table_rows(comparison, page=True)
    parts = [
        *_best(comparison),
        *map(Text, caveats(comparison)),
        *difference_charts.sections(comparison, settings_rows(comparison), _short),
        *_pictures(comparison),
        Section("All settings", [Grid(header, rows, texts=max(1, len(keys))), *_below(comparison)]),
        *_latency(comparison),
        *_workload(comparison),
    ]
    own = [
        Section("The first setting's resolved experiment", [Code(run.experiment_toml)]) for run in comparison.runs[:1]
    ]
    left_out = not_modelled.of_all(run.result for run in comparison.runs)
    return report(title, parts, of=_count(comparison), not_modelled=left_out, command=command, ends=own)


def _count(comparison: Comparison) -> str:
    seeds = max(len(setting.each) for setting in comparison)
    return f"{len(comparison)} settings" + (f", {seeds} seeds each" if seeds > 1 else "")


def _below(comparison: Comparison) -> list[Part]:
    """Write the paragraphs below the table: failures, and how to read it."""
    return [
        *(Text(f"Failed: {text}") for text in comparison.failures()),
        Text(_reading(comparison)),
        *map(Text, notes(comparison)),
    ]


def _reading(comparison: Comparison) -> str:
    if comparison.repeated and not all(setting.seedless for setting in comparison):
        how = (
            "each seed serves the same requests under every setting; ± is half the 95 % interval of the mean "
            "difference of runs with the same seed. Figures are means over the seeds"
        )
    else:
        how = "± is half the 95 % interval of the difference, from pairs of batches over the same requests"
    return f"Differences are against {comparison.against}; {how}. Moved: programs that were not host writes."


def _best(comparison: Comparison) -> list[Part]:
    """Describe the best setting by each metric, and its distance from the baseline."""
    known = [setting for setting in comparison if setting.result is not None]
    rows = [{**row, _SETTING: setting} for setting, row in zip(known, settings_rows(comparison), strict=True)]

    def named(metric: metrics.Metric, row: dict[str, Any]) -> str:
        figures = (comparison.difference(row[_SETTING]) or {}).get("figures") or {}
        ratio = (figures.get(metric.key) or {}).get("relative")
        against = comparison.base_of(row[_SETTING])
        if metric.key == lifetime_headline.FIRST_BLOCK and row[_SETTING] is not against:
            base = next((one.get(metric.key) for one in rows if one[_SETTING] is against), None)
            ratio = row[metric.key] / base - 1 if base else None
        text = "" if ratio is None else f"; {100 * ratio:+.0f} % against {_short(against)}"
        keys = comparison.keys
        return f"{varied_charts.keyed(row, keys) if keys else _short(row[_SETTING])}{text}"

    return varied_charts.best(rows, comparison.keys, named)


def _short(setting: Setting) -> str:
    return ", ".join(varied_charts.text(value.strip("\"'")) for _, value in setting.overrides) or setting.label


def _pictures(comparison: Comparison) -> list[Part]:
    rows = settings_rows(comparison)
    keys = comparison.keys or ["setting"]
    drawn = varied_charts.pages(rows, keys, name="compared") if rows else []
    if not drawn:
        return []
    how = Text("Thin bars across a mark are 95 % intervals, where they are known.")
    return [Section("Side by side", [how, *map(Text, also_differs.notes(comparison)), *drawn])]


def _latency(comparison: Comparison) -> list[Part]:
    if len(comparison) > varied_charts.BARS_MAX:
        return []  # the charts show the tails; so many rows would be unreadable
    labels, results = [_short(setting) for setting in comparison], [setting.result for setting in comparison]
    settings = [{key: plain(value) for key, value in setting.overrides} for setting in comparison]
    rows = latency_charts.compared_rows(labels, results, settings)
    if not rows:
        return []
    of_settings = varied_charts.setting_words(settings_rows(comparison), comparison.keys or ["setting"])
    kinds: list[Part] = []
    for kind, label in latency_charts.KINDS:
        of_kind = [row for row in rows if row["kind"] == label]
        if not of_kind:
            continue
        chart = figure(
            f"compared-{kind}",
            f"Latency of {label}",
            f"Circle: p50, square: p99, triangle: p99.9. {of_settings}".strip(),
            lambda width, of_kind=of_kind: latency_charts.compared(labels, of_kind, width),  # type: ignore[misc]
        )
        cells = [[name, *quantiles(result, kind)] for name, result in zip(labels, results, strict=True)]
        table = Grid([label, *(name for _, name in QUANTILES)], cells)
        kinds.append(Charts([chart, Box([table])]))
    return [Section("Latency", kinds)]


def _workload(comparison: Comparison) -> list[Part]:
    if not comparison.runs:
        return []
    kept = [line for line in lines(comparison.runs[0]) if line[0] in ("drive", "workload", "note")]
    return [Section("The first setting's drive and workload", [Rows(kept)])]
