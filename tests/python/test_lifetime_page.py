"""The page of a forecast life: what a buyer looks for."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from floatgate.report import lifetime_summary as summary
from floatgate.report.sections.forecast import evidence, host_writes, lines
from floatgate.run.lifetime import Lifetime
from test_lifetime_text import LIFE
from test_lifetime_text import life as made

TRACE = {"workload": {"kind": "trace", "format": "parquet"}}
MEASURED = {
    "method": {
        "waf_given": False,
        "laps": 5,
        "passes": 49,
        "waf_by_lap": [2.0, 2.2, 2.2, 2.24, 2.24],
        "waf_error": 0.004,
        "stationary": True,
    },
}


def life(**changes: dict[str, Any]) -> dict[str, Any]:
    """:data:`LIFE` with changes, and with write amplification in bytes: the rate of the host is known."""
    return made(**changes) | {"waf_bytes": LIFE["waf"]}


def page_of(result: dict[str, Any]) -> str:
    """The words of the page."""
    page = Lifetime(result, "seed = 1\n", "exchange").report("floatgate lifetime x")
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))


def test_the_page_begins_with_what_ends_first() -> None:
    page = page_of(life(lifetime={"years_first_block": 2.0, "holds": False}, throttle={"demand_share": 0.64}))
    first = "The first block wears out first, after 2.0 years; the average block wears out after 5.0 years. "
    assert first + "The target of 5 years is missed. 64 % of the host's demand is served in the target time." in page
    assert page.index("The first block wears out first") < page.index("life of the first block")
    endless = summary.headline(life(lifetime={"years": None}))
    assert endless == "Nothing ends this life: the flash lasts without limit. The target of 5 years is met."


def test_host_writes_are_told_as_tbw_and_drive_writes_per_day() -> None:
    # 1179.5 TB of flash in 5 years by a WAF of 2.24: 105.3 TB of the host in a year.
    result = life()
    assert host_writes.tbw_bytes(result) == pytest.approx(5.02 * 1.1795e15 / 2.24 / 5)
    assert host_writes.written_per_day(result) == pytest.approx(
        1.1795e15 / 2.24 / 5 / 365 / result["drive"]["logical_bytes"]
    )
    assert host_writes.line(result) == "529 TBW until the average block wears out; 2.3 drive writes per day"
    first = life(lifetime={"years_first_block": 2.0})
    assert host_writes.line(first) == "211 TBW until the first block wears out; 2.3 drive writes per day"
    held = life(throttle={"demand_share": 0.5})
    assert host_writes.line(held) == (
        "529 TBW until the average block wears out; 4.5 drive writes per day requested, 2.3 written"
    )
    assert [card[:2] for card in host_writes.cards(held)] == [("TBW of the flash", "529 TBW"), ("DWPD", "4.5")]
    assert host_writes.line(life(lifetime={"w_work_bytes": None})) is None
    assert host_writes.cards(life(lifetime={"years": None}))[0][0] == "DWPD"


@pytest.mark.parametrize(
    ("span_s", "message"),
    [
        (
            20.0,
            "20 s of trace stand for 5 years, which is no basis for a decision; record an hour or more, best a week.",
        ),
        (600.0, "600 s of trace stand for 5 years: nights, weekends and busy days are not in them; record a week."),
        (86_400.0 * 2, "2.0 days of trace stand for 5 years: not all weekdays are in them. Record a week."),
        (86_400.0 * 8, "8.0 days of trace stand for 5 years: a load that grows over the years is not in them."),
        (None, None),
    ],
)
def test_it_says_plainly_what_a_trace_stands_for(span_s: float | None, message: str | None) -> None:
    result = life(**TRACE)
    result["pass"]["span_s"] = span_s
    assert evidence.plainly(result) == message
    twin = "A twin stands for 5 years: it is generated from figures of a recorded host, and is not the record."
    assert evidence.plainly(life()) == twin
    generated = life(workload={"kind": "synthetic"}, lifetime={"target_years": 1.0}) | {"config": {}}
    assert (evidence.plainly(generated) or "").startswith("A generator stands for 1 year: ")


def test_the_page_says_what_the_forecast_rests_on() -> None:
    page = page_of(life(**TRACE, **MEASURED))
    rests = page[page.index("What this rests on") :]
    for phrase in (
        "24 hours of trace stand for 5 years: not all weekdays are in them.",
        "a pass of 24 hours, repeated 1825 times",
        "204 of the visible capacity (5 laps, 49 passes in all)",
        "2.24, stationary after 5 laps (error 0.4 %)",
        "interval not known: no source of error is known",
    ):
        assert phrase in rests
    assert "none: write amplification is given, and no drive was worn in" in page_of(life())


def test_the_page_has_the_spread_of_wear() -> None:
    uneven = {"years_range": [4.9, 5.1], "years_first_block": 2.0, "years_first_block_range": [1.8, 2.2]}
    page = page_of(life(lifetime=uneven))
    wear = page[page.index("Spread of wear") :]
    assert "first block worn out after 2.0 years (1.8-2.2 years in 19 of 20 cases)" in wear
    assert "average block worn out after 5.0 years (4.9-5.1 years in 19 of 20 cases)" in wear
    assert "2.51 times the erases of the mean block when it wears out" in wear
    assert "spare blocks" not in wear
    spare = {"years_spare_blocks": 3.0, "years_spare_blocks_range": [2.5, 3.5]}
    leveling = {"lead_first_block": 36.4, "moved": 0.012, "moved_over_life": 0.003}
    page = page_of(
        life(
            lifetime=uneven | spare,
            method=MEASURED["method"] | {"leveling": leveling},
            config={"ftl": {"level": {"policy": "gap"}}},
        )
    )
    assert "spare blocks used up after 3.0 years (2.5-3.5 years in 19 of 20 cases)" in page
    assert "36.4 erases ahead of the mean, and 1 % of what is programmed is moved for wear" in page
    assert "(error 0.4 %); wear-leveling causes 0.3 % of the programs" in page
    unknown = page_of(life(method={"waf_given": False}))
    assert "first block not known: the forecast has no figure of it" in unknown
    assert "first block not known: write amplification is given, and no drive was worn in" in page_of(life())


def test_the_page_has_latencies_with_their_load() -> None:
    over = {
        "requests": 1000,
        "span_s": 32.0,
        "offered_bytes_per_s": 4e6,
        "possible_bytes_per_s": 2e6,
        "overloaded": True,
    }
    result = life()
    result["close_up"]["busiest"] |= over
    result["latency_us"]["read"] = result["latency_us"]["write"] | {"p99": 750.0}
    page = page_of(result)
    table = page[page.index("Latencies") :]
    assert "busiest 32 s reads 600 us 750 us 1.1 ms 9.0 ms" in table
    assert "busiest 32 s writes 600 us 900 us 1.1 ms 9.0 ms" in table
    assert "typical 32 s writes 600 us 700 us 800 us 900 us" in table
    assert "1000 requests, 4 MB/s requested, 2 MB/s possible: more than the drive can do" in table
    assert "500 requests, 1 MB/s requested" in table
    unknown = life()
    unknown["close_up"] = {"unknown": "the trace has no times", "busiest": None, "typical": None}
    assert "Latencies Not known: the trace has no times." in page_of(unknown)


def test_the_first_screen_has_all_or_says_why_not() -> None:
    by_name = dict(line.split(None, 1) for line in summary.text(life()).splitlines()[:8])
    assert by_name["interval"] == "not known: write amplification is given"
    assert (
        by_name["served"] == "not known: the forecast does not say how much of the demand is written in the target time"
    )
    assert by_name["rating"] == "none: the drive has no rated TBW"
    assert by_name["writes"] == "529 TBW until the average block wears out; 2.3 drive writes per day"
    assert by_name["WAF"] == "2.24, as given"
    assert by_name["latency"].endswith("unthrottled; no reads")
    all_served = life(throttle={"demand_share": 1.0, "demand_share_range": [0.89, 1.0]})
    assert "served     100 % (89-100 %) of the host's demand" in summary.text(all_served)
    rated = life(drive={"rated": {"tbw_bytes": 100e12, "visible_tbw_bytes": 100e12}})
    assert "rating     100 TBW are written after 347 days, before the flash is worn out" in summary.text(rated)
    assert "writes     529 TBW until" in summary.text(rated)
    assert lines.no_interval(life(lifetime={"years": None})) == "not known: the life has no end"


def test_a_target_of_one_year_is_no_years() -> None:
    page = page_of(life(lifetime={"target_years": 1.0, "years": 1.2}))
    assert "1 years" not in page
    assert "the target of 1 year is met" in page
    assert "1 year would program 1.18 PB; the flash endures" in page
