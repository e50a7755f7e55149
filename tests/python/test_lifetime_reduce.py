"""``floatgate lifetime`` with deduplication, compression and the integrated manager."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli
from floatgate.study.plan import Plan

EXPERIMENT = """\
[drive]
plp = true
[drive.geometry]
blocks_per_plane = 64
pages_per_block = 32
[drive.endurance]
pe_cycles = 60
[ftl]
spare_factor = 0.2
[lifetime.throttle]
target_years = 0.02
[workload]
pattern = "uniform"
request_bytes = 65536
requests = 4000
rate_per_s = 0.03
duplicate_share = 0.2
compressed_share = 0.4
"""
WINDOWS = ("--set", "lifetime.forecast.method=windows", "--set", "lifetime.forecast.laps_max=3")


@pytest.fixture
def reduced(tmp_path: Path) -> Path:
    """An experiment whose content can be reduced."""
    path = tmp_path / "reduced.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.long
def test_the_manager_keeps_the_target_and_says_what_it_chose(cli: Cli, reduced: Path, tmp_path: Path) -> None:
    ended = cli("lifetime", reduced, *WINDOWS, "--reduce", "integrated", "--out", "o", "--json", "-", "--report")
    answer = json.loads(ended.done())
    assert answer["lifetime"]["holds"] is True
    facts = answer["reduce"]
    assert sum(facts["epochs_by_choice"].values()) == facts["manager"]["epochs"] == 2_103
    assert [row["schemes"] for row in facts["by_choice"]] == ["none", "dedup", "compress", "both"]
    assert 0.4 < facts["written_ratio"] < 0.6 < facts["energy_ratio"] < 0.8
    lines = ended.err.splitlines()
    assert "under the integrated manager: the target of 0.02 years is met" in lines[0]
    assert any(line.startswith("reduce") and "of the host's pages are programmed" in line for line in lines)
    assert any("of 2103 epochs of 300 s" in line and "throttled" in line for line in lines)
    assert any(line.startswith("throttle") and "of the host's demand" in line for line in lines)
    page = (tmp_path / "o/report.html").read_text()
    for title in ("Schemes at work", "Demand and capacity", "Predicted written ratios", "Throttling delay"):
        assert title in page
    assert "<td>deduplication and compression</td>" in page


def test_fixed_schemes_are_named_beside_the_throttle(cli: Cli, reduced: Path) -> None:
    output = cli("lifetime", reduced, *WINDOWS, "--reduce", "compress", "--throttle", "dynamic").done()
    assert "with compression, under dynamic: the target" in output
    assert "hash" not in output


def test_a_plan_says_what_merged_in_waiting_chunks(cli: Cli, reduced: Path, tmp_path: Path) -> None:
    settings = ("request_bytes=4096", 'pattern="zipf"', "zipf_theta=1.4", "rate_per_s=100", "requests=40000")
    hot = [word for setting in settings for word in ("--set", f"workload.{setting}")]
    options = ("--reducers", "none,compress", "--capacities", "8 MiB")
    made = json.loads(cli("plan", reduced, *WINDOWS, *hot, *options, "--json", "--out", "o", "--no-report").done())
    plain, compressed = (point["merged_share"] for point in made["points"])
    assert plain is None
    assert 0.1 < compressed < 0.9
    words = f"{100 * compressed:.0f} % of the page writes were overwritten while their chunk waited; a DRAM buffer"
    assert f"compression: {words}" in Plan.of(made, "").text()
    life = cli("lifetime", reduced, *WINDOWS, *hot, "--reduce", "compress").done()
    assert f"{100 * compressed:.0f} % were overwritten while their chunk waited (a DRAM buffer would save" in life


@pytest.mark.long
def test_a_plan_compares_reducers(cli: Cli, reduced: Path, tmp_path: Path) -> None:
    options = ("--reducers", "none,both,integrated", "--throttles", "none,dynamic", "--capacities", "8 MiB")
    ended = cli("lifetime", reduced, *WINDOWS, *options, "--out", "o", "--json", "-", "--report")
    points = json.loads(ended.done())["points"]
    pairs = [(point["reducer"], point["throttle"]) for point in points]
    plain = [(reducer, throttle) for reducer in ("none", "both") for throttle in ("none", "dynamic")]
    assert pairs == [*plain, ("integrated", "none")]
    lives = [point["lifetime"]["years"] for point in points]
    assert lives[0] < lives[2] < 0.02
    assert [point["lifetime"]["holds"] for point in points] == [False, True, False, True, True]
    header = next(line for line in ended.err.splitlines() if "capacity" in line and "served" in line)
    assert header.split()[:4] == ["capacity", "spare", "reducer", "throttle"]
    assert any("integrated" in line and "built in" in line for line in ended.err.splitlines())
    assert "; without throttling it would take about" in ended.err.splitlines()[0]
    assert "with deduplication and compression, extrapolated from 8 MiB" in ended.err.splitlines()[0]
    assert "both, dynamic" in (tmp_path / "o/report.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--reducers", "zip"), "--reducers 'zip': unknown policy; expected one of 'none', 'dedup'"),
        (("--reduce", "both", "--reducers", "none"), "expected only one of the two options"),
        (("--reduce", "integrated", "--plan", "--throttles", "dynamic"), "the integrated manager throttles by itself"),
        (("--reduce", "integrated", "--throttle", "dynamic"), "integrated"),
        (("--reducers", "integrated", "--throttles", "dynamic"), "the integrated manager throttles by itself"),
        (("--reduce", "compress", "--set", "lifetime.forecast.waf=1.5"), "what deduplication and compression leave"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, reduced: Path, options: tuple[str, ...], message: str) -> None:
    assert message in cli("lifetime", reduced, *options).refused()


@pytest.mark.long
def test_a_plan_of_a_managed_drive_tries_no_throttles(cli: Cli, reduced: Path) -> None:
    options = ("--reduce", "integrated", "--plan", "--capacities", "8 MiB,16 MiB", "--min-served", "0", "--json", "-")
    plan = json.loads(cli("lifetime", reduced, *WINDOWS, *options).done())
    points = plan["points"]
    assert [(point["reducer"], point["throttle"]) for point in points] == [("integrated", "none")] * 2
    assert "8 MiB under the integrated manager" in plan["answer"]
    assert all(point["lifetime"]["holds"] for point in points)


def test_a_plan_names_the_reducer_of_the_experiment_and_keeps_its_throttle(cli: Cli, reduced: Path) -> None:
    options = ("--plan", "--capacities", "8 MiB", "--throttles", "none,dynamic", "--json", "-")
    plan = json.loads(cli("lifetime", reduced, *WINDOWS, "--reduce", "both", *options).done())
    assert [point["reducer"] for point in plan["points"]] == ["both", "both"]
    assert "with deduplication and compression, under dynamic" in plan["answer"]
    both = ("--reducers", "none,both", "--capacities", "8 MiB")
    assert "expected --throttles in its place" in cli("lifetime", reduced, *both, "--throttle", "dynamic").refused()
    own = ("--set", "lifetime.throttle.policy=dynamic", "--json", "-")
    points = json.loads(cli("lifetime", reduced, *WINDOWS, *both, *own).done())["points"]
    assert [(point["reducer"], point["throttle"]) for point in points] == [("none", "dynamic"), ("both", "dynamic")]
