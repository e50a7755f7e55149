"""Matrices of pairs: a figure for each two of some names, with help and harm marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.pages import palette, vega
from floatgate.pages.charts import data_chart, finished

HELP, ALIKE, HARM = "more than its parts", "as its parts", "less than its parts"
_FILLS = {HELP: palette.SKY, ALIKE: palette.WHITE, HARM: palette.PALE}
_NEAR = 0.02
"""Figures this near to 1 mark neither help nor harm."""


def matrix(values: Mapping[tuple[str, str], float], names: Sequence[str], width: int) -> Any:
    """Draw a figure for each pair, below the diagonal; above 1 is help, below 1 harm, which is printed bold.

    Args:
        values: by pair of names, the earlier one first.
        names: in their order.
        width: of the whole chart in pixels.
    """
    rows = [
        {"down": other, "across": one, "value": value, "kind": _kind(value), "text": f"{value:.2f}"}
        for (one, other), value in values.items()
    ]
    x = vega.X("across:N", sort=list(names[:-1]), title=None, axis=vega.Axis(labelAngle=-45, orient="top"))
    y = vega.Y("down:N", sort=list(names[1:]), title=None, axis=vega.Axis(labelLimit=140))
    scale = vega.Scale(domain=list(_FILLS), range=list(_FILLS.values()))
    legend = vega.Legend(title=None, orient="bottom", columns=1, symbolType="square", symbolStrokeColor=palette.GREY)
    shade = data_chart(rows).mark_rect(stroke=palette.GREY, strokeWidth=0.5)
    layers = [shade.encode(x=x, y=y, color=vega.Color("kind:N", scale=scale, legend=legend))]
    for weight, kept in (("normal", False), ("bold", True)):
        texts = [row for row in rows if (row["kind"] == HARM) is kept]
        if texts:
            layers.append(data_chart(texts).mark_text(fontSize=11, fontWeight=weight).encode(x=x, y=y, text="text:N"))
    return finished(vega.layer(*layers), width, 190 + 24 * (len(names) - 1))


def _kind(value: float) -> str:
    return HELP if value > 1 + _NEAR else HARM if value < 1 - _NEAR else ALIKE
