"""The recorded programs, and a drive of twice the working set for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from floatgate.base.parallel import merged
from floatgate.papers.pds.workloads import COUNTERS_A_PAGE, PAGES_PER_BLOCK, RECORDED
from floatgate.run.experiment import Overrides
from floatgate.trace import library
from floatgate.trace.dense_traces import Dense, dense

GARBAGE = (10, 15, 20)
"""Shares of dead pages in closed blocks, in per cent, from which on a victim is collected in the background."""
BACKGROUND_FROM = 0.3
"""Share of the writes from which on collection works at a pace, in the other reading (section 6.3)."""
GROUPS_MAX, STREAMS_MIN = 256, 6
"""Update groups of PDS and IDS at most, and open blocks that both need at least: the paper sets no limit. A small drive
has fewer: a quarter of its blocks, half of its spare ones, may then be open. An archive per group doubles what IDS
may open: under each reading it has groups for a fifth of the blocks, which fit beside the data."""
LOG_SHARE = 80
"""IDS logs and clusters this part of a trace's writes at a time: 256 of some 20,000."""
LOG_MAX = 8192
"""Longest log that IDS takes."""
SMALLEST = (4 * STREAMS_MIN - 2) * PAGES_PER_BLOCK // 2 + 1
"""Pages of a trace whose drive has room for these."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the traces, size the drives, and scale IDS's log and HASH's table to the traces."""
    return merged(lambda name: _prepared(name, traces, folder), workloads)


def _prepared(name: str, traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    source = Path(traces[name]) if name in traces else library.path(RECORDED[name])
    trace = dense(source, folder / f"{name}.parquet")
    trace.must_have(SMALLEST, source, f"a quarter of its drive has to hold {STREAMS_MIN} open blocks")
    blocks = -(-2 * trace.distinct_pages // PAGES_PER_BLOCK)
    made: dict[str, Overrides] = {
        name: [
            ("workload.file", str(trace.file)),
            ("workload.format", "parquet"),
            ("drive.geometry.blocks_per_plane", str(blocks)),
        ]
    }
    made[f"pace.{name}"] = [("ftl.collect.paced_from_writes", str(round(BACKGROUND_FROM * trace.page_writes)))]
    for batch in (*(f"garbage-{share}" for share in GARBAGE), "pace", "settings"):
        made |= {f"{batch}.{name}.{variant}": set_ for variant, set_ in _scaled(trace, blocks).items()}
    return made


def _scaled(trace: Dense, blocks: int) -> dict[str, Overrides]:
    """Return by variant what depends on the trace; a setting that is swept keeps the value of its sweep."""
    numbers = (blocks // 4 - 2, blocks // 5 - 1)
    groups, of_ids = (("ftl.separate.groups", str(min(GROUPS_MAX, number))) for number in numbers)
    log = _log(trace, 1)
    counters = str(1 << (COUNTERS_A_PAGE * trace.distinct_pages - 1).bit_length())
    ids: Overrides = [
        ("ftl.separate.window_updates", log),
        ("ftl.separate.period_updates", log),
        ("ftl.separate.consecutive_over", "1"),
    ]
    history = ("ftl.separate.history_updates", log)
    made: dict[str, Overrides] = {f"pds-{threshold}": [groups] for threshold in (1, 4, 16)}
    made |= {"ids": [of_ids, *ids], "ids-shared": [of_ids, *ids], "ids-expiring": [of_ids, *ids, history]}
    made["ids-default"] = [groups]
    made["hash-sized"] = [("ftl.separate.counters", counters), ("ftl.separate.halve_every_writes", counters)]
    for key, values in SWEEPS.items():
        for value in values:
            made[f"ids:{key}-{value}"] = [one for one in [of_ids, *ids] if one[0] != f"ftl.separate.{key}"]
    for name, factor in {**FACTORS, "x1": 1}.items():
        made[f"ids:history_updates-{name}"] = [of_ids, *ids, ("ftl.separate.history_updates", _log(trace, factor))]
    for key in ("window_updates", "period_updates"):
        for name, factor in FACTORS.items():
            own = [one for one in [of_ids, *ids] if one[0] != f"ftl.separate.{key}"]
            made[f"ids:{key}-{name}"] = [*own, (f"ftl.separate.{key}", _log(trace, factor))]
    return made


def _log(trace: Dense, factor: float) -> str:
    return str(min(LOG_MAX, max(2, round(trace.page_writes / LOG_SHARE * factor))))


SWEEPS: Mapping[str, tuple[int, ...]] = {
    "consecutive_over": (0, 4, 16, 64),
    "level_difference": (0, 1, 4, 8),
    "groups": (2, 4),
    "update_blocks_last": (1, 2),
}
"""Settings of IDS that are swept, with values in place of its own."""
FACTORS: Mapping[str, float] = {"quarter": 0.25, "x4": 4, "x16": 16}
"""Factors of the settings that depend on the trace, by their names."""
