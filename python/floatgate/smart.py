"""What drives say of themselves: bytes that the host wrote and bytes that were programmed, from tools' JSON.

Read are ``smartctl --json -x`` (NVMe, ATA), ``nvme smart-log -o json`` and the log 0xC0 of OCP drives (``nvme ocp
smart-add-log -o json``). NVMe counts units of 512,000 bytes, OCP bytes, ATA's device statistics logical sectors. An
attribute of ATA is in units that each vendor chooses: its name says them, or the user does.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.errors import input_error, quote, reading

NVME_UNIT_BYTES = 512_000
"""Bytes of an NVMe data unit: a thousand sectors of 512 bytes (NVMe base specification, SMART log)."""

_EXPECTED = "expected JSON of smartctl --json -x, of nvme smart-log or of nvme ocp smart-add-log"
_BYTES_MAX = 64 << 20
_UNITS = {
    name: factor
    for power, letter in enumerate("KMGT", 1)
    for name, factor in ((f"{letter}IB", 1024**power), (f"{letter}B", 1000**power))
}
_UNIT = re.compile(r"(\d*)(" + "|".join(_UNITS) + r")$", re.IGNORECASE)
_WRITTEN_IDS = (241, 246, 225)
"""Attributes that count what the host wrote, by vendor; the first one that is there counts."""


@dataclass(frozen=True)
class Reading:
    """Counters of a drive at one moment.

    Attributes:
        path: the file.
        serial: serial number, where the tool gives it.
        host_bytes: what the host wrote, where the file has it.
        step_bytes: step of that counter.
        media_bytes: what the drive programmed, where the file has it.
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
    """What was written between two readings.

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
    """What was written between two readings of one drive.

    Args:
        before: the file of the first reading.
        after: that of the second.
        unit_bytes: bytes of a unit of the counter, where the files leave it open.

    Raises:
        InputError: a file cannot be read or says nothing of data written, the unit is not known, the drives differ, or
            a counter goes backwards.
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
    """By how much a counter rose.

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
    """Counters of a drive at one moment.

    Args:
        path: the JSON that a tool printed.
        unit_bytes: bytes of a unit, where the file leaves it open.

    Raises:
        InputError: the file cannot be read or says nothing of data written, or the unit is not known.
    """
    name = os.fspath(path)
    with reading(name, _EXPECTED, "is no JSON that can be read"):
        if Path(name).stat().st_size > _BYTES_MAX:
            raise input_error(f"{name}: has more than {_BYTES_MAX} bytes; {_EXPECTED}")
        content = json.loads(Path(name).read_bytes())
    if not isinstance(content, dict):
        raise input_error(f"{name}: holds no object; {_EXPECTED}")
    with reading(name, _EXPECTED):
        found = _nvme(name, content) or _ocp(name, content) or _ata(name, content, unit_bytes)
        if found is None:
            raise input_error(f"{name}: {_refused(content) or 'says nothing of data written'}; {_EXPECTED}")
        return found


def _refused(content: Mapping[str, Any]) -> str | None:
    """What smartctl said when it failed."""
    messages = (content.get("smartctl") or {}).get("messages") or []
    texts = [str(entry.get("string")) for entry in messages if entry.get("severity") == "error"]
    return f"smartctl failed ({texts[0]})" if texts else None


def _serial(content: Mapping[str, Any]) -> str | None:
    serial = content.get("serial_number")
    return str(serial) if serial else None


def _number(value: Any) -> int | None:
    """A counter: a number, digits as text, or the two halves of 128 bits."""
    if isinstance(value, Mapping):
        halves = [_number(value.get(half)) for half in ("hi", "lo")]
        return None if None in halves else (halves[0] << 64) + halves[1]  # type: ignore[operator]
    if isinstance(value, str):
        digits = value.replace(",", "").strip()
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 40 else None
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _nvme(path: str, content: Mapping[str, Any]) -> Reading | None:
    """SMART log of NVMe, from smartctl or nvme-cli."""
    log = content.get("nvme_smart_health_information_log") or content
    units = _number(log.get("data_units_written"))
    if units is None:
        return None
    host_bytes = units * NVME_UNIT_BYTES
    return Reading(path, _serial(content), host_bytes, NVME_UNIT_BYTES, None, "NVMe data units written")


def _ocp(path: str, content: Mapping[str, Any]) -> Reading | None:
    """Log 0xC0 of OCP: what the drive programmed, in bytes."""
    for key, value in content.items():
        if key.lower().replace("_", " ") == "physical media units written":
            media_bytes = _number(value)
            if media_bytes is not None:
                return Reading(path, _serial(content), None, 0, media_bytes, "physical media units written")
    return None


def _ata(path: str, content: Mapping[str, Any], unit_bytes: int | None) -> Reading | None:
    """Device statistics of ATA, else its attributes.

    Raises:
        InputError: the unit is not known.
    """
    sectors = next(_statistics(content, "Logical Sectors Written"), None)
    sector_bytes = _number(content.get("logical_block_size")) or unit_bytes
    if sectors is not None and sector_bytes:
        source = "logical sectors written"
        return Reading(path, _serial(content), sectors * sector_bytes, sector_bytes, None, source)
    table = (content.get("ata_smart_attributes") or {}).get("table") or []
    by_id = {entry.get("id"): entry for entry in table}
    for number in _WRITTEN_IDS:
        entry = by_id.get(number)
        units = _number((entry.get("raw") or {}).get("value")) if entry else None
        if entry is None or units is None:
            continue
        name = str(entry.get("name"))
        found = _UNIT.search(name)
        size = int(found[1] or 1) * _UNITS[found[2].upper()] if found else unit_bytes
        if not size:
            raise input_error(
                f"{path}: attribute {number} ({quote(name)}) counts in units that vendors choose (often 512 bytes, "
                "or 32 MiB); expected the bytes of a unit, as in --smart-unit 512"
            )
        return Reading(path, _serial(content), units * size, size, None, f"attribute {number} ({name})")
    return None


def _statistics(content: Mapping[str, Any], name: str) -> Iterator[int]:
    """Device statistics of this name."""
    for page in (content.get("ata_device_statistics") or {}).get("pages") or []:
        for entry in page.get("table") or []:
            value = _number(entry.get("value"))
            if entry.get("name") == name and value is not None and (entry.get("flags") or {}).get("valid", True):
                yield value
