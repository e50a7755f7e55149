"""Pictures of write amplification: means by collector, every trace by itself, and by spare space."""

from __future__ import annotations

from floatgate.pages import palette
from floatgate.papers.judge import Findings
from floatgate.papers.paper import Figure
from floatgate.papers.separation.values import COLLECTORS, MAIN, SPARES
from floatgate.report import throttle_charts
from floatgate.report.throttle_charts import Look

_STYLES = (
    (palette.BLUE, (), "circle"),
    (palette.BROWN, (8, 3), "square"),
    (palette.INK, (), "cross"),
    (palette.SKY, (5, 2, 1, 2), "diamond"),
    (palette.GREY, (2, 3), "triangle-up"),
    (palette.TEAL, (3, 1), "triangle-down"),
    (palette.PINK, (4, 1), "triangle-right"),
)
_AXIS = "WAF over that of no separation"


def figures(findings: Findings) -> list[Figure]:
    """Return the pictures, if there is anything to show."""
    collectors = dict(COLLECTORS)
    spares = {one: f"{one.removeprefix('spare-')} % to spare" for one in SPARES} | {
        "superblock": "superblocks",
        "garbage": "15 % garbage",
    }
    mean = "Geometric mean over the recordings with contexts that count, as a share of no separation's."
    made = [
        _means(findings, "collectors", "By collector", mean, collectors),
        _means(
            findings, "spares", "By spare space and block size", f"{mean} Cost-benefit with the root of age.", spares
        ),
        _traces(findings),
    ]
    return [figure for figure in made if figure is not None]


def _names(findings: Findings) -> list[str]:
    names = [name.partition(".")[2] for name in findings.values if name.startswith(("waf.", "of.")) and "/" in name]
    return list(dict.fromkeys(name.split("/")[0] for name in names if not name.startswith("process/")))


def _means(findings: Findings, id: str, title: str, caption: str, batches: dict[str, str]) -> Figure | None:
    rows = [
        {"thing": separator, "value": ratio, "series": label}
        for separator in _names(findings)
        for batch, label in batches.items()
        if (ratio := findings.figure(f"of.{separator}/{batch}.waf_ratio")) is not None
    ]
    looks = [Look(label, *style) for label, style in zip(batches.values(), _STYLES, strict=False)]
    return _dots(id, title, caption, rows, looks)


def _traces(findings: Findings) -> Figure | None:
    traces = list(
        dict.fromkeys(name.split(".")[-1] for name in findings.values if name.startswith(f"ratio.none/{MAIN}."))
    )
    kept = [trace for trace in traces if (findings.figure(f"waf.none/{MAIN}.{trace}") or 0) >= 1.05]
    rows = [
        {"thing": separator, "value": ratio, "series": "a trace"}
        for separator in _names(findings)
        for trace in kept
        if (ratio := findings.figure(f"ratio.{separator}/{MAIN}.{trace}")) is not None
    ]
    caption = f"One mark for each of {', '.join(kept)}. Cost-benefit with the root of age."
    return _dots("traces", "Every trace by itself", caption, rows, [Look("a trace", *_STYLES[0])])


def _dots(id: str, title: str, caption: str, rows: list[dict[str, object]], looks: list[Look]) -> Figure | None:
    if not rows:
        return None
    order = list(dict.fromkeys(str(row["thing"]) for row in rows))
    return Figure(
        id,
        title,
        caption,
        lambda width: throttle_charts.dots(rows, looks, order, _AXIS, width=width, zero=False, rule=1.0),
        title,
    )
