"""Figures of forecast lives: as many digits as the target needs; what ends first leads."""

from __future__ import annotations

from typing import Any

import pytest

from floatgate.base import units
from floatgate.report import lifetime_summary as summary
from floatgate.report.sections import rating
from floatgate.report.sections.forecast import cards, ends, entry, host_writes, life_range, lines, written_part
from floatgate.run.lifetime import Lifetime
from floatgate.study.plan import Plan
from floatgate.study.plan_point import Point
from test_lifetime_text import life, point


@pytest.mark.parametrize(
    ("years", "target", "message"),
    [
        (4.96, 5.0, "4.96 years"),
        (4.9949, 5.0, "4.99 years"),
        (4.94, 5.0, "4.9 years"),
        (5.0, 5.0, "5.0 years"),
        (5.04, 5.0, "5.0 years"),
        (1.4984, 1.5, "1.498 years"),
        (4.96, None, "5.0 years"),
        (0.02, 0.0201, "7.3 days"),
        (99.0, 99.04, "99.00 years"),
        (4.99996, 5.0, "5.0 years"),
        (134.0, 5.0, "134 years"),
        (None, 5.0, "unlimited"),
    ],
)
def test_a_life_that_misses_its_target_does_not_read_like_it(
    years: float | None, target: float | None, message: str
) -> None:
    assert units.life(years, target) == message


def missing() -> dict[str, Any]:
    """A life of 4.96 years of 5."""
    plain = {"policy": "none", "delay_us": None, "demand_share": 1.0, "prediction": None, "waits": 0}
    lives = {"years": 4.96, "holds": False, "years_range": [4.955, 4.97], "years_range_from": ["waf"]}
    return life(lifetime=lives, throttle=plain)


def test_summary_page_and_plan_tell_the_same_digits() -> None:
    result = missing()
    lines = dict(summary.lines(result))
    assert lines["life"].startswith("4.96 years without throttling: the target of 5 years is missed")
    assert lines["interval"].startswith("4.96-4.97 years;")
    assert cards.cards(result)[0][:2] == ("life", "4.96 years")
    assert summary.headline(result).startswith("The average block wears out, after 4.96 years.")
    page = Lifetime(result, "", "x").report()
    assert "worn out after 4.96 years" in page
    assert "5.0 years" not in page
    one = point(64, "none", 600, years=4.96)
    plan = Plan([one], "", "x")
    header, [row] = plan.rows()
    assert row[header.index("life")] == "4.96 years"
    assert "life 4.96 years until the flash is worn out" in plan.answer()


def test_a_rating_that_is_used_up_just_before_the_target_says_so() -> None:
    result = missing() | {"waf_bytes": 2.24}
    a_year = rating.bytes_per_year(result)
    assert a_year is not None
    result["drive"]["rated"] = {"visible_tbw_bytes": 4.97 * a_year, "tbw_bytes": 4.97 * a_year}
    assert " are written after 4.97 years, " in dict(summary.lines(result))["rating"]
    assert ("rating used up", "4.97 years") in [card[:2] for card in cards.cards(result)]


@pytest.mark.parametrize(
    ("flash_years", "message"),
    [
        (150.0, "600 TBW are written after more than 1000 years, after the flash is worn out"),
        (None, "600 TBW are written after more than 1000 years"),
    ],
)
def test_a_rating_beyond_a_century_has_its_figure(flash_years: float | None, message: str) -> None:
    rated = {"visible_tbw_bytes": 600e12, "tbw_bytes": 600e12}
    slow = {"drive": {"logical_bytes": 1e12, "rated": rated}, "lifetime": {"dwpd": 0.001}}
    assert rating.line(slow, flash_years) == message
    assert rating.cell(slow) == "more than 1000 years"


def test_the_end_that_comes_first_leads_everywhere_beyond_a_century_too() -> None:
    # The host writes 105 TB per year: the rating ends after 128 years, the flash after 373.
    rated = {"visible_tbw_bytes": 128 * 105.27e12, "tbw_bytes": 128 * 105.27e12}
    result = life(drive={"rated": rated}, lifetime={"years": 373.0}) | {"waf_bytes": 2.24}
    assert lines.at_full_demand(result).startswith(
        "128 years until the rated bytes are written (373 years for the flash)"
    )
    assert str(ends.what_ends_first(result)).startswith("The rated bytes are written first, after 128 years; ")
    assert cards.cards(result)[0][:2] == ("life", "128 years")
    assert str(rating.line(result, 373.0)).endswith(" are written after 128 years, before the flash is worn out")
    planned = Point("64 GiB", None, "none", result)
    assert (planned.life_text, planned.ends, units.life(entry.earliest(result)[1])) == (
        "128 years",
        "rating",
        "128 years",
    )


def test_drive_writes_per_day_are_those_before_demand_grows() -> None:
    grown = missing() | {"waf_bytes": 2.24}
    grown["lifetime"]["growth_per_year"] = 0.2
    line = host_writes.line(grown)
    assert line is not None
    assert line.endswith(" drive writes per day at the start")
    assert "at the start" in {card[0]: card[2] for card in host_writes.cards(grown)}["DWPD"]
    plain = host_writes.line(missing() | {"waf_bytes": 2.24})
    assert plain is not None
    assert "at the start" not in plain
    one = point(64, "none", 600, years=4.96)
    assert one.result is not None
    one.result["lifetime"]["growth_per_year"] = 0.2
    assert "demand growing 20 % a year; latencies are those of the demand at the start" in Plan([one], "", "x").text()


def test_several_intervals_are_told_in_the_plural() -> None:
    one = life_range.basis([missing()])
    assert one is not None
    assert one.startswith("the interval (95 %) includes the error of write amplification; it ignores ")
    several = life_range.basis([missing(), missing()])
    assert several is not None
    assert several.startswith("intervals (95 %) include the error of write amplification; they ignore ")


UNTHROTTLED = {"policy": "none", "delay_us": None}


def measured(written_bytes: float, **changed: Any) -> dict[str, Any]:
    """A forecast of a trace without a throttle that writes so many bytes of the drive, each at least once."""
    made = life(method={"waf_given": False}, throttle=UNTHROTTLED, workload={"kind": "trace"}, **changed)
    made["pass"] |= {"written_distinct_bytes": written_bytes, "span_s": 1e7}
    return made


def test_a_trace_that_writes_little_of_the_drive_says_up_to_which_waf_it_holds() -> None:
    narrow = measured(1.2 * 2**30, lifetime={"years": 10.0})
    text = (
        "the trace rewrites 1.20 GiB, 1 % of the drive; the rest is data at rest: WAF is higher if writes reach more "
        "of the drive; the flash meets the target up to a WAF of 4.5"
    )
    assert lines.doubts(narrow) == [text]
    assert ("basis", text) in summary.lines(narrow)
    wide = measured(written_part.SMALL * narrow["drive"]["logical_bytes"])
    assert lines.doubts(wide) == []
    # A drive that misses the target, or whose throttle reaches it at any write amplification, has no such limit.
    missed = measured(1.2 * 2**30, lifetime={"years": 4.0, "holds": False})
    assert written_part.up_to_waf(missed) is None
    assert lines.doubts(missed)[0].endswith("WAF is higher if writes reach more of the drive")
    assert written_part.up_to_waf(life(throttle={"policy": "static"})) is None
    # The rating alone is over before the target.
    rated = life(throttle=UNTHROTTLED, lifetime={"years": 10.0}, drive={"rated": {"visible_tbw_bytes": 1e12}})
    rated["waf_bytes"] = 2.24
    assert written_part.up_to_waf(rated) is None
    assert written_part.up_to_waf(rated, "flash") == pytest.approx(2.24 * 2)


def test_a_rate_far_from_the_recorded_one_is_said_of_latencies() -> None:
    def doubts(factor: float) -> list[str]:
        made = measured(100 * 2**30)
        made["config"]["lifetime"] = {"forecast": {"demand": factor}}
        return lines.doubts(made)

    assert doubts(81.8) == ["latencies are those at 81.8 times the recorded rate (--demand)"]
    assert doubts(9.9) == doubts(0.11) == doubts(1.0) == []
    assert doubts(0.1) == ["latencies are those at 0.100 times the recorded rate (--demand)"]


def test_an_interval_beyond_all_figures_reads_as_one() -> None:
    made = life(lifetime={"years": 1e5, "years_range": [5e4, 2e5], "years_range_from": ["days"]})
    assert (lines.interval(made) or "").startswith("more than 1000 years; the interval (95 %) includes ")


def test_writes_of_parts_of_pages_say_what_whole_pages_make_of_them() -> None:
    made = measured(100 * 2**30)
    made["pass"] |= {"page_writes": 24_312, "span_s": 184.0, "passes": None}
    made["workload"]["write_bytes"] = 46_531_584
    text = lines.workload(made) or ""
    assert text.endswith(": 46.5 MB, in whole pages of 4 KiB 99.6 MB (2.1 times), per pass of 184 s")
    made["workload"]["write_bytes"] = 24_312 * 4096
    assert (lines.workload(made) or "").endswith(": 99.6 MB in page writes per pass of 184 s")
