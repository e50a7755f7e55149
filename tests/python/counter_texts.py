"""What tools print for a drive whose counters are known: one function per tool and version, for tests of the readers.

Written from the tools' printing code (smartmontools, nvme-cli, smartctl_exporter, node_exporter's collectors); no
output of a real drive is copied.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

MIB, GIB = 1 << 20, 1 << 30
SERIAL = "SN0123456789"


@dataclass(frozen=True)
class Truth:
    """The counters of a drive at one moment.

    Attributes:
        units: NVMe data units of 512,000 bytes, or counts of another unit.
        media: bytes programmed, or counts of another unit.
        hours: of power.
        percent: of the life that is used.
        time_s: since 1970.
    """

    units: int
    media: int
    hours: int
    percent: int
    time_s: int


@dataclass(frozen=True)
class Expected:
    """What a reader should return of a truth; None where the tool does not print it."""

    host: int | None
    media: int | None = None
    hours: bool = False
    percent: bool = False
    time: bool = False
    serial: bool = False


@dataclass(frozen=True)
class Tool:
    """A tool: prints a truth, and what of it can be read back."""

    print: Callable[[Truth], str]
    expected: Callable[[Truth], Expected]


def random_truths(dice: random.Random, count: int) -> list[Truth]:
    """Counters that rise from reading to reading, below what tools can print exactly."""
    units, media, hours, percent = (dice.randrange(9 * 10 ** dice.randrange(7)) for _ in range(4))
    # In fewer hours a drive could not reach the largest counts.
    hours, percent = 1000 + hours % 59_000, percent % 90
    time_s = dice.randrange(1_500_000_000, 1_900_000_000)
    made = []
    for _ in range(count):
        made.append(Truth(units, media, hours, percent, time_s))
        days = dice.randrange(1, 40)
        units += dice.randrange(1, 10_000)
        media += dice.randrange(1, 10_000)
        hours += days * 24
        time_s += days * 86_400 + dice.randrange(60)
        percent += dice.random() < 0.3
    return made


def _json(content: Any) -> str:
    return json.dumps(content, indent=1)


def _head(kind: str, truth: Truth, **more: Any) -> dict[str, Any]:
    return {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 4], "exit_status": 0, "messages": []},
        "local_time": {"time_t": truth.time_s, "asctime": "whenever"},
        "device": {"name": "/dev/x", "type": kind.lower(), "protocol": kind},
        "model_name": "Example 1TB",
        "serial_number": SERIAL,
        "user_capacity": {"blocks": 10**9, "bytes": 512 * 10**9},
        "power_on_time": {"hours": truth.hours},
        **more,
    }


def smartctl_nvme(truth: Truth) -> str:
    """``smartctl --json -x`` of an NVMe drive."""
    log = {"percentage_used": truth.percent, "data_units_read": 7, "data_units_written": truth.units}
    return _json(_head("NVMe", truth, nvme_smart_health_information_log=log))


def _table(*rows: tuple[int, str, int]) -> dict[str, Any]:
    return {
        "table": [
            {"id": number, "name": name, "value": 99, "raw": {"value": raw, "string": str(raw)}}
            for number, name, raw in rows
        ]
    }


def smartctl_sata(truth: Truth) -> str:
    """The same of a SATA drive with attributes that name their units."""
    rows = (
        (9, "Power_On_Hours", truth.hours),
        (241, "Host_Writes_32MiB", truth.units),
        (249, "NAND_Writes_1GiB", truth.media),
    )
    speed = {"current": {"units_per_second": 60, "bits_per_unit": 100_000_000}}
    return _json(_head("ATA", truth, ata_smart_attributes=_table(*rows), interface_speed=speed))


def smartctl_statistics(truth: Truth) -> str:
    """The same of a SATA drive with device statistics."""
    flags = {"value": 192, "string": "V---", "valid": True}
    pages = [
        {"number": 1, "table": [{"name": "Logical Sectors Written", "value": truth.units, "flags": flags}]},
        {
            "number": 7,
            "table": [{"name": "Percentage Used Endurance Indicator", "value": truth.percent, "flags": flags}],
        },
    ]
    attributes = _table((241, "Total_LBAs_Written", truth.units % 65_536))
    made = _head("ATA", truth, ata_smart_attributes=attributes, ata_device_statistics={"pages": pages})
    return _json(made | {"logical_block_size": 4096})


def smartctl_sas(truth: Truth) -> str:
    """The same of a SAS drive: gigabytes with three decimals."""
    log = {"read": {"gigabytes_processed": "1.000"}, "write": {"gigabytes_processed": f"{truth.units / 1000:.3f}"}}
    return _json(_head("SCSI", truth, scsi_error_counter_log=log))


def _stamp(truth: Truth, form: str) -> str:
    return datetime.fromtimestamp(truth.time_s, UTC).strftime(form)


def _information(truth: Truth, *lines: str) -> str:
    first = "smartctl 7.4 2023-08-01 r5530 [x86_64-linux] (local build)\n\n=== START OF INFORMATION SECTION ===\n"
    time = _stamp(truth, "%a %b %e %H:%M:%S %Y UTC")
    return first + "\n".join([*lines, f"Serial Number:    {SERIAL}", f"Local Time is:    {time}", ""]) + "\n"


def text_nvme(truth: Truth) -> str:
    """``smartctl -x`` of an NVMe drive, as text."""
    return _information(truth, "Model Number:                       Example 1TB") + (
        "=== START OF SMART DATA SECTION ===\nSMART/Health Information (NVMe Log 0x02)\n"
        f"Critical Warning:                   0x00\nPercentage Used:                    {truth.percent}%\n"
        f"Data Units Read:                    91 [46.5 MB]\n"
        f"Data Units Written:                 {truth.units:,} [{truth.units * 0.000512:.1f} GB]\n"
        f"Power On Hours:                     {truth.hours:,}\n"
    )


def _text_sata(truth: Truth, rows: list[str], *lines: str) -> str:
    information = _information(
        truth, "Device Model:     Example 1TB", "Sector Size:      512 bytes logical/physical",
        "SATA Version is:  SATA 3.3, 6.0 Gb/s (current: 6.0 Gb/s)", *lines,
    )  # fmt: skip
    return information + "\n".join(["=== START OF READ SMART DATA SECTION ===", *rows, ""])


def text_sata(truth: Truth) -> str:
    """``smartctl -A`` of a SATA drive, in the old form."""
    rows = (
        (9, "Power_On_Hours", truth.hours),
        (194, "Temperature_Celsius", "33 (Min/Max 20/50)"),
        (241, "Host_Writes_32MiB", truth.units),
        (249, "NAND_Writes_1GiB", truth.media),
    )
    printed = [
        f"{n:3d} {name:<24}0x0032   100   100   000    Old_age   Always       -       {raw}" for n, name, raw in rows
    ]
    head = "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE"
    return _text_sata(truth, [head, *printed])


def text_brief(truth: Truth) -> str:
    """``smartctl -x`` of a SATA drive: attributes in the brief form, and device statistics."""
    rows = ((9, "Power_On_Hours", f"{truth.hours}h+12m+03.000s"), (241, "Total_LBAs_Written", 7))
    printed = [f"{n:3d} {name:<23} -O--CK   100   100   000    -    {raw}" for n, name, raw in rows]
    statistics = [
        "Device Statistics (GP Log 0x04)", "Page  Offset Size        Value Flags Description",
        "0x01  =====  =               =  ===  == General Statistics (rev 1) ==",
        f"0x01  0x018  6 {truth.units:15d}  ---  Logical Sectors Written",
        f"0x07  0x008  1 {truth.percent:15d}  N--  Percentage Used Endurance Indicator",
    ]  # fmt: skip
    return _text_sata(truth, [*printed, "                            ||||||_ K auto-keep", *statistics])


def text_sas(truth: Truth) -> str:
    """``smartctl -x`` of a SAS drive, as text."""
    return _information(truth, "Vendor:               EXAMPLE", "Product:              SAS1") + (
        "Error counter log:\n           Errors Corrected by           Total   Correction     Gigabytes    Total\n"
        f"read:          0        0         0         0          0          1.000           0\n"
        f"write:         0        0         0         0          0   {truth.units / 1000:12.3f}           0\n"
    )


def nvme_json(truth: Truth) -> str:
    """``nvme smart-log -o json``."""
    made = {"critical_warning": 0, "percent_used": truth.percent, "data_units_written": truth.units,
            "power_on_hours": truth.hours}  # fmt: skip
    return _json(made)


def nvme_json_texts(truth: Truth) -> str:
    """The same of versions that print numbers of 128 bits as texts."""
    made = {"critical_warning": 0, "percent_used": truth.percent, "data_units_written": str(truth.units),
            "power_on_hours": str(truth.hours)}  # fmt: skip
    return _json(made)


def nvme_text(truth: Truth) -> str:
    """``nvme smart-log``."""
    return (
        "Smart Log for NVME device:nvme0 namespace-id:ffffffff\ncritical_warning\t\t\t: 0\n"
        "temperature\t\t\t\t: 36 °C (309 K)\navailable_spare\t\t\t\t: 100%\n"
        f"percentage_used\t\t\t\t: {truth.percent}%\nData Units Read\t\t\t\t: 9 (4.61 MB)\n"
        f"Data Units Written\t\t\t: {truth.units:,} ({truth.units * 0.512:.2f} MB)\n"
        f"power_on_hours\t\t\t\t: {truth.hours:,}\n"
    )


def nvme_old_text(truth: Truth) -> str:
    """The same of old versions, with other names and points between groups."""
    return (
        "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\ncritical_warning                    : 0\n"
        f"percentage_used                     : {truth.percent}%\n"
        f"data_units_written                  : {f'{truth.units:,}'.replace(',', '.')}\n"
        f"power_on_hours                      : {f'{truth.hours:,}'.replace(',', '.')}\n"
    )


def ocp_halves(truth: Truth) -> str:
    """``nvme ocp smart-add-log -o json`` with 128 bits in halves."""
    return _json({"Physical media units written": {"hi": truth.media >> 64, "lo": truth.media & (2**64 - 1)},
                  "Physical media units read": {"hi": 0, "lo": 1}, "Log page version": 3})  # fmt: skip


def ocp_number(truth: Truth) -> str:
    """The same with a number."""
    return _json({"Physical media units written": truth.media, "Log page version": 2})


def ocp_snake(truth: Truth) -> str:
    """The same of newer versions."""
    return _json({"physical_media_units_written": {"hi": truth.media >> 64, "lo": truth.media & (2**64 - 1)}})


def ocp_text_value(truth: Truth) -> str:
    """The same with digits as a text, as in logs of Micron's plugin."""
    log = [{"Physical Media Units Written": str(truth.media), "Physical Media Units Read": "1"}]
    return _json({"OCP SMART Cloud Health Log: 0xC0": log})


def ocp_text(truth: Truth) -> str:
    """The same as text: upper and lower half."""
    return (
        "SMART Cloud Attributes :-\n"
        f"  Physical media units written -\t\t{truth.media >> 64} {truth.media & (2**64 - 1)}\n"
        "  Physical media units read    -\t\t0 1\n"
    )


def ocp_cells(truth: Truth) -> str:
    """The log 0xC0 of drives that count TLC and SLC apart (Micron)."""
    log = [{"Physical Media Units Written - TLC": hex(truth.media // 3),
            "Physical Media Units Written - SLC": hex(truth.media - truth.media // 3)}]  # fmt: skip
    return _json({"OCP Hyperscale Cloud Health Log: 0xC0": log})


def fdp_json(truth: Truth) -> str:
    """``nvme fdp stats -o json``."""
    return _json({"hbmw": truth.units, "mbmw": truth.media, "mbe": 0})


def fdp_text(truth: Truth) -> str:
    """``nvme fdp stats``."""
    return (
        f"Host Bytes with Metadata Written (HBMW): {truth.units:,}\n"
        f"Media Bytes with Metadata Written (MBMW): {truth.media:,}\nMedia Bytes Erased (MBE): 0\n"
    )


def intel_json(truth: Truth) -> str:
    """``nvme intel smart-log-add --json``."""
    counts = {"program_fail_count": 0, "nand_bytes_written": truth.media, "host_bytes_written": truth.units}
    stats = {name: {"normalized": 100, "raw": raw} for name, raw in counts.items()}
    return _json({"Intel Smart log": "nvme0", "Device stats": stats})


def solidigm_json(truth: Truth) -> str:
    """``nvme solidigm smart-log-add -o json``."""
    return intel_json(truth).replace("Intel Smart log", "Solidigm SMART log")


def intel_text(truth: Truth) -> str:
    """``nvme intel smart-log-add``."""
    rows = (
        (0xAB, "program_fail_count", 0),
        (0xF4, "nand_bytes_written", truth.media),
        (0xF5, "host_bytes_written", truth.units),
    )
    return "Additional Smart Log for NVME device:nvme0 namespace-id:ffffffff\n" + "".join(
        f"{number:#x}    {name:<45}  100         {raw}\n" for number, name, raw in rows
    )


def micron_json(truth: Truth) -> str:
    """``nvme micron vs-nand-stats -f json``."""
    log = [{"NAND Writes (Bytes Written)": hex(truth.media), "Erase Failures": "0x0"}]
    return _json({"Extended Smart Log Page : 0xD0": log})


def micron_text(truth: Truth) -> str:
    """``nvme micron vs-nand-stats``."""
    return f"{'NAND Writes (Bytes Written)':<40} : {truth.media:#x}\n{'Erase Failures':<40} : 0x0\n"


def wdc_json(truth: Truth) -> str:
    """``nvme wdc vs-nand-stats -o json``."""
    return _json({"NAND Writes TLC (Bytes)": str(truth.media - truth.media // 4),
                  "NAND Writes SLC (Bytes)": str(truth.media // 4), "NAND Program Failures": 0})  # fmt: skip


def wdc_text(truth: Truth) -> str:
    """``nvme wdc vs-smart-add-log`` of the log 0xCA."""
    high, low = truth.media >> 64, truth.media & (2**64 - 1)
    return (
        "  CA Log Page Performance Statistics :-\n"
        f"  NAND Bytes Written                             {high:20d}{low:20d}\n"
        "  NAND Bytes Read                                                   0                   1\n"
    )


def wdc_halves(truth: Truth) -> str:
    """The same as JSON."""
    return _json({"NAND Bytes Written Hi": truth.media >> 64, "NAND Bytes Written Lo": truth.media & (2**64 - 1)})


def _float(value: int) -> str:
    """A value as Go prints a floating-point number: the shortest digits that are exact."""
    text = repr(float(value))
    return text.removesuffix(".0") if "e" not in text else text


def _exporter(truth: Truth, protocol: str, *samples: str) -> str:
    device = (
        f'smartctl_device{{ata_version="",device="x",interface="{protocol.lower()}",model_family="",'
        f'model_name="Example 1TB",protocol="{protocol}",serial_number="{SERIAL}"}} 1'
    )
    return "\n".join(
        [
            "# HELP smartctl_device Device info", "# TYPE smartctl_device gauge",
            device,
            f'smartctl_device_power_on_seconds{{device="x"}} {_float(truth.hours * 3600)}', *samples, "",
        ]
    )  # fmt: skip


def exporter_nvme(truth: Truth) -> str:
    """smartctl_exporter on an NVMe drive, with a time stamp for each sample."""
    text = _exporter(
        truth, "NVMe", 'smartctl_device_block_size{blocks_type="logical",device="x"} 512',
        f'smartctl_device_percentage_used{{device="x"}} {truth.percent}',
        f'smartctl_device_bytes_written{{device="x"}} {_float(truth.units * 512_000)}',
    )  # fmt: skip
    stamp = f" {truth.time_s * 1000}"
    return "\n".join(line + (stamp if line and line[0] != "#" else "") for line in text.split("\n"))


def exporter_old(truth: Truth) -> str:
    """An old smartctl_exporter, which takes an NVMe data unit for 1024 sectors."""
    units = f'smartctl_device_bytes_written{{device="x"}} {_float(truth.units * 524_288)}'
    return _exporter(truth, "NVMe", 'smartctl_device_block_size{blocks_type="logical",device="x"} 512', units)


def exporter_sata(truth: Truth) -> str:
    """smartctl_exporter on a SATA drive."""
    rows = ((241, "Host_Writes_32MiB", truth.units), (249, "NAND_Writes_1GiB", truth.media))
    return _exporter(
        truth, "ATA",
        *(f'smartctl_device_attribute{{attribute_flags_long="x",attribute_flags_short="-O--CK",attribute_id="{number}",'
          f'attribute_name="{name}",attribute_value_type="{kind}",device="x"}} {_float(raw if kind == "raw" else 100)}'
          for number, name, raw in rows for kind in ("raw", "thresh", "value", "worst")),
    )  # fmt: skip


def exporter_sas(truth: Truth) -> str:
    """smartctl_exporter on a SAS drive."""
    return _exporter(truth, "SCSI", f'smartctl_device_bytes_written{{device="x"}} {_float(truth.units * 10**6)}')


def smartmon_sh(truth: Truth) -> str:
    """``smartmon.sh`` of node_exporter: lower case, and seven digits."""
    labels = 'disk="/dev/x",type="sat"'
    info = f'vendor="",lun_id="",model_family="",device_model="Example 1TB",serial_number="{SERIAL}"'
    return "\n".join(
        [
            "# HELP smartmon_device_info SMART metric device_info", f"smartmon_device_info{{{labels},{info}}} 1",
            f'smartmon_host_writes_32mib_raw_value{{{labels},smart_id="241"}} {truth.units:e}',
            f'smartmon_host_writes_32mib_value{{{labels},smart_id="241"}} 100',
            f'smartmon_nand_writes_1gib_raw_value{{{labels},smart_id="249"}} {truth.media:e}',
            f'smartmon_power_on_hours_raw_value{{{labels},smart_id="9"}} {truth.hours:e}',
            f"smartmon_smartctl_run{{{labels}}} {truth.time_s}", "",
        ]
    )  # fmt: skip


def smartmon_py(truth: Truth) -> str:
    """``smartmon.py`` of node_exporter."""
    rows = (("host_writes_32mib", truth.units), ("nand_writes_1gib", truth.media), ("power_on_hours", truth.hours))
    return "\n".join(
        [
            f'smartmon_device_info{{disk="/dev/x",device_model="Example 1TB",serial_number="{SERIAL}"}} 1',
            *(f'smartmon_attr_raw_value{{name="{name}",disk="/dev/x"}} {raw}' for name, raw in rows),
            f'smartmon_smartctl_run{{disk="/dev/x"}} {truth.time_s}', "",
        ]
    )  # fmt: skip


def nvme_metrics(truth: Truth) -> str:
    """``nvme_metrics.py`` of node_exporter."""
    return (
        f'nvme_device_info{{device="/dev/nvme0n1",firmware="1",model="Example 1TB",serial="{SERIAL}"}} 1.0\n'
        f'nvme_data_units_written_total{{device="/dev/nvme0n1"}} {float(truth.units)!r}\n'
        f'nvme_power_on_hours_total{{device="/dev/nvme0n1"}} {float(truth.hours)!r}\n'
        f'nvme_percentage_used_ratio{{device="/dev/nvme0n1"}} {truth.percent / 100}\n'
    )


def _host(bytes_: int, **flags: bool) -> Callable[[Truth], Expected]:
    return lambda truth: Expected(truth.units * bytes_, **flags)


def _both(host: int, media: int, **flags: bool) -> Callable[[Truth], Expected]:
    return lambda truth: Expected(truth.units * host, truth.media * media, **flags)


def _media(truth: Truth) -> Expected:
    return Expected(None, truth.media)


_ALL = {"hours": True, "percent": True, "time": True, "serial": True}
_NO_PERCENT = {"hours": True, "time": True, "serial": True}
TOOLS: dict[str, Tool] = {
    "smartctl_nvme": Tool(smartctl_nvme, _host(512_000, **_ALL)),
    "smartctl_sata": Tool(smartctl_sata, _both(32 * MIB, GIB, **_NO_PERCENT)),
    "smartctl_statistics": Tool(smartctl_statistics, _host(4096, **_ALL)),
    "smartctl_sas": Tool(smartctl_sas, _host(10**6, **_NO_PERCENT)),
    "text_nvme": Tool(text_nvme, _host(512_000, **_ALL)),
    "text_sata": Tool(text_sata, _both(32 * MIB, GIB, **_NO_PERCENT)),
    "text_brief": Tool(text_brief, _host(512, **_ALL)),
    "text_sas": Tool(text_sas, _host(10**6, time=True, serial=True)),
    "nvme_json": Tool(nvme_json, _host(512_000, hours=True, percent=True)),
    "nvme_json_texts": Tool(nvme_json_texts, _host(512_000, hours=True, percent=True)),
    "nvme_text": Tool(nvme_text, _host(512_000, hours=True, percent=True)),
    "nvme_old_text": Tool(nvme_old_text, _host(512_000, hours=True, percent=True)),
    "ocp_halves": Tool(ocp_halves, _media),
    "ocp_number": Tool(ocp_number, _media),
    "ocp_snake": Tool(ocp_snake, _media),
    "ocp_text_value": Tool(ocp_text_value, _media),
    "ocp_text": Tool(ocp_text, _media),
    "ocp_cells": Tool(ocp_cells, _media),
    "fdp_json": Tool(fdp_json, _both(1, 1)),
    "fdp_text": Tool(fdp_text, _both(1, 1)),
    "intel_json": Tool(intel_json, _both(32 * MIB, 32 * MIB)),
    "solidigm_json": Tool(solidigm_json, _both(32 * MIB, 32 * MIB)),
    "intel_text": Tool(intel_text, _both(32 * MIB, 32 * MIB)),
    "micron_json": Tool(micron_json, _media),
    "micron_text": Tool(micron_text, _media),
    "wdc_json": Tool(wdc_json, _media),
    "wdc_text": Tool(wdc_text, _media),
    "wdc_halves": Tool(wdc_halves, _media),
    "exporter_nvme": Tool(exporter_nvme, _host(512_000, **_ALL)),
    "exporter_old": Tool(exporter_old, _host(512_000, hours=True, serial=True)),
    "exporter_sata": Tool(exporter_sata, _both(32 * MIB, GIB, hours=True, serial=True)),
    "exporter_sas": Tool(exporter_sas, _host(10**6, hours=True, serial=True)),
    "smartmon_sh": Tool(smartmon_sh, _both(32 * MIB, GIB, **_NO_PERCENT)),
    "smartmon_py": Tool(smartmon_py, _both(32 * MIB, GIB, **_NO_PERCENT)),
    "nvme_metrics": Tool(nvme_metrics, _host(512_000, hours=True, percent=True, serial=True)),
}
