"""Every kind of report says what the model leaves out."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate.pages.page import report
from floatgate.report.sections import not_modelled
from test_lifetime_text import LIFE
from test_rb import ONE_PLANE, hand_made

GOLDENS = Path(__file__).parents[1] / "golden"
FEW = ("--set", "workload.requests=20000")
SPARES = ("--vary", "ftl.spare_factor=0.2,0.3")
KINDS = {
    "run": ("run", "e.toml"),
    "repeat": ("run", "e.toml", *FEW, "--repeat", "2"),
    "compare": ("compare", "e.toml", *FEW, *SPARES),
    "sweep": ("sweep", "e.toml", *FEW, *SPARES),
    "tune": ("tune", "e.toml", *FEW, *SPARES, "--minimise", "waf_bytes", "--trials", "2"),
    "leaderboard": ("leaderboard", "reporting", "--only", "dac", "--spare-factors", "0.15", "--repeat", "1"),
    "lifetime": ("lifetime", "e.toml", *FEW, "--target", "0.01"),
    "plan": ("plan", "e.toml", *FEW, "--target", "0.01", "--capacities", "64MiB"),
}
OF_TRACES = {
    "trace info": ("trace", "info", "two.csv"),
    "trace patterns": ("trace", "patterns", "two.csv"),
}


def left_out(page: str) -> list[str]:
    """The list on a page."""
    assert page.count("What the model leaves out") == 1
    below = page.partition("What the model leaves out")[2].partition("</ul>")[0]
    return [unescape(text).strip() for text in re.findall(r"<li>(.*?)</li>", below, re.DOTALL)]


@pytest.mark.parametrize("kind", KINDS)
def test_reports_of_simulated_drives_say_it(cli: Cli, experiment: Path, tmp_path: Path, kind: str) -> None:
    command = [str(experiment) if word == "e.toml" else word for word in KINDS[kind]]
    cli(*command, "--out", "o", "--report").done()
    listed = left_out((tmp_path / "o/report.html").read_text())
    assert {"bad blocks", "data retention", "SLC cache", "DRAM buffer", "energy", "read disturb"} <= set(listed)
    assert len(listed) == len(set(listed))
    if kind == "lifetime":
        assert json.loads((tmp_path / "o/lifetime.json").read_text())["not_modelled"] == listed
    # Drawn again from what the folder keeps, it says the same.
    (tmp_path / "o/report.html").unlink()
    cli("report", "o").done()
    assert left_out((tmp_path / "o/report.html").read_text()) == listed


@pytest.mark.parametrize("kind", OF_TRACES)
def test_reports_of_traces_say_that_no_drive_is_simulated(cli: Cli, trace: Path, tmp_path: Path, kind: str) -> None:
    command = [str(trace) if word == "two.csv" else word for word in OF_TRACES[kind]]
    cli(*command, "--report", "r.html").done()
    assert left_out((tmp_path / "r.html").read_text()) == [not_modelled.NO_DRIVE]


def test_reports_of_captures_say_what_pins_do_not_show(cli: Cli, tmp_path: Path) -> None:
    path = hand_made(tmp_path / "c.vcd")
    cli("rb", "measure", path.name, *ONE_PLANE, "--host-bytes", "1000000", "--report", "r.html").done()
    assert left_out((tmp_path / "r.html").read_text()) == [not_modelled.OF_CAPTURES]


@pytest.mark.long
def test_a_reproduction_says_it(cli: Cli, tmp_path: Path) -> None:
    cli("reproduce", "separation", "--quick", "--out", "o").done()
    assert left_out((tmp_path / "o/report.html").read_text())


def test_a_report_cannot_be_made_without_it() -> None:
    with pytest.raises(TypeError, match="not_modelled"):
        report("a", [])  # type: ignore[call-arg]
    assert left_out(report("a", [], not_modelled=[])) == ["not known: no result says it"]


@pytest.mark.parametrize("golden", sorted(GOLDENS.glob("*.json")), ids=lambda path: path.stem)
def test_experiments_tell_what_results_say(golden: Path) -> None:
    result = json.loads(golden.read_text())
    assert not_modelled.of_experiment({"mode": result["mode"], **result["config"]}) == result["not_modelled"]


@pytest.mark.parametrize(
    ("settings", "models"),
    [
        ({"mode": "timed", "drive.energy.read_uj": 1.0}, {"energy", not_modelled.LATENCY}),
        ({"mode": "timed", "drive.buffer.capacity": "1 MiB"}, {"DRAM buffer", not_modelled.LATENCY}),
        ({"drive.endurance.model": "ready-table2"}, {"recovery of worn blocks while they rest"}),
    ],
)
def test_what_is_modelled_is_not_in_the_list(settings: dict[str, Any], models: set[str]) -> None:
    result = floatgate.run({**SMALL, "workload.requests": 20_000}, set=settings).result.to_dict()
    assert not_modelled.of_experiment(result["config"]) == result["not_modelled"]
    assert not models & set(result["not_modelled"])


def test_a_sweep_names_what_some_of_its_runs_leave_out(tmp_path: Path) -> None:
    vary = {"mode": ["functional", "timed"]}
    floatgate.sweep({**SMALL, "workload.requests": 20_000}, vary, out=tmp_path / "s")
    assert not_modelled.LATENCY in left_out(floatgate.load_sweep(tmp_path / "s").report())


def test_forecasts_model_latencies_where_they_know_them() -> None:
    config = {"mode": "functional", "drive": {"endurance": {"model": "fixed"}}}
    assert not_modelled.LATENCY not in not_modelled.of({**LIFE, "config": config})
    unknown = {**LIFE, "config": config, "close_up": {"unknown": "no times", "busiest": None, "typical": None}}
    assert not_modelled.LATENCY in not_modelled.of(unknown)
    assert not_modelled.TO_THE_END in not_modelled.of(unknown)
    # What a plan has kept stays as it is.
    assert not_modelled.of({**unknown, "not_modelled": ["bad blocks"]}) == ["bad blocks"]
