"""Drives that cannot do what the host requests: the texts about their lives, and their place in a plan."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from floatgate.report import lifetime_summary as summary
from floatgate.report.sections.forecast import cards, load
from floatgate.run.lifetime import Lifetime
from floatgate.study.kinds.lifetime import KIND as LIFETIMES
from floatgate.study.plan import Plan
from floatgate.study.plan_point import Bounds, Point
from test_lifetime_text import life, point

MUCH = {"offered_bytes_per_s": 2e8, "possible_bytes_per_s": 4.5e7, "overloaded": True}
PLAIN: dict[str, Any] = {"policy": "none", "delay_us": None, "demand_share": 1.0, "prediction": None, "waits": 0}
RATED = {"rated": {"tbw_bytes": 100e12, "visible_tbw_bytes": 100e12}}


def beyond(*parts: str, **changes: dict[str, Any]) -> dict[str, Any]:
    """A forecast without a throttle whose parts ask for more than the drive can do."""
    result = life(**({"throttle": PLAIN, "drive": RATED} | changes)) | {"waf_bytes": 2.24}
    for part in parts:
        result["close_up"][part] |= MUCH
    return result


def overview(result: dict[str, Any]) -> dict[str, str]:
    """The lines of a summary by name; of several with one name the last."""
    return dict(summary.lines(result))


def test_a_life_that_the_drive_cannot_live_is_no_forecast() -> None:
    result = beyond("busiest", "typical")
    assert summary.text(result).splitlines()[:2] == [
        (
            "load       more than this drive can do: 200 MB/s requested, 45 MB/s possible, in the busiest 32 s of the "
            "workload; also in a typical 32 s"
        ),
        (
            "life       not known: the host requests more than this drive can do; if the drive could write that "
            "fast: 347 days until the rated bytes are written (5.0 years for the flash) without throttling"
        ),
    ]
    lines = overview(result)
    assert lines["interval"] == "not known, as the life is not known"
    assert lines["rating"].startswith("if the drive could write that fast: ")
    assert lines["writes"].endswith("2.3 drive writes per day requested")
    assert lines["note"] == "floatgate plan finds a drive that keeps up with the load and meets the target"
    assert "served" not in lines
    assert "the target" not in lines["life"]
    assert "p99" not in lines["life"]
    # The figures of the core are left as they are.
    assert Lifetime(result, "", "x").lifetime.years == 5.02


def test_the_page_of_such_a_drive_says_the_same() -> None:
    result = beyond("busiest", "typical")
    assert summary.headline(result) == (
        "The host requests more than this drive can do, so its life is not known. If the drive could write that fast: "
        "the rated bytes are written first, after 347 days; the average block wears out after 5.0 years."
    )
    shown = cards.cards(result)
    assert [card[:2] for card in shown[:3]] == [
        ("load", "too high"),
        ("life", "not known"),
        ("rating used up", "347 days"),
    ]
    assert all(card[2].endswith("if the drive could write that fast") for card in shown[1:3])
    page = unescape(re.sub(r"<[^>]+>", " ", Lifetime(result, "seed = 1\n", "x").report()))
    assert page.count("Under the full demand of the host: the host requests more than this drive can do.") == 2


def test_a_burst_that_the_drive_cannot_follow_is_a_note() -> None:
    result = beyond("busiest")
    assert not load.overloaded(result)
    lines = overview(result)
    assert lines["life"].startswith("347 days until the rated bytes are written (5.0 years for the flash) without thr")
    assert lines["note"] == (
        "more than this drive can do: 200 MB/s requested, 45 MB/s possible, in the busiest 32 s of the workload; but "
        "not in a typical 32 s; requests queue until the drive catches up"
    )
    assert "load" not in lines


@pytest.mark.parametrize(
    ("share", "over"),
    [
        (1.0, True),  # the throttle holds nothing back
        (0.23, True),  # 46 of 45 MB/s
        (0.22, False),
    ],
)
def test_a_throttle_helps_as_far_as_it_lowers_the_demand(share: float, over: bool) -> None:
    result = beyond("busiest", "typical", throttle={"demand_share": share, "demand_share_range": None})
    assert load.overloaded(result) is over
    assert overview(result)["life"].startswith(
        "not known: the host requests" if over else "347 days until the rated bytes are written"
    )
    if not over:
        assert overview(result)["note"].endswith("; what the throttle lets through is less")
    one = Point("128 GiB", None, "ready-optimistic", result, judge="flash")
    assert Bounds(min_served=0.1, judge="flash").cut_by(one) == ("load" if over else None)
    # A plan that is read back says the same.
    kept = Plan.of(Plan([one], "", "x", Bounds(min_served=0.1, judge="flash")).to_dict(), "").points[0]
    assert kept.overloaded is over


def overloaded(gib: int, years: float) -> Point:
    """A drive of a plan that cannot do what the host requests."""
    one = point(gib, "none", 600, years=years)
    assert one.result is not None
    one.result["close_up"]["typical"] |= MUCH
    one.result["throttle"] |= PLAIN
    return one


def test_a_plan_gives_no_life_of_an_overloaded_drive() -> None:
    plan = Plan([overloaded(64, 6.0), point(128, "none", 600, years=9.0)], "seed = 1\n", "x")
    header, rows = plan.rows()
    cells = dict(zip(header, rows[0], strict=True))
    assert [cells[name] for name in ("life", "ends by", "target", "served")] == ["not known", "-", "load too high", "-"]
    assert "load too high: the host requests more than the drive can do, so its life is not known" in plan.text()
    first = plan.to_dict()["points"][0]
    assert (first["cut_by"], first["pareto"], first["life_years"], first["ends"]) == ("load", False, None, None)
    assert (first["useful_tb"], first["interval"]) == (None, None)
    assert first["lifetime"]["years"] == 6.0
    assert plan.points[0].line() == "64 GiB without throttling: the host requests more than this drive can do"
    assert Plan.of(plan.to_dict(), "").rows() == plan.rows()
    assert (
        "Not drawn, as their lives are not known: 64 GiB."
        in Plan([*plan.points, point(256, "none", 600, years=9.5)], "", "x").report()
    )


def test_a_plan_says_that_the_load_rules_drives_out() -> None:
    assert Plan([overloaded(64, 6.0), overloaded(128, 1.0)], "", "x").answer() == (
        "none of these drives can do what the host requests; use a drive with more dies, or a throttle"
    )
    assert Plan([overloaded(64, 6.0), point(32, "none", 600, years=3.0)], "", "x").answers()[0] == (
        "none of these drives lasts 5 years and keeps up with the load: 64 GiB would last, but the host requests more "
        "than they can do; use a drive with more dies, or a throttle"
    )
    # The life of the other one is too short, whatever the load.
    assert (
        "it would take about 53.3 GiB"
        in Plan([overloaded(16, 1.0), point(32, "none", 600, years=3.0)], "", "x").answer()
    )


def test_a_trace_that_was_looked_at_as_a_whole_is_named_so() -> None:
    result = beyond("busiest")
    result["close_up"]["typical"] = None
    assert overview(result)["load"].endswith("45 MB/s possible, over the 32 s of the workload")


@pytest.mark.parametrize(
    ("parts", "drive", "first_block", "message"),
    [
        ((), {"rated": None}, None, "5.0 years"),
        # Wear is uneven: the first block ends the life.
        ((), {"rated": None}, 2.0, "2.0 years"),
        # The rated bytes are written before the flash is worn out.
        ((), RATED, None, "347 days"),
        (("busiest", "typical"), RATED, None, "not known"),
        ((), RATED, 2.0, "347 days"),
    ],
)
def test_a_list_of_folders_has_the_life_that_counts(
    tmp_path: Path, parts: tuple[str, ...], drive: dict[str, Any], first_block: float | None, message: str
) -> None:
    result = beyond(*parts, drive=drive, lifetime={"years_first_block": first_block})
    assert LIFETIMES.overview(tmp_path, result).life == message
