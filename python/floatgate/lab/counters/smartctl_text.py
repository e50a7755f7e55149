"""``smartctl -x`` and ``smartctl -a`` as text: brought into the shape of smartctl's JSON, and read as that."""

from __future__ import annotations

import re
from typing import Any

from floatgate.base.errors import input_error
from floatgate.base.json_in import Node
from floatgate.lab.counters import smartctl_json, times
from floatgate.lab.counters.reading import SOURCE, Document, Reading, Stated
from floatgate.lab.counters.values import decimal, leading

_HEADER = re.compile(r"^smartctl (?:\d+\.\d|pre-)|^=== START OF ", re.MULTILINE)
_INFO = re.compile(r"^([A-Z][A-Za-z0-9 /()]+?)(?: is)?:[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_ROW = re.compile(
    r"^[ \t]*(\d{1,3})[ \t]+([A-Za-z][\w/-]*)[ \t]+(?:0x[0-9a-f]{4}|[A-Z-]{6}\S*)"
    r"[ \t]+\d+[ \t]+\d+[ \t]+[\d-]+[ \t]+(.*)$",
    re.MULTILINE,
)
_STATISTIC = re.compile(
    r"^0x[0-9a-f]{2}[ \t]+0x[0-9a-f]{3}[ \t]+\d[ \t]+(-|-?\d+)[ \t]+(\S{3,5})[ \t]+(.+?)[ \t]*$", re.MULTILINE
)
_SAS_ROW = re.compile(r"^write:((?:[ \t]+[\d.]+){7})[ \t]*$", re.MULTILINE)
_SPEED = re.compile(r"(\d+(?:\.\d+)?) Gb/s")
_SECTOR = re.compile(r"(\d+) bytes logical|^(\d+) bytes$")
_NAMES = {
    "serial_number": ("Serial Number", "Serial number"),
    "model_name": ("Device Model", "Model Number", "Product"),
    "model_family": ("Model Family",),
}


def read(document: Document, stated: Stated) -> Reading | None:
    """Read what smartctl printed as text; None if it is something else.

    Raises:
        InputError: a value is damaged, or two readings follow each other without a date line.
    """
    text = document.text
    if document.node is not None or not (_HEADER.search(text) or _ROW.search(text)):
        return None
    info: dict[str, str] = {}
    for match in _INFO.finditer(text):
        info.setdefault(match[1], match[2])
    content: dict[str, Any] = {"smartctl": {}, "device": {"protocol": "ATA"}}
    for key, names in _NAMES.items():
        value = next((info[name] for name in names if name in info), None)
        if value is not None:
            content[key] = value
    _add_sizes(content, info)
    _add_time(content, info)
    _add_nvme(content, info, document)
    _add_ata(content, text, document)
    _add_sas(content, text, info)
    reading = smartctl_json.read(
        Document(document.place, Node(content, document.place, SOURCE), "", document.time_s, document.time_source),
        stated,
    )
    return reading if reading is not None and (reading.counts or "serial_number" in content) else None


def _add_sizes(content: dict[str, Any], info: dict[str, str]) -> None:
    """Add capacity, sector size and speed of the interface."""
    for name in ("User Capacity", "Total NVM Capacity", "Namespace 1 Size/Capacity"):
        capacity = leading(info[name]) if name in info else None
        if capacity is not None:
            content["user_capacity"] = {"bytes": capacity}
            break
    for name in ("Sector Size", "Sector Sizes", "Logical block size"):
        sector = _SECTOR.search(info.get(name, ""))
        if sector is not None:
            content["logical_block_size"] = int((sector[1] or sector[2])[:9])
    speeds = _SPEED.findall(info.get("SATA Version", ""))
    if speeds:
        content["interface_speed"] = {
            "current": {"units_per_second": round(float(speeds[-1]) * 10), "bits_per_unit": 100_000_000}
        }


def _add_time(content: dict[str, Any], info: dict[str, str]) -> None:
    stamp = times.of_text(info.get("Local Time", ""))
    if stamp is not None:
        content["local_time"] = {"time_t": int(stamp)}


def _add_nvme(content: dict[str, Any], info: dict[str, str], document: Document) -> None:
    """Add the SMART log of NVMe.

    Raises:
        InputError: a counter has no digits.
    """
    log: dict[str, Any] = {}
    for key, name in (("data_units_written", "Data Units Written"), ("power_on_hours", "Power On Hours"),
                      ("percentage_used", "Percentage Used")):  # fmt: skip
        if name in info:
            value = leading(info[name])
            if value is None:
                raise input_error(f"{document.place}: {name} has no digits; expected a counter, in {SOURCE}")
            log[key] = value
    if "data_units_written" in log:
        content["nvme_smart_health_information_log"] = log
        content["device"] = {"protocol": "NVMe"}


def _add_ata(content: dict[str, Any], text: str, document: Document) -> None:
    """Add attributes and device statistics of ATA.

    Raises:
        InputError: an attribute is there twice with different values.
    """
    rows: dict[int, dict[str, Any]] = {}
    for match in _ROW.finditer(text):
        # Behind the flags stand type, updates and failures, in the brief form failures alone; the raw value is last.
        raw = leading(_raw(match[3]))
        number = int(match[1])
        if raw is None or number > 255:
            continue
        row = {"id": number, "name": match[2], "raw": {"value": raw}}
        if rows.setdefault(number, row) != row:
            raise input_error(
                f"{document.place}: has attribute {number} twice; expected a date line between two readings"
            )
    if rows:
        content["ata_smart_attributes"] = {"table": list(rows.values())}
        hours = next((row["raw"]["value"] for row in rows.values() if row["name"].startswith("Power_On_Hours")), None)
        if hours is not None:
            content["power_on_time"] = {"hours": hours}
    table = [
        {"name": name.split(" [")[0], "value": int(value), "flags": {"valid": True}}
        for value, _, name in _STATISTIC.findall(text)
        if value.lstrip("-").isdigit() and int(value[:30]) >= 0
    ]
    if table:
        content["ata_device_statistics"] = {"pages": [{"table": table}]}


def _raw(rest: str) -> str:
    """Return the raw value of a row: behind type and updates, and behind the column of failures."""
    words = rest.split()
    if words[:1] and words[0] in ("Pre-fail", "Old_age"):
        words = words[2:]
    return " ".join(words[1:])


def _add_sas(content: dict[str, Any], text: str, info: dict[str, str]) -> None:
    match = _SAS_ROW.search(text)
    if match is None:
        return
    processed = match[1].split()[5]
    if decimal(processed) is not None:
        content["scsi_error_counter_log"] = {"write": {"gigabytes_processed": processed}}
        content["device"] = {"protocol": "SCSI"}
    used = leading(info.get("Percentage used endurance indicator", ""))
    if used is not None:
        content["scsi_percentage_used_endurance_indicator"] = used
