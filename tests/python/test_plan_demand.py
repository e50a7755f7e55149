"""What a plan says of the demand: bytes per day, twice as many, and up to how many each drive meets the target."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import floatgate
from conftest import Cli
from floatgate.base.numbers import BytesPerDay
from floatgate.base.numbers import demand as demand_of
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
    assert "; 2 times the workload's own rate of 1.42 GB per day (--demand)" in text
    # The trace itself is as long as it was.
    assert "200 s of trace stand for 0.1 years" in text
    message = cli("lifetime", "--trace", trace, "--demand", "0").refused()
    assert "--demand: 0 is not a factor or a rate; expected" in message


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
    assert "; 3 times the workload's own rate of 1.42 GB per day (--demand)" in output
    plan = Plan.of(made, "")
    header, _ = plan.rows()
    assert {"up to GB/day", "price/year", "WAF (bytes)"} <= set(header)
    again = json.loads(cli(*arguments, "--json", "--demand", str(made["points"][0]["life_years"] / 0.1)).done())
    # At that demand the first drive just reaches the target.
    assert again["points"][0]["life_years"] == pytest.approx(0.1, rel=0.02)


def test_bytes_per_day_become_a_factor_of_a_forecast(cli: Cli, trace: Path) -> None:
    arguments = ("lifetime", "--trace", trace, *DRIVE, *KNOWN, "--demand", "35GB/day")
    made = json.loads(cli(*arguments, "--json").done())
    own = 400 * 8192 / 200 * 86_400
    assert made["own_bytes_per_day"] == pytest.approx(own, rel=0.01)
    assert made["demand_factor"] == pytest.approx(35e9 / own, rel=0.01)
    assert made["config"]["lifetime"]["forecast"]["demand"] == made["demand_factor"]
    assert made["demand_bytes_per_day"] == pytest.approx(35e9, rel=1e-6)
    text = " ".join(cli(*arguments).done().split())
    assert "per day 35 GB written by the host" in text
    assert "24.7 times the workload's own rate of 1.42 GB per day (--demand)" in text
    # The rate goes before a factor of the experiment, and the resolved experiment has the factor.
    doubled = json.loads(cli(*arguments, "--set", "lifetime.forecast.demand=2", "--json").done())
    assert doubled["demand_factor"] == made["demand_factor"]


def test_bytes_per_day_become_a_factor_of_a_plan(cli: Cli, trace: Path) -> None:
    arguments = ("plan", "--trace", trace, *KNOWN, "--drives", "boot-480g,client-tlc-1t", "--demand", "0.035 TB/day")
    made = json.loads(cli(*arguments, "--json", "--out", "o", "--no-report").done())
    for point in made["points"]:
        assert point["demand_bytes_per_day"] == pytest.approx(35e9, rel=1e-6)
        assert point["demand_factor"] == pytest.approx(35e9 / point["own_bytes_per_day"])
    words = "the workload writes 35 GB per day"
    output = cli(*arguments).done()
    assert words in output
    assert "; 24.7 times the workload's own rate of 1.42 GB per day (--demand)" in output
    kept = Plan.of(json.loads((trace.parent / "o" / "plan.json").read_text()), "").workload()
    assert kept is not None
    assert kept in output


def test_python_takes_bytes_per_day(trace: Path) -> None:
    settings = {"drive.capacity": "64 MiB", "lifetime.forecast.waf_of_bytes": 1.2}
    seen: list[str] = []
    life = floatgate.lifetime(
        trace=trace, set=settings, demand="35 GB/day", progress=lambda _done, _total, phase: seen.append(phase)
    )
    assert life.demand_bytes_per_day == pytest.approx(35e9, rel=1e-6)
    assert "rate of the workload" in seen
    assert floatgate.lifetime(trace=trace, set=settings, demand=2).demand_factor == 2
    plan = floatgate.plan(trace=trace, set=settings, capacities=["64 MiB"], demand="35 GB/day")
    assert plan.to_dict()["points"][0]["demand_factor"] == life.demand_factor
    for forecast in (floatgate.lifetime, floatgate.plan):
        with pytest.raises(floatgate.InputError, match=r"^demand: '3 GB' is not a factor or a rate; expected"):
            forecast(trace=trace, set=settings, demand="3 GB")


@pytest.mark.parametrize(
    ("text", "written_bytes"),
    [
        *(("350GB/day", 350e9), ("0.35 TB/day", 0.35e12), ("1 GiB/day", 2.0**30), ("350 GB per day", 350e9)),
        *(("350 gb a day", 350e9), ("2e3 MB / d", 2e9), ("5B/day", 5.0), ("1kB/Day", 1e3)),
    ],
)
def test_rates_have_a_few_spellings(text: str, written_bytes: float) -> None:
    assert demand_of("--demand", text) == BytesPerDay(written_bytes, text)


@pytest.mark.parametrize(
    "text",
    [
        *("350GB", "350 GB/s", "350 GB/hour", "0GB/day", "-3 GB/day", "GB/day", "350/day", "nanGB/day", "infGB/day"),
        *("1e400GB/day", "350 XB/day", "350GBday", "", "nan", "-1", "0"),
    ],
)
def test_what_is_no_rate_is_refused(cli: Cli, trace: Path, text: str) -> None:
    message = cli("plan", "--trace", trace, *KNOWN, f"--demand={text}").refused()
    assert message.startswith("--demand: ")
    assert "is not a factor or a rate; expected a figure from 0.000000001 to 1000000000 such as 2, or" in message


def test_a_rate_out_of_reach_is_refused(cli: Cli, trace: Path) -> None:
    message = cli("lifetime", "--trace", trace, *DRIVE, *KNOWN, "--demand", "1e9 EB/day").refused()
    assert "--demand 1e9 EB/day: is 7.06e+17 times the workload's own rate of 1.42 GB per day; expected" in message


def test_a_rate_needs_a_trace_that_can_be_read_twice(cli: Cli, trace: Path) -> None:
    pipe = trace.parent / "pipe"
    os.mkfifo(pipe)
    for command in ("lifetime", "plan"):
        for file, name in (("-", "standard input"), (str(pipe), str(pipe))):
            message = cli(command, "--trace", file, *DRIVE, *KNOWN, "--demand", "3 GB/day").refused()
            assert message == (
                f"--demand 3 GB/day: {name} can be read only once, and its own rate must be known first; expected a "
                "trace in a file, or a factor such as 2"
            )


def test_a_rate_gives_a_counter_its_time(cli: Cli, tmp_path: Path) -> None:
    """Stamps of less than a second are refused at their own rate, and are not once the bytes per day are known."""
    counter = msr(tmp_path / "counter.csv", [(i * 1e-6, "Write", i % 300) for i in range(400)])
    arguments = ("lifetime", "--trace", counter, *DRIVE, *KNOWN)
    assert "too short for years" in cli(*arguments).refused()
    made = json.loads(cli(*arguments, "--demand", "1 GB/day", "--json").done())
    assert made["demand_bytes_per_day"] == pytest.approx(1e9, rel=1e-6)


def test_generators_have_a_rate_too(cli: Cli) -> None:
    options = ("--set", "workload.requests=20000", "--set", "workload.rate_per_s=3", "--demand", "1 GB/day")
    made = json.loads(cli("lifetime", *KNOWN, *options, "--json").done())
    assert made["demand_bytes_per_day"] == pytest.approx(1e9, rel=1e-6)
    nothing = ("--set", "workload.read_share=1")
    assert "no request writes" in cli("lifetime", *KNOWN, *options, *nothing).refused()


def test_a_forecast_keeps_the_sentences_of_its_basis(cli: Cli, trace: Path) -> None:
    drive = ("--trace", trace, *KNOWN, "--target", "5", "--demand", "100")
    cli("lifetime", *drive, "--drive", "boot-480g", "--no-report", "--out", "o").done()
    text = " ".join(cli("lifetime", *drive, "--drive", "boot-480g").done().split())
    kept = json.loads((trace.parent / "o" / "lifetime.json").read_text())["basis"]
    assert len(kept) == 2
    stated, part, margin = kept[1].split("; ")
    assert stated == "a WAF of 1.20 is given, not measured"
    assert part == "measured on this trace it would hold for 2.34 MiB, 0.0005 % of the drive alone"
    assert margin.startswith("the flash meets the target up to a WAF of")
    assert all(sentence in text for sentence in kept)
    plan = json.loads(cli("plan", *drive, "--drives", "boot-480g", "--judge", "both", "--json").done())
    assert plan["basis"] == kept


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
