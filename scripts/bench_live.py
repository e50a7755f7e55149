"""Measure a live drive under fio: requests per second, replies that leave late, memory of a large drive.

Prints one line per figure. Rows:

- writes and reads of 4 KiB at depth 1 and 32, in functional mode;
- the same reads of a worn-out drive, which are served without engine and journal: the difference is their cost;
- how late replies leave, in timed mode with ``--delay``, at 10,000 requests per second;
- memory of a drive of 1 TiB after a million writes all over it.

The machine should be idle. Needs fio with its engine for NBD.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from floatgate.live.drive import LiveDrive, Options
from floatgate.run.experiment import Experiment
from floatgate.run.slicing import slice_of

SECONDS = 8
DRIVE = ("drive.preset", '"ent-tlc-ri-1t92"')
PE_CYCLES_OF_A_WORN_DRIVE = ("drive.endurance.pe_cycles", "1")


def fio(socket: Path, *more: str) -> float:
    """Run fio on a drive; returns its requests per second."""
    command = [
        "fio",
        "--name=bench",
        "--ioengine=nbd",
        f"--uri=nbd+unix:///?socket={socket}",
        "--bs=4k",
        "--size=1g",
        "--time_based",
        f"--runtime={SECONDS}",
        "--output-format=json",
        *more,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # Notes of fio may stand before the JSON.
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    return float(job["read"]["iops"] + job["write"]["iops"])


def served(folder: Path, capacity: str, *settings: tuple[str, str], delay: bool = False) -> LiveDrive:
    """Serve a drive."""
    whole = Experiment(overrides=[DRIVE, *settings])
    return LiveDrive(whole.with_overrides(slice_of(whole, capacity)), Options(folder, delay=delay))


def rates(folder: Path) -> None:
    """Print requests per second, with the engine and without it."""
    with served(folder, "8GiB") as drive:
        for kind in ("randwrite", "randread"):
            for depth in (1, 32):
                rate = fio(drive.options.socket_path, f"--rw={kind}", f"--iodepth={depth}")
                print(f"{kind} depth {depth}: {rate:,.0f} requests/s", flush=True)


def rates_without_engine(folder: Path) -> None:
    """Print requests per second of reads that the engine does not see."""
    with served(folder, "2GiB", PE_CYCLES_OF_A_WORN_DRIVE) as drive:
        while not (drive.look() or {}).get("ended"):
            subprocess.run(
                ["nbdcopy", "--", "/dev/zero", f"nbd+unix:///?socket={drive.options.socket_path}"],
                check=False,
                capture_output=True,
            )
        for depth in (1, 32):
            rate = fio(drive.options.socket_path, "--rw=randread", f"--iodepth={depth}")
            print(f"randread depth {depth}, without engine and journal: {rate:,.0f} requests/s", flush=True)


def lateness(folder: Path) -> None:
    """Print how late replies left at 10,000 requests per second."""
    with served(folder, "64GiB", ("mode", '"timed"'), delay=True) as drive:
        job = ("--rw=randrw", "--rwmixread=70", "--iodepth=32", "--rate_iops=7000,3000")
        rate = fio(drive.options.socket_path, *job)
        late = (drive.look() or {})["late_us"]
        print(f"timed, --delay: {rate:,.0f} requests/s; late p50 {late['p50']:.0f} us, p99 {late['p99']:.0f} us")


def memory(folder: Path) -> None:
    """Print the memory of a large drive."""
    with served(folder, "1TiB") as drive:
        fio(drive.options.socket_path, "--rw=randwrite", "--iodepth=32", "--size=900g", "--number_ios=1000000")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(f"1 TiB: {peak / 1e9:.2f} GB at most", flush=True)


def main() -> None:
    """Run all of them, or those that are named."""
    parts = {"rates": rates, "engine": rates_without_engine, "lateness": lateness, "memory": memory}
    for name in sys.argv[1:] or parts:
        with tempfile.TemporaryDirectory(prefix="floatgate-live-") as folder:
            parts[name](Path(folder))


if __name__ == "__main__":
    main()
