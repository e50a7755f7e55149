"""The page and the first line of a plan: what a buyer looks for."""

from __future__ import annotations

import pytest

from floatgate.study import plan_front, plan_report
from floatgate.study.plan import Plan
from floatgate.study.plan_point import Bounds, Point
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
