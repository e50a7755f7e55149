"""What all techniques do to each workload, what each does alone and to the others, and pairs as matrices."""

from __future__ import annotations

from floatgate.pages import palette
from floatgate.papers.all_in_one.values import ALL, LONGER_IS_BETTER, METRICS, WORKLOADS
from floatgate.papers.all_in_one.workloads import PAIRED, PARTS
from floatgate.papers.judge import Findings
from floatgate.papers.matrices import matrix
from floatgate.papers.paper import Figure
from floatgate.report import throttle_charts
from floatgate.report.throttle_charts import Look

_WHOLE = (
    Look("life", palette.BLUE, (), "circle"),
    Look("spare blocks", palette.TEAL, (3, 1), "diamond"),
    Look("collection", palette.BROWN, (8, 3), "square"),
    Look("read reclaim", palette.PINK, (4, 1), "triangle-up"),
    Look("energy", palette.INK, (), "cross"),
)
_WHOLE_METRICS = ("life", "drive", "collection", "reclaim", "energy")
_PARTS = (
    Look("alone, over none", palette.BROWN, (8, 3), "square"),
    Look("all, over all without it", palette.BLUE, (), "circle"),
)
_OF_PARTS = ("life", "drive", "collection", "reclaim", "write")
_OF_PAIRS = ("life", "collection", "write")


def figures(findings: Findings) -> list[Figure]:
    """Return the figures that have results."""
    made = [_whole(findings, "half"), _whole(findings, "full")]
    made += [_parts(findings, metric) for metric in _OF_PARTS]
    made += [_pairs(findings, workload, metric) for workload in PAIRED for metric in _OF_PAIRS]
    return [figure for figure in made if figure is not None]


def _whole(findings: Findings, wear: str) -> Figure | None:
    rows = [
        {"thing": workload, "value": value, "series": look.label}
        for workload in WORKLOADS
        for metric, look in zip(_WHOLE_METRICS, _WHOLE, strict=True)
        if (value := findings.figure(f"{metric}_ratio.{wear}.{workload}.{ALL}")) is not None
    ]
    return _dots(
        f"whole-{wear}",
        f"All techniques, {wear} wear",
        "Over a drive with none of them, mean of the seeds; dashed: as without. A longer life is better, and less of "
        "all else. Read reclaim stands where reads disturb.",
        "All techniques together",
        rows,
        _WHOLE,
        list(WORKLOADS),
    )


def _parts(findings: Findings, metric: str) -> Figure | None:
    rows = []
    for part in PARTS:
        alone = findings.figure(f"mean.{metric}.half.{part}")
        lost = findings.figure(f"worth.{metric}.half.{part}")
        rows += [{"thing": part, "value": alone, "series": _PARTS[0].label}] if alone else []
        rows += [{"thing": part, "value": 1 / lost, "series": _PARTS[1].label}] if lost else []
    what = METRICS[metric][0]
    better = "To the right" if metric in LONGER_IS_BETTER else "To the left"
    return _dots(
        f"parts-{metric}",
        f"{what[0].upper()}{what[1:]}: what each technique does",
        f"Geometric means over the workloads that can have it, half wear. {better} of the dashed line is better.",
        "Each technique, alone and with all others",
        rows,
        _PARTS,
        list(PARTS),
    )


def _dots(
    id: str,
    title: str,
    caption: str,
    section: str,
    rows: list[dict[str, object]],
    looks: tuple[Look, ...],
    order: list[str],
) -> Figure | None:
    if not rows:
        return None
    return Figure(
        id,
        title,
        caption,
        lambda width: throttle_charts.dots(rows, looks, order, "ratio", width=width, log=True, rule=1.0),
        section,
    )


def _pairs(findings: Findings, workload: str, metric: str) -> Figure | None:
    values = {}
    for number, one in enumerate(PARTS):
        for other in PARTS[number + 1 :]:
            value = findings.figure(f"together.{metric}.{workload}.{one}+{other}")
            if value:
                values[one, other] = value if metric in LONGER_IS_BETTER else 1 / value
    if not values:
        return None
    what = METRICS[metric][0]
    return Figure(
        f"pairs-{metric}-{workload}",
        f"{what[0].upper()}{what[1:]} on {workload}",
        "What both do together over the product of what each does alone, half wear. Above 1 they help each other; "
        "below 1, in bold, one takes away what the other gives.",
        lambda width: matrix(values, PARTS, width),
        "Pairs",
    )
