"""Text of Prometheus exporters: smartctl_exporter, and node_exporter's collectors smartmon and nvme_metrics.

``smartmon.sh`` prints seven digits, so its counters have coarse steps. Older versions of smartctl_exporter multiply
NVMe data units by 1024 or by the size of a logical block; all values together show which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from floatgate.base.errors import input_error, quote
from floatgate.base.json_in import Node
from floatgate.lab.counters import smartctl_json, times
from floatgate.lab.counters.attributes import Attribute, Drive, resolved
from floatgate.lab.counters.reading import NVME_SOURCE, SOURCE, Counter, Document, Reading, Stated
from floatgate.lab.counters.smartctl_json import NVME_UNIT_BYTES
from floatgate.lab.counters.values import COUNT_END, decimal

KIND = "Prometheus exporter"
BYTES = "smartctl_device_bytes_written"
_PREFIXES = ("smartctl_device", "smartmon_", "nvme_")
_SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})?[ \t]+(?P<value>\S+)(?:[ \t]+(?P<stamp>-?\d+))?"
)
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"\s*(?:,|$)')
_BLOCK = 512
_SECONDS_PER_HOUR = 3600
_PERCENT_MAX = 255
_HOURS_MAX = 1_000_000
"""Larger raw values of that attribute hold more than hours."""


@dataclass(frozen=True)
class _Sample:
    """A sample: its name and labels, its value as text and as a number, its time, and its line."""

    name: str
    labels: dict[str, str]
    text: str
    value: int | None
    time_s: float | None
    line: int

    @property
    def device(self) -> tuple[str, str]:
        return self.labels.get("device", self.labels.get("disk", "")), self.labels.get("type", "")


def read(document: Document, stated: Stated) -> list[Reading]:
    """Read the samples of all drives; an empty list if they are something else.

    Raises:
        InputError: a sample is damaged.
    """
    if document.node is not None or not any(f"{prefix}" in document.text for prefix in _PREFIXES):
        return []
    readings = []
    for place, samples in _scrapes(list(_samples(document)), document):
        devices: dict[tuple[str, str], list[_Sample]] = {}
        for sample in samples:
            if sample.device[0]:
                devices.setdefault(sample.device, []).append(sample)
        for (device, kind), own in devices.items():
            named = f"{device} ({kind})" if kind and sum(one[0] == device for one in devices) > 1 else device
            reading = _reading(replace(document, place=place), named, own, stated)
            if reading is not None:
                readings.append(reading)
    return readings


def _samples(document: Document) -> Iterator[_Sample]:
    """Yield the samples of drives.

    Raises:
        InputError: the sample of a drive has no number.
    """
    for number, line in enumerate(document.text.splitlines(), 1):
        row = line.strip()
        if not row.startswith(_PREFIXES):
            continue
        match = _SAMPLE.fullmatch(row)
        labels = None if match is None else _labels(match["labels"] or "")
        if match is None or labels is None:
            raise input_error(
                f'{document.place}: sample {quote(row)} is damaged; expected NAME{{LABEL="TEXT"}} VALUE, in {SOURCE}'
            )
        value = decimal(match["value"])
        whole = value is not None and 0 <= value < COUNT_END and value == value.to_integral_value()
        stamp = None if match["stamp"] is None or len(match["stamp"]) > 15 else times.of_number(float(match["stamp"]))
        yield _Sample(match["name"], labels, match["value"], int(value) if whole and value is not None else None,
                      stamp, number)  # fmt: skip


def _labels(text: str) -> dict[str, str] | None:
    """Read labels; None if they are damaged."""
    labels: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _LABEL.match(text, at)
        if match is None:
            return None
        labels[match[1]] = match[2].replace('\\"', '"').replace("\\\\", "\\")
        at = match.end()
    return labels


def _scrapes(samples: Sequence[_Sample], document: Document) -> Iterator[tuple[str, list[_Sample]]]:
    """Yield the samples of each scrape: by their stamps, else a repeated sample begins the next one."""
    if any(sample.time_s is not None for sample in samples):
        stamps: dict[float | None, list[_Sample]] = {}
        for sample in samples:
            stamps.setdefault(sample.time_s, []).append(sample)
        unstamped = stamps.pop(None, [])
        for stamp in sorted(one for one in stamps if one is not None):
            yield document.place, [*unstamped, *stamps[stamp]]
        return
    scrape: list[_Sample] = []
    met: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    first = 0
    for sample in samples:
        key = (sample.name, tuple(sorted(sample.labels.items())))
        if key in met:
            yield _at(document, first), scrape
            scrape, met, first = [], set(), sample.line
        met.add(key)
        scrape.append(sample)
    yield _at(document, first), scrape


def _at(document: Document, line: int) -> str:
    """Return the place of a scrape that begins within the document."""
    return document.place if line == 0 else f"{document.place}, sample line {line}"


def _reading(document: Document, device: str, samples: Sequence[_Sample], stated: Stated) -> Reading | None:
    """Make the reading of a drive."""
    values = {sample.name: sample for sample in samples}
    stamp = next((sample.time_s for sample in samples if sample.time_s is not None), None)
    source = "time stamps of the samples" if stamp is not None else document.time_source
    run = values.get("smartmon_smartctl_run")
    if stamp is None and run is not None and run.value is not None and times.of_number(float(run.value)) is not None:
        stamp, source = float(run.value), "smartmon_smartctl_run"
    timed = replace(document, time_s=document.time_s if stamp is None else stamp, time_source=source)
    made = _of_exporter(timed, samples, stated) if any(one.name.startswith("smartctl_") for one in samples) else None
    made = made or _of_smartmon(timed, samples, stated) or _of_nvme(timed, samples)
    return None if made is None or not made.counts else replace(made, kind=KIND, device=device)


def _of_exporter(document: Document, samples: Sequence[_Sample], stated: Stated) -> Reading | None:
    """Read the samples of smartctl_exporter in the shape of smartctl's JSON."""
    content: dict[str, Any] = {"smartctl": {}}
    own = {sample.name: sample.value for sample in samples if sample.value is not None}
    labels = next((sample.labels for sample in samples if sample.name == "smartctl_device"), {})
    content |= {key: labels[key] for key in ("serial_number", "model_name", "model_family") if labels.get(key)}
    protocol = (labels.get("protocol") or labels.get("interface") or "").lower()
    block = next((one.value for one in samples if one.labels.get("blocks_type") == "logical"), None)
    if block:
        content["logical_block_size"] = block
    if "smartctl_device_power_on_seconds" in own:
        content["power_on_time"] = {"hours": own["smartctl_device_power_on_seconds"] // _SECONDS_PER_HOUR}
    used = own.get("smartctl_device_percentage_used")
    if used is not None and used <= _PERCENT_MAX:
        content["endurance_used"] = {"current_percent": used}
    capacity = own.get("smartctl_device_capacity_bytes") or own.get("smartctl_device_nvme_capacity_bytes")
    if capacity:
        content["user_capacity"] = {"bytes": capacity}
    table = [row for row in map(_attribute_row, samples) if row is not None]
    statistics = [row for row in map(_statistic_row, samples) if row is not None]
    content["device"] = {"protocol": protocol.upper()}
    content["ata_smart_attributes"] = {"table": table}
    content["ata_device_statistics"] = {"pages": [{"table": statistics}]}
    timed = replace(document, node=Node(content, document.place, SOURCE), text="")
    reading = smartctl_json.read(timed, stated)
    bytes_written = own.get(BYTES)
    if reading is None or bytes_written is None:
        return reading
    return _with_bytes(reading, bytes_written, block or _BLOCK, protocol, stated)


def _attribute_row(sample: _Sample) -> dict[str, Any] | None:
    """Return an attribute in the shape of smartctl's JSON; None if the sample is no raw value."""
    labels, number = sample.labels, sample.labels.get("attribute_id", "")
    if sample.name != "smartctl_device_attribute" or labels.get("attribute_value_type") != "raw":
        return None
    if sample.value is None or not (number.isascii() and number.isdigit() and len(number) < 4 and int(number) < 256):
        return None
    return {"id": int(number), "name": labels.get("attribute_name", ""), "raw": {"value": sample.value}}


def _statistic_row(sample: _Sample) -> dict[str, Any] | None:
    """Return a device statistic in the shape of smartctl's JSON; None if the sample is none."""
    if sample.name != "smartctl_device_statistics" or sample.value is None:
        return None
    valid = sample.labels.get("statistic_flags_short", "V")[:1] == "V"
    return {"name": sample.labels.get("statistic_name", ""), "value": sample.value, "flags": {"valid": valid}}


def _with_bytes(reading: Reading, value: int, block: int, protocol: str, stated: Stated) -> Reading:
    """Return the reading with the bytes written of smartctl_exporter, whose unit older versions mistake."""
    role = stated.of(BYTES)
    if role is not None:
        return replace(reading, host=Counter(value * role[1], role[1], BYTES, role[1]))
    if protocol in ("scsi", "sas"):
        step = smartctl_json.SAS_STEP_BYTES
        return replace(reading, host=Counter(value, step, smartctl_json.SAS_SOURCE, step))
    return replace(reading, exporter=(value, block))


def settled(readings: Sequence[Reading]) -> list[Reading]:
    """Return readings with what smartctl_exporter printed for NVMe drives in bytes.

    Newer exporters multiply data units by 512,000, older ones by 1024 or 1000 blocks. A unit of which all readings are
    multiples may be the right one.

    Raises:
        InputError: several units are possible, or none.
    """
    values = [one.exporter for one in readings if one.exporter is not None]
    if not values:
        return list(readings)
    blocks = {block or _BLOCK for _, block in values}
    units = {NVME_UNIT_BYTES, *(times_ * block for block in blocks for times_ in (1000, 1024))}
    possible = [unit for unit in sorted(units) if all(value % unit == 0 for value, _ in values)]
    if len(possible) != 1:
        place = next(one.place for one in readings if one.exporter is not None)
        what = f"is a multiple of {' and '.join(map(str, possible))}" if possible else "is no multiple of a data unit"
        raise input_error(
            f"{place}: {BYTES} {what}, and exporters of several versions count in different units; expected the JSON "
            f"of smartctl --json -x, or --attribute {BYTES}=host:1 if the exporter counts bytes"
        )
    (unit,) = possible
    note = f"smartctl_exporter counts a data unit as {unit} bytes; here it is 512000"
    made = []
    for one in readings:
        if one.exporter is None:
            made.append(one)
            continue
        units_written = one.exporter[0] // unit
        host = Counter(units_written * NVME_UNIT_BYTES, NVME_UNIT_BYTES, NVME_SOURCE, NVME_UNIT_BYTES)
        notes = one.notes if unit == NVME_UNIT_BYTES else (*one.notes, note)
        made.append(replace(one, host=host, exporter=None, notes=notes))
    return made


def _of_smartmon(document: Document, samples: Sequence[_Sample], stated: Stated) -> Reading | None:
    """Read the samples of smartmon.sh or smartmon.py."""
    info: dict[str, str] = {}
    attributes, hours = [], None
    for sample in samples:
        if sample.name == "smartmon_device_info":
            info = sample.labels
        name, step = _smartmon_name(sample)
        if name is None or sample.value is None:
            continue
        number = sample.labels.get("smart_id", "")
        known = number.isascii() and number.isdigit() and len(number) < 4 and sample.labels.get("type") != "scsi"
        attributes.append(Attribute(int(number) if known else None, name, sample.value, step))
        if name.startswith("power_on_hours") and sample.value < _HOURS_MAX:
            hours = sample.value
    if not attributes:
        return None
    model = info.get("device_model") or info.get("product") or None
    made = resolved(attributes, Drive(info.get("model_family") or None, model), stated)
    return Reading(
        document.place,
        KIND,
        serial=info.get("serial_number") or None,
        model=model,
        time_s=document.time_s,
        time_source=document.time_source,
        power_on_hours=hours,
        host=made.host,
        media=made.media,
        erased=made.erased,
        programs=made.programs,
        interface="sata" if samples[0].labels.get("type", "").startswith("sat") else "",
        questions=tuple(made.questions),
        notes=tuple(made.notes),
    )


def _smartmon_name(sample: _Sample) -> tuple[str | None, int]:
    """Return the attribute of a sample and the step of its value; None where it is no raw value."""
    if sample.name == "smartmon_attr_raw_value":
        return sample.labels.get("name"), 1
    if not (sample.name.startswith("smartmon_") and sample.name.endswith("_raw_value")):
        return None, 1
    exponent = re.search(r"[eE]\+?(-?\d+)$", sample.text)
    step = 10 ** max(int(exponent[1]) - 6, 0) if exponent and len(exponent[1]) < 3 else 1
    return sample.name.removeprefix("smartmon_").removesuffix("_raw_value"), step


def _of_nvme(document: Document, samples: Sequence[_Sample]) -> Reading | None:
    """Read the samples of the NVMe collector of node_exporter."""
    values = {sample.name: sample for sample in samples}
    units = values.get("nvme_data_units_written_total") or values.get("nvme_data_units_written")
    if units is None or units.value is None:
        return None
    info = next((one.labels for one in samples if one.name == "nvme_device_info"), {})
    hours = values.get("nvme_power_on_hours_total") or values.get("nvme_power_on_hours")
    used = values.get("nvme_percentage_used_ratio")
    share = None if used is None else decimal(used.text)
    return Reading(
        document.place,
        KIND,
        serial=info.get("serial", info.get("serial_number", "")).strip() or None,
        model=info.get("model") or None,
        time_s=document.time_s,
        time_source=document.time_source,
        power_on_hours=None if hours is None else hours.value,
        host=Counter(units.value * NVME_UNIT_BYTES, NVME_UNIT_BYTES, NVME_SOURCE, NVME_UNIT_BYTES),
        percent_used=None if share is None or not 0 <= share < 3 else round(share * 100),
        interface="nvme",
    )
