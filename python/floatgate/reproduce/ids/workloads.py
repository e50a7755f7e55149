"""The recorded programs, and a drive of twice the working set for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from floatgate import library
from floatgate.experiment import Overrides
from floatgate.recorded import dense
from floatgate.reproduce.pds.workloads import PAGES_PER_BLOCK, RECORDED

BACKGROUND_FROM = 0.3
"""Share of the writes from which on collection works in the background (section 6.3)."""
STREAMS = 18
"""Open blocks of IDS with its 16 groups, the separator with most."""
SMALLEST = (STREAMS + 2) * PAGES_PER_BLOCK + 1
"""Pages of a trace whose drive has room for these: half of it is to spare, which must be more than they and the two
blocks that collection keeps free."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the traces and size the drives."""
    made: dict[str, Overrides] = {}
    for name in workloads:
        source = Path(traces[name]) if name in traces else library.path(RECORDED[name])
        trace = dense(source, folder / f"{name}.parquet")
        trace.must_have(SMALLEST, source, f"half of its drive has to hold the {STREAMS} open blocks of IDS")
        blocks = -(-2 * trace.distinct_pages // PAGES_PER_BLOCK)
        made[name] = [
            ("workload.file", str(trace.file)),
            ("workload.format", "parquet"),
            ("drive.geometry.blocks_per_plane", str(blocks)),
            ("ftl.collect.paced_from_writes", str(round(BACKGROUND_FROM * trace.page_writes))),
        ]
    return made
