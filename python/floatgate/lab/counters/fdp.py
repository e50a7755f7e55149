"""``nvme fdp stats``: bytes that the host wrote, and that the drive programmed and erased, with their metadata."""

from __future__ import annotations

import re

from floatgate.base.errors import input_error
from floatgate.lab.counters.nvme_smart import own_time
from floatgate.lab.counters.reading import Counter, Document, Reading, Stated
from floatgate.lab.counters.values import count, printed

KIND = "nvme fdp stats"
_KEYS = {"hbmw": "host bytes with metadata written", "mbmw": "media bytes with metadata written",
         "mbe": "media bytes erased"}  # fmt: skip
_LINE = re.compile(r"^.*?\((HBMW|MBMW|MBE)\)[ \t]*:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


def read(document: Document, stated: Stated) -> Reading | None:  # noqa: ARG001 - readers take the same arguments
    """Read the statistics of FDP; None if it is something else.

    Raises:
        InputError: a value is damaged.
    """
    time_s, time_source = document.time_s, document.time_source
    values: dict[str, int] = {}
    if document.node is None:
        for match in _LINE.finditer(document.text):
            name = match[1].lower()
            value = printed(match[2], f"{document.place}: {match[1]}")
            if values.setdefault(name, value) != value:
                raise input_error(f"{document.place}: has {match[1]} twice; expected a date line between two readings")
    else:
        time_s, time_source = own_time(document.node, document)
        for key in _KEYS:
            number = count(document.node.get(key))
            if number is not None:
                values[key] = number
    if "hbmw" not in values or "mbmw" not in values:
        return None
    host, media, erased = (Counter(values[key], 1, _KEYS[key], 1) if key in values else None for key in _KEYS)
    return Reading(
        document.place, KIND, time_s=time_s, time_source=time_source, host=host, media=media, erased=erased,
        interface="nvme",
    )  # fmt: skip
