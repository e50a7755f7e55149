"""The texts about forecast lives, and which drives a plan recommends, for results made by hand."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from floatgate.report import lifetime_summary as summary
from floatgate.report.sections.forecast import cards, life_range, lines
from floatgate.report.throttle_charts import thin
from floatgate.run.lifetime import Lifetime
from floatgate.study.plan import Plan
from floatgate.study.plan_point import Bounds, Point, choices

GIB = 1 << 30

LIFE: dict[str, Any] = {
    "schema": "floatgate.lifetime/1",
    "version": "0.1.0",
    "config": {"workload": {"twin": "exchange"}},
    "seed": 1,
    "drive": {
        "name": "ready-128g",
        "physical_bytes": 128 * GIB,
        "logical_bytes": 119 * GIB,
        "spare_factor": 0.07,
        "page_bytes": 4096,
    },
    "workload": {"kind": "twin"},
    "pass": {"span_s": 86400.0, "page_writes": 129_600_000, "passes": 1825.0},
    "method": {
        "name": "windows",
        "window_s": 1.0,
        "waf_given": True,
        "waf_by_lap": None,
        "waf_error": None,
        "stationary": None,
    },
    "waf": 2.24,
    "lifetime": {
        "years": 5.02,
        "years_first_block": None,
        "target_years": 5.0,
        "holds": True,
        "c_ssd_bytes": 412_316_860_416_000,
        "c_ssd_recovered_bytes": 1.1841e15,
        "w_work_bytes": 1.1795e15,
        "pe_cycles_achievable": 8615.0,
        "mean_idle_h": 5.08,
    },
    "latency_us": {
        "read": None,
        "write": {"count": 1000, "mean": 640.0, "p50": 600.0, "p99": 900.0, "p999": 1100.0, "max": 9000.0},
    },
    "close_up": {
        "unknown": None,
        "busiest": {
            "from_s": 64.0,
            "span_s": 32.0,
            "requests": 1000,
            "offered_bytes_per_s": 2e6,
            "possible_bytes_per_s": None,
            "overloaded": False,
        },
        "typical": {
            "from_s": 0.0,
            "span_s": 32.0,
            "requests": 500,
            "offered_bytes_per_s": 1e6,
            "possible_bytes_per_s": None,
            "overloaded": False,
            "latency_us": {
                "read": None,
                "write": {"mean": 610.0, "p50": 600.0, "p99": 700.0, "p999": 800.0, "max": 900.0},
            },
        },
    },
    "throttle": {
        "policy": "ready-optimistic",
        "service_us": 600.0,
        "delay_us": {
            "count": 1000,
            "mean": 700.0,
            "p50": 600.0,
            "p90": 1200.0,
            "p99": 1500.0,
            "p999": 2400.0,
            "p9999": 3400.0,
            "max": 9000.0,
            "cdf": {"us": [0.0, 600.0, 9000.0], "share": [0.1, 0.5, 1.0]},
        },
        "delay_us_mean": 700.0,
        "wait_us_mean": 0.0,
        "held_share": 0.93,
        "waits": 12,
        "wait_s": 3.0,
        "epochs": 87_600,
        "selections": 4,
        "epoch_s": 1800.0,
        "prediction": {
            "compared": 1000,
            "within": 0.805,
            "error_max": 0.25,
            "first_pass": {"compared": 48, "within": 0.83},
        },
    },
    "series": {
        "time_s": [1800.0, 3600.0, 157_680_000.0],
        "written_bytes": [1e9, 2e9, 1.1795e15],
        "demand_bytes": [1e9, 2e9, 2e15],
        "capacity_bytes": [2e9, 4e9, 1.1841e15],
        "delay_us": [0.0, 500.0, 700.0],
        "wait_us": [0.0, 0.0, 0.0],
        "epoch_s": [600.0, 600.0, 1800.0],
        "pe_cycles": [3036.0, 3036.0, 8615.0],
        "idle_h": [0.0, 0.0, 5.08],
    },
    "detail": None,
    "run": {"wall_s": 1.0, "cpu_s": 1.0, "peak_rss_bytes": 1},
}


def life(**changes: dict[str, Any]) -> dict[str, Any]:
    """:data:`LIFE` with some of its tables changed."""
    made = copy.deepcopy(LIFE)
    for table, values in changes.items():
        made[table].update(values)
    return made


def test_the_answer_comes_first() -> None:
    first, *others = summary.text(life()).splitlines()
    met = "5.0 years under ready-optimistic: the target of 5 years is met"
    where = "in the busiest 32 s of the workload, unthrottled"
    text = f"{met}; p99 of writes 900 us {where}; p99 of the throttle's delay 1.5 ms"
    assert first.split(None, 1) == ["life", text]
    by_name = dict(line.split(None, 1) for line in others)
    writes = f"writes: mean 640 us, p50 600 us, p99 900 us, p99.9 1.1 ms, max 9.0 ms, {where}"
    assert by_name["latency"] == f"{writes}; no reads"
    assert "mean delay 700 us (p50 600 us, p99 1.5 ms, p99.9 2.4 ms, max 9.0 ms)" in by_name["throttle"]
    assert by_name["WAF"] == "2.24, as given"
    assert by_name["workload"] == "twin exchange: 531 GB in page writes per pass of 24 hours, repeated 1825 times"
    assert by_name["cycles"] == "8615 per block at 5.1 hours of rest between erases"
    assert "93 % of page writes delayed" in by_name["throttle"]
    assert by_name["prediction"] == "right within 25 % in 80 % of 1000 epochs"
    assert "note" not in by_name


@pytest.mark.parametrize(
    ("share", "ends", "part"),
    [
        (0.001, None, "0.1 %"),
        (0.0004, None, "< 0.1 %"),
        (0.64, [0.51, 0.82], "64 % (51-82 %)"),
        (0.9994, None, "99.9 %"),
        (0.9995, None, None),
        (1.0, [0.89, 1.0], None),
        (None, None, None),
    ],
)
def test_a_life_says_first_how_much_of_the_demand_is_served(
    share: float | None, ends: list[float] | None, part: str | None
) -> None:
    result = life(throttle={"demand_share": share, "demand_share_range": ends})
    first, *others = summary.text(result).splitlines()
    served = "" if part is None else f"; {part} of the host's demand is served"
    assert f": the target of 5 years is met{served}; p99 of writes 900 us" in first
    throttle = next(line for line in others if line.startswith("throttle"))
    assert ("of the host's demand" in throttle) == (part is not None)
    assert [card[1:] for card in cards.cards(result) if card[0] == "served"] == (
        [] if part is None else [(part, "of the host's demand in the target time")]
    )


def test_a_target_that_is_missed_is_said_with_what_to_do() -> None:
    text = summary.text(
        life(
            lifetime={"years": 2.47, "holds": False},
            throttle={"policy": "none", "delay_us": None, "delay_us_mean": 0.0, "prediction": None},
            method={"waf_given": False, "waf_by_lap": [1.0, 1.9, 2.24], "waf_error": 0.004, "stationary": True},
        )
    )
    assert "2.5 years without throttling: the target of 5 years is missed" in text
    assert "unthrottled" not in text
    assert "2.24, stationary after 3 laps (error 0.4 %)" in text
    assert "floatgate plan finds" in text
    assert "\nthrottle" not in text


def test_stamps_and_what_tails_go_by_are_said() -> None:
    life = copy.deepcopy(LIFE)
    life["workload"] |= {
        "stamps_backwards": 1,
        "stamps_backwards_first": "line 3",
        "stamps_backwards_s_max": 2.5,
        "suspicions": ["what looks wrong"],
    }
    life["method"]["tails"] = "mean-cost"
    assert lines.doubts(life) == ["what looks wrong"]
    assert lines.remarks(life)[-2:] == [
        "p99 and the like leave out waits behind collection: each page write counts at the mean cost",
        "1 time stamp runs backwards, in line 3, by 2.5 s; it counts as arriving with the request before it",
    ]


def test_tails_that_rest_on_chance_are_said_to() -> None:
    life = copy.deepcopy(LIFE)
    life["config"]["lifetime"] = {"throttle": {"predict": "written"}}
    chance = [phrase for phrase in lines.remarks(life) if "rest on chance" in phrase]
    assert chance == []
    life["method"]["tails"] = "lumps"
    chance = [phrase for phrase in lines.remarks(life) if "rest on chance" in phrase]
    assert len(chance) == 1
    assert 'lifetime.forecast.method = "full"' in chance[0]


def test_the_report_draws_the_life() -> None:
    page = Lifetime(life(), "seed = 1\n[drive]\n", "exchange").report("floatgate lifetime x.toml")
    for text in ("5.0 years", "Throttling delay", "Delays of page writes", "Endurance of a block",
                 "floatgate lifetime x.toml", "seed = 1"):  # fmt: skip
        assert text in page


def point(
    gib: int, throttle: str, write_us: float, *, years: float, spare: float = 0.07, p999_us: float | None = None
) -> Point:
    changed = life(
        drive={"physical_bytes": gib * GIB, "spare_factor": spare},
        lifetime={"years": years, "holds": years >= 5},
        throttle={"policy": throttle},
    )
    changed["throttle"]["delay_us"] = None
    changed["latency_us"]["write"] |= {"mean": write_us, "p99": write_us, "p999": p999_us or write_us}
    return Point(f"{gib} GiB", None, throttle, changed)


def test_a_plan_takes_the_smallest_and_then_what_is_faster() -> None:
    points = [
        point(64, "none", 600, years=1.7),
        point(64, "static", 10_300, years=20),
        point(64, "ready-optimistic", 1700, years=5),
        point(128, "none", 600, years=3.9),
        point(128, "ready-optimistic", 776, years=5),
        point(128, "ready-pessimistic", 775, years=5),
        point(256, "ready-optimistic", 600, years=9),
        point(256, "none", 600, years=9),
        point(512, "none", 600, years=20),
        Point("4 GiB", None, "none", None, "too small"),
    ]
    best = [(one.capacity, one.throttle) for one in choices(points)]
    assert best == [("64 GiB", "ready-optimistic"), ("128 GiB", "ready-pessimistic"), ("256 GiB", "none")]
    plan = Plan(points, "seed = 1\n", "web")
    assert plan.answer() == (
        "the smallest drive that lasts 5 years is 64 GiB under ready-optimistic: life 5.0 years until the flash is "
        "worn out, WAF 2.24, mean write 1.7 ms, p99 1.7 ms; not known: rating (the drive has none), share served, p99 "
        "of reads (no reads), price (none given); faster, but larger: 128 GiB under ready-pessimistic (mean write "
        "775 us, p99 775 us), then 256 GiB without throttling (mean write 600 us, p99 600 us)"
    )
    lines = plan.text().splitlines()
    assert [f"{lines[0]}; {lines[1]}", lines[2]] == [plan.answer(), ""]
    assert [line.startswith("*") for line in lines[4:14]] == [index in (2, 5, 7) for index in range(10)]
    assert "4 GiB: too small" in plan.text()
    assert plan.to_dict()["best"] == [2, 5, 7]
    page = plan.report("floatgate lifetime --plan")
    assert "Life against capacity" in page
    assert "Not possible: 4 GiB: too small" in page


def served(point: Point, share: float) -> Point:
    """The same, serving only this share."""
    result = {**(point.result or {}), "throttle": {"policy": point.throttle, "demand_share": share}}
    return Point(point.capacity, None, point.throttle, result)


def test_a_plan_never_takes_what_serves_too_little() -> None:
    points = [
        served(point(64, "ready-optimistic", 1700, years=5), 0.002),
        served(point(128, "ready-optimistic", 900, years=5), 0.63),
        point(128, "none", 600, years=3.9),
    ]
    plan = Plan(points, "", "web")
    assert plan.best == []
    assert plan.answer() == (
        "none of these drives lasts 5 years and serves 99 % of the workload (--min-served): of those that last, "
        "128 GiB under ready-optimistic serves most, 63 %; without throttling it would take about 164 GiB, "
        "extrapolated from 128 GiB"
    )
    lenient = Plan(points, "", "web", Bounds(min_served=0.5))
    assert [one.capacity for one in lenient.best] == ["128 GiB"]
    assert (
        "128 GiB under ready-optimistic: life 5.0 years until the flash is worn out, 63 % served, WAF 2.24, mean write "
        "900 us, p99 900 us"
    ) in lenient.answer()
    assert [one["cut_by"] for one in lenient.to_dict()["points"]] == ["served", None, "life"]


def test_a_plan_keeps_to_the_longest_write() -> None:
    points = [point(64, "static", 1700, years=6), point(256, "none", 600, years=9)]
    quick = Bounds(max_write_p99_us=1000, price_per_tb=80)
    plan = Plan(points, "", "web", quick)
    assert [one.capacity for one in plan.best] == ["256 GiB"]
    assert plan.answer().startswith("the cheapest drive that lasts 5 years is 256 GiB without throttling: ")
    assert ", mean write 600 us, p99 600 us, price 22.0" in plan.answer()
    header, rows = plan.rows()
    assert rows[0][header.index("price")] == "5.50"
    none = Plan(points, "", "web", Bounds(max_write_p99_us=500))
    assert none.answer() == (
        "none of these drives lasts 5 years, serves 99 % of the workload and writes 99 of 100 pages within 500 us: "
        "of those that do the former, 256 GiB without throttling is the fastest with 600 us (--max-write-p99)"
    )


def ranged(
    one: Point, low: float, high: float | None, sources: tuple[str, ...] = ("waf", "days"), serves: float = 1.0
) -> Point:
    """The same with an interval, and with the least that may be served."""
    result = copy.deepcopy(one.result or {})
    result["lifetime"] |= {"years_range": [low, high], "years_range_from": list(sources)}
    result["throttle"] |= {"demand_share": 1.0, "demand_share_range": [serves, 1.0]}
    return Point(one.capacity, None, one.throttle, result)


def test_a_plan_says_where_lives_lie_and_which_drive_lasts_surely() -> None:
    points = [
        ranged(point(128, "none", 600, years=5.2), 4.4, 6.4),
        # Its throttle guarantees the target, and more demand makes it serve less.
        ranged(point(128, "dynamic", 700, years=5.2), 5.0, 6.4, serves=0.89),
        ranged(point(256, "none", 600, years=10.4), 8.8, None),
    ]
    plan = Plan(points, "", "web")
    assert plan.answer() == (
        "the smallest drive that lasts 5 years is 128 GiB without throttling: life 5.2 years within 4.4-6.4 years "
        "until the flash is worn out, 100 % served, WAF 2.24, mean write 600 us, p99 600 us; not known: rating (the "
        "drive has none), p99 of reads (no reads), price (none given); a WAF of 2.24 is given, not measured; the flash "
        "meets the target up to a WAF of 2.3; the target is met, but the interval "
        "reaches below: 256 GiB without throttling does it with the whole interval"
    )
    header, rows = plan.rows()
    cells = [dict(zip(header, row, strict=True)) for row in rows]
    assert [row["interval"] for row in cells] == ["4.4-6.4 years", "5.0-6.4 years", "8.8 years to unlimited"]
    assert [row["target"] for row in cells] == ["met, interval below", "met", "met"]
    assert [row["served"] for row in cells] == ["100 %", "100 % (89-100 %)", "100 %"]
    assert plan.text().splitlines()[-1] == (
        "intervals (95 %) include the error of write amplification and day-to-day variation of the trace; they ignore "
        "the spread of block endurance (lifetime.forecast.cycles_spread)"
    )
    document = plan.to_dict()["points"]
    assert [one["reaches_below"] for one in document] == [True, False, False]
    assert (document[0]["interval"], document[0]["interval_from"]) == ([4.4, 6.4], ["waf", "days"])
    page = plan.report()
    assert "Intervals (95 %) include" in page
    assert "met, interval below" in page


def test_a_share_that_may_be_too_little_is_said_so() -> None:
    alone = Plan([ranged(point(128, "dynamic", 700, years=5.2), 5.0, 6.4, serves=0.89)], "", "web")
    assert alone.answer().endswith(
        "; 99 % of the workload is served, but the interval reaches below, as for all of these drives"
    )


def test_an_interval_begins_with_the_first_block_where_wear_is_uneven() -> None:
    one = ranged(point(128, "none", 600, years=6.0), 5.4, 7.0)
    assert one.result is not None
    one.result["lifetime"] |= {"years_first_block": 2.0, "years_first_block_range": [1.5, 3.0]}
    interval = one.life_range
    assert interval is not None
    assert interval.low == pytest.approx(1.35)
    assert interval.high == 7.0
    assert interval.sources == ("waf", "days", "wear")
    # The first block misses the target of 5 years, whatever the average one does.
    assert (one.holds, one.reaches_below, one.verdict, one.years) == (False, False, "missed", 2.0)
    one.result["lifetime"] |= {"years": 12.0, "years_first_block": 5.5, "years_first_block_range": [1.5, 5.8]}
    assert (one.holds, one.reaches_below) == (True, True)


def test_an_interval_says_what_it_does_not_know() -> None:
    short = life(lifetime={"years_range": [4.9, 5.1], "years_range_from": ["waf"]}, workload={"kind": "trace"})
    line = dict(summary.lines(short))["interval"]
    assert line == (
        "4.9-5.1 years, which reaches below the target; the interval (95 %) includes the error of write "
        "amplification; it ignores day-to-day variation (the trace is shorter than four hours) and the spread of block "
        "endurance (lifetime.forecast.cycles_spread)"
    )
    assert dict(summary.lines(life()))["interval"] == "not known: write amplification is given"
    assert life_range.between("300 days", "1.2 years") == "300 days to 1.2 years"
    assert life_range.between("5.0 years", "5.0 years") == "5.0 years"


def test_a_plan_that_was_broken_off_says_so() -> None:
    plan = Plan([point(64, "none", 600, years=6.0)], "", "web", untried=["128 GiB", "256 GiB"])
    assert plan.answer().startswith(
        "incomplete, 1 of 3 drives tried, and a smaller one may be left: the smallest drive that lasts 5 years is 64 "
    )
    document = plan.to_dict()
    assert (document["complete"], document["untried"]) == (False, ["128 GiB", "256 GiB"])
    assert Plan([], "", "web").to_dict()["complete"] is True


def test_a_plan_in_which_nothing_lasts_says_so() -> None:
    plan = Plan([point(64, "none", 600, years=1.0)], "", "web")
    # 64 GiB last a year; five years take five times as much.
    assert plan.answer() == (
        "none of these drives lasts 5 years; it would take about 320 GiB, extrapolated from 64 GiB; of these, 64 GiB "
        "lasts longest: life 1.0 years until the flash is worn out, WAF 2.24, mean write 600 us, p99 600 us"
    )
    assert plan.best == []


def test_a_smaller_spare_is_cheaper_and_a_hundredth_is_no_reason_for_a_larger_drive() -> None:
    points = [
        point(64, "static", 1000, years=6, spare=0.28),
        point(64, "static", 1000, years=6, spare=0.07),
        point(128, "static", 991, years=6, spare=0.07),
    ]
    assert [(one.physical_bytes, one.spare) for one in choices(points)] == [(64 * GIB, 0.07)]
    assert "64 GiB with 7.0 % spare under static" in Plan(points, "", "web").answer()


def test_of_equal_means_the_steadier_is_taken() -> None:
    points = [
        point(64, "static", 1000, years=6, p999_us=50_000),
        point(64, "ready-optimistic", 1009, years=5, p999_us=1100),
    ]
    assert [one.throttle for one in choices(points)] == ["ready-optimistic"]
    assert "without throttling" not in Plan(points, "", "web").answer()


@pytest.mark.parametrize("count", [0, 1, 399, 400, 401, 5000])
def test_thinned_points_keep_both_ends(count: int) -> None:
    points = list(range(count))
    kept = thin(points)
    assert len(kept) == min(count, 400)
    assert kept == sorted(set(kept))
    assert not points or (kept[0], kept[-1]) == (0, count - 1)


def test_latencies_that_are_not_known_say_why() -> None:
    result = life(close_up={"unknown": "write amplification is given", "busiest": None, "typical": None})
    result["latency_us"]["write"] = None
    by_name = dict(line.split(None, 1) for line in summary.text(result).splitlines())
    assert by_name["latency"] == "not known: write amplification is given"
    assert "p99 of writes" not in by_name["life"]


def test_a_write_that_is_held_back_for_long_is_told() -> None:
    held = {"throttle": {"policy": "dynamic", "delay_us": {"max": 86_400e6}}}
    assert [text for text in lines.remarks(held) if "max_delay_s bounds" in text]
    short = {"throttle": {"policy": "dynamic", "delay_us": {"max": 1e6}}}
    assert lines.remarks(short) == []
    bounded = {"throttle": {"policy": "dynamic", "max_delay_s": 10.0, "epochs_at_max_delay": 3, "epochs": 50}}
    assert [text for text in lines.remarks(bounded) if "reached their bound of 10" in text]


def rated(gib: int, years: float, rated_years: float, judge: str = "both") -> Point:
    """A drive whose rated bytes are written after so many years."""
    one = point(gib, "none", 600, years=years)
    held = {**(one.result or {}), "rated_years": rated_years}
    held["lifetime"] = {**held["lifetime"], "holds": years >= 5}
    return replace(one, result=held, judge=judge)


def test_a_plan_judges_by_the_rating_too() -> None:
    """Of a target of 5 years."""
    small = rated(64, 6.0, 3.0)
    assert (small.flash_holds, small.rating_holds, small.holds) == (True, False, False)
    assert (small.years, small.verdict, Bounds().cut_by(small)) == (3.0, "missed", "rating")
    by_flash = rated(64, 6.0, 3.0, "flash")
    assert (by_flash.holds, by_flash.years, Bounds(judge="flash").cut_by(by_flash)) == (True, 6.0, None)
    by_rating = rated(64, 2.0, 6.0, "rating")
    assert (by_rating.holds, by_rating.verdict, by_rating.years) == (True, "met", 6.0)
    worn = rated(64, 2.0, 6.0)
    assert (worn.holds, worn.verdict, Bounds().cut_by(worn)) == (False, "missed", "life")


def test_a_plan_says_that_only_the_rating_is_missed() -> None:
    made = Plan([rated(64, 6.0, 3.0), rated(128, 9.0, 4.0)], "", "x")
    assert made.answer() == (
        "none of these drives lasts 5 years: the flash of 128 GiB would (--judge flash), but its rated bytes are "
        "written after 4.0 years; it would take about 160 GiB, extrapolated from 128 GiB; of these, 128 GiB "
        "lasts longest: life 4.0 years until the rated bytes are written, WAF 2.24, mean write 600 us, p99 600 us"
    )
    header, rows = made.rows()
    assert [row[header.index("rating")] for row in rows] == ["3.0 years", "4.0 years"]
    document = made.to_dict()
    assert (document["judge"], [one["cut_by"] for one in document["points"]]) == ("both", ["rating", "rating"])
    assert Plan.of(document, "").to_dict() == document
    # A plan of an older version knows no rating, and was judged by the flash.
    old = {key: value for key, value in document.items() if key != "judge"}
    assert Plan.of(old, "").bounds.judge == "flash"


@pytest.mark.parametrize(
    ("shares", "laps"),
    [
        ((0.9, 0.8, 0.7, 0.694, 0.688), "115"),
        ((0.5, 0.5, 0.5, 0.5, 0.5), None),
        ((0.9, 0.5, 0.2, 0.1, 0.03), None),
        ((0.6,), None),
    ],
)
def test_data_at_rest_that_are_still_moved_are_named(shares: tuple[float, ...], laps: str | None) -> None:
    remarks = lines.remarks(life(method={"never_erased_by_lap": list(shares)}))
    matching = [text for text in remarks if "not erased in the laps" in text]
    assert bool(matching) == (laps is not None)
    assert laps is None or f"in some {laps} laps" in matching[0]


def test_laps_that_reads_ended_are_named() -> None:
    def named(method: dict[str, Any]) -> bool:
        return any("limit of requests" in text for text in lines.remarks(life(method=method)))

    assert named({"cut_short": True})
    assert not named({"cut_short": False})
    assert not named({})


@pytest.mark.parametrize(("low", "high", "within"), [(5.14, 5.14, ""), (5.1, 5.4, " within 5.1-5.4 years (WAF alone)")])
def test_a_plan_repeats_no_interval_that_reads_like_its_life(low: float, high: float, within: str) -> None:
    one = ranged(point(256, "none", 600, years=5.14), low, high, ("waf",))
    assert f"is 256 GiB: life 5.1 years{within} until" in Plan([one], "", "web").answer()
