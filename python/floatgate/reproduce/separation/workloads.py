"""The shipped traces, and a drive for each of them that it fills."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from floatgate import library
from floatgate.experiment import Overrides
from floatgate.recorded import dense

PAGES_PER_BLOCK, SPARE = 32, 0.15
PGBENCH_PAGES, PGBENCH_SPARE = (1 << 30) // 4096, 0.02
"""Pages of the device on which pgbench-ext4 was recorded; it uses 70 % of them, so little more is needed to spare."""
STREAMS = 10
"""Open blocks of IDS, the separator with most."""
SMALLEST = math.floor((math.floor((STREAMS + 2) / SPARE) - 1) * PAGES_PER_BLOCK * (1 - SPARE)) + 1
"""Pages of a trace with contexts whose drive has room for these: what is to spare must be more than they and the two
blocks that collection keeps free."""
CONTEXTS = (
    *("cscope", "gcc-build", "rendering", "two-at-once", "three-at-once"),
    *("decision-support", "sqlite-updates", "postgres-updates"),
)
"""The traces with program contexts."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the traces and size the drives."""
    made: dict[str, Overrides] = {}
    for name in workloads:
        source = Path(traces[name]) if name in traces else library.path(name)
        if name in CONTEXTS:
            trace = dense(source, folder / f"{name}.parquet")
            trace.must_have(SMALLEST, source, f"{SPARE:.0%} of its drive have to hold the {STREAMS} open blocks of IDS")
            file, kind, pages, spare = trace.file, "parquet", trace.distinct_pages, SPARE
        else:
            file, kind, pages, spare = source, "nbdkit-log", PGBENCH_PAGES, PGBENCH_SPARE
        blocks = math.ceil(pages / (PAGES_PER_BLOCK * (1 - spare))) + 1
        made[name] = [
            ("workload.file", str(file)),
            ("workload.format", kind),
            ("drive.geometry.blocks_per_plane", str(blocks)),
            ("ftl.spare_factor", str(spare)),
        ]
    return made
