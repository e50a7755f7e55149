"""How separators are drawn: each has one colour, dash and shape in all figures."""

from __future__ import annotations

from floatgate.pages.charts import INK
from floatgate.report.throttle_charts import Look

LOOKS = {
    "none": Look("none", "#808080", (2, 3), "circle"),
    "hash": Look("HASH", "#a5630a", (8, 3), "square"),
    "pds": Look("PDS", "#56b4ea", (5, 2, 1, 2), "diamond"),
    "pds-16": Look("PDS", "#56b4ea", (5, 2, 1, 2), "diamond"),
    "ids": Look("IDS", "#0072b3", (3, 1), "triangle-up"),
    "ora": Look("ORA", INK, (), "cross"),
    "ora-3": Look("ORA", INK, (), "cross"),
}


def looks(separators: tuple[str, ...]) -> list[Look]:
    """The looks of some separators, in their order."""
    return [LOOKS[one] for one in separators]
