"""Compares MiDAS with the public simulator of its authors (FAST 2024) on one Zipf workload, and prints both.

None of their code is here. Their sources are at https://github.com/sungkyun123/MiDAS-Simulation; give the program:

    python scripts/compare_midas.py MiDAS-Simulation/ssdsimul --json docs/data/midas-artifact.json

The set-up is that of their simulator for a drive of 1 GB: 512 segments of 2 MiB, 244,140 pages written once in order,
then updates by Zipf's law over addresses in random order. One segment is collected at a time, until four are free.
Theirs searches for groups in a thread beside the simulation and sleeps for five seconds per drive write, which makes
its figures differ from run to run by some per cent.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import floatgate

PAGES = 10**9 // 4096
BLOCKS = 512
BLOCK_PAGES = 512
GB_PAGES = 2**18
"""Pages per GB of progress of their simulator."""

VICTIMS = {"fifo": "fifo", "greedy": "greedy", "cost-benefit": "cost-benefit-sqrt"}
"""Their victim policies of the last group, and ours."""

THEIRS_AS_OURS: dict[str, Any] = {"ftl.separate.groups": 9, "ftl.separate.sample_every": 100}
OURS: dict[str, dict[str, Any]] = {
    "midas": {"ftl.separate.policy": "midas", **THEIRS_AS_OURS},
    "midas, defaults": {"ftl.separate.policy": "midas"},
    "midas, no hot group": {"ftl.separate.policy": "midas", "ftl.separate.hot_group": False, **THEIRS_AS_OURS},
    "none": {"ftl.separate.policy": "none"},
    "sepbit": {"ftl.separate.policy": "sepbit"},
}
"""Our settings: with their bounds, with our defaults, and the separators to compare with."""


def addresses(updates: int, theta: float, seed: int) -> np.ndarray:
    """Draw page numbers of updates by Zipf's law."""
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, PAGES + 1) ** theta
    ranks = np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(updates))
    return rng.permutation(PAGES)[ranks]


def theirs(program: str, trace: Path, victims: str) -> dict[str, Any]:
    """Run their simulator: write amplification, of all writes and of the last five drive writes, and groups."""
    output = subprocess.run([program, str(trace), victims, "1", "2"], capture_output=True, text=True, check=True).stdout
    total = re.search(r"TOTAL WAF: ([0-9.]+)", output)
    if total is None:
        raise SystemExit(f"{victims}: their simulator printed no write amplification; its last words: {output[-300:]}")
    late = [float(waf) for waf in re.findall(r"TMP_WAF: ([0-9.]+)", output)][-5:]
    foretold = [float(waf) for waf in re.findall(r"calculated WAF: ([0-9.]+)", output)]
    groups = re.findall(r"(?:HOT|GROUP \d+)\[(\d+)\]: ([0-9.]+)", output[total.start() :])
    return {
        "waf": float(total[1]),
        "late_waf": round(sum(late) / len(late), 4),
        "foretold_waf": foretold[-1] if foretold else None,
        "group_segments": [int(segments) for segments, _ in groups],
        "group_valid": [float(valid) for _, valid in groups],
    }


def ours(trace: Path, settings: dict[str, Any], late_from: int) -> dict[str, Any]:
    """Return the same of floatgate."""
    drive = {
        "drive.geometry.channels": 1,
        "drive.geometry.chips_per_channel": 1,
        "drive.geometry.dies_per_chip": 1,
        "drive.geometry.planes_per_die": 1,
        "drive.geometry.blocks_per_plane": BLOCKS,
        "drive.geometry.pages_per_block": BLOCK_PAGES,
        "drive.geometry.page_bytes": 4096,
        "ftl.spare_factor": 1 - PAGES / (BLOCKS * BLOCK_PAGES) - 1e-7,
        "ftl.precondition": "none",
        "ftl.collect.trigger_free_blocks": 4,
        "ftl.collect.stop_free_blocks": 4,
    }
    run = floatgate.run({**drive, **settings}, trace=str(trace)).result.to_dict()
    late = floatgate.run(
        {**drive, **settings, "workload.warmup_requests": late_from}, trace=str(trace)
    ).result.to_dict()
    separator = (run["separate"] or {}).get("found", {})
    return {"waf": round(run["waf"], 4), "late_waf": round(late["waf"], 4), "found": separator}


def main() -> None:
    """Run both and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="their simulator")
    parser.add_argument("--updates", type=int, default=8_000_000)
    parser.add_argument("--theta", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="file for the results")
    arguments = parser.parse_args()
    written = addresses(arguments.updates, arguments.theta, arguments.seed)
    with tempfile.TemporaryDirectory(prefix="floatgate-") as name:
        updates, whole = Path(name) / "updates.txt", Path(name) / "all.ssdsim"
        with updates.open("w") as file:
            file.writelines(f"0 1 {page} 4096\n" for page in written)
        with whole.open("w") as file:
            pages = np.concatenate([np.arange(PAGES), written])
            file.writelines(f"{number} 0 {8 * page} 8 0\n" for number, page in enumerate(pages))
        late_from = PAGES + arguments.updates - 5 * GB_PAGES
        with ThreadPoolExecutor(2) as pool:
            their = dict(
                zip(VICTIMS, pool.map(lambda each: theirs(arguments.program, updates, each), VICTIMS), strict=True)
            )
        our = {
            victims: {
                label: ours(whole, {"ftl.collect.policy": policy, **settings}, late_from)
                for label, settings in OURS.items()
            }
            for victims, policy in VICTIMS.items()
        }
    for victims in VICTIMS:
        print(f"{victims:13} theirs {their[victims]}")
        for label, figures in our[victims].items():
            print(f"{'':13} {label:20} {figures}")
    if arguments.json:
        setup = {key: getattr(arguments, key) for key in ("updates", "theta", "seed")}
        rows = [{"victims": each, "theirs": their[each], "ours": our[each]} for each in VICTIMS]
        Path(arguments.json).write_text(json.dumps({"setup": {"pages": PAGES, **setup}, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
