"""A throttle that delays few page writes for long: the texts name what its quantiles hide."""

from __future__ import annotations

from typing import Any

import pytest

from floatgate.report import lifetime_summary as summary
from floatgate.report.sections.forecast import cards, latency
from floatgate.study.plan import Plan
from floatgate.study.plan_point import Point
from test_lifetime_text import life

RARE: dict[str, Any] = {
    "policy": "static",
    "delay_us": {"mean": 821.0, "p50": 0.0, "p99": 0.0, "p999": 307_757.0, "max": 981_897.0},
    "delay_us_mean": 0.0,
    "wait_us_mean": 821.0,
    "held_share": 0.001527,
    "waits": 148_438_687,
    "demand_share": 0.49,
    "demand_share_range": None,
    "epochs": None,
    "epoch_s": None,
}
"""As static throttles one of the traces to a life of five years."""
BY = "0.2 % of page writes, by 538 ms on average, at most 982 ms"


def test_the_answer_says_how_many_page_writes_wait_and_for_how_long() -> None:
    result = life(throttle=RARE)
    lines = dict(summary.lines(result))
    assert lines["life"].endswith(f"; the throttle delays {BY}")
    assert lines["throttle"] == (
        "49 % of the host's demand written in the target time, 0.2 % of page writes delayed by 538 ms on average, at "
        "most 982 ms, mean delay 821 us over all page writes (p50 0 us, p99 0 us, p99.9 308 ms, max 982 ms), 148 M "
        "page writes waited for the throttle's budget (no other delay)"
    )
    assert ("page writes delayed", "0.2 %", "by 538 ms on average, at most 982 ms") in cards.cards(result)


def test_a_plan_has_it_beside_the_quantile() -> None:
    plan = Plan([Point("128 GiB", None, "static", life(throttle=RARE))], "", "x")
    header, [row] = plan.rows()
    assert row[header.index("delay p99")] == "0 us (0.2 % by 538 ms)"
    assert "delay p99, in brackets: the share of page writes delayed, and by how much on average" in plan.text()
    assert Plan.of(plan.to_dict(), "").rows() == plan.rows()
    assert plan.arrow().to_pylist()[0]["throttle.held_share"] == 0.001527


@pytest.mark.parametrize(
    ("changes", "rare"),
    [
        ({"mean": 0.0}, False),  # no delay at all
        ({"mean": 99.0, "p99": 100.0}, False),
        ({"mean": 100.0, "p99": 100.0}, False),  # all are alike
        ({"mean": 101.0, "p99": 100.0}, True),
    ],
)
def test_delays_are_rare_where_their_mean_is_above_the_quantile(changes: dict[str, float], rare: bool) -> None:
    result = life(throttle=RARE | {"delay_us": RARE["delay_us"] | changes})
    assert (latency.rare(result) is not None) is rare
    assert latency.rare(life(throttle={"policy": "none", "delay_us": None})) is None


@pytest.mark.parametrize(
    ("waited_us", "message"),
    [
        (0.0, "12 page writes waited for the throttle's budget, "),
        (350.0, "12 page writes waited for the throttle's budget (mean wait 350 us over all), "),
        (700.0, "12 page writes waited for the throttle's budget (no other delay), "),
    ],
)
def test_waits_are_not_told_twice(waited_us: float, message: str) -> None:
    lines = dict(summary.lines(life(throttle={"wait_us_mean": waited_us})))
    assert message in lines["throttle"]
