"""``floatgate reproduce patterns``: the assumptions of its page, and how its values are computed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from floatgate import _core
from floatgate.papers import Settings, load, names
from floatgate.papers.jobs import jobs
from floatgate.papers.judge import Findings, judge
from floatgate.papers.patterns.figures import PRINTED_MS, figures
from floatgate.papers.patterns.values import OF_PATTERN, SEEDS, SYSTEMS, TIMED, WORKLOADS, compare, values
from floatgate.papers.patterns.workloads import IN_TIME, LOADS, PAGE_BYTES, SMALLER, SPACE, TWINS, WHOLE, prepare, write
from floatgate.papers.read_twins import FOLDER
from floatgate.papers.tables import filled
from floatgate.run.run import execute

REQUESTS = {"proj_0": 4224524, "pc-server-1": 5076765, "pc-server-2": 6658794, "pc-server-3": 11404881}
"""Table II."""


def test_windows_of_table_3_follow_from_table_2() -> None:
    [claim] = [claim for claim in load("patterns").claims if claim.id == "windows"]
    printed = claim.rule["paper"]
    assert {name: -(-requests // 1024) for name, requests in REQUESTS.items()} == printed
    assert "patterns" in names()
    assert list(load("patterns").workloads) == [*WORKLOADS, *LOADS]
    assert REQUESTS == TWINS


@pytest.mark.long
def test_more_than_half_of_the_drive_is_static_and_written_as_often_as_the_papers() -> None:
    """13 GiB of addresses and Table II's requests on 16 GiB, divided by 16 and by 8."""
    paper = load("patterns")
    for name, workload in paper.workloads.items():
        if name not in WORKLOADS:
            continue
        settings = dict(workload.overrides)
        assert int(settings["workload.requests"]) == REQUESTS[name] // SMALLER
        assert int(settings["workload.thin"]) == SPACE
        ended = execute(paper.experiment.with_overrides(workload.overrides)).result.to_dict()
        assert ended["drive"]["physical_bytes"] == (16 << 30) // SMALLER
        # Blocks that are never erased under the baseline hold static data.
        wear, blocks = ended["wear"]["histogram"], ended["drive"]["blocks"]
        never = wear["blocks"][0] * ended["drive"]["physical_bytes"] / blocks
        assert wear["from"] == 0
        assert never > 0.5 * ended["drive"]["logical_bytes"], name


def test_runs_in_time_go_on_in_the_same_space_as_busy_as_the_whole_twin(tmp_path: Path) -> None:
    prepared = prepare(list(WORKLOADS), {}, tmp_path)
    paper = load("patterns")
    for name in WORKLOADS:
        for batch in IN_TIME:
            settings = dict(prepared[f"{batch}.{name}"])
            assert settings["workload.thin"] == "1"
            twin = tomllib.loads(Path(settings["workload.twin"]).read_text("utf-8"))
            whole = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
            assert twin["footprint_bytes"] * SPACE == whole["footprint_bytes"]
            rates = [one["requests"] / one["duration_s"] for one in (twin, whole)]
            assert rates[0] == pytest.approx(rates[1], rel=1e-3)
        for batch in WHOLE:
            assert dict(prepared[f"{batch}.{name}"]) == {
                "workload.thin": "1",
                "workload.requests": str(REQUESTS[name]),
            }
    timed = [batch.name for batch in paper.batches if dict(batch.overrides).get("mode") == '"timed"']
    assert set(timed) - {"static-timed"} == set(IN_TIME)


def result(gc_s: float, level_s: float, erases: int, std: float, response: float = 100.0) -> dict[str, Any]:
    return {
        "gc": {"time_s": gc_s},
        "level": {"time_s": level_s, "pairs": 10, "alike": 6, "triggered": 40, "moved_pages": 7},
        "flash": {"erases": {"total": erases}},
        "wear": {"erases_std": std, "erases_max": 7, "first_failure_s": 365.25 * 86400.0 * erases},
        "latency_us": {"read": {"mean": response}},
        "hot_reads": {"latency_us": {"mean": response / 2}, "max_over_mean": 1.25},
    }


def test_gc_time_holds_leveling_and_orders_are_judged() -> None:
    main = {
        "baseline": result(100, 0, 10, 9),
        "swl": result(110, 30, 12, 8),
        "pgis-swl": result(90, 20, 11, 4),
        "pattern": result(80, 10, 10, 5),
    }
    timed = {variant: result(0, 0, 0, 0, mean) for variant, mean in zip(SYSTEMS, (90, 100, 110, 50), strict=True)}
    parts = {"pgis": result(90, 0, 10, 5), "patterns-only": result(60, 0, 10, 5)}
    control = {"pgis": result(90, 0, 10, 5), "patterns-only": result(89, 0, 10, 5)}
    batches = {"main": main, "timed": timed, "parts": parts, "control": control}
    made = values(Findings({batch: {"proj_0": results} for batch, results in batches.items()}))
    assert [made[f"{name}.proj_0.swl"] for name in ("gc_time", "level_time")] == [140, 30]
    assert made["first_failure.proj_0.swl"] == 12
    assert all(made[f"{name}.proj_0"] for name in ("swl_largest", "level_least", "spread_order"))
    assert made["response.proj_0"] == 0.5
    assert made["response_pgis.proj_0"] == 50 / 110
    assert made["gain.proj_0"] == 60 / 90
    assert made["control_loses.proj_0"] == (89 / 90) / (60 / 90)
    assert made["judged.first_failure.pattern.swl.proj_0"] == 10 / 12
    assert made["paired.proj_0.pattern"] == 2 * 10 / 40
    assert made["opposite.proj_0.pattern"] == 10 / 16
    assert "response.pc-server-1" not in made


def test_a_ratio_whose_interval_holds_1_is_no_difference() -> None:
    assert compare([2.0], [4.0]) == {"mean": 0.5, "half": None, "judged": 0.5}
    even = compare([1.0, 1.1, 0.9, 1.05, 0.95], [1.0] * 5)
    assert even["mean"] == pytest.approx(1.0)
    assert even["judged"] == 1.0
    # Standard deviation 0.0158, over the root of 5, times 2.776.
    less = compare([0.80, 0.79, 0.81, 0.82, 0.78], [1.0] * 5)
    assert less["half"] == pytest.approx(2.776 * 0.0158114 / 5**0.5, rel=1e-4)
    assert less["judged"] == less["mean"] == pytest.approx(0.8)
    # Seeds that were not run are left out.
    assert compare([2.0, None, None], [1.0, 1.0, None]) == {"mean": 2.0, "half": None, "judged": 2.0}
    assert compare([None], [1.0])["judged"] is None


def test_orders_of_five_seeds_need_a_difference() -> None:
    def seeds(level_s: float) -> dict[str, dict[str, Any]]:
        costs = {"baseline": (100, 0, 9), "swl": (110, 30, 8), "pgis-swl": (90, 20, 4), "pattern": (80, level_s, 5)}
        return {
            f"main{seed}": {
                "proj_0": {name: result(gc, level, 10, std + 0.1 * number) for name, (gc, level, std) in costs.items()}
            }
            for number, seed in enumerate(SEEDS)
        }

    made = values(Findings(seeds(10)))
    assert made["level_least.proj_0"] is True
    assert made["std.proj_0.baseline"] == pytest.approx(9.2)
    assert made["half.std.baseline.swl.proj_0"] > 0
    assert values(Findings(seeds(20)))["level_least.proj_0"] is None
    assert values(Findings(seeds(25)))["level_least.proj_0"] is False


def test_each_reading_is_judged_with_its_own_variant() -> None:
    costs = {"baseline": 10, "swl": 20, "pgis-swl": 25, "pattern": 15, "pattern-upper": 30}
    main = {name: result(100, 10, life, 5) for name, life in costs.items()}
    results = {"main": dict.fromkeys(WORKLOADS, main)}
    made = values(Findings(results))
    assert made["verdict.most-worn.first-failure-pattern"] == "✗ 0 of 4"
    assert made["verdict.upper-half.first-failure-pattern"] == "✓ 4 of 4"
    assert made["judged.first_failure.pattern-upper.swl.proj_0"] == 1.5
    assert set(OF_PATTERN) <= {claim.id for claim in load("patterns").claims}


def test_shared_places_are_no_order() -> None:
    main = {variant: result(100, 10, 10, 5) for variant in SYSTEMS}
    made = values(Findings({"main": {"proj_0": main}}))
    orders = [made[f"{name}.proj_0"] for name in ("swl_largest", "level_least", "spread_order")]
    assert orders == [None, None, None]


def test_where_nothing_is_collected_there_is_no_order() -> None:
    main = {variant: result(0, 0, 0, 0) for variant in SYSTEMS}
    made = values(Findings({"main": {"proj_0": main}}))
    assert not {"swl_largest.proj_0", "level_least.proj_0", "spread_order.proj_0"} & made.keys()


ADDRESSES = {
    "accesses": {"from": [1, 2, 3, 4, 5], "addresses": [30, 10, 10, 10, 40]},
    "reads": {"from": [1, 2, 3, 4, 5], "addresses": [5, 2, 1, 1, 1]},
    "accessed_over_4_share": 0.4,
    "frequent": {"share": 0.382},
    "read_once_share": 0.5,
}


@pytest.fixture
def made() -> Findings:
    """A result in every place."""
    of = {"fcfs": 0.0, "pgis": 0.05, "patterns": 0.15}
    paper = load("patterns")
    results: dict[str, Any] = {}
    for batch in paper.batches:
        one: dict[str, Any] = result(80, 20, 10, 5)
        if batch.command == "patterns":
            counts = {"windows": 4126, "patterns_per_window": 15.3, "pattern_size_mean": 6.4}
            one = {"addresses": ADDRESSES, **counts}
        variants = {
            name: {"dispatch_cpu_s": seconds, "dispatch_us_per_request": seconds / 4, "read_cpu_s": 1.0}
            for name, seconds in zip(("baseline", "pgis", "patterns-only"), of.values(), strict=True)
        }
        if batch.command != "dispatch":
            variants = dict.fromkeys(batch.variants, one)
        results[batch.name] = dict.fromkeys(batch.workloads, variants)
    findings = Findings(results)
    findings.values.update(values(findings))
    return findings


def test_every_claim_is_judged_and_every_table_filled(made: Findings) -> None:
    paper = load("patterns")
    # All results are alike: comparisons see no difference.
    unjudged = {claim.id for claim in paper.claims if judge(claim, made).holds is None}
    assert unjudged == {
        *("gc-time-swl", "gc-time-pattern-each", "gc-time-baseline", "level-time", "std-order", "std-order-upper"),
        *("first-failure-swl", "first-failure-pgis", "first-failure-pattern", "first-failure-pattern-upper"),
        *("together", "control", "wear-alone", "mapping"),
    }
    assert all(claim.rule["topic"] and claim.rule["decided_by"] for claim in paper.claims)
    for table in paper.tables:
        empty = [name for row in table["row"] for name in row["ours"] if name and made.look(name) is None]
        assert empty == [], table["id"]


def test_figures_show_all_traces_and_systems(made: Findings) -> None:
    drawn = {figure.id: figure.draw(600).to_dict() for figure in figures(made)}
    assert list(drawn) == ["figure-2a", "figure-2b", "figure-2c", *(f"figure-{number}" for number in range(5, 9))]
    shares = drawn["figure-2a"]["data"]["values"]
    assert [row["share"] for row in shares[:5]] == [0.3, 0.1, 0.1, 0.1, 0.4]
    assert shares[4] == {"times": "5 or more", "share": 0.4, "series": "proj_0"}
    bars = drawn["figure-5"]["data"]["values"]
    assert len(bars) == 2 * len(WORKLOADS) * (len(SYSTEMS) + 1)
    assert [(row["part"], row["value"]) for row in bars[:2]] == [("routine collection", 80), ("wear-leveling", 20)]
    rule, dots = (layer["data"]["values"] for layer in drawn["figure-8"]["layer"])
    assert rule == [{"value": PRINTED_MS}]
    assert [row["value"] for row in dots[:3]] == [0, 50, 150]
    assert figures(Findings({})) == []


def test_hot_reads_are_those_of_each_system_alone_and_together(made: Findings) -> None:
    assert [made.look(f"hot.proj_0.{variant}") for variant in TIMED] == [50.0] * 7
    assert made.look("chips.static-28.read-balance") == 1.25
    assert made.look("mapping_s.proj_0.patterns-only") == 0.15
    timed = load("patterns")
    by_name = {batch.name: batch for batch in timed.batches}
    assert {variant for name in ("timed", "timed-parts") for variant in by_name[name].variants} == set(TIMED)
    assert by_name["timed"].overrides == by_name["timed-parts"].overrides


def test_without_hot_reads_there_is_no_figure_of_them() -> None:
    timed = result(0, 0, 0, 0) | {"hot_reads": {"latency_us": None, "max_over_mean": None}}
    made = values(Findings({"static-timed": {"static": {"baseline": timed}}}))
    assert made["hot.static.baseline"] is None
    assert made["chips.static.baseline"] is None


def test_table_5_is_that_of_the_paper(made: Findings) -> None:
    [table] = [table for table in load("patterns").tables if table["id"] == "table-5"]
    cells = [cell for row in filled(table, made)["rows"] for cell in row["cells"]]
    assert len(cells) == 3 * 6
    assert all(cell["ours"] == cell["paper"] for cell in cells)


@pytest.mark.parametrize("name", list(LOADS))
def test_loads_write_one_half_and_read_a_part_of_the_other(name: str, tmp_path: Path) -> None:
    load_of, two_of_four = LOADS[name], {*range(4), *range(8, 12), *range(16, 20), *range(24, 28)}
    places = {"half-read": two_of_four, "every-second": set(range(32))}
    rows = pq.read_table(write(tmp_path / "load.parquet", load_of, 20_000, 0.3, seed=1))
    pages = rows["offset"].to_numpy() // PAGE_BYTES
    reads = np.asarray(rows["op"].combine_chunks().cast("string")) == "read"
    assert reads.mean() == pytest.approx(0.3, abs=0.02)
    assert pages[~reads].max() < load_of.pages // 2 <= pages[reads].min()
    assert set(pages[reads] % 32) == places.get(name, {0, 1})
    assert pages.max() < load_of.pages
    if name == "every-second":
        # Blocks of all planes, 2,048 pages, in turn.
        assert load_of.pages // 2 % 2048 == 0
        assert set((pages[reads] - load_of.pages // 2) // 2048 % 2) == {0}


def test_the_static_load_fits_its_drive(tmp_path: Path) -> None:
    paper = load("patterns")
    for name, load_of in LOADS.items():
        few = write(tmp_path / "few.parquet", load_of, 2000, 0.3, seed=1)
        settings = [*paper.workloads[name].overrides, ("workload.kind", '"trace"'), ("workload.file", f'"{few}"')]
        ended = execute(paper.experiment.with_overrides([*settings, ("workload.beyond", '"refuse"')])).result.to_dict()
        assert ended["host"]["page_writes"] > 1000
        assert ended["flash"]["unmapped_reads"] == 0


def test_a_trace_of_the_users_takes_the_place_of_a_twin(tmp_path: Path) -> None:
    own = {"proj_0": "mine.csv", **dict.fromkeys(LOADS, "still.csv")}
    assert prepare(["proj_0", *LOADS], own, tmp_path) == {}
    todo = jobs(load("patterns"), Settings(traces=own), {})
    mine = [job for job in todo if job.label == "proj_0"]
    settings = [dict(job.base.overrides) for job in mine]
    assert all(one["workload.file"] == '"mine.csv"' and "workload.twin" not in one for one in settings)
    # Timed runs need a fixed number of the twin's requests.
    assert not set(IN_TIME) & {batch for job in mine for batch, _, _ in job.places}
    assert all(one["drive.geometry.blocks_per_plane"] == "2048" for one in settings)
    assert {"requests", "dispatch", "main"} <= {batch for job in mine for batch, _, _ in job.places}


def test_requests_are_looked_at_as_runs_have_them() -> None:
    paper = load("patterns")
    few = [*paper.workloads["proj_0"].overrides, ("workload.requests", "20000")]
    results = {}
    for variant in ("baseline", "patterns-only"):
        experiment = paper.experiment.with_overrides([*few, *paper.variants[variant].overrides])
        results[variant] = json.loads(_core.workload_dispatch(experiment.toml, experiment.path, experiment.overrides))
    assert results["baseline"]["requests"] == results["patterns-only"]["requests"] == 20_000
    assert results["baseline"]["dispatch_cpu_s"] == 0 < results["patterns-only"]["dispatch_cpu_s"]
    patterns = json.loads(_core.workload_patterns(experiment.toml, experiment.path, experiment.overrides))
    counted = execute(experiment).result.to_dict()["dispatch"]
    assert patterns["windows"] == counted["windows"] == 20
    assert patterns["patterns_per_window"] == counted["patterns_per_window"] > 10
