"""The page of all techniques on one drive: drives, ratios, ablation and pairs by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checked_charts import check
from floatgate.papers import load
from floatgate.papers.all_in_one import values as values_of
from floatgate.papers.all_in_one import workloads as made_by
from floatgate.papers.all_in_one.figures import figures
from floatgate.papers.judge import Findings
from floatgate.run.run import check as resolved

Result = dict[str, Any]


def result(years: float, gc_s: float, reclaim_s: float = 0.0, target_years: float = 1.5) -> Result:
    """Return what the page takes from a run: programs as many as seconds, and a p99 and an energy of its own."""
    return {
        "lifetime": {"years": years, "years_spare_blocks": years / 2, "target_years": target_years},
        "flash": {
            "time_s": {"gc": gc_s, "repack": 0.0, "reclaim": reclaim_s, "replica": 0.0},
            "programs": {"gc": int(gc_s), "repack": 0},
        },
        "latency_us": {"write": {"p99": 100.0}, "read": None},
        "energy": {"total_j": 10.0},
        "separate": None,
        "reclaim": {"memory_bytes": 4096},
        "reduce": None,
        "drive": {"logical_bytes": 4096 * 1024, "mapping_bytes": 4096},
        "run": {"cpu_s": 1e-3 * years},
        "workload": {"requests": 1000},
    }


@pytest.fixture
def findings() -> Findings:
    """Return runs of one workload: two techniques alone, one left out, all, and the pair; two seeds."""
    lives = {"none": 1.0, "ids": 2.0, "reduce": 3.0, "without-ids": 4.0, "all": 8.0}
    results: dict[str, Any] = {}
    for seed, factor in ((1, 1.0), (2, 1.1)):
        variants = {
            name: result(years * (factor if name == "all" else 1.0), 24 / years) for name, years in lives.items()
        }
        results[f"half-{seed}"] = {"compile": variants}
        results[f"pairs-{seed}"] = {"compile": {"ids+reduce": result(9.0, 6.0)}}
    judged = Findings(results)
    judged.values.update(values_of.values(judged))
    return judged


def test_ratios_are_means_of_the_seeds(findings: Findings) -> None:
    assert findings.look("life_ratio.half.compile.ids") == 2.0
    assert findings.look("life_ratio.half.compile.all") == pytest.approx(8.4)
    assert findings.look("life_apart.half.compile.all") == pytest.approx(0.8)
    assert findings.look("collection_ratio.half.compile.reduce") == pytest.approx(1 / 3)
    assert findings.look("memory.half.compile.none") == 4.0
    assert findings.look("target.half.compile.all") == pytest.approx(8.4 / 1.5)


def test_what_a_technique_is_worth_is_what_all_lose_without_it(findings: Findings) -> None:
    assert findings.look("worth.life.half.compile.ids") == pytest.approx(4 / 8.4)
    assert findings.look("worth.life.half.ids") == pytest.approx(4 / 8.4)
    assert findings.look("worth.life.half.reduce") is None


def test_pairs_are_compared_with_the_product_of_their_parts(findings: Findings) -> None:
    assert findings.look("pair.life.compile.ids+reduce") == 9.0
    assert findings.look("together.life.compile.ids+reduce") == 1.5
    assert findings.look("least_together.compile") == 1.5
    # 6 s of 24 s, where 1/2 and 1/3 make a sixth.
    assert findings.look("together.collection.compile.ids+reduce") == pytest.approx(6 / 24 * 6)


def test_all_are_compared_with_the_best_technique_and_costs_are_summed(findings: Findings) -> None:
    assert findings.look("best.half.compile") == "reduce"
    assert findings.look("over_best.half.compile") == pytest.approx(8.4 / 3)
    assert findings.look("cpu_parts_ratio.half.compile") == pytest.approx(1 + 1 + 2)


def test_reads_that_hardly_disturb_have_no_ratio(findings: Findings) -> None:
    assert findings.look("reclaim_ratio.half.compile.all") is None
    assert findings.look("reclaim.half.compile.all") == 0.0


def test_first_lines_name_what_is_lost_most(findings: Findings) -> None:
    assert "lives 8.4 times as long" in findings.values["first.lines"]
    assert "Collection takes 0.12 (compile) times as long" in findings.values["first.lines"]
    assert findings.values["first.lines"].endswith("Most life is lost without: ids 52 %.")


def test_a_search_becomes_a_set() -> None:
    settings = {"ftl.separate.policy": "pds", "ftl.reclaim.policy": "baseline", "ftl.collect.timing": "by-context"}
    search = {"best": settings, "figures": {"lifetime.years": 3.0}, "base": {"lifetime.years": 2.0}, "trials": 64}
    made = values_of.values(Findings({"best": {"compile": {"none": search}}}))
    assert made["best_set.compile"] == "pds+collect"
    assert made["best_life.compile"] == 1.5
    assert made["best_write.compile"] is None


def test_figures_are_drawn_from_what_is_there(findings: Findings) -> None:
    drawn = figures(findings)
    assert [one.id for one in drawn][:2] == ["whole-half", "parts-life"]
    assert "pairs-life-compile" in [one.id for one in drawn]
    for one in drawn:
        check(one.draw(360).to_dict())


def test_the_drive_of_a_recording_is_sized_to_it(tmp_path: Path) -> None:
    made = made_by.prepare(["cscope"], {}, tmp_path)
    settings = dict(made["cscope"])
    block, dies = int(settings["drive.geometry.pages_per_block"]), int(settings["drive.geometry.channels"])
    blocks = int(settings["drive.geometry.blocks_per_plane"])
    assert settings["drive.timing.erase_us"] == str(2000 * block / 128)
    # A page of a block is read as often as at full size.
    reads = {wear: int(dict(made[f"{wear}-1.cscope"])["drive.disturb.max_reads"]) for wear in ("half", "full")}
    assert reads == {"half": 97_000 * block * 4096 // (192 * 8192), "full": 40_000 * block * 4096 // (192 * 8192)}
    paper = load("all-in-one")
    experiment = paper.experiment.with_overrides([*made["cscope"], *made["half-1.cscope"]])
    assert f"blocks_per_plane = {blocks}" in resolved(experiment)
    assert dies * blocks * block * (1 - made_by.SPARE_FACTOR) >= 5_970
    files = {dict(made[f"half-{seed}.cscope"])["workload.file"] for seed in made_by.SEEDS}
    assert len(files) == 3, "each seed has places of its own"
    throttled = dict(made["half-1.cscope.all"])
    assert throttled["workload.arrival"] == '"shifted"'
    assert "half-1.cscope.without-ready" not in made


def test_techniques_of_the_page_are_the_sets_of_the_command_line() -> None:
    paper = load("all-in-one")
    for part in made_by.PARTS:
        assert dict(paper.variants[part].overrides)["policies"] == f'"{part}"'
        others = "+".join(one for one in made_by.PARTS if one != part)
        assert dict(paper.variants[f"without-{part}"].overrides)["policies"] == f'"{others}"'
    pairs = {tuple(batch.variants) for batch in paper.batches if batch.name.startswith("pairs-")}
    expected = [f"{one}+{other}" for i, one in enumerate(made_by.PARTS) for other in made_by.PARTS[i + 1 :]]
    assert pairs == {tuple(expected)}
    assert {batch.workloads[0] for batch in paper.batches if batch.name == "best"} <= set(made_by.RECORDED)
    assert list(made_by.PAIRED) == next(b.workloads for b in paper.batches if b.name == "pairs-1")
