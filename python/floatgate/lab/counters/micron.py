"""``nvme micron vs-nand-stats`` and ``vs-smart-add-log``: bytes written to flash, in hexadecimal digits.

Its logs 0xC0 have the keys of OCP and are read by ``ocp``.
"""

from __future__ import annotations

import re

from floatgate.base.errors import input_error
from floatgate.lab.counters.nvme_smart import own_time
from floatgate.lab.counters.reading import Counter, Document, Reading, Stated
from floatgate.lab.counters.values import count, plain_key, printed, tables

KIND = "Micron extended SMART log"
_KEYS = ("NAND Writes (Bytes Written)",)
_PLAIN = tuple(plain_key(key) for key in _KEYS)
_LINE = re.compile(r"^[ \t]*NAND Writes \(Bytes Written\)[ \t]*:[ \t]*(\S.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE)


def read(document: Document, stated: Stated) -> Reading | None:  # noqa: ARG001 - readers take the same arguments
    """Read the extended SMART log of Micron; None if it is something else.

    Raises:
        InputError: a value is damaged.
    """
    values = []
    time_s, time_source = document.time_s, document.time_source
    if document.node is None:
        values = [printed(match[1], f"{document.place}: {_KEYS[0]}") for match in _LINE.finditer(document.text)]
    else:
        time_s, time_source = own_time(document.node, document)
        for table in tables(document.node):
            keys = [key for key in table.table() if plain_key(key) in _PLAIN]
            values += [value for value in (count(table.get(key)) for key in keys) if value is not None]
    if not values:
        return None
    if len(set(values)) > 1:
        raise input_error(f"{document.place}: has {_KEYS[0]} twice; expected a date line between two readings")
    media = Counter(values[0], 1, "NAND writes", 1)
    return Reading(document.place, KIND, time_s=time_s, time_source=time_source, media=media, interface="nvme")
