"""One chart: cost and gain of each leveler, load by load."""

from __future__ import annotations

from typing import Any

from floatgate.pages import palette, vega
from floatgate.pages.charts import configured, data_chart
from floatgate.papers.judge import Findings
from floatgate.papers.leveling.values import LEVELERS, LOADS
from floatgate.papers.paper import Figure
from floatgate.report.throttle_charts import Look

LOOKS = [
    Look("hot-cold-swap", palette.BLUE, (), "triangle-up"),
    Look("swl", palette.INK, (), "circle"),
    Look("read-balance", palette.DARK_GREY, (), "cross"),
    Look("lazy", palette.BROWN, (), "square"),
    Look("adaptive", palette.GREEN, (), "diamond"),
    Look("gap", palette.MAGENTA, (), "triangle-down"),
]
NAMES = dict(zip(LOADS, ("uniform", "Zipf", "half static", "sqlite-updates", "postgres-updates"), strict=True))
SPARES = {"7": 45, "28": 150}
"""Size of the points."""


def figures(findings: Findings) -> list[Figure]:
    """Return the picture, if there is anything to show."""
    rows = [
        {"x": cost, "y": gain, "series": leveler, "load": NAMES[load], "spare": f"{spare} %"}
        for load in LOADS
        for spare in SPARES
        for leveler in LEVELERS
        if (cost := findings.figure(f"extra.{spare}.{load}.{leveler}")) is not None
        and (gain := findings.figure(f"first_gain.{spare}.{load}.{leveler}")) is not None
    ]
    if not rows:
        return []
    title = "What leveling costs and gains"
    return [
        Figure(
            "cost-and-gain",
            title,
            "Logarithmic. Programs beside those of none at the same host writes, and life of the first block "
            "over none's; above the line leveling gains. Small points: 7 % to spare, large: 28 %.",
            lambda width: _facets(rows, width),
            title,
        )
    ]


def _facets(rows: list[dict[str, Any]], width: int) -> Any:
    """Draw a panel for each load, all on the same axes."""
    labels = [one.label for one in LOOKS]
    legend = vega.Legend(title=None, orient="top", columns=3, symbolSize=110, symbolStrokeWidth=2)
    bent = vega.Scale(type="symlog", constant=0.01, domain=[-0.005, 8])
    x = vega.X("x:Q", title="extra programs", scale=bent, axis=vega.Axis(format="%", values=[0, 0.02, 0.2, 2]))
    steep = vega.Scale(type="log", domain=[0.1, 10])
    y = vega.Y("y:Q", title="first block's life", scale=steep, axis=vega.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10]))
    color = vega.Color("series:N", scale=vega.Scale(domain=labels, range=[one.color for one in LOOKS]), legend=legend)
    shape = vega.Shape("series:N", scale=vega.Scale(domain=labels, range=[one.shape for one in LOOKS]), legend=legend)
    sizes = vega.Scale(domain=[f"{spare} %" for spare in SPARES], range=list(SPARES.values()))
    size = vega.Size("spare:N", scale=sizes, legend=None)
    panels = []
    for load in NAMES.values():
        mine = [row for row in rows if row["load"] == load]
        line = (
            data_chart([{"y": 1.0}]).mark_rule(color=palette.GREY, strokeDash=[4, 3], strokeWidth=1.4).encode(y="y:Q")
        )
        points = data_chart(mine).mark_point(strokeWidth=1.8, filled=False)
        panel = vega.layer(line, points.encode(x=x, y=y, color=color, shape=shape, size=size))
        panels.append(panel.properties(width=max(60, width // 3 - 75), height=170, title=load))
    return configured(vega.concat(*panels, columns=3).resolve_scale(x="shared", y="shared"))
