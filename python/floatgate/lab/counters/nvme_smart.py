"""``nvme smart-log``, as JSON and as text."""

from __future__ import annotations

import re

from floatgate.base.errors import input_error, quote
from floatgate.base.json_in import Node
from floatgate.lab.counters import times
from floatgate.lab.counters.reading import NVME_SOURCE, Counter, Document, Reading, Stated
from floatgate.lab.counters.smartctl_json import NVME_UNIT_BYTES
from floatgate.lab.counters.values import count, leading

KIND = "nvme smart-log"
_LINE = re.compile(r"^[ \t]*([A-Za-z][A-Za-z _]*?)[ \t]*:[ \t]*(\S.*)$", re.MULTILINE)
_HEADER = re.compile(r"smart log for nvme device\s*:\s*(\S+)", re.IGNORECASE)
_PERCENT_MAX = 255
_STAMPS = ("time", "timestamp", "date", "time_t")


def read(document: Document, stated: Stated) -> Reading | None:  # noqa: ARG001 - readers take the same arguments
    """Read the SMART log of NVMe; None if it is something else.

    Raises:
        InputError: a value is damaged.
    """
    return _of_text(document) if document.node is None else _of_json(document.node, document)


def _of_json(content: Node, document: Document) -> Reading | None:
    units = count(content.get("data_units_written"))
    if units is None:
        return None
    used = content.get("percent_used") or content.get("percentage_used")
    time_s, time_source = own_time(content, document)
    return Reading(
        document.place,
        KIND,
        serial=_serial(content),
        time_s=time_s,
        time_source=time_source,
        power_on_hours=count(content.get("power_on_hours")),
        host=_host(units),
        percent_used=None if used is None else used.whole(most=_PERCENT_MAX),
        interface="nvme",
    )


def _of_text(document: Document) -> Reading | None:
    values: dict[str, str] = {}
    for match in _LINE.finditer(document.text):
        key = "_".join(match[1].lower().split())
        if key == "data_units_written" and values.get(key, match[2]) != match[2]:
            raise input_error(
                f"{document.place}: has data_units_written twice, {quote(values[key])} and {quote(match[2])}; "
                "expected a date line between two readings"
            )
        values.setdefault(key, match[2])
    if "data_units_written" not in values:
        return None
    units = _digits(values, "data_units_written", document)
    header = _HEADER.search(document.text)
    used = values.get("percentage_used", values.get("percent_used"))
    return Reading(
        document.place,
        KIND,
        device=None if header is None else header[1],
        time_s=document.time_s,
        time_source=document.time_source,
        power_on_hours=_digits(values, "power_on_hours", document) if "power_on_hours" in values else None,
        host=_host(units),
        percent_used=None if used is None else leading(used.rstrip("%")),
        interface="nvme",
    )


def _digits(values: dict[str, str], key: str, document: Document) -> int:
    """Read the digits of a line.

    Raises:
        InputError: it begins with none.
    """
    value = leading(values[key])
    if value is None:
        raise input_error(f"{document.place}: {key} is {quote(values[key])}; expected a counter, in digits")
    return value


def _host(units: int) -> Counter:
    return Counter(units * NVME_UNIT_BYTES, NVME_UNIT_BYTES, NVME_SOURCE, NVME_UNIT_BYTES)


def _serial(content: Node) -> str | None:
    for key in ("serial_number", "serial"):
        node = content.get(key)
        if node is not None and isinstance(node.value, str):
            return node.value.strip() or None
    return None


def own_time(content: Node, document: Document) -> tuple[float | None, str]:
    """Return the time that a script put into the JSON of nvme-cli, else the one beside the document."""
    for key in _STAMPS:
        node = content.get(key)
        stamp = None
        if node is not None and isinstance(node.value, str):
            stamp = times.of_text(node.value)
        elif node is not None and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            stamp = times.of_number(float(node.value))
        if stamp is not None:
            return stamp, f"{key} of the document"
    return document.time_s, document.time_source
