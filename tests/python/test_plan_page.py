"""The page and the first line of a plan: what a buyer looks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from floatgate.study import plan_front, plan_report
from floatgate.study.plan import Plan
from floatgate.study.plan_brief import described, question, verdict
from floatgate.study.plan_point import Bounds, Point
from floatgate.study.plan_prices import price_list
from test_lifetime_text import point


def ending(
    gib: int, average: float, *, first: float | None = None, rated: float | None = None, gives: bool = True
) -> Point:
    """A drive whose first block wears out, or whose rated bytes are written, after so many years."""
    one = point(gib, "none", 600, years=average)
    assert one.result is not None
    one.result["lifetime"] |= {
        "years_first_block": first,
        "years_range": [average, average],
        "years_range_from": ["waf"],
    }
    one.result.update(rated_years=rated, host_bytes_per_year=10e12 if gives else None)
    return one


def test_the_first_line_has_the_rating_and_what_reads_take() -> None:
    one = ending(64, 6.0, rated=7.0)
    assert one.result is not None
    one.result["latency_us"] = {"write": {"mean": 600, "p99": 700, "p999": 800}, "read": {"p99": 90}}
    answer = Plan([one], "", "x", Bounds(price_per_tb=80)).answers()[0]
    assert "until the flash is worn out, rated bytes written after 7.0 years, WAF 2.24, " in answer
    assert "mean write 600 us, p99 700 us, p99 of reads 90 us, price 5.50" in answer
    assert answer.endswith("; not known: share served")


def test_charts_draw_the_life_that_counts() -> None:
    points = [ending(64, 6.0, first=2.0), ending(128, 9.0, rated=3.0), ending(256, 12.0)]
    plan = Plan(points, "", "x")
    drawn = plan_report.chart(plan, points, "years", "years").to_dict()
    assert [row["y"] for row in drawn["layer"][0]["data"]["values"]] == [2.0, 3.0, 12.0]
    # The interval of the flash is none of the rating.
    assert [row.get("low") for row in drawn["layer"][0]["data"]["values"]] == [2.0, None, None]
    front = plan_front.front_chart(plan, points).to_dict()
    shapes = front["layer"][2]["encoding"]["shape"]["scale"]
    assert shapes == {"domain": ["flash", "first block", "rating"], "range": ["circle", "triangle-down", "square"]}
    page = plan.report()
    assert all(f">{name}<" in page for name in ("flash worn out", "first block worn out", "rated bytes written"))


def test_the_table_has_tbw_of_the_flash_beside_the_rating() -> None:
    plan = Plan([ending(64, 6.0, first=2.0, rated=1.0), ending(128, 9.0)], "", "x")
    header, rows = plan.rows()
    assert header[-2:] == ["flash TBW", "rating"]
    assert [row[-2:] for row in rows] == [["20.0", "1.0 years"], ["90.0", "-"]]
    assert "flash TBW: TB that the host writes until the flash is worn out" in plan.text()
    assert "rating: when the host has written the rated bytes" in plan.text()
    # The first block ends the flash of the first drive: two years of 10 TB.
    assert [row["flash_tbw_bytes"] for row in plan.arrow().to_pylist()] == pytest.approx([20e12, 90e12])
    assert [one["flash_tbw_bytes"] for one in plan.to_dict()["points"]] == pytest.approx([20e12, 90e12])
    # A plan that is read back says the same.
    assert Plan.of(plan.to_dict(), "").rows() == plan.rows()
    unknown = Plan([ending(64, 6.0, gives=False)], "", "x")
    assert "flash TBW" not in unknown.rows()[0]
    assert unknown.to_dict()["points"][0]["flash_tbw_bytes"] is None


def test_the_interval_is_that_of_the_life_shown() -> None:
    points = [
        ending(64, 145.0, rated=32.1),
        ending(128, 9.0, rated=9.5),
        ending(256, 9.0, rated=9.0),
        ending(512, 20.0),
    ]
    for one, ends in zip(points, ([144.0, 148.0], [8.0, 11.0], [8.0, 11.0], [19.0, None]), strict=True):
        assert one.result is not None
        one.result["lifetime"]["years_range"] = ends
    plan = Plan(points, "", "x")
    header, rows = plan.rows()
    assert [row[header.index("interval")] for row in rows] == [
        "rating",
        "8.0-9.5 years (WAF alone)",
        "8.0-9.0 years (WAF alone)",
        "19.0 years to unlimited (WAF alone)",
    ]
    assert "interval, rating: none, as rated bytes are bytes of the host" in plan.text()
    flat = plan.arrow().to_pylist()
    assert [(row["interval.low"], row["interval.high"]) for row in flat] == [(None, None), (8, 9.5), (8, 9), (19, None)]
    for one, row in zip(plan.points, flat, strict=True):
        assert row["interval.low"] is None or row["interval.low"] <= one.life_years
        assert row["interval.high"] is None or row["interval.high"] >= one.life_years
    again = Plan.of(plan.to_dict(), "")
    assert again.rows() == plan.rows()


def test_the_head_states_question_answer_basis_and_largest_uncertainty() -> None:
    toml = '[workload]\nfile = "/data/db.csv"\n'
    points = [ending(64, 6.0, rated=7.0), ending(128, 12.0)]
    for one in points:
        assert one.result is not None
        one.result.update(demand_bytes_per_day=27.4e9, method={"waf_given": False}, config={})
    plan = Plan(points, toml, "db", Bounds(price_per_tb=80))
    assert (
        question(plan) == "Which of 2 drives is the cheapest that lasts 5 years under db.csv (27.4 GB written per day)?"
    )
    assert verdict(plan) == (
        "Take 64 GiB, the cheapest that lasts 5 years: life 6.0 years until the flash is worn out, price 5.50; "
        "forecast from a simulation of the drive; largest uncertainty: a generator stands for 5 years: the forecast is "
        "as good as its settings, and no host was recorded."
    )
    page = plan.report()
    assert (
        page.index("Which of 2 drives") < page.index("Take 64 GiB") < page.index("The drives") < page.index("<thead>")
    )


def test_limits_and_drives_that_were_not_tried_are_part_of_the_question() -> None:
    bounds = Bounds(min_served=0.9, max_write_p99_us=5000)
    plan = Plan([ending(64, 1.0)], "", "db", bounds, untried=["128 GiB"])
    assert question(plan) == (
        "Which of 1 drive (128 GiB not tried) is the smallest that lasts 5 years under db, "
        "serves 90 % of the writes, and ends 99 of 100 page writes within 5.0 ms?"
    )
    assert verdict(plan).startswith("Incomplete, 1 of 2 drives tried, and a smaller one may be left: none of these")


def test_a_lower_end_that_misses_the_target_is_the_largest_uncertainty() -> None:
    one = ending(64, 6.0)
    assert one.result is not None
    one.result["lifetime"]["years_range"] = [4.0, 8.0]
    one.result["method"] = {"waf_given": False}
    assert "; largest uncertainty: the life may be as short as 4.0-8.0 years (WAF alone)." in verdict(
        Plan([one], "", "x")
    )


def test_drives_are_described_with_their_rating_and_the_source_of_their_price() -> None:
    points = [replace(ending(447, 6.0), drive="boot-480g", capacity=""), ending(64, 6.0)]
    priced = price_list({"boot": "190/TB"}, ["boot-480g"], others=True)
    plan = Plan(points, "[drive.endurance]\npe_cycles = 3000\n", "x", Bounds(price_per_tb=80, prices=priced.prices))
    rows = dict(described(plan))
    assert rows["boot-480g"].startswith("Boot drive, enterprise TLC (1 DWPD): Micron 7400 PRO M.2, 480 GB, 96-layer; ")
    assert "; rated for 876 TB written in 5 years; price " in rows["boot-480g"]
    assert rows["boot-480g"].endswith("(set as boot=190/TB)")
    assert rows["64 GiB"] == (
        "64 GiB of flash; 3000 P/E cycles; no rated endurance known; price 5.50 (set as 80 per TB)"
    )
    slices = Plan([replace(points[0], capacity="64 GiB")], "", "x")
    assert dict(described(slices))["boot-480g of 64 GiB"].endswith(
        "; 447 GiB of its flash; rated for 876 TB written in 5 years (whole drive); no price known"
    )


def test_title_and_note_head_the_page_and_stay_with_the_plan() -> None:
    plan = Plan([ending(64, 6.0)], "", "x").headed("Drives for <us>", "Offers of November")
    page = plan.report()
    assert "<h1>Drives for &lt;us&gt;</h1>" in page
    assert page.index("<h1>") < page.index("Offers of November") < page.index("Which of 1 drive")
    again = Plan.of(plan.to_dict(), "").with_prices(price_per_tb=80)
    assert (again.title, again.note) == ("Drives for <us>", "Offers of November")
    assert "<h1>drives for x</h1>" in Plan([ending(64, 6.0)], "", "x").report()
