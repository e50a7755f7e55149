"""The six read traces as smaller twins, each read by many at once, and a drive of seven times its size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from floatgate.papers.read_twins import BLOCK_BYTES, as_busy, drive, mostly_free, of, smaller
from floatgate.run.experiment import Overrides, trace_overrides

TIMES_LARGER = 7
"""Blocks of the drive over those of the working set (section 4.4)."""


@dataclass(frozen=True)
class Plan:
    """A workload of section 4.4: its read amplification factor (Table 6), by how much it is smaller, its passes."""

    cursors: int
    smaller: int
    passes: int = 4


PLANS = {
    "ads": Plan(50, 16),
    "tpc-h": Plan(200, 16),
    "websearch": Plan(100, 16),
    "multi": Plan(50, 4),
    "tpc-e": Plan(30, 32, passes=16),
    "tatp": Plan(3, 16, passes=96),
}
LENGTHS = {"quarter": 4, "half": 2}
"""Batches of shorter runs, and by how much they are shorter."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the twins smaller, and their drives; under a trace of the user's the drive is that of the whole twin."""
    made: dict[str, Overrides] = {}
    for name in workloads:
        plan = PLANS[name]
        users_trace = name in traces
        twin = smaller(name, 1 if users_trace else plan.smaller, folder)
        workload = (
            [*trace_overrides(traces[name]), ("workload.beyond", '"wrap"')] if users_trace else of(twin, plan.passes)
        )
        blocks = TIMES_LARGER * twin.footprint_bytes // BLOCK_BYTES
        made[name] = [*workload, ("workload.read_amplification", str(plan.cursors)), *drive(blocks)]
        for batch, shorter in LENGTHS.items():
            passes = ("workload.requests", str(plan.passes // shorter * twin.requests))
            readers = ("workload.read_amplification", str(max(1, plan.cursors // shorter)))
            made[f"{batch}.{name}"] = [readers if users_trace else passes]
        made[f"mostly-free.{name}"] = [*mostly_free(twin, blocks), *made[f"quarter.{name}"]]
        if not users_trace:
            made |= as_busy(("close", "close-plus", "idle", "idle-plus"), name, plan.smaller, folder)
    return made
