"""Memory of large runs, the Python process included: part of `make bench`.

Runs the command line as a user does, in a process of its own, and reads the peak that the run reports (before anything
is drawn). The drives of the group `large` take 16 GB and two minutes each; where less memory is free they are skipped,
and `FLOATGATE_BENCH_LARGE=0` leaves them out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_history import append, context, figure, selection

STEADY = {"ftl.precondition": "steady"}
GIB = 2**30


@dataclass(frozen=True)
class Memory:
    """A run whose memory is measured."""

    key: str
    title: str
    settings: dict[str, str]
    asked_bytes_per_page: float
    physical_pages: int = 128 * GIB // 4096


@dataclass(frozen=True)
class Large:
    """A drive that is filled at steady state, and little more."""

    key: str
    title: str
    settings: dict[str, str]
    units: int
    """Units of the map."""
    needs_gib: float = 18.0
    """Memory that must be free: its need and some room."""
    options: list[str] = field(default_factory=list)


SETTINGS = STEADY | {"drive.capacity": "128 GiB", "ftl.spare_factor": "0.07", "workload.requests": "20000000"}
# Time shows on a drive with dies to wait for.
DIES = {"drive.geometry.channels": "8", "drive.geometry.chips_per_channel": "4"}
MEMORY = [
    Memory("functional", "functional mode", SETTINGS | {"mode": "functional"}, 11.0),
    Memory("timed", "timed mode", SETTINGS | DIES | {"mode": "timed"}, 12.0),
]
# 16 channels x 8 chips x 4 planes x 1023 blocks x 1024 pages x 16 KiB: 8 TiB less a block per plane, since units are
# numbered up to 2^31 - 1.
EIGHT_TIB = {
    "drive.geometry.channels": "16",
    "drive.geometry.chips_per_channel": "8",
    "drive.geometry.planes_per_die": "4",
    "drive.geometry.blocks_per_plane": "1023",
    "drive.geometry.pages_per_block": "1024",
    "drive.geometry.page_bytes": "16384",
    "ftl.mapping_bytes": "4096",
    "ftl.spare_factor": "0.07",
}
# The whole drive: 682 blocks of 1536 pages of 32 KiB on each of 2048 planes.
WHOLE_QLC = {
    "drive.geometry.page_bytes": "32768",
    "drive.geometry.blocks_per_plane": "682",
    "drive.geometry.pages_per_block": "1536",
    "ftl.mapping_bytes": "32768",
}
LARGE = [
    Large("8tib", "8 TiB, 16 KiB flash pages, 4 KiB units", EIGHT_TIB, 512 * 1023 * 1024 * 4),
    Large(
        "qlc-61tb",
        "61 TB of QLC (ent-qlc-61t44 whole), 32 KiB pages",
        WHOLE_QLC,
        2048 * 682 * 1536,
        options=["--drive", "ent-qlc-61t44"],
    ),
]
LARGE_TITLE = "Large drives filled by precondition = steady through the command line, the Python process included"
TARGET_S, TARGET_GIB = 120.0, 24.0


def run(settings: dict[str, str], *options: str) -> dict[str, Any]:
    """Return the `run` table of a result."""
    command = [str(Path(sys.executable).with_name("floatgate")), "run", *options]
    command += ["--json", "-", "--quiet", "--no-report"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return dict(result["run"])


def line(label: str, row: dict[str, Any], digits: int = 2) -> None:
    """Print a figure beside its target."""
    text = f"    {label:<56} {row['value']:>8.{digits}f}"
    if row["asked"]:
        most = " at most" if row["asked"]["bound"] == "most" else ""
        text += f"   asked {row['asked']['value']:.{digits}f}{most}: {'met' if row['met'] else 'NOT met'}"
    print(text, flush=True)


def memory(case: Memory) -> list[dict[str, Any]]:
    """Measure bytes per physical page, print them beside the target, and return the rows."""
    title = f"Memory of a 128 GiB drive of 4 KiB pages in {case.title}, the Python process included"
    print(title, flush=True)
    result = run(case.settings)
    build = result.get("build", {})
    peak, rate = result["peak_rss_bytes"], result["programs_per_cpu_s"] / 1e6

    def one(key: str, value: float, **more: Any) -> dict[str, Any]:
        return figure("memory", title, f"{case.key}/{key}", [value], build=build, **more)

    per_page = {"unit": "bytes per page", "better": "lower", "at_most": case.asked_bytes_per_page}
    rows = [
        one("peak", peak / 2**20, unit="MiB", better="lower"),
        one("per-page", peak / case.physical_pages, **per_page),
        one("programs", rate, unit="M/s", better="higher"),
    ]
    line(f"peak resident {peak / 2**20:.0f} MiB, bytes per physical page", rows[1])
    line("programs per CPU second through the command line, M", rows[2], 1)
    return rows


def available_gib() -> float:
    """Return the memory that is available without swapping."""
    for text in Path("/proc/meminfo").read_text("utf-8").splitlines():
        if text.startswith("MemAvailable:"):
            return int(text.split()[1]) / 2**20
    return 0.0


def large(case: Large) -> list[dict[str, Any]]:
    """Fill a large drive, unless there is too little memory."""
    free = available_gib()
    if free < case.needs_gib:
        print(f"    {case.title}: skipped, {free:.1f} GiB of memory are free and {case.needs_gib:.0f} GiB are needed")
        return []
    result = run(STEADY | {"workload.requests": "1000000"} | case.settings, *case.options)
    build = result.get("build", {})

    def one(key: str, value: float, **more: Any) -> dict[str, Any]:
        return figure("large", LARGE_TITLE, f"{case.key}/{key}", [value], build=build, better="lower", **more)

    peak = result["peak_rss_bytes"]
    rows = [
        one("cpu", result["cpu_s"], unit="s", at_most=TARGET_S),
        one("peak", peak / GIB, unit="GiB", at_most=TARGET_GIB),
        one("per-unit", peak / case.units, unit="bytes per unit"),
    ]
    for label, row in zip(("CPU seconds", "peak resident, GiB", "bytes per unit of the map"), rows, strict=True):
        line(f"{case.title}: {label}" if row is rows[0] else f"  {label}", row)
    return rows


def main() -> int:
    """Measure; 0 if the runs worked."""
    arguments = selection(__doc__ or "", "case", [case.key for case in [*MEMORY, *LARGE]])
    shared = context(arguments.history) if arguments.history else {}

    def keep(rows: list[dict[str, Any]]) -> None:
        if arguments.history:
            append(arguments.history, shared, rows)

    for small in MEMORY:
        if not arguments.names or small.key in arguments.names:
            keep(memory(small))
    wanted = [case for case in LARGE if case.key in arguments.names or not arguments.names]
    if not arguments.names and os.environ.get("FLOATGATE_BENCH_LARGE") == "0":
        print("Large drives: left out (FLOATGATE_BENCH_LARGE=0)")
        wanted = []
    elif wanted:
        print(LARGE_TITLE, flush=True)
    for case in wanted:
        keep(large(case))
    return 0


if __name__ == "__main__":
    sys.exit(main())
