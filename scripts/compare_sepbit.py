"""Compares separators with the public simulator of SepBIT's authors (FAST 2022) on one Zipf workload; prints both.

None of their code is here. Their sources are at https://github.com/fallfish/sepbit (MIT); compile ``trace_replay`` with
Maven as its README says, and give the folder of classes:

    python scripts/compare_sepbit.py sepbit/trace_replay/target/classes --json docs/data/sepbit-artifact.json

The set-up is that of their simulator. Pages are written once in order, then updates are drawn by Zipf's law over
addresses in random order. Segments have 256 pages. Whenever more than 15 % of the pages are dead, one segment is
collected, the one with the greatest (1 - u) sqrt(age) / u. ``--schemes fk --garbage-share 0.152`` compares one scheme
at another share.
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

PAGE_BYTES = 4096
SEGMENT_PAGES = 256
GARBAGE_SHARE = 0.15
NEVER = 2**64 - 1

SCHEMES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "none": ("NoSep", 1, {"ftl.separate.policy": "none"}),
    "host-gc": ("SepGC", 2, {"ftl.separate.policy": "host-gc"}),
    "sepbit": ("SepBIT", 6, {"ftl.separate.policy": "sepbit"}),
    "dac": ("DAC", 6, {"ftl.separate.policy": "dac"}),
    "warcip": ("WARCIP", 6, {"ftl.separate.policy": "warcip"}),
    "fk": ("FK", 6, {"ftl.separate.policy": "fk"}),
    "sfs": ("SFS", 6, {"ftl.separate.policy": "sfs", "ftl.separate.classes": 6}),
    **{
        f"{name}{of}": (theirs, segments, {"ftl.separate.policy": name, **variant})
        for name, theirs, segments in (
            ("multilog", "MultiLog", 6),
            ("fadac", "FADaC", 6),
            ("sfr", "SFR", 6),
            ("eti", "ETI", 3),
            ("multi-queue", "MultiQueue", 6),
        )
        for of, variant in (("", {}), (", artifact", {"ftl.separate.variant": "artifact"}))
    },
}
"""By our name and variant: their name, how many segments they keep open, and our settings."""


def addresses(pages: int, updates: int, theta: float, seed: int) -> np.ndarray:
    """Return page numbers in the order of their writes: all once, then updates by Zipf's law."""
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, pages + 1) ** theta
    ranks = np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(updates))
    return np.concatenate([np.arange(pages), rng.permutation(pages)[ranks]])


def lifespans(written: np.ndarray) -> list[int]:
    """Return by write, how many writes later its page is written again; :data:`NEVER` where it is not."""
    lives, later = [NEVER] * len(written), {}
    for number in range(len(written) - 1, -1, -1):
        page = int(written[number])
        if page in later:
            lives[number] = later[page] - number
        later[page] = number
    return lives


def theirs(classes: str, folder: Path, name: str, segments: int, share: float) -> float:
    """Write amplification of their simulator."""
    out = folder / name
    for needed in ("segments", "ondiskfifo"):
        (out / needed).mkdir(parents=True)
    flags = {
        "path": folder / "list.txt",
        "propertyPath": folder / "property.txt",
        "oraclePath": folder,
        "outputPrefix": f"{out}/",
        "indexMapType": "PureInMem",
        "indexMapCache": "Null",
        "selectionAlgorithm": "CostBenefit",
        "setSeparateMethod": name,
        "setNumOpenSegments": segments,
        "setSegmentSize": SEGMENT_PAGES * PAGE_BYTES,
        "setSystemGarbageProportionThreshold": share,
        "printGCInfo": 0,
        "printSegmentInSummary": 0,
    }
    options = [text for flag, value in flags.items() for text in (f"--{flag}", str(value))]
    command = ["java", "-cp", classes, "gcsimulator.Simulator", *options]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r"segment WA = ([0-9.]+)", output)
    if match is None:
        raise SystemExit(f"{name}: their simulator printed no write amplification; its last words: {output[-300:]}")
    return float(match[1])


def ours(
    trace: Path, pages: int, scheme: tuple[str, int, dict[str, Any]], collect: str, levels: dict[str, Any]
) -> float:
    """Write amplification of floatgate, with so much collected at a time."""
    _, segments, settings = scheme
    # Beside garbage, open blocks and those that collection keeps free: plenty where it goes by garbage.
    more = 8 * segments + 16 if "ftl.collect.garbage_share" in levels else segments + 9
    blocks = int(pages / SEGMENT_PAGES / (1 - GARBAGE_SHARE)) + more
    drive = {
        "drive.geometry.channels": 1,
        "drive.geometry.chips_per_channel": 1,
        "drive.geometry.dies_per_chip": 1,
        "drive.geometry.planes_per_die": 1,
        "drive.geometry.blocks_per_plane": blocks,
        "drive.geometry.pages_per_block": SEGMENT_PAGES,
        "drive.geometry.page_bytes": PAGE_BYTES,
        "ftl.spare_factor": 1 - pages / (blocks * SEGMENT_PAGES) - 1e-6,
        "ftl.precondition": "none",
        "ftl.collect.policy": collect,
    }
    result = floatgate.run({**drive, **levels, **settings}, trace=str(trace)).result.to_dict()
    return float(result["waf"])


LEVELS: dict[str, dict[str, Any]] = {
    "lowest": {"ftl.collect.trigger_free_blocks": 2, "ftl.collect.stop_free_blocks": 2},
    "default": {},
    "garbage": {"ftl.collect.garbage_share": GARBAGE_SHARE},
}
"""How much is collected at a time: until two blocks are free, by the default, at a share of garbage."""


def stop_levels(trace: Path, pages: int) -> None:
    """Print the WAF of five schemes by how much is collected at a time."""
    names = ("none", "host-gc", "dac", "sepbit", "fk")
    for collect in ("greedy", "cost-benefit-sqrt"):
        for label, levels in LEVELS.items():
            results = (f"{name} {ours(trace, pages, SCHEMES[name], collect, levels):.3f}" for name in names)
            print(f"{collect:18} {label:8} {', '.join(results)}")


def main() -> None:
    """Run both and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classes", nargs="?", help="class path of their simulator; not with --stops")
    parser.add_argument("--pages", type=int, default=131_072)
    parser.add_argument("--updates", type=int, default=1_310_720)
    parser.add_argument("--theta", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schemes", nargs="+", choices=SCHEMES, default=list(SCHEMES), help="only these")
    parser.add_argument("--garbage-share", type=float, default=GARBAGE_SHARE, help="dead pages at which both collect")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--stops", action="store_true", help="only ours, by how much is collected at a time")
    arguments = parser.parse_args()
    written = addresses(arguments.pages, arguments.updates, arguments.theta, arguments.seed)
    with tempfile.TemporaryDirectory(prefix="floatgate-") as name:
        folder = Path(name)
        trace = folder / "0.alibaba"
        lines = (f"0,W,{page * PAGE_BYTES},{PAGE_BYTES},{number}\n" for number, page in enumerate(written, 1))
        trace.write_text("".join(lines))
        if arguments.stops:
            stop_levels(trace, arguments.pages)
            return
        if arguments.classes is None:
            parser.error("expected the class path of their simulator, or --stops")
        (folder / "list.txt").write_text(f"{trace}\n")
        (folder / "property.txt").write_text(f"0 {arguments.pages} {arguments.pages * PAGE_BYTES}\n")
        (folder / "0.oracle").write_text("\n".join(map(str, lifespans(written))) + "\n")
        share = arguments.garbage_share
        schemes = {name: SCHEMES[name] for name in arguments.schemes}
        each = sorted({(name, segments) for name, segments, _ in schemes.values()})
        with ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda scheme: theirs(arguments.classes, folder, *scheme, share), each)
            their = dict(zip(each, results, strict=True))
        levels = {"ftl.collect.garbage_share": share}
        our = {
            name: ours(trace, arguments.pages, scheme, "cost-benefit-sqrt", levels) for name, scheme in schemes.items()
        }
    rows = [
        {
            "scheme": name,
            "theirs": their[scheme[:2]],
            "ours": our[name],
            "ratio": round(our[name] / their[scheme[:2]], 4),
        }
        for name, scheme in schemes.items()
    ]
    for row in rows:
        print(f"{row['scheme']:21} {row['theirs']:8.4f} {row['ours']:8.4f} {row['ratio']:7.3f}")
    if arguments.json:
        setup = {key: getattr(arguments, key) for key in ("pages", "updates", "theta", "seed", "garbage_share")}
        Path(arguments.json).write_text(json.dumps({"setup": setup, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
