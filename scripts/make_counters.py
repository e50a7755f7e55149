"""Write the example readings of docs/counters.md into captures/counters: logs of imagined drives, by a small model.

No log of a real drive is copied. ``python scripts/make_counters.py [FOLDER]``.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
UNIT, GIB = 512_000, 1 << 30
START = datetime(2025, 3, 1, 6, 0, tzinfo=UTC)
MONTHS_GB = (5200, 5400, 6100, 5900, 7200, 7600, 8100, 7900, 8800, 9300, 9900, 10400)
"""What the host writes in each month of the log."""
WAFS = (1.62, 1.66, 1.71, 1.74, 1.85, 1.93, 2.02, 2.08, 2.21, 2.30, 2.38, 2.47)
"""The write amplification of each month: it rises while the drive fills."""
ENDURED = 7.2e15
"""Bytes of flash writes that this drive endures."""
RESET = 7
"""The reading before which the drive's log of flash writes was reset."""


@dataclass(frozen=True)
class State:
    """The counters of the imagined drive at one moment."""

    moment: datetime
    host_bytes: int
    media_bytes: int
    hours: int
    percent: int


def states() -> list[State]:
    """Return the state at the beginning of each month, and at the end of the last one."""
    host, media, hours = 41 * 10**12, 68 * 10**12, 8_760
    made = []
    for month, (volume_gb, waf) in enumerate([*zip(MONTHS_GB, WAFS, strict=True), (0, 0.0)]):
        moment = START + timedelta(days=30 * month)
        made.append(State(moment, host, media, hours + 720 * month, int(100 * media / ENDURED)))
        host += volume_gb * 10**9
        media += int(volume_gb * 10**9 * waf)
    return made


def smart(state: State) -> dict[str, Any]:
    """Return ``nvme smart-log -o json``."""
    return {
        "critical_warning": 0,
        "temperature": 311,
        "avail_spare": 100,
        "percent_used": state.percent,
        "data_units_written": -(-state.host_bytes // UNIT),
        "power_on_hours": state.hours,
    }


def ocp(state: State) -> dict[str, Any]:
    """Return ``nvme ocp smart-add-log -o json``."""
    return {"Physical media units written": {"hi": 0, "lo": state.media_bytes}, "Log page version": 3}


def log(several: list[State]) -> str:
    """Return what a monthly job appends to a file: ``date``, ``nvme smart-log`` and ``nvme ocp smart-add-log``."""
    texts = []
    lost = several[RESET].media_bytes - 10**9
    for number, state in enumerate(several):
        units = -(-state.host_bytes // UNIT)
        media = state.media_bytes - (lost if number >= RESET else 0)
        texts.append(
            f"{state.moment:%a %b %e %H:%M:%S UTC %Y}\n"
            "Smart Log for NVME device:nvme0 namespace-id:ffffffff\n"
            f"available_spare\t\t\t\t: 100%\npercentage_used\t\t\t\t: {state.percent}%\n"
            f"Data Units Written\t\t\t: {units:,} ({units * UNIT / 1e12:.2f} TB)\n"
            f"power_on_hours\t\t\t\t: {state.hours:,}\n"
            f"SMART Cloud Attributes :-\n  Physical media units written -\t\t0 {media}\n"
        )
    return "".join(texts)


def sata(name: str, family: str, *attributes: tuple[int, str, int], moment: datetime) -> dict[str, Any]:
    """Return ``smartctl --json -x`` of a SATA drive."""
    table = [{"id": number, "name": title, "raw": {"value": raw}} for number, title, raw in attributes]
    made: dict[str, Any] = {
        "smartctl": {"version": [7, 4], "exit_status": 0},
        "local_time": {"time_t": int(moment.timestamp())},
        "device": {"name": "/dev/sda", "type": "sat", "protocol": "ATA"},
        "model_name": name,
        "serial_number": "EXAMPLE0001",
        "user_capacity": {"blocks": 1_000_215_216, "bytes": 512_110_190_592},
        "logical_block_size": 512,
        "interface_speed": {"current": {"units_per_second": 60, "bits_per_unit": 100_000_000}},
        "ata_smart_attributes": {"revision": 1, "table": table},
    }
    return made | ({"model_family": family} if family else {})


def files() -> dict[str, str]:
    """Return all example readings by their names."""
    several = states()
    made: dict[str, Any] = {}
    for state in (several[0], several[1]):
        made[f"{state.moment:%Y-%m-%d}.smart.json"] = smart(state)
        made[f"{state.moment:%Y-%m-%d}.ocp.json"] = ocp(state)
    for number, place in enumerate(("before", "after")):
        moment = START + timedelta(days=14 * number)
        hynix = (
            (235, "Lifetime_Writes_GiB", 21_530 + 640 * number),
            (241, "Lifetime_NAND_Prg_GiB", 58_100 + 1_810 * number),
        )
        made[f"sata-{place}.json"] = sata("Example SATA 512GB", "SK hynix SATA SSDs", *hynix, moment=moment)
        hours = (9, "Power_On_Hours", 5_000 + 336 * number)
        unknown = (241, "Total_LBAs_Written", 51_200 + 9_600 * number)
        made[f"unknown-{place}.json"] = sata("No-name 512GB", "", hours, unknown, moment=moment)
    texts = {name: json.dumps(content, indent=1) + "\n" for name, content in made.items()}
    return texts | {"year.log": log(several)}


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "captures" / "counters")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
