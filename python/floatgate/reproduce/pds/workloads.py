"""The recorded programs, and a drive for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from floatgate import library
from floatgate.experiment import Overrides
from floatgate.reproduce.recorded import dense

RECORDED = {
    "cscope": "cscope",
    "gcc": "gcc-build",
    "multi1": "two-at-once",
    "tpc-h": "decision-support",
    "sqlite": "sqlite-updates",
    "postgres": "postgres-updates",
}
PAGES_PER_BLOCK = 128
BLOCKS_PER_WRITTEN = 10
"""Blocks of the drive for each block of pages that the trace writes."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the traces, and give each a drive on which it goes through its free space twice.

    Collection begins when half of the free tenth is written. It would not begin at all on a drive of more than 20
    blocks for each block that the trace writes (1,624 blocks for the paper's gcc).
    """
    made: dict[str, Overrides] = {}
    for name in workloads:
        source = Path(traces[name]) if name in traces else library.path(RECORDED[name])
        trace = dense(source, folder / f"{name}.parquet")
        blocks = max(BLOCKS_PER_WRITTEN * trace.page_writes // PAGES_PER_BLOCK, 400)
        # The whole trace lies in what is filled.
        blocks = max(blocks, -(-trace.distinct_pages * 10 // (9 * PAGES_PER_BLOCK)) + 1)
        made[name] = [
            ("workload.file", str(trace.file)),
            ("workload.format", "parquet"),
            ("drive.geometry.blocks_per_plane", str(blocks)),
        ]
    return made
