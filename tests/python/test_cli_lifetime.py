"""``floatgate lifetime``: years with throttling, and the planner's view."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate.base import units
from floatgate.papers import Settings, load, reproduce
from floatgate.report.sections.forecast import cards, lines

ROOT = Path(__file__).parents[2]
WRITES = ("--set", "workload.requests=20000", "--target", "0.01")
"""A pass of 20 s on the small drive, and a target of 88 hours, which it misses without throttling."""


def test_the_answer_is_said_first_and_kept_in_the_folder(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    ended = cli("lifetime", experiment, *WRITES, "--throttle", "dynamic", "--out", "o", "--json", "-", "--report")
    answer = json.loads(ended.done())
    assert answer["schema"] == "floatgate.lifetime/1"
    life = answer["lifetime"]
    assert life["holds"] is True
    assert life["years"] == pytest.approx(0.01, rel=0.02)
    assert set(life) >= {
        "years",
        "years_first_block",
        "target_years",
        "c_ssd_bytes",
        "c_ssd_recovered_bytes",
        "w_work_bytes",
        "pe_cycles_achievable",
        "mean_idle_h",
    }
    first, *others = ended.err.splitlines()
    [note] = [line for line in others if "more than this drive can do: 4.10 MB/s requested, " in line]
    assert note.endswith("; what the throttle lets through is less")
    assert first.startswith("life       ")
    assert "under dynamic: the target of 0.01 years is met; 6 % of the host's demand is served; " in first
    folder = tmp_path / "o"
    assert sorted(file.name for file in folder.iterdir()) == ["experiment.toml", "lifetime.json", "report.html"]
    assert json.loads((folder / "lifetime.json").read_text()) == answer
    page = (folder / "report.html").read_text()
    assert "Throttling delay" in page
    assert "floatgate lifetime" in page
    again = json.loads(cli("lifetime", folder / "experiment.toml", "--json", "-").done())
    assert {**again, "run": None} == {**answer, "run": None}


def test_without_a_throttle_the_target_is_missed_and_the_status_is_0(cli: Cli, experiment: Path) -> None:
    output = cli("lifetime", experiment, *WRITES, "--set", "workload.rate_per_s=300", "--target", "0.1").done()
    assert "without throttling: the target of 0.1 years is missed" in output
    assert "floatgate plan finds" in output
    # Four times as much is more than the drive can do.
    assert "life       not known: the host requests more" in cli("lifetime", experiment, *WRITES).done()


def test_uneven_wear_leads_with_the_first_block_and_leveling_bounds_it() -> None:
    settings = {"workload.file": str(ROOT / "traces/sqlite-updates.parquet"), "drive.capacity": "512 MiB"}
    plain = floatgate.lifetime(settings).result.to_dict()
    facts = plain["lifetime"]
    first, (low, high) = facts["years_first_block"], facts["years_first_block_range"]
    assert low <= first <= high
    assert first < facts["years"] / 1.5
    answer = lines.answer(plain)
    assert answer.startswith(f"{units.years(first)} until the first block wears out ("), answer
    assert any("hot-cold-swap" in remark for remark in lines.remarks(plain))
    assert cards.cards(plain)[0][0] == "life of the first block"
    leveled = floatgate.lifetime({**settings, "ftl.level.policy": "hot-cold-swap"}).result.to_dict()
    assert leveled["lifetime"]["years_first_block"] > 2 * first


def test_a_trace_is_called_by_its_name(cli: Cli, trace: Path) -> None:
    settings = ("--set", 'drive.capacity="64 MiB"', "--set", "drive.geometry.pages_per_block=64", "--target", "1")
    output = cli("lifetime", "--trace", trace, "--devices", "fold", "--beyond", "wrap", *settings).done()
    assert "workload   two (msr): " in output


def test_a_plan_says_which_drive_lasts(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    lists = ("--capacities", "64MiB,128MiB", "--throttles", "none,dynamic", "--spare-factors", "0.2,0.3")
    # Throttles serve a small part of so much; by default a plan would take none of these.
    strict = json.loads(cli("lifetime", experiment, *WRITES, *lists, "--json", "-").done())
    assert strict["best"] == []
    assert (
        "and serves 99 % of the workload (--min-served): of those that last, 128 MiB with 30.0 % spare under dynamic "
        "serves most" in strict["answer"]
    )
    assert {one["cut_by"] for one in strict["points"]} == {"load", "served"}
    ended = cli(
        "lifetime", experiment, *WRITES, *lists, "--min-served", "0.01", "--json", "-", "--report", "--out", "o"
    )
    answer = json.loads(ended.done())
    page = (tmp_path / "o/report.html").read_text()
    cli("report", "o").done()
    repeated = re.sub(r"<h2>How to repeat it</h2>\s*<pre>.*?</pre>", "", page)
    assert repeated != page
    assert (tmp_path / "o/report.html").read_text().split() == repeated.split()
    assert "8 choices of drive and throttle" in cli("ls", "o").done()
    rows = cli("query", "o", "select count(*) as points from runs where waf > 0", "--json", "-").done()
    assert json.loads(rows) == [{"points": 8}]
    assert answer["min_served"] == 0.01
    assert answer["schema"] == "floatgate.plan/1"
    points = answer["points"]
    assert [(one["capacity_bytes"] >> 20, one["spare_factor"], one["throttle"]) for one in points] == [
        (capacity, spare, throttle)
        for capacity in (64, 128)
        for spare in (0.2, 0.3)
        for throttle in ("none", "dynamic")
    ]
    assert [one["lifetime"]["holds"] for one in points if one["throttle"] == "dynamic"] == [True] * 4
    smallest = points[answer["best"][0]]
    # Of one size both last as long; more spare space serves more.
    assert (smallest["capacity_bytes"] >> 20, smallest["spare_factor"], smallest["throttle"]) == (64, 0.3, "dynamic")
    assert answer["answer"].startswith(ended.err.splitlines()[0])
    assert "Life against capacity" in (tmp_path / "o" / "report.html").read_text()


@pytest.mark.long
def test_a_plan_tries_half_to_four_times_the_capacity(cli: Cli, experiment: Path) -> None:
    answer = json.loads(cli("lifetime", experiment, *WRITES, "--plan", "--throttles", "all", "--json", "-").done())
    tried = [(one["capacity_bytes"] >> 20, one["throttle"]) for one in answer["points"]]
    # None of these lasts without throttling; the one that should by their lives does.
    assert sorted({capacity for capacity, _ in tried}) == [32, 64, 128, 256, 1096]
    best = answer["points"][answer["best"][0]]
    assert (best["capacity_bytes"] >> 20, best["throttle"], best["cut_by"]) == (1096, "none", None)
    assert {throttle for _, throttle in tried} == {
        "none",
        "static",
        "dynamic",
        "ready-pessimistic",
        "ready-optimistic",
        "incremental",
        "qos",
    }
    assert len(tried) == 35


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target", "0"), "--target: 0 is not a length of time; expected years, more than 0"),
        (("--target", "soon"), "--target: 'soon' is not a length of time; expected years"),
        (("--price-per-tb", "cheap"), "--price-per-tb: 'cheap' is not a price; expected a figure above 0"),
        (("--target", "nan"), "--target: nan"),
        (("--throttle", "best"), "'best'"),
        (("--throttles", "none,best"), "'best': unknown policy; expected one of 'none', 'static'"),
        (("--throttles", "none,none"), "'none' given twice"),
        (("--capacities", "64MiB,,"), "an empty value"),
        (("--capacities", "64MiB,much"), "--capacities: 'much' is not a size; expected sizes such as 64GiB"),
        (("--spare-factors", "many"), "'many' is not a share"),
        (("--plan", "--throttle", "none"), "expected --throttles"),
        (("--min-served", "1.5"), "--min-served: 1.5 is not a share; expected a figure from 0 to 1"),
        (("--min-served=-0.1",), "--min-served: -0.1 is not a share"),
        (("--set", "lifetime.forecast.cycles_spread=0.5"), "expected a number from 0 up to but not 0.5"),
        (("--min-served", "nan"), "--min-served: nan is not a share"),
        (("--max-write-p99", "0"), "--max-write-p99: 0 is not a length of time; expected milliseconds"),
        (("--price-per-tb", "-1"), "--price-per-tb: -1 is not a price"),
        (("--set", "lifetime.forecast.waf=1", "--set", "lifetime.forecast.waf_of_bytes=1"), "expected one of them"),
        (("--set", "lifetime.forecast.waf_of_bytes=-1"), "waf_of_bytes"),
    ],
)
def test_bad_input_is_refused(
    cli: Cli, experiment: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert message in cli("lifetime", experiment, *arguments, "--out", "o").refused()
    assert not (tmp_path / "o").exists()


def test_a_workload_without_time_is_refused(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "timeless.toml"
    path.write_text('[drive]\ncapacity = "64 MiB"\n[workload]\nrequests = 1000\n')
    assert "workload.rate_per_s" in cli("lifetime", path).refused()


def test_write_amplification_by_bytes_counts_pages_that_are_written_in_part() -> None:
    # Requests of 6 KiB at multiples of 6 KiB touch 2 pages each: 4/3 of the bytes that they have.
    settings = {**SMALL, "workload.requests": 5000, "workload.request_bytes": 6144}
    by_bytes = floatgate.lifetime(settings, set={"lifetime.forecast.waf_of_bytes": 2.0}, target_years=1)
    assert by_bytes.waf == pytest.approx(1.5)
    assert by_bytes.method.waf_given is True
    by_pages = floatgate.lifetime(settings, set={"lifetime.forecast.waf": by_bytes.waf}, target_years=1)
    assert by_pages.lifetime.years == by_bytes.lifetime.years


@pytest.mark.long
def test_ready_is_reproduced_quickly_and_every_claim_has_a_verdict(tmp_path: Path) -> None:
    paper = load("ready")
    done = reproduce(paper, Settings(quick=True))
    assert done.failures == []
    answer = {claim["id"]: claim for claim in done.to_dict()["claims"]}
    assert set(answer) == {claim.id for claim in paper.claims}
    # Two of five workloads: a claim about all of them stays open, unless it fails on one already.
    judged = {name for name, claim in answer.items() if claim["holds"] is not None}
    assert len(judged) == 14
    partly = {name for name in judged if None in answer[name].get("parts", {}).values()}
    assert partly == {"dt-thousands-of-seconds"}
    page = done.report()
    assert all(f'id="{name}"' in page for name in answer)
    # What the throttles promise, whatever the trace.
    for name in ("nominal-capacity-128", "cycles-without-recovery"):
        assert answer[name]["holds"] is True, answer[name]
    for name in ("ready-guarantees-pes", "ready-guarantees-opt"):
        held = answer[name]["parts"]
        assert (held["proj"], held["exchange"], held["map"]) == (True, True, None)
    for number, drawn in ((1, 1), (2, 1), (4, 1), (10, 1), (11, 1), (12, 2), (13, 2), (14, 0)):
        assert page.count(f"<figcaption><b>Figure {number}: ") == drawn


def test_a_capacity_is_that_of_the_drive_that_lives(cli: Cli, experiment: Path) -> None:
    ended = cli("lifetime", experiment, *WRITES, "--capacity", "32 MiB", "--json", "-")
    assert json.loads(ended.done())["drive"]["physical_bytes"] == 32 << 20


@pytest.mark.parametrize(
    "settings",
    [
        {"workload.request_bytes": 1024, "lifetime.forecast.method": "windows"},
        {"workload.request_bytes": 1024, "lifetime.forecast.method": "full"},
        {"lifetime.reduce.policy": "dedup", "workload.duplicate_share": 0.5},
        {"ftl.level.policy": "hot-cold-swap", "workload.pattern": "zipf"},
    ],
    ids=["laps", "full", "reduced", "leveled"],
)
def test_write_amplification_has_its_parts(settings: dict[str, Any]) -> None:
    life = floatgate.lifetime({**SMALL, "workload.rate_per_s": 0.05, **settings})
    parts = life.result["waf_bytes_parts"].to_dict()
    total = parts.pop("total")
    assert sum(parts.values()) == pytest.approx(total, rel=1e-9)
    # A drive that is simulated to its end stops within a pass: page writes per byte differ by a millionth.
    assert total == pytest.approx(life.waf_bytes, rel=1e-6)
    if "workload.request_bytes" in settings:
        # Each request of 1 KiB programs a page of 4 KiB.
        assert parts["partial"] == pytest.approx(4.0)
        assert "1.00 data, 3.00 rest of partial pages (no DRAM buffer, which may merge such writes" in life.summary()
        assert f"{parts['gc']:.2f} garbage collection" in life.summary()
        assert "3.00 rest of partial pages" in life.report()
    if settings.get("lifetime.reduce.policy"):
        assert "data (reduction saved the rest)" in life.summary()
    else:
        assert parts["host"] + parts["partial"] >= 1.0


def test_a_given_write_amplification_has_no_parts() -> None:
    life = floatgate.lifetime({**SMALL, "lifetime.forecast.waf": 1.5})
    assert life.result["waf_bytes_parts"] is None
    assert "data" not in life.summary()
