"""The shipped traces, and a drive for each of them that it fills and on which there is something to separate."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from pathlib import Path

from floatgate.base.parallel import at_once
from floatgate.run.experiment import Experiment, Overrides, from_file
from floatgate.run.run import execute
from floatgate.study.leaderboard.drives import SMALLEST, SPARES, STREAMS, pages_per_block, scaled
from floatgate.trace import conversion, library
from floatgate.trace.dense_traces import Dense, dense

TRIED = (*SPARES, 0.04, 0.02)
"""Spare factors that are tried for the drive of a trace, the largest first."""
WAF_MIN = 1.5
"""WAF without separation, under greedy, of the drive that is taken; below, there is little to separate."""
SUPERBLOCK_PAGES = 512
FREE_MAX = 10
"""Blocks that the default stop level keeps free at most, and two more."""
BLOCKS = "pgbench-ext4"
"""The trace of blocks, without contexts."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the traces and size the drives."""
    made: dict[str, Overrides] = {}
    made_of = at_once(lambda i: _prepared(workloads[i], traces, folder), len(workloads), threading.Event())
    for one in made_of:
        made |= one
    return made


def _prepared(name: str, traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    source = Path(traces[name]) if name in traces else library.path(name)
    colon = ":blocks" if name == BLOCKS else ""
    trace = _blocks(source, folder) if name == BLOCKS else dense(source, folder / f"{name}.parquet")
    trace.must_have(SMALLEST, source, f"{SPARES[-1]:.0%} of its drive have to hold the {STREAMS} open blocks of IDS")
    file = [("workload.file", str(trace.file)), ("workload.format", "parquet")]
    pages = trace.distinct_pages
    block = pages_per_block(pages)
    # A pass over the trace of blocks writes more than two over any recording.
    repeat = [("workload.repeat", "1")] if name == BLOCKS else []
    spare = _spare(trace, [*file, *repeat], block)
    made = {name: [*file, *repeat, *_drive(pages, spare, block)]}
    made |= {f"spare-{one * 100:.0f}{colon}.{name}": _drive(pages, one, block) for one in SPARES}
    made[f"garbage{colon}.{name}"] = _drive(pages, SPARES[0], block)
    made[f"superblock{colon}.{name}"] = _drive(pages, spare, SUPERBLOCK_PAGES)
    return made


def _blocks(source: Path, folder: Path) -> Dense:
    """Return the writes of a trace of blocks, which has no contexts."""
    converted = folder / f"{BLOCKS}-converted.parquet"
    conversion.convert(str(source), str(converted), "parquet", {"op": "write"})
    return dense(converted, folder / f"{BLOCKS}.parquet", contexts=False)


def _spare(trace: Dense, file: Overrides, block: int) -> float:
    """Return the largest spare factor at which separation can still gain something, or the least that is tried."""
    experiment: Experiment = from_file(str(Path(__file__).parent / "experiment.toml"))
    room = [one for one in TRIED if one in SPARES or trace.distinct_pages / block * one >= STREAMS + FREE_MAX]
    for spare in room:
        run = execute(experiment.with_overrides([*file, *_drive(trace.distinct_pages, spare, block)]))
        if run.result.to_dict()["waf"] >= WAF_MIN:
            return spare
    return room[-1]


def _drive(pages: int, spare: float, block_pages: int) -> Overrides:
    """Size a drive that so many pages fill; with large blocks it gets more spare room if open blocks would not fit."""
    least = (STREAMS + 4) / (math.ceil(pages / block_pages) + STREAMS + 4)
    spare = max(spare, least) if block_pages == SUPERBLOCK_PAGES else spare
    return scaled(pages, spare, block_pages)
