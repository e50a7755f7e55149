"""Memory of a 128 GiB run, the Python process included: part of `make bench`.

Runs the command line as a user does, in a process of its own, and reads the peak that the run reports (before
anything is drawn).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ASKED_BYTES_PER_PAGE = {"functional": 11.0, "timed": 12.0}
PHYSICAL_PAGES = 128 * 2**30 // 4096
SETTINGS = {
    "drive.capacity": "128 GiB",
    "ftl.spare_factor": "0.07",
    "ftl.precondition": "steady",
    "workload.requests": "20000000",
}
# Time shows on a drive with dies to wait for.
TIMED = {"drive.geometry.channels": "8", "drive.geometry.chips_per_channel": "4"}


def measure(mode: str) -> None:
    """Run in a mode and print bytes per physical page beside what was asked."""
    command = [str(Path(sys.executable).with_name("floatgate")), "run", "--json", "-", "--quiet", "--no-report"]
    settings = SETTINGS | {"mode": mode} | (TIMED if mode == "timed" else {})
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    peak = result["run"]["peak_rss_bytes"]
    per_page, asked = peak / PHYSICAL_PAGES, ASKED_BYTES_PER_PAGE[mode]
    word = "met" if per_page <= asked else "NOT met"
    print(f"Memory of a 128 GiB drive of 4 KiB pages in {mode} mode, the Python process included")
    mib = peak / 2**20
    print(f"    peak resident {mib:.0f} MiB, bytes a physical page   {per_page:>6.2f}   asked {asked:.2f}: {word}")
    rate = result["run"]["programs_per_cpu_s"] / 1e6
    print(f"    programs a CPU second through the command line  {rate:>6.1f} M")


def main() -> int:
    """Measure both modes; 0 if the runs worked."""
    for mode in ASKED_BYTES_PER_PAGE:
        measure(mode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
