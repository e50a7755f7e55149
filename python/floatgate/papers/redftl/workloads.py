"""The four read traces as smaller twins, and drives for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from floatgate.papers.read_twins import as_busy, drive, mostly_free, of, smaller
from floatgate.run.experiment import Overrides, trace_overrides

BLOCKS = 65_536
BLOCKS_MDS = 287_995
BUFFER_BYTES = 256 << 20
PAGE_BYTES = 8192


@dataclass(frozen=True)
class Plan:
    """A workload of section 3.5: its blocks, its passes (Table 3; of mds a quarter), and by how much it is smaller."""

    blocks: int
    passes: int
    smaller: int


PLANS = {
    "ads": Plan(BLOCKS, 150, 16),
    "mds": Plan(BLOCKS_MDS, 50, 24),
    "tpc-h": Plan(BLOCKS, 50, 4),
    "websearch": Plan(BLOCKS, 100, 8),
    "multi": Plan(BLOCKS, 1, 1),
}
"""``multi`` is in Table 1 only."""
CLOSE_UP = ("ads", "websearch")
"""Run in timed mode, too."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the twins smaller, and their drives; a trace of the user's gets the paper's drive at full size."""
    made: dict[str, Overrides] = {}
    for name in workloads:
        made |= _original(name, traces[name]) if name in traces else _twin(name, folder)
        if name in CLOSE_UP and name not in traces:
            made |= as_busy(("close", "close-redftl"), name, PLANS[name].smaller, folder)
    return made


def _twin(name: str, folder: Path) -> dict[str, Overrides]:
    plan = PLANS[name]
    blocks = plan.blocks // plan.smaller
    twin = smaller(name, plan.smaller, folder)
    buffer = ("drive.buffer.capacity", str(BUFFER_BYTES // plan.smaller // PAGE_BYTES * PAGE_BYTES))
    return {
        name: [*of(twin, plan.passes), *drive(blocks), buffer],
        f"mostly-free.{name}": mostly_free(twin, blocks),
    }


def _original(name: str, trace: str) -> dict[str, Overrides]:
    plan = PLANS[name]
    run = [
        *trace_overrides(trace),
        ("workload.repeat", str(plan.passes)),
        ("workload.beyond", '"wrap"'),
        *drive(plan.blocks),
        ("drive.buffer.capacity", str(BUFFER_BYTES)),
    ]
    return {name: run, f"mostly-free.{name}": [("ftl.spare_factor", "0.75")]}
