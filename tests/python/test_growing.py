"""Demand that grows: the life that it leaves, by its law, and the note on a trace that grows itself."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.report.sections import growing, rating
from floatgate.report.sections.forecast import host_writes

EXPERIMENT = """
[drive.geometry]
blocks_per_plane = 64
pages_per_block = 32
[drive.rated]
tbw_tb = 0.02
user_bytes = 6709248
[ftl]
spare_factor = 0.2
precondition = "steady"
[workload]
requests = 4000
rate_per_s = 2
"""
ASSUMED = ("--set", "lifetime.forecast.waf=1.5", "--target", "3", "--json", "-")


@pytest.fixture
def steady(tmp_path: Path) -> Path:
    path = tmp_path / "steady.toml"
    path.write_text(EXPERIMENT)
    return path


def answer_of(cli: Cli, *arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(cli("lifetime", *arguments).done())
    return answer


def test_a_life_under_growing_demand_follows_from_that_without(cli: Cli, steady: Path) -> None:
    plain, grown = answer_of(cli, steady, *ASSUMED), answer_of(cli, steady, *ASSUMED, "--growth", "1")
    years = plain["lifetime"]["years"]
    assert grown["lifetime"]["years"] == pytest.approx(math.log1p(years * math.log(2)) / math.log(2), rel=1e-9)
    # Demand that doubles each year writes seven times as much in three years as in the first, over ln 2.
    factor = 7 / 3 / math.log(2)
    assert grown["lifetime"]["w_work_bytes"] == pytest.approx(plain["lifetime"]["w_work_bytes"] * factor, rel=1e-9)
    assert rating.bytes_per_year(grown) == pytest.approx(rating.bytes_per_year(plain), rel=1e-9)
    rated = rating.years(plain)
    assert rated is not None
    assert rating.years(grown) == pytest.approx(growing.years_of(rated, grown), rel=1e-9)
    # As many bytes wear the flash out, whenever they come.
    assert host_writes.tbw_bytes(grown) == pytest.approx(host_writes.tbw_bytes(plain), rel=1e-9)


def test_the_answer_says_that_demand_grows(cli: Cli, steady: Path) -> None:
    output = cli("lifetime", steady, *ASSUMED[:4], "--growth", "0.2").done()
    assert "without throttling, demand growing 20 % a year: " in output
    plan = json.loads(cli("plan", steady, *ASSUMED, "--growth", "0.2", "--capacities", "16MiB").done())
    assert plan["points"][0]["lifetime"]["growth_per_year"] == 0.2


@pytest.mark.parametrize("text", ["much", "-1", "101", "nan"])
def test_what_is_no_growth_is_refused(cli: Cli, steady: Path, text: str) -> None:
    assert cli("lifetime", steady, f"--growth={text}").refused().startswith("--growth: ")


def test_a_throttle_and_growth_are_refused(cli: Cli, steady: Path) -> None:
    error = cli("lifetime", steady, "--throttle", "static", "--growth", "0.2").refused()
    assert "growth_per_year is 0.2, and the life is throttled" in error


def test_a_trace_that_grows_is_told() -> None:
    parts = {"are": "days", "trend": 0.05, "trend_95": 0.01, "written_bytes": [1] * 30}
    remark = growing.remark({"pass": {"parts": parts}})
    assert remark is not None
    assert remark.startswith("what the host writes grows by 5 % of its mean from each day of the trace to the next")
    for less in ({"trend_95": 0.06}, {"written_bytes": [1] * 4}, {"trend": None}):
        assert growing.remark({"pass": {"parts": parts | less}}) is None
    shrinking = growing.remark({"pass": {"parts": parts | {"trend": -0.05}}})
    assert shrinking is not None
    assert "shrinks by 5 %" in shrinking


def test_a_plan_asks_for_as_much_more_as_growing_demand_writes(cli: Cli, steady: Path) -> None:
    command = ("plan", steady, *ASSUMED, "--growth", "1", "--capacities", "16MiB,32MiB")
    answer = json.loads(cli(*command, "--judge", "flash").done())
    years = answer["points"][1]["lifetime"]["years"]
    wanted = 32 * (2**3 - 1) / (2**years - 1)
    match = re.search(r"it would take about (\S+) GiB, extrapolated from 32 MiB", answer["answer"])
    assert match is not None, answer["answer"]
    assert float(match[1]) * 1024 == pytest.approx(wanted, rel=0.01)
