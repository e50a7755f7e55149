"""``floatgate reproduce redftl`` and ``redftl-plus``: the assumptions of their pages."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from floatgate.papers import Settings, load, names
from floatgate.papers.jobs import jobs
from floatgate.papers.judge import Findings
from floatgate.papers.read_twins import BLOCK_BYTES, CHANNELS, FOLDER, drive, smaller
from floatgate.papers.redftl.values import reads_share, short
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
def test_drives_hold_their_twin_and_nothing_else(paper: str, tmp_path: Path) -> None:
    loaded = load(paper)
    prepared = loaded.prepare(list(loaded.workloads), {}, tmp_path)
    for name in loaded.workloads:
        settings = dict(prepared[name])
        footprint = tomllib.loads(Path(settings["workload.twin"].strip('"')).read_text("utf-8"))["footprint_bytes"]
        flash = int(settings["drive.geometry.blocks_per_plane"]) * CHANNELS * BLOCK_BYTES
        shown = (1 - float(settings["ftl.spare_factor"])) * flash
        assert footprint <= shown <= 1.002 * footprint, name


@pytest.mark.parametrize("paper", ["redftl", "redftl-plus"])
def test_what_runs_in_time_is_as_busy_as_the_whole_twin(paper: str, tmp_path: Path) -> None:
    loaded = load(paper)
    prepared = loaded.prepare(list(loaded.workloads), {}, tmp_path)
    close = [batch for batch in loaded.batches if batch.start == "main"]
    assert {batch.name for batch in close} == {key.split(".")[0] for key in prepared if "." in key}
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


def test_a_drive_is_a_little_larger_than_its_twin(tmp_path: Path) -> None:
    twin = smaller("multi", 1, tmp_path)
    assert dict(drive(twin, 800)) == {"drive.geometry.blocks_per_plane": "100", "ftl.spare_factor": "0.466133"}


def test_the_trend_is_that_of_the_core() -> None:
    # floatgate_nand::disturb::trend has the same law and the same two figures in its test.
    assert reads_share(1.05, 1.0) == pytest.approx(0.51, abs=0.005)
    assert reads_share(1.05, 1.6) == pytest.approx(0.319, abs=0.005)


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
