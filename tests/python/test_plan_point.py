"""One drive of a plan, at the limits of the bounds."""

from __future__ import annotations

import math
from typing import Any

import pytest

from floatgate.report.sections.forecast.life_range import SLACK
from floatgate.study.plan_point import WORTH, Bounds, Point, Price, choices, front


def point(served: float | None = 1.0, low: float | None = None, years: float = 6.0, **figures: Any) -> Point:
    """A drive that lasts, and serves a share of its workload."""
    ends = None if low is None or served is None else [low, 1.0]
    result = {
        "drive": {"physical_bytes": figures.pop("size", 64 << 20), "spare_factor": 0.1},
        "lifetime": {
            "years": years,
            "holds": years >= 5.0,
            "target_years": 5.0,
            "years_range": figures.pop("range", None),
            "years_range_from": ["waf"],
        },
        "throttle": {"demand_share": served, "demand_share_range": ends},
        "latency_us": {"write": {"mean": figures.pop("mean", 100.0), "p99": figures.pop("p99", 200.0), "p999": 300.0}},
    }
    assert not figures
    return Point("64 MiB", None, "none", result)


LEAST = 0.99
BELOW, ABOVE = math.nextafter(LEAST, 0.0), math.nextafter(LEAST, 1.0)


@pytest.mark.parametrize(
    ("served", "low", "expected"),
    [
        (LEAST, BELOW, True),  # serves just enough, and at the lower end just too little
        (LEAST, LEAST, False),  # at the lower end just enough too
        (ABOVE, LEAST, False),
        (BELOW, BELOW, False),  # too little in the middle already
        (ABOVE, ABOVE, False),
        (1.0, None, False),  # no interval
        (None, None, False),  # no throttle
    ],
)
def test_a_share_of_just_the_least_is_enough_at_both_ends(
    served: float | None, low: float | None, expected: bool
) -> None:
    assert point(served, low).serves_below(LEAST) is expected


@pytest.mark.parametrize(
    ("one", "bounds", "cut_by"),
    [
        (point(LEAST), Bounds(LEAST), None),
        (point(BELOW), Bounds(LEAST), "served"),
        (point(None), Bounds(LEAST), None),
        (point(p99=200.0), Bounds(max_write_p99_us=200.0), None),
        (point(p99=math.nextafter(200.0, 300.0)), Bounds(max_write_p99_us=200.0), "p99"),
        (point(years=math.nextafter(5.0, 0.0)), Bounds(), "life"),
        (point(years=5.0), Bounds(), None),
    ],
)
def test_a_drive_at_a_bound_may_be_taken(one: Point, bounds: Bounds, cut_by: str | None) -> None:
    assert bounds.cut_by(one) == cut_by


def test_an_interval_that_ends_at_the_target_does_not_reach_below() -> None:
    edge = 5.0 * (1 - SLACK)
    assert not point(years=6.0, range=[edge, 7.0]).reaches_below
    assert point(years=6.0, range=[math.nextafter(edge, 0.0), 7.0]).reaches_below
    # A drive that misses its target in the middle misses it.
    assert not point(years=4.9, range=[4.0, 7.0]).reaches_below


def test_a_larger_drive_must_be_faster_by_more_than_a_hundredth() -> None:
    small, just, faster = point(size=1 << 20), 100.0 * WORTH, math.nextafter(100.0 * WORTH, 0.0)
    assert choices([small, point(size=2 << 20, mean=just)]) == [small]
    larger = point(size=2 << 20, mean=faster)
    assert choices([larger, small]) == [small, larger]


def test_at_one_price_the_drive_that_lives_longest_is_taken_and_then_the_fastest() -> None:
    short, long = point(size=1 << 20, years=5.6, mean=80.0), point(size=2 << 20, years=9.4)
    prices = tuple(Price(name, 120.0, int(one.physical_bytes)) for name, one in (("short", short), ("long", long)))
    named = [Point("", None, "none", one.result, drive=name) for name, one in (("short", short), ("long", long))]
    bounds = Bounds(prices=prices)
    assert choices(named, bounds) == [named[1]]
    assert front(named, bounds) == [named[1]]
    # Lives that a page shows alike leave the choice to what writes take.
    alike = [point(years=9.4, mean=mean) for mean in (100.0, 50.0)]
    other = Point("64 MiB", "0.2", "none", alike[1].result)
    assert choices([alike[0], other]) == [other]
    # At a higher price a faster drive may follow, the longest-lived of those.
    dearer = [point(size=4 << 20, years=years, mean=mean) for years, mean in ((6.0, 40.0), (7.0, 60.0))]
    fast = [Point("", None, "none", one.result, drive=name) for name, one in zip("ab", dearer, strict=True)]
    more = Bounds(prices=(*prices, Price("a", 200.0, 4 << 20), Price("b", 200.0, 4 << 20)))
    assert choices([*named, *fast], more) == [named[1], fast[1]]
