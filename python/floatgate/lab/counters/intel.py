"""Additional logs with ``nand_bytes_written`` and ``host_bytes_written``: Intel and Solidigm in 32 MiB, others open.

``nvme intel smart-log-add`` and ``nvme solidigm smart-log-add`` count units of 32 MiB. Other makers have the same keys
in units of their own, and some tools print ``sectors`` beside them whatever the unit is: these are questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from floatgate.base.errors import input_error
from floatgate.base.json_in import Node
from floatgate.lab.counters.nvme_smart import own_time
from floatgate.lab.counters.reading import Counter, Document, Question, Reading, Role, Stated
from floatgate.lab.counters.values import MIB, count, digits

KIND = "additional SMART log"
UNIT_BYTES = 32 * MIB
"""Bytes of a count on drives of Intel and Solidigm."""
_KEYS = {"host_bytes_written": Role.HOST, "nand_bytes_written": Role.MEDIA}
_KNOWN = ("intel smart log", "solidigm smart log")
_LINE = re.compile(r"^[ \t]*(0x[0-9a-f]+[ \t]+)?(nand|host)_bytes_written[ \t:]+(\d.*?)[ \t]*$", re.MULTILINE)
_USUAL = (1, 512, MIB, UNIT_BYTES)


def read(document: Document, stated: Stated) -> Reading | None:
    """Read an additional SMART log; None if it is something else.

    Raises:
        InputError: a value is damaged.
    """
    if document.node is None:
        values, known = _of_text(document)
        time_s, time_source = document.time_s, document.time_source
    else:
        values = dict(_of_json(document.node))
        known = any(key.lower() in _KNOWN for key in document.node.table())
        time_s, time_source = own_time(document.node, document)
    if not values:
        return None
    counters: dict[Role, Counter] = {}
    questions = []
    for key, value in values.items():
        role, unit = stated.of(key) or (_KEYS[key], UNIT_BYTES if known else None)
        if unit is None and role is Role.HOST:
            unit = stated.unit_bytes
        if unit is None:
            why = "counts in units that each maker chooses"
            questions.append(Question(key, key, value, role, _USUAL, why))
        else:
            counters[role] = Counter(value * unit, unit, key, unit)
    return Reading(
        document.place, KIND, time_s=time_s, time_source=time_source, host=counters.get(Role.HOST),
        media=counters.get(Role.MEDIA), interface="nvme", questions=tuple(questions),
    )  # fmt: skip


def _of_json(content: Node) -> Iterator[tuple[str, int]]:
    """Yield key and raw count, whether the raw count is below the key or has a key of its own."""
    inner = content.get("Device stats")
    # Without the name of a tool and its table, only keys with their raw count are sure to be of such a log.
    for table in (content,) if inner is None else (inner, content):
        for key in _KEYS:
            node = table.get(key)
            if node is not None and isinstance(node.value, dict):
                node = node.get("raw")
            raw = count(node if node is not None else table.get(f"{key} raw"))
            if raw is not None:
                yield key, raw


def _of_text(document: Document) -> tuple[dict[str, int], bool]:
    """Return raw counts by key, and whether the layout is that of Intel and Solidigm: a hexadecimal key in front."""
    values: dict[str, int] = {}
    known = True
    for match in _LINE.finditer(document.text):
        key = f"{match[2]}_bytes_written"
        raw = digits(match[3].split()[-1])
        if raw is None:
            raise input_error(f"{document.place}: {key} is '{match[3]}'; expected a counter, in digits")
        if values.setdefault(key, raw) != raw:
            raise input_error(f"{document.place}: has {key} twice; expected a date line between two readings")
        known = known and match[1] is not None
    return values, known
