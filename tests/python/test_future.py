"""Separators that know the future, on recorded traces: nobody who must guess does better."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import floatgate
from floatgate import _core

TRACES = Path(__file__).parents[2] / "traces"
# Blocks of 32 pages, so that just hold what the trace addresses at a spare factor of 0.1.
DRIVES = {"cscope": 1500, "sqlite-updates": 160, "two-at-once": 4000}


def _cost(trace: str, separator: str, victim: str) -> tuple[float, float] | None:
    """Pages copied and seconds of collection; none where the separator needs what the trace has not."""
    settings = {
        "drive.geometry.blocks_per_plane": DRIVES[trace],
        "drive.geometry.pages_per_block": 32,
        "ftl.spare_factor": 0.1,
        "ftl.precondition": "random",
        "ftl.collect.policy": victim,
        "ftl.separate.policy": separator,
        "workload.kind": "trace",
        "workload.file": str(TRACES / f"{trace}.parquet"),
    }
    try:
        gc = floatgate.run(set=settings).result["gc"]
    except floatgate.InputError as error:
        if "stream" in str(error) or "context" in str(error):
            return None
        raise
    return gc["copied_pages"], gc["time_s"]


@pytest.mark.parametrize("victim", ["greedy", "cost-benefit"])
@pytest.mark.parametrize("trace", sorted(DRIVES))
def test_nobody_copies_less_than_ora_or_spends_less_time(trace: str, victim: str) -> None:
    separators = [row["name"] for row in json.loads(_core.catalogue())["policies"]["ftl.separate"]]
    costs = {name: _cost(trace, name, victim) for name in separators}
    ora = costs.pop("ora")
    assert ora is not None
    for name, cost in costs.items():
        if cost is not None:
            assert ora[0] <= cost[0], f"{name} copies {cost[0]} pages, ora {ora[0]}"
            assert ora[1] <= cost[1], f"{name} takes {cost[1]} s, ora {ora[1]}"
    assert costs["none"] is not None
    assert ora[0] < costs["none"][0] / 4
