"""``floatgate compare``: settings side by side."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import floatgate
from conftest import SMALL, Cli


def test_the_table_holds_every_combination(cli: Cli, experiment: Path) -> None:
    vary = ("--vary", "ftl.collect.policy=greedy,fifo", "--vary", "ftl.spare_factor=0.2,0.4")
    lines = cli("compare", experiment, *vary).done().splitlines()
    assert lines[0].split()[:3] == ["ftl.collect.policy", "ftl.spare_factor", "WAF"]
    assert [line.split()[:2] for line in lines[1:]] == [
        ["greedy", "0.2"],
        ["greedy", "0.4"],
        ["fifo", "0.2"],
        ["fifo", "0.4"],
    ]
    assert all("±" in line for line in lines[2:])


def test_json_gives_results_and_differences(cli: Cli, experiment: Path) -> None:
    ended = cli("compare", experiment, "--vary", "ftl.collect.policy=greedy,fifo", "--json", "-")
    answer = json.loads(ended.done())
    assert answer["schema"] == "floatgate.compare/1"
    first, second = answer["settings"]
    assert first["set"] == {"ftl.collect.policy": "greedy"}
    assert first["difference"] is None
    difference = second["difference"]
    assert difference["waf"] == pytest.approx(second["result"]["waf"] - first["result"]["waf"])
    low, high = difference["waf_95"]
    halves = [(result["waf_95"][1] - result["waf_95"][0]) / 2 for result in (first["result"], second["result"])]
    assert (high - low) / 2 == pytest.approx(math.hypot(*halves))
    assert "greedy" in ended.err


def test_the_number_of_jobs_changes_no_result(cli: Cli, experiment: Path) -> None:
    def results(jobs: str) -> list[object]:
        command = ("compare", experiment, "--vary", "seed=1,2,3,4", "--json", "-", "--jobs", jobs)
        settings = json.loads(cli(*command).done())["settings"]
        return [(setting["set"], setting["result"]["flash"], setting["result"]["wear"]) for setting in settings]

    assert results("1") == results("4")


def test_one_bad_setting_stops_all_before_they_start(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    said = cli("compare", experiment, "--vary", "ftl.collect.policy=greedy,best", "--out", "o").refused()
    assert "'best'" in said
    assert not (tmp_path / "o").exists()


def test_a_failed_run_keeps_the_others(cli: Cli, experiment: Path) -> None:
    ended = cli("compare", experiment, "--vary", "drive.endurance.pe_cycles=3000,1", "--json", "-")
    assert ended.status == 1
    assert ended.err.startswith("error: drive.endurance.pe_cycles = 1: the drive was worn out")
    good, bad = json.loads(ended.out)["settings"]
    assert good["error"] is None
    assert good["result"]["waf"] > 1
    assert bad["result"] is None
    assert "worn out" in bad["error"]


@pytest.mark.parametrize(
    ("vary", "expected"),
    [
        ([], "no --vary"),
        (["seed"], "no '='"),
        (["seed="], "empty value"),
        (["seed=1,"], "empty value"),
        (["seed=1,1"], "given twice"),
        (["seed=1", "seed=2"], "given twice"),
    ],
)
def test_vary_that_cannot_be_meant_is_refused(cli: Cli, experiment: Path, vary: list[str], expected: str) -> None:
    options = [part for text in vary for part in ("--vary", text)]
    assert expected in cli("compare", experiment, *options).refused()


def test_compare_from_python() -> None:
    done = floatgate.compare(SMALL, {"ftl.collect.policy": ["greedy", "random"]}, jobs=2)
    assert [setting.label for setting in done] == ["greedy", "random"]
    assert len(done.runs) == 2
    greedy, rand = done.runs
    assert greedy.waf < rand.waf
    assert "greedy" in done.text()
    report = done.report()
    assert "<svg" in report
    assert "±" in report


def test_compare_from_python_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="jobs"):
        floatgate.compare(SMALL, {"seed": [1]}, jobs=0)
    with pytest.raises(ValueError, match="value"):
        floatgate.compare(SMALL, {"seed": []})


def test_a_capacity_is_that_of_all_settings(cli: Cli, experiment: Path) -> None:
    vary = ("--vary", "ftl.collect.policy=greedy,fifo")
    ended = cli("compare", experiment, *vary, "--capacity", "32 MiB", "--json", "-")
    sizes = [one["result"]["drive"]["physical_bytes"] for one in json.loads(ended.done())["settings"]]
    assert sizes == [32 << 20] * 2
