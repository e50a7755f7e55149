"""What a plan says of the demand: bytes per day, twice as many, and up to how many each drive meets the target."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli
from floatgate.study.plan import Plan
from floatgate.study.plan_point import Bounds
from test_short_traces import DRIVE, msr

KNOWN = ("--set", "lifetime.forecast.waf_of_bytes=1.2", "--target", "0.1")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return msr(tmp_path / "t.csv", [(i * 0.5 + i % 7 * 0.03, "Write", i % 300) for i in range(400)])


def test_twice_the_demand_halves_the_life(cli: Cli, trace: Path) -> None:
    plain, doubled = (
        json.loads(cli("lifetime", "--trace", trace, *DRIVE, *KNOWN, *more, "--json").done())
        for more in ((), ("--demand", "2"))
    )
    assert doubled["lifetime"]["years"] == pytest.approx(plain["lifetime"]["years"] / 2, rel=1e-2)
    assert doubled["pass"]["span_s"] == pytest.approx(plain["pass"]["span_s"] / 2, rel=1e-3)
    text = " ".join(cli("lifetime", "--trace", trace, *DRIVE, *KNOWN, "--demand", "2").done().split())
    assert "per day 2.83 GB written by the host" in text
    assert "at 2 times its own rate (--demand)" in text
    # The trace itself is as long as it was.
    assert "200 s of trace stand for 0.1 years" in text
    assert "--demand: 0 is not a factor; expected" in cli("lifetime", "--trace", trace, "--demand", "0").refused()


def test_a_plan_says_up_to_which_demand_each_drive_meets_the_target(cli: Cli, trace: Path) -> None:
    arguments = ("plan", "--trace", trace, *DRIVE, *KNOWN, "--capacities", "64MiB,128MiB", "--price-per-tb", "100")
    made = json.loads(cli(*arguments, "--json").done())
    for point in made["points"]:
        a_day, life = point["demand_bytes_per_day"], point["life_years"]
        assert a_day == pytest.approx(400 * 8192 / 200 * 86_400, rel=0.01)
        assert point["up_to_bytes_per_day"] == pytest.approx(a_day * life / 0.1, rel=1e-6)
        assert point["price_per_year"] == pytest.approx(point["price"] / min(life, 0.1), rel=1e-6)
    output = cli(*arguments, "--demand", "3").done()
    assert "the workload writes 4.2" in output
    assert "at 3 times its own rate (--demand)" in output
    plan = Plan.of(made, "")
    header, _ = plan.rows()
    assert {"up to GB/day", "price/year", "WAF (bytes)"} <= set(header)
    again = json.loads(cli(*arguments, "--json", "--demand", str(made["points"][0]["life_years"] / 0.1)).done())
    # At that demand the first drive just reaches the target.
    assert again["points"][0]["life_years"] == pytest.approx(0.1, rel=0.02)


def test_the_page_of_a_plan_has_two_narrow_tables_and_what_it_rests_on(cli: Cli, trace: Path) -> None:
    cli("plan", "--trace", trace, *KNOWN, "--drives", "client-tlc-1t,boot-480g", "--report", "--out", "o").done()
    page = (trace.parent / "o" / "report.html").read_text()
    assert page.count("<th") >= 2
    assert "What this rests on" in page
    assert "The workload writes 1.4" in page
    assert page.index("What this rests on") < page.index("What is common to all drives")
    assert "preset" not in page[page.index("What is common to all drives") :]
    assert "blocks_per_plane" not in page


def test_a_mark_says_which_drive_is_recommended() -> None:
    from test_lifetime_text import point

    points = [point(64, "none", 600, years=6), point(128, "none", 300, years=9)]
    text = Plan(points, "", "x", Bounds()).text()
    assert "* recommended: the smallest that meets all requirements (64 GiB); the other * are larger, and serve" in text


def test_a_plan_is_explained_drive_by_drive(cli: Cli, trace: Path) -> None:
    cli("plan", "--trace", trace, *DRIVE, *KNOWN, "--capacities", "64MiB", "--no-report", "--out", "o").done()
    message = cli("explain", "o").refused()
    assert "o: is a plan of drives; expected the folder of one forecast: floatgate lifetime --drive NAME" in message


def test_trace_info_has_bytes_per_day(cli: Cli, trace: Path) -> None:
    facts = json.loads(cli("trace", "info", trace, "--json").done())
    assert facts["write_bytes_per_day"] == pytest.approx(facts["write_bytes"] / facts["duration_s"] * 86_400)
    assert facts["read_bytes_per_day"] == 0
    assert "per day    1.42 GB written, 0 B read, at the mean rate" in cli("trace", "info", trace).done()


def test_more_over_provisioning_never_shortens_a_life(cli: Cli, trace: Path) -> None:
    """The rating goes with the flash, and space that is left unused costs no rated bytes."""
    options = ("--drives", "boot-480g", "--spare-factors", "0.1272,0.2,0.273", "--demand", "100")
    made = json.loads(cli("plan", "--trace", trace, *KNOWN, *options, "--json").done())
    assert [point["ends"] for point in made["points"]] == ["rating"] * 3
    lives = [point["rated_years"] for point in made["points"]]
    assert lives == pytest.approx([lives[0]] * 3, rel=1e-6)
