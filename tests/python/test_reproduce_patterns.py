"""``floatgate reproduce patterns``: the assumptions of its page, and how its values are computed."""

from __future__ import annotations

import json
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
from floatgate.papers.patterns.values import SYSTEMS, TIMED, WORKLOADS, values
from floatgate.papers.patterns.workloads import PAGE_BYTES, PAGES, prepare, write
from floatgate.papers.tables import filled
from floatgate.run.run import execute

REQUESTS = {"proj_0": 4224524, "pc-server-1": 5076765, "pc-server-2": 6658794, "pc-server-3": 11404881}
"""Table II."""


def test_windows_of_table_3_follow_from_table_2() -> None:
    [claim] = [claim for claim in load("patterns").claims if claim.id == "windows"]
    printed = claim.rule["paper"]
    assert {name: -(-requests // 1024) for name, requests in REQUESTS.items()} == printed
    assert "patterns" in names()
    assert list(load("patterns").workloads) == [*WORKLOADS, *PAGES]


def result(gc_s: float, level_s: float, erases: int, std: float, response: float = 100.0) -> dict[str, Any]:
    return {
        "gc": {"time_s": gc_s},
        "level": {"time_s": level_s},
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
    assert made["gain.proj_0"] == 60 / 90
    assert made["control_loses.proj_0"]
    assert "response.pc-server-1" not in made


def test_shared_places_are_no_order() -> None:
    main = {variant: result(100, 10, 10, 5) for variant in SYSTEMS}
    made = values(Findings({"main": {"proj_0": main}}))
    orders = [made[f"{name}.proj_0"] for name in ("swl_largest", "level_least", "spread_order")]
    assert orders == [False, False, False]


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
        one["dispatch"] = {"windows": 4126, "patterns_per_window": 15.3, "pattern_size_mean": 6.4}
        if batch.command == "patterns":
            one = {"addresses": ADDRESSES}
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
    assert [claim.id for claim in paper.claims if judge(claim, made).holds is None] == []
    for table in paper.tables:
        empty = [name for row in table["row"] for name in row["ours"] if name and made.figure(name) is None]
        assert empty == [], table["id"]


def test_figures_show_all_traces_and_systems(made: Findings) -> None:
    drawn = {figure.id: figure.draw(600).to_dict() for figure in figures(made)}
    assert list(drawn) == ["figure-2a", "figure-2b", "figure-2c", *(f"figure-{number}" for number in range(5, 9))]
    shares = drawn["figure-2a"]["data"]["values"]
    assert [row["share"] for row in shares[:5]] == [0.3, 0.1, 0.1, 0.1, 0.4]
    assert shares[4] == {"times": "5 or more", "share": 0.4, "series": "proj_0"}
    bars = drawn["figure-5"]["data"]["values"]
    assert len(bars) == 2 * len(WORKLOADS) * len(SYSTEMS)
    assert [(row["part"], row["value"]) for row in bars[:2]] == [("routine collection", 80), ("wear-leveling", 20)]
    rule, dots = (layer["data"]["values"] for layer in drawn["figure-8"]["layer"])
    assert rule == [{"value": PRINTED_MS}]
    assert [row["value"] for row in dots[:3]] == [0, 50, 150]
    assert figures(Findings({})) == []


def test_hot_reads_are_those_of_each_system_alone_and_together(made: Findings) -> None:
    assert [made.look(f"hot.proj_0.{variant}") for variant in TIMED] == [50.0] * 6
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


@pytest.mark.parametrize("name", list(PAGES))
def test_the_static_load_writes_one_half_and_reads_two_chips_of_the_other(name: str, tmp_path: Path) -> None:
    rows = pq.read_table(write(tmp_path / "load.parquet", PAGES[name], 20_000, 0.3, seed=1))
    pages = rows["offset"].to_numpy() // PAGE_BYTES
    reads = np.asarray(rows["op"].combine_chunks().cast("string")) == "read"
    assert reads.mean() == pytest.approx(0.3, abs=0.02)
    assert pages[~reads].max() < PAGES[name] // 2 <= pages[reads].min()
    assert set(pages[reads] % 32) == {0, 1}
    assert pages.max() < PAGES[name]


def test_the_static_load_fits_its_drive(tmp_path: Path) -> None:
    paper = load("patterns")
    for name, pages in PAGES.items():
        few = write(tmp_path / "few.parquet", pages, 2000, 0.3, seed=1)
        settings = [*paper.workloads[name].overrides, ("workload.kind", '"trace"'), ("workload.file", f'"{few}"')]
        ended = execute(paper.experiment.with_overrides([*settings, ("workload.beyond", '"refuse"')])).result.to_dict()
        assert ended["host"]["page_writes"] > 1000
        assert ended["flash"]["unmapped_reads"] == 0


def test_a_trace_of_the_users_takes_the_place_of_a_twin(tmp_path: Path) -> None:
    own = {"proj_0": "mine.csv", "static": "still.csv", "static-28": "still.csv"}
    assert prepare(["proj_0", "static", "static-28"], own, tmp_path) == {}
    todo = jobs(load("patterns"), Settings(traces=own), {})
    mine = [job for job in todo if job.label == "proj_0"]
    settings = [dict(job.base.overrides) for job in mine]
    assert all(one["workload.file"] == '"mine.csv"' and "workload.twin" not in one for one in settings)
    # Timed runs need a fixed number of the twin's requests.
    assert not {"timed", "timed-parts"} & {batch for job in mine for batch, _, _ in job.places}
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
