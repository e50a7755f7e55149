"""The shipped traces, and a drive for each of them that it fills to 85 %."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from floatgate import library
from floatgate.experiment import Overrides
from floatgate.recorded import dense

PAGES_PER_BLOCK, SPARE = 32, 0.15
PGBENCH_PAGES = (1 << 30) // 4096
"""Pages of the device on which pgbench-ext4 was recorded."""
CONTEXTS = (
    *("cscope", "gcc-build", "two-at-once", "decision-support", "sqlite-updates"),
    "postgres-updates",
)
"""The traces with program contexts."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the traces and size the drives."""
    made: dict[str, Overrides] = {}
    for name in workloads:
        source = Path(traces[name]) if name in traces else library.path(name)
        if name in CONTEXTS:
            trace = dense(source, folder / f"{name}.parquet", trims=True)
            file, kind, pages = trace.file, "parquet", trace.distinct_pages
        else:
            file, kind, pages = source, "nbdkit-log", PGBENCH_PAGES
        blocks = math.ceil(pages / (PAGES_PER_BLOCK * (1 - SPARE))) + 1
        made[name] = [
            ("workload.file", str(file)),
            ("workload.format", kind),
            ("drive.geometry.blocks_per_plane", str(blocks)),
        ]
    return made
