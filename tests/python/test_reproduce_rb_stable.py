"""``floatgate reproduce rb-explorer``: where a test ends, two positions, seeds, and readings side by side."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from floatgate.base.errors import InputError
from floatgate.papers import Settings, load, reproduce
from floatgate.papers.judge import Findings
from floatgate.papers.rb_explorer import stable, states, variants
from floatgate.papers.rb_explorer.figures import figures
from floatgate.papers.rb_explorer.micros import micros
from floatgate.papers.rb_explorer.workloads import APART, apart, requests
from floatgate.run.experiment import Experiment
from floatgate.run.run import execute

GIB = 1 << 30


WORN = """
seed = 3
mode = "timed"
[drive]
preset = "ssd-s"
capacity = "512 MiB"
[ftl]
precondition = "random"
[workload]
kind = "synthetic"
pattern = "jobs"
random_share = 0
request_bytes = 32768
queue_depth = 1
"""


def result(was: list[float], round_bytes: int = 2 * GIB, timed: bool = False) -> dict[str, Any]:
    """A run with one row of the series per round, in time as fast as write amplification allows."""
    pages = [round_bytes // 4096] * len(was)
    series: dict[str, list[Any]] = {"page_writes": pages, "flash_writes": [int(wa * round_bytes / 4096) for wa in was]}
    if timed:
        series["time_s"] = [sum(was[: n + 1]) * 100.0 for n in range(len(was))]
    host = {"write_bytes": round_bytes * len(was), "page_writes": sum(pages)}
    return {"drive": {"mapping_bytes": 4096}, "host": host, "series": series}


def course(was: list[float], round_gib: float = 2, *, timed: bool = False) -> stable.Course:
    made = stable.course(result(was, timed=timed), round_gib * GIB)
    assert made is not None
    return made


def test_what_is_stable_follows_from_range_and_slope() -> None:
    assert stable.is_stable([100.0] * 5)
    # A range of a fifth of the mean passes, without a slope; more does not.
    assert stable.is_stable([90.0, 110.0, 100.0, 110.0, 90.0])
    assert not stable.is_stable([89.0, 110.0, 100.0, 110.0, 89.0])
    # A line that rises by a tenth of the mean passes; one that rises by more does not, whatever its range.
    assert stable.is_stable([95.0, 97.5, 100.0, 102.5, 105.0])
    assert not stable.is_stable([94.0, 97.0, 100.0, 103.0, 106.0])
    assert not stable.is_stable([106.0, 103.0, 100.0, 97.0, 94.0])


@pytest.mark.parametrize("timed", [False, True])
def test_a_test_ends_with_the_fifth_round_that_is_stable(timed: bool) -> None:
    one = course([8.0, 6.0, 4.0, 2.0, *[1.0] * 8], timed=timed)
    assert (one.end, one.is_stable) == (9, True)
    assert one.whole() == pytest.approx((8 + 6 + 4 + 2 + 5) / 9)
    assert one.settled() == pytest.approx(1)
    assert one.first() == pytest.approx(8)


def test_a_test_that_is_never_stable_ends_with_its_volume() -> None:
    one = course([8.0, 7.0, 6.0, 5.0, 4.0, 3.0])
    assert (one.end, one.is_stable) == (6, False)
    assert one.whole() == pytest.approx(33 / 6)
    assert one.settled() == pytest.approx(5)


def test_too_few_rounds_decide_nothing() -> None:
    one = course([1.0] * 4)
    assert not one.is_stable
    assert (one.whole(), one.settled(), one.first()) == (None, None, None)
    assert stable.course(None, GIB) is None
    assert stable.course({"drive": {"mapping_bytes": 4096}, "series": None}, GIB) is None


def test_bandwidth_is_of_time_where_there_is_time() -> None:
    """A drive that waits while it programs little is not stable, whatever its write amplification."""
    waits = result([2.0] * 6, timed=True)
    waits["series"]["time_s"] = [100.0, 200.0, 400.0, 700.0, 1100.0, 1600.0]
    made, without = stable.course(waits, 2 * GIB), course([2.0] * 6)
    assert made is not None
    assert not made.is_stable
    assert without.is_stable


@pytest.mark.parametrize("seed", range(20))
def test_rounds_are_cut_between_the_rows_of_a_series(seed: int) -> None:
    draw = random.Random(seed)
    was = [draw.uniform(1, 10) for _ in range(12)]
    whole = result(was, timed=True)
    coarse, fine = course(was, 4, timed=True), course(was, timed=True)
    for pair in range(6):
        both = fine.flash_bytes[2 * pair] + fine.flash_bytes[2 * pair + 1]
        assert coarse.flash_bytes[pair] == pytest.approx(both), f"seed {seed}"
        time_s = 4 * GIB / coarse.bandwidth[pair]
        assert time_s == pytest.approx(100 * (was[2 * pair] + was[2 * pair + 1])), f"seed {seed}"
    # What is left over is no round.
    left = stable.course(whole, 5 * GIB)
    assert left is not None
    assert len(left.bandwidth) == 4
    assert sum(left.flash_bytes) == pytest.approx(sum(fine.flash_bytes[:10])), f"seed {seed}"


def test_what_comes_later_does_not_change_where_a_test_ends() -> None:
    """A run that stops where a longer one ends has programmed as much, but for what its buffer still holds."""
    experiment = Experiment.of_text(WORN, "worn.toml")

    def run(mib: int) -> tuple[dict[str, Any], dict[str, stable.Course]]:
        done = execute(experiment.with_overrides([("workload.stop_after", f'"{mib} MiB"')]))
        facts, made = done.result.to_dict(), {}
        for name, columns in (("timed", ("time_s", *stable.COLUMNS)), ("counted", stable.COLUMNS)):
            kept = {column: done.series[column].to_pylist() for column in columns}
            one = stable.course({**facts, "series": kept}, 32 << 20)
            assert one is not None
            made[name] = one
        return facts, made

    _, both = run(1200)
    long = both["timed"]
    assert long.is_stable
    # The inverse of write amplification ends the test as early, within a round: in time, reads and erases count, too.
    assert abs(both["counted"].end - long.end) <= 1
    # The worn drive is written once before it is stable.
    assert long.end * 32 > 400
    short_facts, _ = run(long.end * 32)
    assert short_facts["waf_bytes"] == pytest.approx(long.whole(), rel=2e-3)
    settled = long.settled()
    assert settled is not None
    # The last of the five rounds collects nothing, and bandwidth differs by at most a fifth of its mean.
    assert long.flash_bytes[long.end - 1] == pytest.approx(long.host_bytes[0], rel=0.01)
    assert 1 <= settled < 1 / (1 - stable.RANGE) < max(long.flash_bytes) / long.host_bytes[0]


@pytest.mark.parametrize("micro", micros(orders=["sq"], writes=["50w"]))
def test_reads_and_writes_have_a_position_each(micro: str) -> None:
    size = {"512b": 512, "4k": 4096, "8k": 8192, "16k": 16384, "32k": 32768}[micro.split("-", 1)[0]]
    aligned = micro.endswith("50w-align")
    step = 4096 if size == 512 and aligned else size
    places: dict[str, int] = dict.fromkeys(("read", "write"), 0 if aligned else 512)
    counts = dict.fromkeys(places, 0)
    for op, offset, length in requests(micro):
        assert (offset, length) == (places[op], size)
        places[op] += step
        counts[op] += 1
    assert counts["write"] * size == ((256 << 20) if size == 512 else 2 * GIB)
    # Ten standard deviations of a fair draw.
    assert abs(counts["read"] - counts["write"]) < 10 * (2 * counts["write"]) ** 0.5


def stable_results(wa: float) -> dict[str, Any]:
    """Tests in the steady state whose sequential ones begin at ``wa`` and end at 1; random ones stay at ten times."""
    made: dict[str, Any] = {}
    for micro in micros():
        size, order, *_ = micro.split("-")
        volume = 256 << 20 if size == "512b" else 2 * GIB
        was = [wa, wa / 2, *[1.0] * 5] if order == "sq" else [10 * wa] * 5
        for drive in states.DRIVES:
            batch = f"until-stable-{drive}" if order == "sq" else "until-stable"
            made.setdefault(batch, {}).setdefault(micro, {})[drive] = result(was, volume)
    return made


def test_claims_are_judged_on_whole_tests_and_each_reading_beside_them() -> None:
    findings = Findings(stable_results(8.0))
    made = states.values(findings) | variants.values(findings)
    whole = (8 + 4 + 5) / 7
    assert made["sq.steady.ssd-i-100w"] == pytest.approx(whole)
    assert made["whole.sq.steady.ssd-m-50w"] == pytest.approx(whole)
    assert made["settled.sq.steady.ssd-m-50w"] == pytest.approx(1)
    assert made["first.sq.steady.ssd-s-50w"] == pytest.approx(8)
    # Rounds of twice the volume: 8 and 4 are one of them, and three are too few to be stable.
    assert made["long.sq.steady.ssd-s-50w"] is None
    assert made["long.rd.steady.ssd-s-50w"] == pytest.approx(80)
    # Of half: five rounds at 1 end the test after 4.5 GiB at more.
    assert made["short.sq.steady.ssd-s-50w"] == pytest.approx((8 + 4 + 2.5) / 4.5)
    assert made["ends.stable.sq.ssd-s"] == "16 of 16"
    assert made["ends.most_gib.sq.ssd-s"] == pytest.approx(14)
    assert made["ends.counted.gib.ssd-s"] == pytest.approx(14)
    assert "ends.timed.gib.ssd-s" not in made
    assert made["verdict.whole.steady-sq"] == "✓ 6 of 6"
    assert made["verdict.first.steady-sq"] == "✗ 0 of 6"
    assert made["verdict.first.steady-rd"] == "✗ 0 of 6"
    drawn = {figure.id: figure.draw(600) for figure in figures(Findings(findings.results, made))}
    assert {"until-stable", "figure-8", "figure-9"} <= drawn.keys()


def test_tables_divide_by_the_papers_figures_alone() -> None:
    """A range of the paper is a text, which no figure of ours can be divided by."""
    for table in load("rb-explorer").tables:
        for row in table["row"]:
            printed = [cell for cell in row.get("paper", []) if cell != ""]
            assert all(isinstance(cell, int | float) for cell in printed), (table["id"], row["keys"])


def counted(figures: dict[str, float], batch: str) -> dict[str, Any]:
    return {
        batch: {
            micro: {drive: {"waf_bytes": figures["50w" if "50w" in micro else "100w"]} for drive in states.DRIVES}
            for micro in micros()
        }
    }


def test_claims_on_small_differences_are_judged_over_five_seeds() -> None:
    results: dict[str, Any] = {}
    for seed, more in zip(variants.SEEDS, (1.01, 1.02, 1.03, 1.04, 1.05), strict=True):
        results |= counted({"50w": more, "100w": 1.0}, "initial" if seed == 1 else f"initial-seed-{seed}")
    made = variants.values(Findings(results))
    assert made["over_seeds.reads_over_writes.initial.ssd-s"] == pytest.approx(1.03)
    # Student's t with four degrees of freedom: 2.776 * 0.0158 / sqrt(5).
    assert made["half.reads_over_writes.initial.ssd-s"] == pytest.approx(0.01963, rel=1e-3)
    # A quick run has one seed.
    made = variants.values(Findings(counted({"50w": 1.01, "100w": 1.0}, "initial")))
    assert made["over_seeds.reads_over_writes.initial.ssd-s"] == pytest.approx(1.01)
    assert made["half.reads_over_writes.initial.ssd-s"] is None


def test_two_positions_replace_the_sequential_half_of_the_mixed_micro_benchmarks() -> None:
    results = counted({"50w": 2.0, "100w": 1.0}, "initial")
    results["apart"] = {name: {drive: {"waf_bytes": 1.0} for drive in states.DRIVES} for name in apart()}
    made = variants.values(Findings(results))
    assert made["one-position.reads_over_writes.initial.ssd-i"] == pytest.approx(2)
    assert made["apart.reads_over_writes.initial.ssd-i"] == pytest.approx(1.5)
    assert made["verdict.one-position.initial-reads-s"].startswith("✓")
    assert all(name.startswith(APART) and "-sq-50w-" in name for name in apart())


def test_another_unit_of_the_map_changes_ssd_s_alone() -> None:
    results = stable_results(8.0)
    results["steady-unit"] = {micro: {"unit-16": {"waf_bytes": 132.0}} for micro in micros()}
    made = variants.values(Findings(results))
    assert made["unit.most-100w.unit-4"] == pytest.approx(80)
    assert made["unit.most-100w.unit-16"] == pytest.approx(132)
    assert made["unit.most-100w.unit-8"] is None
    assert made["verdict.unit-16.steady-most-s"] == "✓ 2 of 2"
    assert made["verdict.unit-4.steady-most-s"] == "✗ 0 of 2"
    assert made["verdict.unit-16.steady-s-worst"] == "✓ 2 of 2"


def test_the_page_judges_quickly_only_what_short_tests_decide() -> None:
    paper = load("rb-explorer")
    late = {claim.id for claim in paper.claims if not claim.rule.get("quick", True)}
    quick = {batch.name for batch in paper.batches if batch.quick}
    assert not [name for name in quick if name.startswith(("until-stable", "walvd", "oltp", "initial-seed", "apart"))]
    for claim in paper.claims:
        # In 64 MiB the dies of a capture differ by more than a per cent.
        exact = claim.id in ("error-100", "pin-better", "pin-worse")
        needs_long = exact or claim.rule["topic"] in ("steady state", "partitions", "OLTP traces")
        assert (claim.id in late) == needs_long, claim.id
        assert claim.rule["decided_by"]
    for batch in paper.batches:
        if batch.name.startswith("until-stable"):
            assert batch.series == stable.COLUMNS
            assert batch.start == "worn-real"
    assert sorted(
        f"{micro}.{variant}"
        for batch in paper.batches
        if batch.name.startswith("until-stable")
        for micro in batch.workloads
        for variant in batch.variants
    ) == sorted(f"{micro}.{drive}" for micro in micros() for drive in states.DRIVES)


PAPER = """
title = "Series"
source = "A. Nobody, 2026"
[workload.writes]
set = { "workload.stop_after" = "8 MiB" }
[variant.small]
[[batch]]
name = "kept"
command = "run"
series = SERIES
set = { mode = "timed" }
[[batch]]
name = "plain"
command = "run"
set = { mode = "timed" }
"""
EXPERIMENT = """
[drive]
capacity = "64 MiB"
[drive.geometry]
pages_per_block = 64
[ftl]
spare_factor = 0.2
precondition = "random"
"""
CLAIMS = """
[[claim]]
id = "all"
text = "All is written"
where = "1"
judge = "near"
value = "kept.writes.small.host.write_bytes"
paper = 8388608
tolerance = 0
"""


def paper_of(folder: Path, series: str) -> str:
    folder.mkdir()
    texts = {"paper": PAPER.replace("SERIES", series), "experiment": EXPERIMENT, "claims": CLAIMS}
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return str(folder)


def test_a_batch_keeps_the_columns_of_its_series(tmp_path: Path) -> None:
    done = reproduce(load(paper_of(tmp_path / "kept", '["time_s", "writes_done", "flash_writes"]')), Settings())
    kept = done.findings.results["kept"]["writes"]["small"]
    assert sorted(kept["series"]) == ["flash_writes", "time_s", "writes_done"]
    assert sum(kept["series"]["writes_done"]) == kept["host"]["write_requests"]
    assert sum(kept["series"]["flash_writes"]) == kept["flash"]["pages_written"]["total"]
    assert "series" not in done.findings.results["plain"]["writes"]["small"]


def test_a_column_that_no_series_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="series: no column 'written_done'; did you mean 'writes_done'"):
        reproduce(load(paper_of(tmp_path / "wrong", '["written_done"]')), Settings())
