"""How separators are drawn: each has one colour, dash and shape in all figures."""

from __future__ import annotations

from floatgate.pages import palette
from floatgate.report.throttle_charts import Look

LOOKS = {
    "none": Look("none", palette.GREY, (2, 3), "circle"),
    "hash": Look("HASH", palette.BROWN, (8, 3), "square"),
    "pds": Look("PDS", palette.SKY, (5, 2, 1, 2), "diamond"),
    "pds-16": Look("PDS", palette.SKY, (5, 2, 1, 2), "diamond"),
    "ids": Look("IDS", palette.BLUE, (3, 1), "triangle-up"),
    "ora": Look("ORA", palette.INK, (), "cross"),
    "ora-3": Look("ORA", palette.INK, (), "cross"),
}


def looks(separators: tuple[str, ...]) -> list[Look]:
    """Return the looks of some separators, in their order."""
    return [LOOKS[one] for one in separators]
