"""The recorded programs, and drives for each of them in both readings of chapter 5.

The paper fills 90 % of the drive "with meaningless values" before a run and prints neither the size of the drive nor
whether the trace writes those pages, too.

- **Overlapped** (batches :data:`OVER`): it does. Table 8 supports this. Under HASH the erased blocks of gcc gain
  225 x (128 - 108.2) = 4,455 pages, more than the 3,840 pages that the trace itself replaces. The same holds in six of
  the 18 rows. A trace's pages lie in clusters all over the drive (:func:`floatgate.trace.dense_traces.scattered`); the
  place of each cluster is drawn, with another seed in each batch.
- **Beside**: it does not; the trace replaces only what it has itself written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from floatgate.base.parallel import merged
from floatgate.run.experiment import Overrides
from floatgate.trace import library
from floatgate.trace.dense_traces import Dense, dense, scattered

RECORDED = {
    "cscope": "cscope-rounds",
    "gcc": "make-trees",
    "multi1": "build-and-cscope",
    "multi2": "three-interleaved",
    "tpc-h": "decision-refreshes",
    "tpc-r": "reporting",
    "viewperf": "rendering",
    "loader": "load-beside-updates",
    "sqlite": "sqlite-updates",
    "postgres": "postgres-updates",
}
PAGES_PER_BLOCK = 128
STREAMS_MAX = 40
"""Open blocks that a separator may hold; PDS with 32 update groups needs most."""
FILLED, TRIGGER = 0.9, 0.05
"""Share of the flash that is filled, and share of the blocks that is free when collection begins (section 5.4)."""
SEEDS = (1, 2, 3, 4, 5)
OVER = ("over", "thresholds", "settings", "changed", "at-6", "at-8", "sweep-6", "sweep-8")
SIZED = "sized"
"""Batches of the overlapped reading, each with a seed behind its name; those where HASH's table fits the trace."""
WRITTEN_BEFORE = 0.5
"""Share of a trace's page writes that fills the free blocks down to the trigger. In Table 8 HASH's traces leave 38 to
95 % of their writes in blocks that were free at the beginning (gcc: 57 %)."""
BLOCKS_MIN = math.ceil((STREAMS_MAX + 2) / TRIGGER)
COUNTERS_A_PAGE = 4
"""Counters of a sized table per page that the trace writes; few pages then share a counter."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the traces and size the drives."""
    return merged(lambda name: _prepared(name, traces, folder), workloads)


def _prepared(name: str, traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    source = Path(traces[name]) if name in traces else library.path(RECORDED[name])
    trace = dense(source, folder / f"{name}.parquet")
    made = {name: _beside(trace)}
    counters = 1 << math.ceil(math.log2(COUNTERS_A_PAGE * trace.distinct_pages))
    sized = [("ftl.separate.counters", str(counters)), ("ftl.separate.halve_every_writes", str(counters))]
    for seed in SEEDS:
        over = _overlapped(trace, folder / f"{name}-{seed}.parquet", seed)
        made |= {f"{batch}-{seed}.{name}": over for batch in OVER}
        made[f"{SIZED}-{seed}.{name}"] = [*over, *sized]
    return made


def _overlapped(trace: Dense, target: Path, seed: int) -> Overrides:
    """Return a drive on which collection begins at :data:`WRITTEN_BEFORE` of the trace, filled as far as possible."""
    free_pages = WRITTEN_BEFORE * trace.page_writes
    fits = math.ceil(trace.distinct_pages / (FILLED * PAGES_PER_BLOCK)) + 1
    blocks = max(math.ceil(free_pages / (1 - FILLED - TRIGGER) / PAGES_PER_BLOCK), BLOCKS_MIN, fits)
    # One page less than the unfilled share is spare: the host sees exactly the filled pages.
    spare = 1 - FILLED - 1 / (blocks * PAGES_PER_BLOCK)
    filled = math.floor(FILLED * blocks * PAGES_PER_BLOCK)
    return [
        ("workload.file", str(scattered(trace, target, filled, seed))),
        ("drive.geometry.blocks_per_plane", str(blocks)),
        ("ftl.spare_factor", str(spare)),
        ("seed", str(seed)),
    ]


def _beside(trace: Dense) -> Overrides:
    """Return the smallest drive on which a trace's pages fit beside the filled ones.

    Collection begins when the trace has written about as much as it has distinct pages. On a drive of more than 20
    blocks for each block that the trace writes it would not begin at all (1,624 blocks for the paper's gcc).
    """
    needed = -(-trace.distinct_pages // PAGES_PER_BLOCK) + STREAMS_MAX + 2
    blocks = math.ceil(needed / (1 - FILLED - TRIGGER)) + 1
    spare = (math.ceil(TRIGGER * blocks) + STREAMS_MAX + 1) / blocks
    return [
        ("workload.file", str(trace.file)),
        ("workload.format", "parquet"),
        ("drive.geometry.blocks_per_plane", str(blocks)),
        ("ftl.spare_factor", str(spare)),
    ]
