"""Counters of drives: bytes that the host wrote and bytes that were programmed, from tools' JSON.

Supported are ``smartctl --json -x`` (NVMe, ATA), ``nvme smart-log -o json`` and the log 0xC0 of OCP drives (``nvme ocp
smart-add-log -o json``). NVMe counts units of 512,000 bytes, OCP bytes, ATA's device statistics logical sectors. An
attribute of ATA is in units that each vendor chooses: its name says them, or the user does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from floatgate.base.errors import InputError, input_error, quote
from floatgate.base.json_in import Node, load

NVME_UNIT_BYTES = 512_000
"""Bytes of an NVMe data unit: a thousand sectors of 512 bytes (NVMe base specification, SMART log)."""

_SOURCE = "JSON of smartctl --json -x, of nvme smart-log or of nvme ocp smart-add-log"
_BYTES_MAX = 64 << 20
_HALF = 1 << 64
_UNIT_MAX = 1 << 40
"""Most bytes of a unit."""
_UNIT_DIGITS = 6
_UNITS = {
    name: factor
    for power, letter in enumerate("KMGT", 1)
    for name, factor in ((f"{letter}IB", 1024**power), (f"{letter}B", 1000**power))
}
_UNIT = re.compile(r"(\d*)(" + "|".join(_UNITS) + r")$", re.IGNORECASE)
_WRITTEN_IDS = (241, 246, 225)
"""Attributes that count host writes, by vendor; the first one present counts."""


@dataclass(frozen=True)
class Reading:
    """Counters of a drive at one moment.

    Attributes:
        path: the file.
        serial: serial number, where the tool gives it.
        host_bytes: that the host wrote, if the file has them.
        step_bytes: step of that counter.
        media_bytes: that the drive programmed, if the file has them.
        source: where ``host_bytes`` stands in the file, or ``media_bytes``.
    """

    path: str
    serial: str | None
    host_bytes: int | None
    step_bytes: int
    media_bytes: int | None
    source: str


@dataclass(frozen=True)
class Written:
    """The writes between two readings.

    Attributes:
        host_bytes: by the host, where the files have it.
        step_bytes: less than this may be missing from it or be too much.
        media_bytes: on flash, where the files have it.
        source: where it stands in the files.
    """

    host_bytes: int | None
    step_bytes: int
    media_bytes: int | None
    source: str


def between(before: str | os.PathLike[str], after: str | os.PathLike[str], unit_bytes: int | None = None) -> Written:
    """Return the writes between two readings of one drive.

    Args:
        before: the file of the first reading.
        after: that of the second.
        unit_bytes: bytes of a unit of the counter, where the files leave it open.

    Raises:
        InputError: a file cannot be read or has no counter of data written, the unit is not known, the drives differ,
            or a counter goes backwards.
    """
    first, last = read(before, unit_bytes), read(after, unit_bytes)
    if first.serial is not None and last.serial is not None and first.serial != last.serial:
        raise input_error(
            f"{last.path}: is of drive {quote(last.serial)}, and {first.path} of drive {quote(first.serial)}; "
            "expected two readings of one drive"
        )
    if first.source != last.source:
        raise input_error(
            f"{last.path}: counts {last.source}, and {first.path} {first.source}; expected two readings of one tool"
        )
    host = _risen(first, last, first.host_bytes, last.host_bytes)
    media = _risen(first, last, first.media_bytes, last.media_bytes)
    return Written(host, last.step_bytes, media, last.source)


def _risen(first: Reading, last: Reading, before: int | None, after: int | None) -> int | None:
    """Return by how much a counter rose.

    Raises:
        InputError: it goes backwards.
    """
    if before is None or after is None:
        return None
    if after < before:
        raise input_error(
            f"{last.path}: {last.source} go back from {before} to {after} bytes; "
            f"expected the reading before first: {first.path} may be the later one"
        )
    return after - before


def read(path: str | os.PathLike[str], unit_bytes: int | None = None) -> Reading:
    """Return counters of a drive at one moment.

    Args:
        path: the JSON that a tool printed.
        unit_bytes: bytes of a unit, where the file leaves it open.

    Raises:
        InputError: the file cannot be read or has no counter of data written, or the unit is not known.
    """
    content = load(path, _SOURCE, _BYTES_MAX)
    content.table()
    reading = _nvme(content) or _ocp(content) or _ata(content, unit_bytes)
    if reading is None:
        raise _nothing_written(content)
    return reading


def _nothing_written(content: Node) -> InputError:
    """Build the error for a file without a known counter: smartctl's own message, or what the file is instead."""
    smartctl = content.get("smartctl")
    messages = smartctl.get("messages") if smartctl is not None else None
    for entry in messages.elements() if messages is not None else []:
        severity, text = entry.get("severity"), entry.get("string")
        if severity is not None and severity.text() == "error" and text is not None:
            return input_error(f"{content.name}: smartctl failed ({text.text()}); expected {_SOURCE}")
    if content.get("scsi_error_counter_log") is not None:
        return input_error(
            f"{content.name}: is of a SAS drive, whose counters are not read; expected {_SOURCE} of an NVMe or SATA "
            "drive, or the bytes themselves, as in --host-bytes 1500000000"
        )
    return input_error(f"{content.name}: says nothing of data written; expected {_SOURCE}")


def _serial(content: Node) -> str | None:
    serial = content.get("serial_number")
    if serial is None:
        return None
    return (serial.text() if isinstance(serial.value, str) else str(serial.whole())) or None


def _count(node: Node | None) -> int | None:
    """Read a counter: a number, digits as text, or the two halves of 128 bits; None without a node.

    Raises:
        InputError: it is something else.
    """
    if node is None:
        return None
    if isinstance(node.value, dict):
        high, low = (node[half].whole(most=_HALF - 1) for half in ("hi", "lo"))
        return high * _HALF + low
    if isinstance(node.value, str):
        digits = node.value.replace(",", "").strip()
        if digits.isascii() and digits.isdigit() and len(digits) < 40:
            return int(digits)
        node.refuse("a counter, in digits")
    return node.whole()


def _nvme(content: Node) -> Reading | None:
    """Read the SMART log of NVMe, from smartctl or nvme-cli."""
    log = content.get("nvme_smart_health_information_log") or content
    units = _count(log.get("data_units_written"))
    if units is None:
        return None
    host_bytes = units * NVME_UNIT_BYTES
    return Reading(content.name, _serial(content), host_bytes, NVME_UNIT_BYTES, None, "NVMe data units written")


def _ocp(content: Node) -> Reading | None:
    """Read the log 0xC0 of OCP: bytes that the drive programmed."""
    for key in content.table():
        if key.lower().replace("_", " ") == "physical media units written":
            media_bytes = _count(content.get(key))
            if media_bytes is not None:
                source = "physical media units written"
                return Reading(content.name, _serial(content), None, 0, media_bytes, source)
    return None


def _ata(content: Node, unit_bytes: int | None) -> Reading | None:
    """Read the device statistics of ATA, else its attributes.

    Raises:
        InputError: the unit is not known.
    """
    sectors = next(_statistics(content, "Logical Sectors Written"), None)
    block = content.get("logical_block_size")
    sector_bytes = (None if block is None else block.whole(most=_UNIT_MAX)) or unit_bytes
    if sectors is not None and sector_bytes:
        source = "logical sectors written"
        return Reading(content.name, _serial(content), sectors * sector_bytes, sector_bytes, None, source)
    by_id = _attributes(content)
    for number in _WRITTEN_IDS:
        entry = by_id.get(number)
        raw = entry.get("raw") if entry is not None else None
        units = _count(raw.get("value")) if raw is not None else None
        if entry is None or units is None:
            continue
        name = entry["name"].text()
        match = _UNIT.search(name)
        size = _named_unit(match) if match else unit_bytes
        if not size:
            raise input_error(
                f"{content.name}: attribute {number} ({quote(name)}) counts in units that vendors choose (often 512 "
                "bytes, or 32 MiB); expected the bytes of a unit, as in --smart-unit 512"
            )
        return Reading(content.name, _serial(content), units * size, size, None, f"attribute {number} ({name})")
    return None


def _attributes(content: Node) -> dict[int, Node]:
    """Return the attributes of ATA by their numbers."""
    attributes = content.get("ata_smart_attributes")
    table = attributes.get("table") if attributes is not None else None
    by_number: dict[int, Node] = {}
    for entry in table.elements() if table is not None else []:
        number = entry.get("id")
        if number is not None:
            by_number[number.whole(most=255)] = entry
    return by_number


def _named_unit(match: re.Match[str]) -> int | None:
    """Return the unit at the end of an attribute's name; None if it counts no bytes or is too long."""
    size = int(match[1][:_UNIT_DIGITS] or 1) * _UNITS[match[2].upper()]
    return size if len(match[1]) <= _UNIT_DIGITS and size else None


def _statistics(content: Node, name: str) -> Iterator[int]:
    """Return the device statistics of this name."""
    statistics = content.get("ata_device_statistics")
    pages = statistics.get("pages") if statistics is not None else None
    for page in pages.elements() if pages is not None else []:
        table = page.get("table")
        for entry in table.elements() if table is not None else []:
            called, flags = entry.get("name"), entry.get("flags")
            if called is None or called.text() != name:
                continue
            valid = flags.get("valid") if flags is not None else None
            value = _count(entry.get("value")) if valid is None or valid.flag() else None
            if value is not None:
                yield value
