"""``floatgate reproduce redftl`` and ``redftl-plus``: the assumptions of their pages."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from floatgate.papers import Settings, load, names
from floatgate.papers.jobs import jobs
from floatgate.papers.judge import Findings
from floatgate.papers.means import mean_95
from floatgate.papers.read_twins import BLOCK_BYTES, CHANNELS, FOLDER, SPARE_FACTOR, drive, mostly_free, smaller
from floatgate.papers.redftl.figures import figures as redftl_figures
from floatgate.papers.redftl.values import reads_share, short
from floatgate.papers.redftl.values import values as redftl_values
from floatgate.papers.redftl_plus.figures import mlc_program
from floatgate.papers.redftl_plus.readers import busiest
from floatgate.papers.redftl_plus.values import MODEL_TYPES, MODES
from floatgate.papers.redftl_plus.values import values as plus_values
from floatgate.run.run import execute


def test_papers_with_hyphens_are_found_by_their_names() -> None:
    assert {"redftl", "redftl-plus"} <= set(names())
    assert load("redftl-plus").name == "redftl-plus"
    assert load("redftl-plus").module("values") is not None


def test_a_smaller_twin_keeps_shares_and_sizes(tmp_path: Path) -> None:
    whole = tomllib.loads((FOLDER / "ads.toml").read_text("utf-8"))
    twin = smaller("ads", 8, tmp_path)
    made = tomllib.loads(twin.file.read_text("utf-8"))
    assert made["requests"] == twin.requests == whole["requests"] // 8
    assert made["footprint_bytes"] == twin.footprint_bytes == whole["footprint_bytes"] // 8
    [[loop, share]] = made["reads"]["loops"]
    assert [8 * loop, share] == whole["reads"]["loops"][0]
    for table in (whole, made):
        table.update(requests=0, footprint_bytes=0)
        table["reads"]["loops"] = []
    assert made == whole


def test_a_smaller_twin_reads_as_the_whole_one() -> None:
    # docs/generate.md: the tenth of ads's pages that is read most has 65 % of the page reads.
    assert busiest("ads") == pytest.approx(0.65, abs=0.01)


@pytest.mark.parametrize("paper", ["redftl", "redftl-plus"])
def test_mostly_free_drives_hold_their_twin_and_nothing_else(paper: str, tmp_path: Path) -> None:
    loaded = load(paper)
    prepared = loaded.prepare(list(loaded.workloads), {}, tmp_path)
    for name in loaded.workloads:
        settings = dict(prepared[name])
        assert float(settings["ftl.spare_factor"]) == SPARE_FACTOR, name
        settings |= dict(prepared[f"mostly-free.{name}"])
        footprint = tomllib.loads(Path(settings["workload.twin"].strip('"')).read_text("utf-8"))["footprint_bytes"]
        flash = int(settings["drive.geometry.blocks_per_plane"]) * CHANNELS * BLOCK_BYTES
        shown = (1 - float(settings["ftl.spare_factor"])) * flash
        assert footprint <= shown <= 1.002 * footprint, name


@pytest.mark.parametrize("paper", ["redftl", "redftl-plus"])
def test_what_runs_in_time_is_as_busy_as_the_whole_twin(paper: str, tmp_path: Path) -> None:
    loaded = load(paper)
    prepared = loaded.prepare(list(loaded.workloads), {}, tmp_path)
    close = [batch for batch in loaded.batches if batch.start == "main"]
    busy = {key.split(".")[0] for key, settings in prepared.items() if "workload.twin" in dict(settings) and "." in key}
    assert {batch.name for batch in close} == busy
    for batch in close:
        assert dict(batch.overrides)["mode"] == '"timed"'
        for name in batch.workloads:
            [(key, path)] = prepared[f"{batch.name}.{name}"]
            assert key == "workload.twin"
            twin = tomllib.loads(Path(path).read_text("utf-8"))
            whole = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
            assert twin["footprint_bytes"] <= whole["footprint_bytes"]
            rates = [one["requests"] / one["duration_s"] for one in (twin, whole)]
            assert rates[0] == pytest.approx(rates[1], rel=1e-3)


def test_a_drive_is_full_of_cold_data_or_a_little_larger_than_its_twin(tmp_path: Path) -> None:
    twin = smaller("multi", 1, tmp_path)
    assert dict(drive(800)) == {"drive.geometry.blocks_per_plane": "100", "ftl.spare_factor": "0.2"}
    assert dict(mostly_free(twin, 800)) == {"ftl.spare_factor": "0.466133"}


def test_shorter_runs_make_a_share_of_the_passes(tmp_path: Path) -> None:
    loaded = load("redftl-plus")
    prepared = loaded.prepare(["ads", "tatp"], {}, tmp_path)
    for name in ("ads", "tatp"):
        whole = int(dict(prepared[name])["workload.requests"])
        for batch, share in (("quarter", 4), ("half", 2), ("mostly-free", 4)):
            assert int(dict(prepared[f"{batch}.{name}"])["workload.requests"]) * share == whole, (batch, name)


def test_the_trend_is_that_of_the_core() -> None:
    # floatgate_nand::disturb::trend has the same law and the same two figures in its test.
    assert reads_share(1.05, 1.0) == pytest.approx(0.51, abs=0.005)
    assert reads_share(1.05, 1.6) == pytest.approx(0.319, abs=0.005)


def test_the_interval_of_a_mean_is_students() -> None:
    middle, half = mean_95([1.0, 2.0, 3.0, 4.0, 5.0])
    assert middle == 3.0
    assert half == pytest.approx(2.776 * (2.5 / 5) ** 0.5)
    assert mean_95([1.0, None]) == mean_95([1.0]) == (None, None)


def test_mlc_takes_longer_to_program_by_as_much_as_it_has_fewer_states() -> None:
    # 8 and 19 % of TLC, whose seven states share the reduction of three.
    assert [mlc_program(program) for _, _, program in MODES] == pytest.approx([1.0, 1.18667, 1.44333], abs=1e-5)


def test_overhead_is_drawn_by_its_parts() -> None:
    parts = {"gc_time": 10.0, "reads_time": 2.0, "programs_time": 30.0, "erases_time": 1.0}
    of_ads = {f"{name}.ads.{variant}": time for name, time in parts.items() for variant in ("baseline", "max-200")}
    values = of_ads | {"total.ads.max-none": 10.0, "total.ads.baseline": 43.0, "moving.ads.baseline": 33.0}
    drawn = {one.id: one for one in redftl_figures(Findings({}, values))}
    assert {"figure-7-ads", "figure-12-ads"} <= set(drawn)
    assert "figure-7-websearch" not in drawn
    rows = [row for row in drawn["figure-7-ads"].draw(600).to_dict()["data"]["values"] if row["row"] == "40,000"]
    assert {row["part"]: row["value"] for row in rows} == {
        "collection": 1.0,
        "reads of reclaims": 0.2,
        "programs of reclaims": 3.0,
        "erases of reclaims": 0.1,
    }


def test_drives_are_compared_with_their_own_baseline() -> None:
    def run(reclaims: int, replica_s: float) -> dict[str, Any]:
        geometry = {"pages_per_block": 192, "page_bytes": 8192}
        timing = {"read_us": 100, "program_us": 1600, "erase_us": 5000}
        reclaim = {
            "replicas": {"made": 10, "died_by_erase": 4, "died_by_update": 0},
            "time_s": {"reclaim": float(reclaims), "replica": replica_s},
            "on_demand": reclaims,
            "background": 0,
            "moved_pages": 192 * reclaims,
            "service_ms": {"cdf": []},
        }
        drive = {"geometry": geometry, "timing": timing}
        wear = {"erases_max": 3, "erases_min": 1}
        return {"reclaim": reclaim, "gc": {"time_s": 5.0}, "config": {"drive": drive}, "wear": wear}

    variants = {"baseline": run(20, 0.0), "redftl": run(10, 5.0), "in-free": run(5, 5.0)}
    made = redftl_values(Findings({"mostly-free": {"ads": variants}}))
    assert (made["free.rr_time.ads"], made["free.rr_count.ads"], made["free.total.ads"]) == (0.75, 0.5, 0.8)
    assert (made["in_free.rr_time.ads"], made["in_free.lost.ads"]) == (0.5, 0.4)
    assert made["in_free.rr_time.mean"] is None
    more = {**variants, "redftl": run(5, 5.0)}
    made = redftl_values(Findings({"spare-10": {"ads": variants}, "spare-30": {"ads": more}}))
    assert [made[f"spare.{percent}.rr_time.ads"] for percent in (10, 20, 30)] == [0.75, None, 0.5]
    assert (made["spare.30.rr_count.ads"], made["spare.30.rr_count.mean"]) == (0.25, None)


def test_the_share_of_short_times() -> None:
    assert short([[5.0, 0.2], [10.0, 0.6], [331.4, 1.0]], 10.0) == 0.6
    assert short([[331.4, 1.0]], 10.0) == 0.0
    assert short([], 10.0) is None


def test_a_quick_run_of_multi_reclaims_and_has_the_models_constants(tmp_path: Path) -> None:
    paper, settings = load("redftl-plus"), Settings(quick=True)
    prepared = paper.prepare(["multi"], {}, tmp_path)
    [job] = [one for one in jobs(paper, settings, prepared) if one.label == "multi"]
    wanted = {variant: number for number, (_, _, variant) in enumerate(job.places)}
    results = {
        variant: execute(job.base.with_overrides(job.variants[wanted[variant]])).result.to_dict()
        for variant in ("baseline", "redftl-plus")
    }
    assert results["baseline"]["flash"]["unmapped_reads"] == 0
    made = plus_values(Findings({"main": {"multi": results}}))
    assert made["count.multi.baseline"] > made["count.multi.redftl-plus"] > 0
    assert 0 < made["over.multi.redftl-plus"] < 1
    disturb = results["baseline"]["config"]["drive"]["disturb"]
    assert tuple(disturb["weights"]) == MODEL_TYPES["tlc-base"]
    assert [(one["reads"], one["program"]) for one in disturb["modes"]] == [(one[0], one[2]) for one in MODES]
