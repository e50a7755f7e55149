"""Compares the rated endurance of the current drives with the model's under JESD219, for docs/drives.md.

Each drive is cut down to one plane: planes collect for themselves and take the host's pages in turn, so one stands for
all. Its blocks keep their size, its map, spare factor and P/E cycles stay. With --write the table of the page is
renewed.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import floatgate
from floatgate import _core
from floatgate.base.errors import STATUS_DONE
from floatgate.base.units import figure

PAGE = Path(__file__).resolve().parent.parent / "docs" / "drives.md"
TABLE = re.compile(r"(?<=<!-- jesd219 -->\n).*?(?=<!-- end of jesd219 -->)", re.DOTALL)
SHAPE = {
    **{f"drive.geometry.{level}": 1 for level in ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")},
    # The smallest flash among the drives has 48 blocks of this many to spare, far more than the free blocks it keeps.
    "drive.geometry.blocks_per_plane": 512,
    "ftl.precondition": "steady",
    # Reads move no page of the map; the workload's 40 % of them would only take time.
    "workload.read_share": 0.0,
}
WARM_UP_DRIVE_WRITES = 5
DRIVE_WRITES = 5
# Mean request of JESD219 (crates/trace/src/generate/jesd219.rs), and the request of the uniform workload.
JESD219 = {"workload.pattern": "jesd219"}, 7818.24
JESD219_APART = {"workload.pattern": "jesd219", "ftl.separate.policy": "host-gc"}, 7818.24
UNIFORM = {"workload.pattern": "uniform", "workload.request_bytes": 4096}, 4096.0
HEADER = [
    "drive",
    "WAF, 4 KiB uniform",
    "WAF, JESD219",
    "WAF, JESD219, streams apart",
    "drive writes of the model",
    "DWPD of the model",
    "rated DWPD",
    "model / rated",
]


def measured(name: str, workload: dict[str, Any], request_bytes: float) -> dict[str, Any]:
    """Return the result of a reduced drive after this many drive writes of a workload."""
    settings = {"drive.preset": name, **SHAPE, **workload}
    checked = floatgate.run({**settings, "workload.requests": 1, "workload.warmup_requests": 0}).result
    per_drive_write = checked["drive"]["logical_bytes"] / request_bytes
    settings["workload.warmup_requests"] = math.ceil(WARM_UP_DRIVE_WRITES * per_drive_write)
    settings["workload.requests"] = math.ceil(DRIVE_WRITES * per_drive_write)
    result: dict[str, Any] = floatgate.run(settings).result
    if not result["stationary"]:
        print(f"{name}: {workload['workload.pattern']} is not stationary", file=sys.stderr)
    return result


def row(drive: dict[str, Any]) -> list[str]:
    """Return the cells of a drive. The model's life is that of the average block: drives level wear."""
    uniform, together, apart = (measured(drive["name"], *workload) for workload in (UNIFORM, JESD219, JESD219_APART))
    writes = together["lifetime"]["tbw_bytes"] / together["drive"]["logical_bytes"]
    rated = drive["rated"]
    years, dwpd = rated["years"], rated["dwpd"]
    modelled = None if years is None else writes / years / 365
    wafs = [f"{one['waf_bytes']:.2f}" for one in (uniform, together, apart)]
    cells = [f"`{drive['name']}`", *wafs, f"{writes:,.0f}"]
    cells += ["-" if one is None else figure(one, 2) for one in (modelled, dwpd)]
    return [*cells, "-" if modelled is None or dwpd is None else f"{modelled / dwpd:.2f}"]


def by_map_page(drive: dict[str, Any]) -> str:
    """Return a line on a drive with a coarse map under writes of its unit, by which such drives are rated."""
    size = drive["mapping_bytes"]
    result = measured(drive["name"], {"workload.pattern": "uniform", "workload.request_bytes": size}, size)
    writes = result["lifetime"]["tbw_bytes"] / result["drive"]["logical_bytes"]
    rated = drive["rated"]
    dwpd = writes / rated["years"] / 365
    return (
        f"- `{drive['name']}` under uniform writes of {size >> 10} KiB: WAF {result['waf_bytes']:.2f}, "
        f"{writes:,.0f} drive writes, {figure(dwpd, 2)} per day, {dwpd / rated['dwpd']:.2f} of the rating."
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew the table in docs/drives.md")
    write = parser.parse_args().write
    lines = ["| " + " | ".join(HEADER) + " |", "|---" + "|--:" * (len(HEADER) - 1) + "|"]
    current = [drive for drive in json.loads(_core.catalogue())["drives"] if drive["group"] == "current"]
    for drive in current:
        lines.append("| " + " | ".join(row(drive)) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    coarse = [by_map_page(drive) for drive in current if drive["mapping_bytes"] > UNIFORM[1]]
    lines += ["", *coarse] if coarse else []
    table = "\n".join(lines) + "\n"
    if write:
        text = PAGE.read_text("utf-8")
        PAGE.write_text(TABLE.sub(lambda _: table, text, count=1), "utf-8")
    else:
        print(table, end="")
    return STATUS_DONE


if __name__ == "__main__":
    sys.exit(main())
