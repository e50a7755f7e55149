"""``floatgate.plan``: the plan of the command line, from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import Cli

WORKLOAD = {"workload.requests": 20_000, "workload.rate_per_s": 3.0, "lifetime.forecast.waf": 1.5}


def test_the_plan_is_that_of_the_command(cli: Cli, tmp_path: Path) -> None:
    plan = floatgate.plan(
        WORKLOAD,
        capacities=["64 MiB", "128 MiB"],
        spare_factors=[0.1, 0.28],
        throttles=["none"],
        target_years=0.5,
        price_per_tb=100.0,
        min_served=0.9,
        judge="flash",
    )
    sets = [word for key, value in WORKLOAD.items() for word in ("--set", f"{key}={value}")]
    lists = ("--capacities", "64 MiB,128 MiB", "--spare-factors", "0.1,0.28", "--throttles", "none")
    bounds = ("--target", "0.5", "--price-per-tb", "100", "--min-served", "0.9", "--judge", "flash")
    printed = json.loads(cli("plan", *sets, *lists, *bounds, "--json").done())
    assert plan.to_dict() == printed
    assert isinstance(plan, floatgate.Plan)
    assert len(plan.points) == 4
    assert {point.spare for point in plan.points} == {0.1, 0.28}


def test_drives_of_the_catalogue_have_prices(tmp_path: Path) -> None:
    prices = {"client-tlc-1t": 80.0, "client-tlc-2t": 150.0, "client-tlc-hmb-1t": 65.0}
    seen: list[tuple[int, int | None, str]] = []
    plan = floatgate.plan(
        WORKLOAD,
        drives=["client-tlc"],
        prices=prices,
        max_write_p99_ms=5,
        progress=lambda *step: seen.append(step),
    )
    assert [point.drive for point in plan.points] == list(prices)
    assert [plan.bounds.price(point) for point in plan.points] == pytest.approx(list(prices.values()))
    assert plan.bounds.max_write_p99_us == 5000
    assert seen
    per_tb = plan.with_prices({"client": "60/TB", "client-tlc-2t": 110})
    assert [per_tb.bounds.price(point) for point in per_tb.points] == pytest.approx([60, 110, 60])
    assert per_tb.bounds.max_write_p99_us == 5000
    folder = plan.save(tmp_path / "p", report=False)
    assert json.loads((folder / "plan.json").read_text())["points"] == plan.to_dict()["points"]
    with pytest.raises(floatgate.InputError, match="not empty"):
        plan.save(folder, report=False)


def test_growing_demand_shortens_lives() -> None:
    steady, growing = (
        floatgate.plan(WORKLOAD, capacities=["256 MiB"], target_years=5, growth_per_year=rate).points[0]
        for rate in (None, 0.5)
    )
    assert growing.life_years < 0.9 * steady.life_years


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"capacities": ["much"]}, "capacities: 'much' is not a size; expected sizes such as 64GiB,128GiB"),
        ({"capacities": "64 MiB"}, "capacities: is of type str; expected a list or None"),
        ({"spare_factors": [2]}, "spare_factors: '2' is not a share; expected figures from 0 to 1"),
        ({"throttles": ["brake"]}, "throttles 'brake': unknown policy; expected one of"),
        ({"reducers": ["gzip"]}, "reducers 'gzip': unknown policy; expected"),
        ({"drives": ["floppy"]}, "drives: unknown drive or group 'floppy'; expected one of"),
        (
            {"drives": ["boot"], "drive": "boot-480g"},
            "drive: the plan already tries those of drives; expected only one",
        ),
        ({"prices": {"boot-480g": 9.0}}, "prices: no drives are named; expected drives beside it, or price_per_tb"),
        ({"prices": {"a": 9.0}, "drives": ["boot"]}, "prices: unknown drive or group 'a'; expected"),
        ({"prices": {}, "drives": ["boot"]}, "prices: no price of 'boot-480g'"),
        (
            {"prices": {"boot-480g": -1.0}, "drives": ["boot"]},
            "prices boot-480g: -1.0 is not a price; expected a figure",
        ),
        ({"price_per_tb": 0.0}, "price_per_tb: 0.0 is not a price; expected a figure above 0"),
        ({"min_served": 3.0}, "min_served: 3.0 is not a share; expected a figure from 0 to 1 such as 0.99"),
        ({"max_write_p99_ms": -1.0}, "max_write_p99_ms: -1.0 is not a length of time; expected milliseconds"),
        ({"target_years": 0}, "target_years: 0 is not a length of time; expected years, more than 0 and up to 100"),
        ({"growth_per_year": -2}, "growth_per_year: -2 is not a growth rate; expected a yearly growth from -0.9"),
        ({"judge": "price"}, "judge: 'price' is not a criterion; expected one of 'both', 'flash', 'rating'"),
        ({"trace": "no --drives.csv"}, "no --drives.csv: "),
    ],
)
def test_arguments_are_refused_by_their_names(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(floatgate.InputError) as refused:
        floatgate.plan(WORKLOAD, **arguments)
    assert refused.value.message.startswith(message)
