"""Separators that know the future, on recorded traces: no separator that must guess does better."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import pytest

from floatgate import _core
from floatgate.base.errors import InputError
from floatgate.papers import load
from floatgate.run.experiment import Experiment, Overrides
from floatgate.run.run import execute
from floatgate.trace import library
from floatgate.trace.dense_traces import dense

SEPARATORS = [row["name"] for row in json.loads(_core.catalogue())["policies"]["ftl.separate"]]
KNOWING = ("ora", "fk")
VICTIMS = ("greedy", "cost-benefit")
CONTEXTS = (
    *("cscope", "gcc-build", "rendering", "two-at-once", "three-at-once"),
    *("decision-support", "sqlite-updates", "postgres-updates"),
)
"""Recorded traces without streams."""
SPARE = 0.15
BY_STREAMS = "host-given"
"""Wants a trace with streams, which no recorded one has."""
FILLED = {"cscope": 1500, "sqlite-updates": 160, "two-at-once": 4000}
"""Blocks of 32 pages that just hold what a trace addresses, deletions and all, at a spare factor of 0.1."""
MORE_ERASES = {("rendering", "none"): 3, ("two-at-once", "none"): 4, ("three-at-once", "none"): 1}
"""Erases that ORA makes and another does not, though neither copies a page. On these drives files are overwritten in
the order of their pages, and every victim is dead even without separation. ORA has opened seven more blocks by the end
of the trace, and some of them have cost an erase."""


@dataclass(frozen=True)
class Cost:
    """The work of collection."""

    copied: int
    time_s: float
    victims: int
    dead: int
    open: int


def _cost(drive: Experiment, separator: str, victim: str, more: Overrides | None = None) -> Cost:
    chosen = [("ftl.separate.policy", separator), ("ftl.collect.policy", victim), *(more or [])]
    result = execute(drive.with_overrides(chosen)).result.to_dict()
    gc = result["gc"]
    opened = result["separate"]["open_blocks_max"]
    return Cost(gc["copied_pages"], gc["time_s"], gc["victims"], gc["dead_victims"], opened)


def _hold(trace: str, drive: Experiment, victim: str, more_erases: dict[tuple[str, str], int]) -> None:
    """ORA copies no more and takes no longer than any separator that does not know the future."""
    ora = _cost(drive, "ora", victim)
    with pytest.raises(InputError, match="streams"):
        _cost(drive, BY_STREAMS, victim)
    for name in SEPARATORS:
        if name in (*KNOWING, BY_STREAMS):
            continue
        cost = _cost(drive, name, victim)
        assert ora.copied <= cost.copied, f"{name} copies {cost.copied} pages, ora {ora.copied}"
        more = more_erases.get((trace, name))
        if more is None:
            assert ora.time_s <= cost.time_s, f"{name} takes {cost.time_s} s, ora {ora.time_s}"
        else:
            assert (cost.copied, cost.victims) == (0, cost.dead)
            assert (ora.copied, ora.victims) == (0, cost.victims + more)
            assert more <= ora.open - cost.open


def _full(folder: Path, trace: str) -> Experiment:
    """A drive of small blocks that a trace fills, and three passes of which all are counted.

    Where nobody copies a page, whether an erase falls before or after the end of a first pass would decide.
    """
    pages = dense(library.path(trace), folder / f"{trace}.parquet")
    return load("separation").experiment.with_overrides(
        [
            ("workload.file", str(pages.file)),
            ("workload.format", "parquet"),
            ("workload.warmup_passes", "0"),
            ("workload.repeat", "3"),
            ("drive.geometry.blocks_per_plane", str(math.ceil(pages.distinct_pages / (32 * (1 - SPARE))) + 1)),
            ("ftl.spare_factor", str(SPARE)),
            ("ftl.precondition", "none"),
        ]
    )


@pytest.mark.long
@pytest.mark.parametrize(("trace", "victim"), [*zip(CONTEXTS, cycle(VICTIMS), strict=False)])
def test_nobody_copies_less_than_ora_on_a_drive_that_stays_full(trace: str, victim: str, tmp_path: Path) -> None:
    _hold(trace, _full(tmp_path, trace), victim, MORE_ERASES)


@pytest.mark.parametrize("victim", VICTIMS)
def test_nobody_copies_less_than_ora_on_a_small_trace(victim: str, tmp_path: Path) -> None:
    """518 pages; blocks of 8 leave room for the open blocks of all separators."""
    pages = dense(library.path("sqlite-content"), tmp_path / "small.parquet")
    drive = load("separation").experiment.with_overrides(
        [
            ("workload.file", str(pages.file)),
            ("workload.format", "parquet"),
            ("drive.geometry.pages_per_block", "8"),
            ("drive.geometry.blocks_per_plane", str(math.ceil(pages.distinct_pages / 6) + 1)),
            ("ftl.spare_factor", "0.25"),
            ("ftl.precondition", "none"),
        ]
    )
    _hold("sqlite-content", drive, victim, {})


@pytest.mark.parametrize(("trace", "victim"), [*zip(sorted(FILLED), cycle(VICTIMS), strict=False)])
def test_nobody_copies_less_than_ora_where_files_are_deleted(trace: str, victim: str) -> None:
    drive = load("separation").experiment.with_overrides(
        [
            ("workload.file", str(library.path(trace))),
            ("workload.format", "parquet"),
            ("workload.warmup_passes", "0"),
            ("workload.repeat", "1"),
            ("drive.geometry.blocks_per_plane", str(FILLED[trace])),
            ("ftl.spare_factor", "0.1"),
            ("ftl.precondition", "random"),
        ]
    )
    _hold(trace, drive, victim, {})
    assert _cost(drive, "ora", victim).copied < _cost(drive, "none", victim).copied / 4


def test_dead_update_blocks_are_worth_more_than_the_future_where_the_sample_misses_dead_blocks(tmp_path: Path) -> None:
    """PDS names its update blocks, and dead ones are taken before d-choices draws; ORA names none."""
    drive = _full(tmp_path, "two-at-once")
    ora, as_any = _cost(drive, "ora", "d-choices"), _cost(drive, "pds", "d-choices")
    pds = _cost(drive, "pds", "d-choices", [("ftl.separate.update_blocks_last", "1")])
    assert pds.copied < ora.copied / 10
    assert ora.copied < as_any.copied
