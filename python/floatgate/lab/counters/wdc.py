"""``nvme wdc vs-nand-stats`` and ``vs-smart-add-log``: bytes written to flash, in one number or to TLC and SLC.

Its logs 0xC0 have the keys of OCP and are read by ``ocp``.
"""

from __future__ import annotations

import re

from floatgate.base.errors import input_error
from floatgate.base.json_in import Node
from floatgate.lab.counters.nvme_smart import own_time
from floatgate.lab.counters.reading import Counter, Document, Reading, Stated
from floatgate.lab.counters.values import HALF, count, printed

KIND = "WDC additional SMART log"
_HALVES = ("NAND Bytes Written Hi", "NAND Bytes Written Lo")
_PARTS = ("NAND Writes TLC (Bytes)", "NAND Writes SLC (Bytes)")
_LINE = re.compile(
    r"^[ \t]*(NAND Bytes Written|NAND Writes TLC \(Bytes\)|NAND Writes SLC \(Bytes\))[ \t:]+(\S.*?)[ \t]*$",
    re.MULTILINE,
)


def read(document: Document, stated: Stated) -> Reading | None:  # noqa: ARG001 - readers take the same arguments
    """Read the statistics of NAND of WDC; None if it is something else.

    Raises:
        InputError: a value is damaged.
    """
    if document.node is None:
        values = _of_text(document)
        time_s, time_source = document.time_s, document.time_source
    else:
        values = _of_json(document.node)
        time_s, time_source = own_time(document.node, document)
    if "NAND Bytes Written" in values:
        media = Counter(values["NAND Bytes Written"], 1, "NAND bytes written", 1)
    elif all(part in values for part in _PARTS):
        media = Counter(sum(values[part] for part in _PARTS), 1, "NAND writes, TLC + SLC", 1)
    else:
        return None
    return Reading(document.place, KIND, time_s=time_s, time_source=time_source, media=media, interface="nvme")


def _of_json(content: Node) -> dict[str, int]:
    values = {}
    for key in (*_HALVES, *_PARTS):
        value = count(content.get(key))
        if value is not None:
            values[key] = value
    if _HALVES[1] in values:
        high, low = values.pop(_HALVES[0], 0), values.pop(_HALVES[1])
        values["NAND Bytes Written"] = high * HALF + low
    return values


def _of_text(document: Document) -> dict[str, int]:
    values: dict[str, int] = {}
    for match in _LINE.finditer(document.text):
        value = printed(match[2], f"{document.place}: {match[1]}")
        if values.setdefault(match[1], value) != value:
            raise input_error(f"{document.place}: has {match[1]} twice; expected a date line between two readings")
    return values
