"""Latencies of forecasts are shown with their intervals."""

from __future__ import annotations

from typing import Any

from floatgate.report import lifetime_summary as summary
from floatgate.report.sections.forecast import entry, latency
from floatgate.study.plan import Plan
from test_lifetime_text import life, point

WIDE = {"mean": [600.0, 680.0], "p50": [600.0, 600.0], "p99": [700.0, 1200.0], "p999": [500.0, 9000.0]}


def with_intervals() -> dict[str, Any]:
    """Return a forecast whose p99 and p99.9 are uncertain."""
    result = life()
    result["close_up"]["busiest"]["latency_95_us"] = {"read": None, "write": WIDE}
    return result


def test_an_interval_is_shown_where_it_is_wide() -> None:
    assert latency.with_interval(1000.0, None) == "1.0 ms"
    assert latency.with_interval(1000.0, [901.0, 1099.0]) == "1.0 ms"
    assert latency.with_interval(1000.0, [899.0, 1090.0]) == "1.0 ms (899 us-1.1 ms)"
    assert latency.with_interval(2000.0, [1500.0, 2500.0]) == "2.0 ms (1.5-2.5 ms)"
    assert latency.with_interval(1000.0, [950.0, 1500.0]) == "1.0 ms (950 us-1.5 ms)"


def test_summary_and_plan_show_the_interval() -> None:
    lines = dict(summary.lines(with_intervals()))
    assert "p99 of writes 900 us (700 us-1.2 ms) in the busiest 32 s of the workload" in lines["life"]
    text = next(text for name, text in summary.lines(with_intervals()) if name == "latency")
    assert text.startswith("writes: mean 640 us, p50 600 us, p99 900 us (700 us-1.2 ms), p99.9 1.1 ms (500 us-9.0 ms)")
    one = point(64, "none", 900, years=6.0)
    assert one.result is not None
    one.result["close_up"]["busiest"]["latency_95_us"] = {"read": None, "write": {**WIDE, "p99": [500.0, 2000.0]}}
    plan = Plan([one], "", "x")
    assert ", p99 900 us (500 us-2.0 ms)" in plan.answer()
    # A plan that is read back says the same.
    assert Plan.of(plan.to_dict(), "").answer() == plan.answer()
    assert entry.kept(one.result)["latency_95_us"]["write"]["p99"] == [500.0, 2000.0]
