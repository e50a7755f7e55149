"""Intervals of differences from pairs of batches, against the core's own interval and against many seeds."""

from __future__ import annotations

import math
import os
import random
from typing import Any

import pyarrow as pa
import pytest

import floatgate
from floatgate.results.batch_means import Batches, half_width, paired_half_width
from floatgate.results.seed_stats import Spread
from floatgate.study.differences import between

SEEDS = int(os.environ.get("FLOATGATE_COVERAGE_SEEDS", "40"))
"""Seeds whose intervals are checked; 300 take some minutes."""
FIRST = int(os.environ.get("FLOATGATE_SEED", "1"))
DRIVE = {
    "drive.capacity": "32 MiB",
    "drive.geometry.pages_per_block": 32,
    "ftl.precondition": "random",
    "ftl.spare_factor": 0.15,
    "ftl.collect.trigger_free_blocks": 3,
    "workload.requests": 100_000,
    "workload.warmup_requests": 100_000,
}
SETTINGS: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "uniform": ({"ftl.spare_factor": 0.16}, {"ftl.spare_factor": 0.17}),
    "hot-cold": ({"ftl.separate.policy": "none"}, {"ftl.separate.policy": "dac"}),
    "zipf": ({"ftl.collect.policy": "greedy"}, {"ftl.collect.policy": "cost-benefit"}),
}


def runs_of(pattern: str, seed: int) -> list[floatgate.Run]:
    base = {**DRIVE, "seed": seed, "workload.pattern": pattern}
    return [floatgate.run({**base, **one}) for one in SETTINGS[pattern]]


def batches_of(run: floatgate.Run) -> Batches:
    made = Batches.of(run.series, run.result.to_dict())
    assert made is not None
    return made


def fewest(count: int, share: float) -> int:
    """The least number of hits that is not rarer than 1 in 1000 when each hits with a probability."""
    below = 0.0
    for hits in range(count + 1):
        below += math.comb(count, hits) * share**hits * (1 - share) ** (count - hits)
        if below > 0.001:
            return hits
    return count


@pytest.mark.parametrize("pattern", list(SETTINGS))
def test_a_run_has_the_interval_of_the_core(pattern: str) -> None:
    for run in runs_of(pattern, 5):
        own = batches_of(run)
        low, high = run.result.to_dict()["waf_95"]
        assert own.waf == pytest.approx(run.waf)
        assert half_width(own.residuals, own.ahead) == pytest.approx((high - low) / 2, rel=1e-4)


def test_an_erase_frees_pages_of_the_map() -> None:
    """A flash page may hold several pages of the map, which are what programs count."""
    settings = {"drive.geometry.page_bytes": 16384, "ftl.mapping_bytes": 4096, "drive.capacity": "64 MiB"}
    run = floatgate.run({**DRIVE, **settings})
    low, high = run.result.to_dict()["waf_95"]
    own = batches_of(run)
    assert run.drive.page_bytes == 4 * run.drive.mapping_bytes
    assert half_width(own.residuals, own.ahead) == pytest.approx((high - low) / 2, rel=1e-4)


@pytest.mark.parametrize("pattern", list(SETTINGS))
def test_intervals_of_paired_batches_hold_the_true_difference(pattern: str) -> None:
    """The truth is the mean over all seeds; 95 of 100 intervals hold it, give or take what chance allows."""
    if SEEDS < 20:
        pytest.skip("too few seeds for a mean")
    deltas, halves = [], []
    for seed in range(FIRST, FIRST + SEEDS):
        first, second = map(batches_of, runs_of(pattern, seed))
        half = paired_half_width(second, first)
        assert half is not None
        deltas.append(second.waf - first.waf)
        halves.append(half)
    truth = math.fsum(deltas) / SEEDS
    deviation = math.sqrt(math.fsum((delta - truth) ** 2 for delta in deltas) / (SEEDS - 1))
    held = sum(abs(delta - truth) <= half for delta, half in zip(deltas, halves, strict=True))
    width = math.fsum(halves) / SEEDS / (1.96 * deviation)
    print(f"{pattern}: {held} of {SEEDS} seeds from {FIRST}; half-width {width:.2f} times that of the seeds")
    assert held >= fewest(SEEDS, 0.95), f"seeds from {FIRST}: {held} of {SEEDS} intervals hold {truth}"
    # As wide as needed, not twice as wide.
    assert 0.75 < width < 1.6, f"seeds from {FIRST}: {width}"


def series_of(counts: list[int]) -> pa.Table:
    """One row per 100 requests, each of a page; collection erases what was programmed, in blocks of one page."""
    rows = len(counts)
    return pa.table(
        {
            "requests": [100 * (row + 1) for row in range(rows)],
            "page_writes": [100] * rows,
            "programs_host": [100] * rows,
            "programs_gc": counts,
            "erases_gc": [100 + count for count in counts],
        }
    )


def facts_of(series: pa.Table) -> dict[str, Any]:
    waf = 1 + sum(series["programs_gc"].to_pylist()) / (100 * series.num_rows)
    made = {"waf": waf, "waf_bytes": 2 * waf, "drive": {"pages_per_block": 1}, "workload": {"kind": "trace"}}
    batches = Batches.of(series, made)
    assert batches is not None
    half = half_width(batches.residuals, batches.ahead)
    return made | {"waf_95": [waf - half, waf + half], "waf_bytes_95": [2 * (waf - half), 2 * (waf + half)]}


def test_what_the_requests_do_to_both_cancels() -> None:
    draw = random.Random(FIRST)
    noise = [draw.randrange(100) for _ in range(640)]
    ours = series_of([40 + one + draw.randrange(3) for one in noise])
    theirs = series_of([20 + one + draw.randrange(3) for one in noise])
    both = facts_of(ours), facts_of(theirs)
    batches = [Batches.of(series, facts) for series, facts in zip((ours, theirs), both, strict=True)]
    paired = between({1: both[0]}, {1: both[1]}, {1: batches[0]}, {1: batches[1]})
    apart = between({1: both[0]}, {1: both[1]})
    assert paired is not None
    assert apart is not None
    assert (paired["interval_from"], apart["interval_from"]) == ("paired batches", "batches")
    halves = [entry["waf_95"][1] - entry["waf"] for entry in (paired, apart)]
    assert 0 < halves[0] < halves[1] / 10
    # Bytes are twice the pages here.
    assert paired["waf_bytes_95"] == pytest.approx([2 * end for end in paired["waf_95"]])


def test_batches_over_other_requests_are_not_paired() -> None:
    draw = random.Random(FIRST)
    ours, longer = (series_of([draw.randrange(100) for _ in range(rows)]) for rows in (640, 672))
    both = facts_of(ours), facts_of(longer)
    batches = [Batches.of(series, facts) for series, facts in zip((ours, longer), both, strict=True)]
    entry = between({1: both[0]}, {1: both[1]}, {1: batches[0]}, {1: batches[1]})
    assert entry is not None
    assert entry["interval_from"] == "batches"
    half = math.hypot(*((high - low) / 2 for low, high in (facts["waf_95"] for facts in both)))
    assert entry["waf_95"] == pytest.approx([entry["waf"] - half, entry["waf"] + half])


def test_a_series_that_is_too_short_has_no_batches() -> None:
    assert Batches.of(series_of([1] * 7), {"drive": {"pages_per_block": 1}}) is None
    assert Batches.of(series_of([1] * 8), {"drive": {}}) is None


def test_the_seeds_of_a_trace_do_not_narrow_what_the_trace_can_tell() -> None:
    values, halves = [1.10, 1.12, 1.11, 1.13], [0.04, 0.04, 0.04, 0.04]
    of_trace, of_generator = (Spread.of(values, halves, drawn=drawn) for drawn in (False, True))
    assert of_trace.batches == pytest.approx(0.04)
    assert of_generator.batches == pytest.approx(0.02)
    assert of_trace.seeds == of_generator.seeds == pytest.approx(3.182 * 0.0129099 / 2, rel=1e-4)
    assert (of_trace.by_seeds, of_generator.by_seeds) == (False, True)


def test_the_wider_interval_is_shown() -> None:
    settings = {**DRIVE, "workload.pattern": "zipf"}
    vary = {"ftl.collect.policy": ["greedy", "fifo"]}
    study = floatgate.compare(settings, vary, repeat=3, jobs=1)
    entry = study.to_dict()["settings"][1]
    difference, mean = entry["difference"], entry["over_seeds"]["waf"]
    for shown, both in (
        (difference["waf_95"], [difference[name]["waf"] for name in ("seeds_95", "batches_95")]),
        (mean["mean_95"], [mean[name] for name in ("seeds_95", "batches_95")]),
    ):
        assert shown == max(both, key=lambda ends: ends[1] - ends[0])
    assert difference["interval_from"] in ("seeds", "paired batches")
    assert "over seeds (what a seed draws)" in study.text()
    table = study.to_arrow().to_pylist()
    assert table[3]["over_seeds.waf.mean_95.low"] == mean["mean_95"][0]
    assert table[3]["waf_95.low"] == entry["results"][0]["waf_95"][0]
