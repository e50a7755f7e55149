"""``floatgate schema`` describes results and forecasts of all kinds exactly."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import floatgate
from conftest import Cli
from floatgate import _core
from floatgate.results import shapes
from floatgate.run.experiment import resolve
from floatgate.run.lifetime import forecast as forecast_of

GOLDENS = sorted((Path(__file__).parents[1] / "golden").glob("*.json"))
SMALL: dict[str, Any] = {
    "drive.geometry.blocks_per_plane": 48,
    "drive.geometry.pages_per_block": 16,
    "ftl.spare_factor": 0.25,
    "workload.requests": 5000,
}
TIMED = {**SMALL, "mode": "timed"}
KINDS: dict[str, dict[str, Any]] = {
    "functional": SMALL,
    "read only": {**SMALL, "workload.read_share": 1.0},
    "queues": {**TIMED, "host.queues": 2, "workload.read_share": 0.5},
    "buffer": {**TIMED, "drive.buffer.capacity": "64 KiB"},
    "energy": {**SMALL, "drive.energy.program_uj": 2.0},
    "throttle": {
        **TIMED,
        "workload.arrival": "open",
        "workload.rate_per_s": 5,
        "lifetime.throttle.policy": "ready-optimistic",
        "lifetime.throttle.target_years": 0.001,
    },
    "reduction": {
        **SMALL,
        "lifetime.reduce.policy": "both",
        "workload.duplicate_share": 0.3,
        "workload.compressed_share": 0.6,
    },
    "manager": {
        **TIMED,
        "lifetime.reduce.policy": "integrated",
        "lifetime.reduce.epoch_s": 30,
        "workload.duplicate_share": 0.3,
        "workload.compressed_share": 0.6,
        "workload.arrival": "open",
        "workload.rate_per_s": 50,
    },
    "read disturb": {
        **TIMED,
        "drive.disturb.model": "tlc-base",
        "drive.disturb.max_reads": 200,
        "ftl.reclaim.policy": "redftl-plus",
        "workload.read_share": 0.95,
        "workload.pattern": "zipf",
        "workload.zipf_theta": 1.2,
    },
    "patterns": {**SMALL, "ftl.dispatch.policy": "patterns"},
    "separation": {**SMALL, "ftl.separate.policy": "sepbit"},
}
"""Settings under which each table of a result is known."""


def schema() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(_core.result_schema())
    return made


def misfits(result: dict[str, Any]) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema()).iter_errors(result)]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_goldens_are_as_the_schema_says(golden: Path) -> None:
    assert misfits(json.loads(golden.read_text("utf-8"))) == []


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_all_kinds_are_as_the_schema_says(kind: str) -> None:
    assert misfits(floatgate.run(set=KINDS[kind]).result.to_dict()) == []


def test_a_trace_is_worn_in_and_told_of(trace: Path) -> None:
    small = {"drive.capacity": "16 MiB", "drive.geometry.pages_per_block": 32}
    result = floatgate.run(trace=trace, set=small).result.to_dict()
    assert "precondition" in result
    assert misfits(result) == []


def test_what_is_no_result_does_not_fit() -> None:
    golden = json.loads(GOLDENS[0].read_text("utf-8"))
    for path, value in (
        (("waf",), "1.5"),
        (("waf_95",), [1.0]),
        (("host", "read_requests"), -1),
        (("host", "read_requests"), None),
        (("host", "new"), 1),
        (("flash", "programs", "gc"), 0.5),
        (("schema",), "floatgate.result/2"),
        (("wear",), None),
    ):
        damaged = copy.deepcopy(golden)
        table = damaged
        for key in path[:-1]:
            table = table[key]
        table[path[-1]] = value
        assert len(misfits(damaged)) == 1, (path, misfits(damaged))
    del golden["host"]
    assert misfits(golden) == ["$: 'host' is a required property"]


LIFE: dict[str, Any] = {**SMALL, "workload.rate_per_s": 2, "lifetime.throttle.target_years": 0.02}
FORECASTS: dict[str, dict[str, Any]] = {
    "none": LIFE,
    "windows": {**LIFE, "lifetime.forecast.method": "windows", "lifetime.throttle.policy": "ready-optimistic"},
    "full": {**LIFE, "lifetime.forecast.method": "full", "lifetime.throttle.policy": "static"},
    "given": {**LIFE, "lifetime.forecast.method": "requests", "lifetime.forecast.waf": 2},
    "read only": {**LIFE, "workload.read_share": 1.0},
    "reduction": {**LIFE, **{key: value for key, value in KINDS["reduction"].items() if key not in SMALL}},
    "reduction, windows": {
        **LIFE,
        **{key: value for key, value in KINDS["reduction"].items() if key not in SMALL},
        "lifetime.forecast.method": "windows",
    },
}
"""Settings under which each table of a forecast is known."""


@pytest.mark.parametrize("kind", FORECASTS)
def test_forecasts_of_all_kinds_are_as_their_schema_says(kind: str) -> None:
    forecast = json.loads(shapes.forecast_schema())
    Draft202012Validator.check_schema(forecast)
    # A forecast without writes, too, which commands refuse.
    [document] = forecast_of(resolve(None, set=FORECASTS[kind]), [[]])
    assert [
        f"{error.json_path}: {error.message}" for error in Draft202012Validator(forecast).iter_errors(document)
    ] == []


def test_the_command_prints_it(cli: Cli) -> None:
    assert json.loads(cli("schema", "forecast").done()) == json.loads(shapes.forecast_schema())
    assert json.loads(cli("schema", "result").done()) == schema()
    assert json.loads(cli("schema").done()) == json.loads(cli("schema", "experiment").done()) != schema()
    assert "experiment" in cli("schema", "trace").refused()
