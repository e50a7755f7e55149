"""Seeds that change nothing: intervals are those of one run, and a sentence says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import floatgate
from conftest import Cli
from floatgate.results.seed_stats import SEED_CHANGES_NOTHING, mean_result, seed_matters

REPOSITORY = Path(__file__).parents[2]
TRACE = REPOSITORY / "traces" / "sqlite-updates.parquet"
SETTINGS = {
    "drive.capacity": "32 MiB",
    "drive.geometry.pages_per_block": 32,
    "workload.kind": "trace",
    "workload.file": str(TRACE),
    "workload.beyond": "wrap",
    "workload.repeat": 4,
    "ftl.spare_factor": 0.2,
    "ftl.precondition": "sequential",
}
VARY = {"ftl.collect.policy": ["greedy", "fifo"]}


def test_results_that_differ_in_the_seed_alone_are_one() -> None:
    one = {"seed": 1, "config": {"seed": 1}, "config_hash": "a", "run": {"wall_s": 1}, "waf": 2.0, "waf_95": [1.9, 2.1]}
    other = {**one, "seed": 2, "config": {"seed": 2}, "config_hash": "b", "run": {"wall_s": 2}}
    assert not seed_matters([one, other])
    assert mean_result([one, other]) == one
    assert seed_matters([one, {**other, "waf": 2.1}])


def test_a_trace_without_random_numbers_has_the_intervals_of_one_run() -> None:
    once = floatgate.compare(SETTINGS, VARY, jobs=1)
    seeds = floatgate.compare(SETTINGS, VARY, repeat=2, jobs=1)
    assert SEED_CHANGES_NOTHING in seeds.text()
    assert "workload.shuffle_window" in seeds.text()
    assert SEED_CHANGES_NOTHING in seeds.report()
    assert SEED_CHANGES_NOTHING not in once.text()
    assert seeds.rows() == once.rows()
    (_, alone), (_, several) = (study.to_dict()["settings"] for study in (once, seeds))
    assert several["difference"] == {**alone["difference"], "pairs": 2, "seed_matters": False}
    low, high = several["difference"]["waf_bytes_95"]
    assert low < high
    assert several["seed_matters"] is False


@pytest.mark.parametrize("key", ["ftl.precondition", "workload.shuffle_window"])
def test_a_trace_may_depend_on_its_seed(key: str) -> None:
    value = {"ftl.precondition": "random", "workload.shuffle_window": 64}[key]
    seeds = floatgate.compare({**SETTINGS, key: value}, VARY, repeat=2, jobs=1)
    assert SEED_CHANGES_NOTHING not in seeds.text()
    assert seeds.to_dict()["settings"][1]["difference"]["seed_matters"]


def test_run_with_several_seeds_says_so_too(cli: Cli) -> None:
    settings = [part for key, value in SETTINGS.items() for part in ("--set", f"{key}={json.dumps(value)}")]
    ended = cli("run", *settings, "--repeat", "2", "--out", "r", "--no-report", "--json", "-")
    answer = json.loads(ended.done())
    assert SEED_CHANGES_NOTHING in ended.err
    assert "95 % by batches of the run" in ended.err
    assert answer["waf"]["mean_95"] == answer["runs"][0]["waf_95"]
    assert answer["lifetime_years"]["mean_95"] is None


def test_a_sweep_has_the_interval_of_one_run(tmp_path: Path) -> None:
    for repeat, place in ((1, "once"), (2, "twice")):
        floatgate.sweep(SETTINGS, VARY, repeat=repeat, out=tmp_path / place)
    once, twice = (floatgate.load_sweep(tmp_path / place).settings() for place in ("once", "twice"))
    assert [{**row, "runs": 2} for row in once] == twice
    assert all(row["waf_bytes.low"] < row["waf_bytes.high"] for row in twice)
