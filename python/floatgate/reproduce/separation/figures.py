"""One picture: write amplification of every separator under each victim policy."""

from __future__ import annotations

from floatgate import throttle_charts
from floatgate.charts import INK
from floatgate.reproduce.judge import Found
from floatgate.reproduce.paper import Figure
from floatgate.reproduce.separation.values import SEPARATORS, VICTIMS
from floatgate.throttle_charts import Look

LOOKS = [
    Look("greedy", INK, (), "cross"),
    Look("cost-benefit", "#0072b3", (3, 1), "triangle-up"),
    Look("d-choices", "#a5630a", (8, 3), "square"),
]


def figures(found: Found) -> list[Figure]:
    """The picture, if there is anything to show."""
    rows = [
        {"thing": separator, "value": waf, "series": victims}
        for separator in SEPARATORS
        for victims in VICTIMS
        if (waf := found.figure(f"of.{separator}/{victims}.waf_ratio")) is not None
    ]
    if not rows:
        return []
    title = "Write amplification against no separation"
    return [
        Figure(
            "waf",
            title,
            "Geometric mean over the traces with contexts, as a share of none's with the same victim policy.",
            lambda width: throttle_charts.dots(
                rows, LOOKS, list(SEPARATORS), "WAF over none's", width=width, zero=False, rule=1.0
            ),
            title,
        )
    ]
