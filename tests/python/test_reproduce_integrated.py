"""The page of integrated lifetime management: WKSN refitted on its drive, smaller twins, means over seeds."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from floatgate.papers import load
from floatgate.papers.integrated import values, workloads
from floatgate.papers.judge import Findings

SEED_FACTORS = (1.0, 1.1, 0.9, 1.2, 0.8)


def life(years: float, energy: float = 1.0) -> dict[str, object]:
    return {"lifetime": {"years": years, "target_years": 5}, "reduce": {"energy_ratio": energy}, "waf": 1.0}


def test_wksn_is_refitted_and_the_catalogue_stays_beside_it(tmp_path: Path) -> None:
    made = workloads.prepare(["wksn", "media"], {}, tmp_path)
    assert set(workloads.FILL) < set(made["wksn"])
    assert not set(workloads.FILL) & set(made["media"])

    def twin(name: str) -> dict[str, Any]:
        return tomllib.loads(Path(dict(made[name])["workload.twin"]).read_text())

    shipped = tomllib.loads((workloads.TWIN_FOLDER / "wksn.toml").read_text())
    refitted, catalogue = twin("wksn"), twin("new.wksn")
    assert refitted["content"] == shipped["content"] | {
        key: float(value) for key, value in workloads.WKSN.items() if key != "written_gib_per_hour"
    }
    assert refitted["written_gib_per_hour"] == float(workloads.WKSN["written_gib_per_hour"]) / workloads.SMALLER
    assert catalogue["content"] == shipped["content"]
    assert catalogue["written_gib_per_hour"] == shipped["written_gib_per_hour"] / workloads.SMALLER
    assert refitted["footprint_bytes"] == catalogue["footprint_bytes"] == 48 * 2**30 // workloads.SMALLER
    assert dict(made["new.wksn"])["ftl.precondition"] == '"none"'
    assert dict(made["full.wksn"])["ftl.spare_factor"] == "0.07"
    assert twin("steady.media")["rate"]["daily_swing"] == twin("steady.media")["rate"]["noise"] == 0.0


def test_chunks_wait_as_many_pages_as_at_full_size(tmp_path: Path) -> None:
    """Traffic is smaller, so pages of a chunk come more rarely; schemes without chunks have no timeout."""
    made = workloads.prepare(["dvmt"], {}, tmp_path)
    wait = [("lifetime.reduce.chunk_timeout_ms", str(1000 * workloads.SMALLER))]
    assert made["lives.dvmt.compression"] == made["steady.dvmt.integrated"] == wait
    assert made["seed-2-integrated.dvmt.integrated"] == made["seed-5.dvmt.compression"] == wait
    assert not any(name.endswith((".baseline", ".dedup", ".throttling")) for name in made)
    paper = load("integrated")
    with_chunks = {
        f"{batch.name}.dvmt.{variant}"
        for batch in paper.batches
        for variant in batch.variants
        if "dvmt" in batch.workloads and variant in workloads.COMPRESSING
    }
    assert with_chunks <= set(made)


def test_a_trace_of_the_users_runs_at_full_size(tmp_path: Path) -> None:
    made = workloads.prepare(["wksn"], {"wksn": "own.csv"}, tmp_path)
    assert ("drive.capacity", '"65536 MiB"') in made["wksn"]
    assert not set(workloads.FILL) & set(made["wksn"])
    assert "lives.wksn.compression" not in made
    assert dict(made["full.wksn"]) == {"ftl.precondition": '"sequential"', "ftl.spare_factor": "0.07"}


def test_lives_over_baseline_are_means_over_seeds() -> None:
    """Of five seeds, 1.0, 1.1, 0.9, 1.2 and 0.8 times as long: mean 1, half 2.776 x sqrt(0.025 / 5)."""
    results: dict[str, dict[str, object]] = {}
    for batch, factor in zip(values.SEEDS, SEED_FACTORS, strict=True):
        results[batch] = {"wksn": {"baseline": life(5.0), "dedup": life(5.0 * factor, energy=factor)}}
    made = values.values(Findings(results))
    assert made["longer.mean.wksn.dedup"] == pytest.approx(1.0)
    assert made["longer.half.wksn.dedup"] == pytest.approx(2.776 * (0.025 / 5) ** 0.5)
    assert made["energy.mean.wksn.dedup"] == pytest.approx(1.0)
    quick = values.values(Findings({"lives": results["lives"]}))
    assert (quick["longer.mean.wksn.dedup"], quick["longer.half.wksn.dedup"]) == (1.0, None)


def test_integrated_is_compared_with_the_baseline_of_its_seed() -> None:
    results = {
        "lives": {"wksn": {"baseline": life(5.0), "integrated": life(15.0)}},
        "seed-2": {"wksn": {"baseline": life(6.0)}},
        "seed-2-integrated": {"wksn": {"integrated": life(12.0)}},
    }
    made = values.values(Findings(results))
    assert made["longer.seed-2.wksn.integrated"] == pytest.approx(2.0)
    assert made["longer.mean.wksn.integrated"] == pytest.approx(2.5)
    assert "longer.seed-3.wksn.integrated" not in made
    assert "seed-2" in results
    assert set(results["seed-2"]["wksn"]) == {"baseline"}


def test_claims_that_were_fitted_are_not_counted() -> None:
    calibrated = {claim.id for claim in load("integrated").claims if claim.is_calibrated}
    assert {"wksn-baseline", "wksn-dedup-longer", "wksn-compression-longer", "wksn-response"} < calibrated
    assert {"seeds-response", "integrated-is-close-steady"} < calibrated
    assert not {"wksn-integrated-longer", "wksn-energy", "wksn-order"} & calibrated
