"""Forecasts of drives that are modelled with a share of their blocks: their figures are those of the drives as sold."""

from __future__ import annotations

import json
from typing import Any

import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate import _core
from floatgate.report.sections.forecast.modelled import as_sold
from floatgate.study.plan import Plan
from floatgate.study.plan_brief import described

HALVES = {"ent-tlc-ri-15t36": (15.36e12, 28_032e12), "ent-qlc-61t44": (61.44e12, 65_200e12)}
"""Drives with half of their blocks: capacity and rated bytes as sold."""
WORKLOAD = {
    "workload.requests": 20_000,
    "workload.request_bytes": 65_536,
    "workload.rate_per_s": 3.0,
    "lifetime.forecast.waf_of_bytes": 1.01,
}
BLOCKS = {**SMALL, "drive.geometry.blocks_per_plane": 256, "workload.requests": 60_000}
"""A whole drive; its model has half of the blocks."""


def of_core(settings: dict[str, Any], share: float | None = None) -> dict[str, Any]:
    """The forecast of the core, or of a model with that share of the blocks as a forecast of the whole drive."""
    if share is None:
        return floatgate.lifetime(settings).result.to_dict()
    blocks = int(settings["drive.geometry.blocks_per_plane"] * share)
    texts = {key: json.dumps(value) for key, value in settings.items()}
    overrides = [*texts.items(), ("drive.geometry.blocks_per_plane", str(blocks))]
    [result] = _core.lifetime(None, "", [overrides], {"modelled_shares": [share]})
    return as_sold(result, share)


def alike(whole: dict[str, Any], model: dict[str, Any], rel: float) -> None:
    """Compare all figures that follow from the share: years, bytes, passes, the share served."""
    for table, keys in (
        ("drive", ("physical_bytes", "logical_bytes")),
        ("lifetime", ("years", "c_ssd_recovered_bytes", "w_work_bytes")),
        ("pass", ("span_s", "passes")),
        ("throttle", ("demand_share",)),
    ):
        for key in keys:
            assert model[table][key] == pytest.approx(whole[table][key], rel=rel), key


@pytest.mark.parametrize(
    "more",
    [
        {"lifetime.forecast.growth_per_year": 0.2},
        {"lifetime.throttle.policy": "static"},
        {"drive.endurance.model": "ready-printed"},
    ],
)
def test_a_model_with_half_of_the_blocks_lives_as_the_whole_drive(more: dict[str, Any]) -> None:
    settings = {**BLOCKS, "lifetime.forecast.waf": 1.5, **more}
    alike(of_core(settings), of_core(settings, 0.5), 0.002)


def test_a_simulated_model_lives_as_the_whole_drive_and_serves_the_whole_load() -> None:
    settings = {**BLOCKS, "workload.rate_per_s": 20.0}
    whole, model = of_core(settings), of_core(settings, 0.5)
    assert model["waf"] == pytest.approx(whole["waf"], rel=0.05)
    assert model["lifetime"]["years"] == pytest.approx(whole["lifetime"]["years"], rel=0.05)
    # The close-up has the whole rate: the model has all dies.
    loads = [one["close_up"]["busiest"]["offered_bytes_per_s"] for one in (whole, model)]
    assert loads[1] == pytest.approx(loads[0], rel=0.01)


@pytest.mark.parametrize("name", HALVES)
def test_a_forecast_has_the_figures_of_the_drive_as_sold(name: str) -> None:
    life = floatgate.lifetime(WORKLOAD, drive=name, demand="10 TB/day")
    sold, rated = HALVES[name]
    drive = life.result.to_dict()["drive"]
    assert drive["logical_bytes"] == pytest.approx(sold, rel=0.001)
    assert drive["rated"]["visible_tbw_bytes"] == pytest.approx(rated, rel=0.002)
    assert life.modelled_share == pytest.approx(0.5, rel=0.01)
    assert life.demand_bytes_per_day == pytest.approx(10e12)
    flash = drive["physical_bytes"] * life.lifetime.pe_cycles_achievable
    assert life.lifetime.years == pytest.approx(flash / 1.01 / (10e12 * 365), rel=0.01)
    text = life.summary()
    assert f"note       {name} is modelled with 1/2 of its blocks under 1/2 of the workload's rate; years and" in text
    assert " as sold)" not in text
    assert "10 TB written by the host" in text
    throttled = floatgate.lifetime(WORKLOAD, drive=name, demand="10 TB/day", throttle="ready-optimistic")
    assert "delays of the throttle are those of the model, about 2 times as long" in throttled.summary()
    # A slice is what it is.
    slice_ = floatgate.lifetime({**WORKLOAD, "drive.capacity": "2 TiB"}, drive=name)
    assert slice_.modelled_share == 1.0
    assert slice_.drive.physical_bytes <= 2 << 40


def test_a_plan_judges_and_prices_the_drive_as_sold(cli: Cli) -> None:
    settings = [part for key, value in WORKLOAD.items() for part in ("--set", f"{key}={value}")]
    prices = "ent-tlc-ri-15t36=1800,ent-tlc-ri-7t68=900"
    options = ("--drives", "ent-tlc-ri-15t36,ent-tlc-ri-7t68", "--prices", prices, "--demand", "10TB/day")
    document = json.loads(cli("plan", *settings, *options, "--json", "-").done())
    first, second = document["points"]
    assert document["best"] == [0]
    assert first["rated_years"] == pytest.approx(28_032 / 3650, rel=0.002)
    assert second["rated_years"] == pytest.approx(14_016 / 3650, rel=0.002)
    assert [one["price"] for one in (first, second)] == [1800, 900]
    assert first["up_to_bytes_per_day"] == pytest.approx(28_032e12 / 5 / 365, rel=0.002)
    plan = Plan.of(document, "")
    header, [row, _] = plan.rows()
    assert dict(zip(header, row, strict=True))["capacity"] == "15.4 TB"
    assert "note: ent-tlc-ri-15t36 is modelled with 1/2 of its blocks" in plan.text()
    assert "rated for 28 PB written in 5 years" in described(plan)[0][1]


def test_a_volume_is_of_the_drive_as_sold() -> None:
    life = floatgate.lifetime(WORKLOAD, drive="ent-tlc-ri-15t36", volume="10 TB")
    assert life.drive.logical_bytes == pytest.approx(10e12, rel=0.001)
    with pytest.raises(floatgate.InputError, match=r"16 TB is more than the drive shows \(15\.\d TB\)"):
        floatgate.lifetime(WORKLOAD, drive="ent-tlc-ri-15t36", volume="16 TB")
