"""The recorded programs, and a drive for each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from floatgate import library
from floatgate.experiment import Overrides
from floatgate.recorded import dense

RECORDED = {
    "cscope": "cscope",
    "gcc": "gcc-build",
    "multi1": "two-at-once",
    "multi2": "three-at-once",
    "tpc-h": "decision-support",
    "viewperf": "rendering",
    "sqlite": "sqlite-updates",
    "postgres": "postgres-updates",
}
PAGES_PER_BLOCK = 128
STREAMS_MAX = 40
"""Open blocks that a separator may hold; PDS with 32 update groups needs most."""
FILLED, TRIGGER = 0.9, 0.05
"""Share of the flash that is filled, and share of the blocks that is free when collection begins (section 5.4)."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the traces, and give each the smallest drive on which its pages fit beside what is filled.

    Collection begins when the trace has written about as much as it has distinct pages. On a drive of more than 20
    blocks for each block that the trace writes it would not begin at all (1,624 blocks for the paper's gcc).
    """
    made: dict[str, Overrides] = {}
    for name in workloads:
        source = Path(traces[name]) if name in traces else library.path(RECORDED[name])
        trace = dense(source, folder / f"{name}.parquet")
        needed = -(-trace.distinct_pages // PAGES_PER_BLOCK) + STREAMS_MAX + 2
        blocks = math.ceil(needed / (1 - FILLED - TRIGGER)) + 1
        spare = (math.ceil(TRIGGER * blocks) + STREAMS_MAX + 1) / blocks
        made[name] = [
            ("workload.file", str(trace.file)),
            ("workload.format", "parquet"),
            ("drive.geometry.blocks_per_plane", str(blocks)),
            ("ftl.spare_factor", str(spare)),
        ]
    return made
