"""``smartctl --json -x``: NVMe, SATA by device statistics or attributes, SAS by its error counter log."""

from __future__ import annotations

from collections.abc import Iterator

from floatgate.base.errors import input_error
from floatgate.base.json_in import Node
from floatgate.lab.counters import times
from floatgate.lab.counters.attributes import Attribute, Drive, Resolved, resolved
from floatgate.lab.counters.reading import NVME_SOURCE, SOURCE, Counter, Document, Question, Reading, Role, Stated
from floatgate.lab.counters.values import HALF, UNIT_MAX, count, decimal, digits

KIND = "smartctl"
NVME_UNIT_BYTES = 512_000
"""Bytes of an NVMe data unit: a thousand sectors of 512 bytes (NVMe base specification, SMART log)."""
STATISTICS_SOURCE = "logical sectors written"
SAS_SOURCE = "gigabytes processed by writes"
SAS_STEP_BYTES = 10**6
"""smartctl prints thousandths of 10^9 bytes."""
_PERCENT_MAX = 255
_SPEED_MAX = 10**13
_MARKS = (
    "smartctl", "nvme_smart_health_information_log", "ata_smart_attributes", "ata_device_statistics",
    "scsi_error_counter_log",
)  # fmt: skip


def read(document: Document, stated: Stated) -> Reading | None:
    """Read what smartctl printed as JSON; None if it is something else.

    Raises:
        InputError: smartctl failed, or a value is damaged.
    """
    content = document.node
    if content is None or not any(content.get(mark) is not None for mark in _MARKS):
        return None
    _must_have_worked(content)
    made = _counters(content, stated)
    interface, speed = _interface(content)
    time_s, time_source = _time(content, document)
    return Reading(
        content.name,
        KIND,
        serial=_text(content, "serial_number"),
        device=_text(_inner(content, "device"), "name"),
        model=_text(content, "model_name") or _text(content, "scsi_model_name"),
        time_s=time_s,
        time_source=time_source,
        power_on_hours=_hours(content),
        host=made.host,
        media=made.media,
        erased=made.erased,
        programs=made.programs,
        percent_used=_percent(content),
        capacity_bytes=_whole(_inner(content, "user_capacity"), "bytes") or _whole(content, "nvme_total_capacity"),
        interface=interface,
        bytes_per_s=speed,
        questions=tuple(made.questions),
        notes=tuple(made.notes),
    )


def _must_have_worked(content: Node) -> None:
    """Refuse the output of a smartctl that failed, with its own message.

    Raises:
        InputError: it printed an error.
    """
    counters = any(content.get(mark) is not None for mark in _MARKS[1:])
    messages = None if counters else _inner(content, "smartctl", "messages")
    for entry in messages.elements() if messages is not None else []:
        severity, text = entry.get("severity"), entry.get("string")
        if severity is not None and severity.text() == "error" and text is not None:
            raise input_error(f"{content.name}: smartctl failed ({text.text()}); expected {SOURCE}")


def _counters(content: Node, stated: Stated) -> Resolved:
    """Read the counters of an NVMe, a SATA or a SAS drive.

    Raises:
        InputError: a value is damaged.
    """
    log = content.get("nvme_smart_health_information_log")
    units = count(log.get("data_units_written")) if log is not None else None
    if units is not None:
        return Resolved(Counter(units * NVME_UNIT_BYTES, NVME_UNIT_BYTES, NVME_SOURCE, NVME_UNIT_BYTES))
    processed = _sas(content)
    if processed is not None:
        return Resolved(processed)
    made = resolved(_attributes(content), _drive(content), stated)
    _prefer_statistics(content, made, stated)
    return made


def _sas(content: Node) -> Counter | None:
    """Read the error counter log of a SAS drive, in units of 10^9 bytes.

    Raises:
        InputError: the value is no number.
    """
    node = _inner(content, "scsi_error_counter_log", "write", "gigabytes_processed")
    if node is None:
        return None
    number = decimal(node.value if isinstance(node.value, str) else str(node.value))
    if number is None or isinstance(node.value, bool) or not 0 <= number < 10**15:
        node.refuse("gigabytes, a number from 0 on")
    value = int((number * 10**9).to_integral_value())
    return Counter(value, SAS_STEP_BYTES, SAS_SOURCE, SAS_STEP_BYTES)


def _drive(content: Node) -> Drive:
    return Drive(_text(content, "model_family"), _text(content, "model_name"))


def _attributes(content: Node) -> Iterator[Attribute]:
    """Yield the attributes of ATA.

    Raises:
        InputError: one is damaged, or there twice with different values.
    """
    table = _inner(content, "ata_smart_attributes", "table")
    values: dict[int, int] = {}
    for entry in table.elements() if table is not None else []:
        number, name, raw = entry.get("id"), entry.get("name"), entry.get("raw")
        if number is None:
            continue
        known = number.whole(most=255)
        value = _raw_value(raw) if raw is not None else None
        if value is None:
            continue
        if values.setdefault(known, value) != value:
            raise entry.refusal(
                f"is attribute {known} again, with {value} after {values[known]}", "each attribute once per reading"
            )
        yield Attribute(
            known, "Unknown_Attribute" if name is None else name.text(), value, shown=_shown(raw), node=entry
        )


def _raw_value(raw: Node) -> int | None:
    """Read the raw value of an attribute; None without one.

    Raises:
        InputError: it has more than 64 bits, which no attribute has.
    """
    node = raw.get("value")
    value = count(node)
    if node is not None and value is not None and value >= HALF:
        raise node.refusal(f"is {value}", "a raw value below 2^64")
    return value


def _shown(raw: Node | None) -> int | None:
    """Return the raw value as smartctl prints it for people, if it prints a plain number."""
    node = None if raw is None else raw.get("string")
    return digits(node.value) if node is not None and isinstance(node.value, str) else None


def _prefer_statistics(content: Node, made: Resolved, stated: Stated) -> None:
    """Put the device statistics in the place of attributes, which each maker defines.

    Raises:
        InputError: a value is damaged.
    """
    sectors = next(statistics(content, "Logical Sectors Written"), None)
    if sectors is None or any(role is Role.HOST for role, _ in stated.attributes.values()):
        return
    block = content.get("logical_block_size")
    size = (None if block is None else block.whole(most=UNIT_MAX)) or stated.unit_bytes
    made.questions = [one for one in made.questions if one.role is Role.MEDIA]
    if size:
        made.host = Counter(sectors * size, size, STATISTICS_SOURCE, size)
        return
    made.host = None
    why = "counts logical sectors, and the reading has no logical_block_size"
    made.questions.append(
        Question("logical_sectors_written", "Logical Sectors Written", sectors, Role.HOST, (512, 4096), why)
    )


def statistics(content: Node, name: str) -> Iterator[int]:
    """Yield the valid device statistics of this name.

    Raises:
        InputError: one is damaged.
    """
    pages = _inner(content, "ata_device_statistics", "pages")
    for page in pages.elements() if pages is not None else []:
        table = page.get("table")
        for entry in table.elements() if table is not None else []:
            called, flags = entry.get("name"), entry.get("flags")
            if called is None or called.text() != name:
                continue
            valid = flags.get("valid") if flags is not None else None
            value = count(entry.get("value")) if valid is None or valid.flag() else None
            if value is not None:
                yield value


def _percent(content: Node) -> int | None:
    """Read the used share of the life, in percent: NVMe's, SAS's, or that of the device statistics."""
    log = content.get("nvme_smart_health_information_log")
    used = _whole(log, "percentage_used", _PERCENT_MAX) if log is not None else None
    if used is None:
        used = _whole(content, "scsi_percentage_used_endurance_indicator", _PERCENT_MAX)
    if used is None:
        used = next(statistics(content, "Percentage Used Endurance Indicator"), None)
    return _whole(_inner(content, "endurance_used"), "current_percent", _PERCENT_MAX) if used is None else used


def _hours(content: Node) -> int | None:
    """Read the power-on hours: smartctl's own figure, else that of the NVMe log."""
    hours = _whole(_inner(content, "power_on_time"), "hours")
    log = content.get("nvme_smart_health_information_log")
    return count(log.get("power_on_hours")) if hours is None and log is not None else hours


def _interface(content: Node) -> tuple[str, float | None]:
    """Return the interface and its bytes per second, where smartctl prints them; 8 of 10 bits carry data."""
    protocol = (_text(_inner(content, "device"), "protocol") or "").lower()
    if content.get("nvme_smart_health_information_log") is not None or protocol == "nvme":
        return "nvme", None
    if content.get("scsi_error_counter_log") is not None or protocol == "scsi":
        return "sas", None
    speed = _inner(content, "interface_speed", "current") or _inner(content, "interface_speed", "max")
    units, bits = _whole(speed, "units_per_second", _SPEED_MAX), _whole(speed, "bits_per_unit", _SPEED_MAX)
    return "sata", units * bits / 10 if units and bits else None


def _time(content: Node, document: Document) -> tuple[float | None, str]:
    """Return when smartctl ran, else the time beside the document."""
    stamp = _whole(_inner(content, "local_time"), "time_t")
    if stamp is not None and times.of_number(float(stamp)) is not None and stamp < times.LAST_S:
        return float(stamp), "local_time of smartctl"
    return document.time_s, document.time_source


def _inner(content: Node | None, *keys: str) -> Node | None:
    """Return what lies below some keys; None where one of them is missing."""
    for key in keys:
        if content is None:
            return None
        content = content.get(key)
    return content


def _text(content: Node | None, key: str) -> str | None:
    """Return a name, also one of digits alone; None if it is missing or empty."""
    value = None if content is None else content.get(key)
    if value is None:
        return None
    return (value.text() if isinstance(value.value, str) else str(value.whole())).strip() or None


def _whole(content: Node | None, key: str, most: int = (1 << 64) - 1) -> int | None:
    value = None if content is None else content.get(key)
    return None if value is None else value.whole(most=most)
