"""The log 0xC0 of OCP drives (``nvme ocp smart-add-log``): bytes that the drive programmed, in all styles of keys."""

from __future__ import annotations

import re

from floatgate.base.errors import input_error
from floatgate.base.json_in import Node
from floatgate.lab.counters.nvme_smart import own_time
from floatgate.lab.counters.reading import Counter, Document, Reading, Stated
from floatgate.lab.counters.values import count, plain_key, printed, tables

KIND = "OCP log 0xC0"
SOURCE = "physical media units written"
_PARTS = (f"{SOURCE} tlc", f"{SOURCE} slc")
"""Drives of an older specification count the writes to both kinds of cells apart."""
_LINE = re.compile(
    r"^[ \t]*physical media units written(?:[ \t-]*(tlc|slc))?(?:[ \t]*\(bytes\))?[ \t]*[-:]?[ \t]*(\S.*?)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


def read(document: Document, stated: Stated) -> Reading | None:  # noqa: ARG001 - readers take the same arguments
    """Read the log 0xC0; None if it is something else.

    Raises:
        InputError: a value is damaged.
    """
    if document.node is None:
        values = _of_text(document)
        time_s, time_source = document.time_s, document.time_source
    else:
        values = _of_json(document.node)
        time_s, time_source = own_time(document.node, document)
    if SOURCE in values:
        media = Counter(values[SOURCE], 1, SOURCE, 1)
    elif all(part in values for part in _PARTS):
        media = Counter(sum(values[part] for part in _PARTS), 1, f"{SOURCE}, TLC + SLC", 1)
    else:
        return None
    return Reading(document.place, KIND, time_s=time_s, time_source=time_source, media=media, interface="nvme")


def _of_json(content: Node) -> dict[str, int]:
    values: dict[str, int] = {}
    for table in tables(content):
        for key in table.table():
            name = plain_key(key)
            if name in (SOURCE, *_PARTS):
                value = count(table.get(key))
                if value is not None:
                    values.setdefault(name, value)
    return values


def _of_text(document: Document) -> dict[str, int]:
    values: dict[str, int] = {}
    for match in _LINE.finditer(document.text):
        name = f"{SOURCE} {match[1].lower()}" if match[1] else SOURCE
        value = printed(match[2], f"{document.place}: {name}")
        if values.setdefault(name, value) != value:
            raise input_error(f"{document.place}: has {name} twice; expected a date line between two readings")
    return values
