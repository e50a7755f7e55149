"""What ends a forecast life: in words, and as marks on the charts of its course."""

from __future__ import annotations

from typing import Any

import pytest

from floatgate.report import lifetime_summary, throttle_charts
from floatgate.report.sections.forecast import cards, ends, life_range, lines, parts
from floatgate.report.throttle_charts import YEAR_S, Look, Mark
from test_lifetime_text import LIFE, life

RATED = {"rated": {"tbw_bytes": 100e12, "visible_tbw_bytes": 100e12}}
"""The host writes 105 TB per year in LIFE."""
LATE_RATED = {"rated": {"tbw_bytes": 1000e12, "visible_tbw_bytes": 1000e12}}
UNEVEN = {"years": 5.02, "years_first_block": 2.0}


def rated(**changes: dict[str, Any]) -> dict[str, Any]:
    """The same with write amplification in bytes, which makes the host's rate known."""
    return life(**changes) | {"waf_bytes": 2.24}


def course(until_years: float, **changes: dict[str, Any]) -> dict[str, Any]:
    """A forecast whose course has eleven points in time, evenly over so many years."""
    steps = range(1, 12)
    series = {
        "time_s": [until_years * YEAR_S * step / 11 for step in steps],
        **{
            name: [float(step) for step in steps]
            for name in ("written_bytes", "capacity_bytes", "delay_us", "pe_cycles")
        },
    }
    return rated(**changes) | {"series": series}


@pytest.mark.parametrize(
    ("changes", "message", "verdict"),
    [
        ({}, "The average block wears out, after 5.0 years", "the target of 5 years is met"),
        (
            {"lifetime": UNEVEN},
            "The first block wears out first, after 2.0 years; the average block wears out after 5.0 years",
            "the target of 5 years is missed",
        ),
        (
            {"drive": RATED},
            "The rated bytes are written first, after 347 days; the average block wears out after 5.0 years",
            "the target of 5 years is missed by the rating, not by the flash",
        ),
        # Wear that is even: the first block comes a little before the others.
        (
            {"lifetime": {"years_first_block": 4.5}},
            "The average block wears out, after 5.0 years",
            "the target of 5 years is met",
        ),
        ({"lifetime": {"years": None}}, None, "the target of 5 years is met"),
        (
            {"lifetime": {"years": 5.8, "years_range": [1.1, 30.8], "years_range_from": ["waf", "days"]}},
            "The average block wears out, after 5.8 years",
            "the target of 5 years is met, but the interval reaches below: 1.1-30.8 years",
        ),
        ({"lifetime": {"target_years": None}}, "The average block wears out, after 5.0 years", None),
    ],
)
def test_what_ends_first_is_said_first(changes: dict[str, Any], message: str | None, verdict: str | None) -> None:
    result = rated(**changes)
    assert (ends.what_ends_first(result), ends.verdict(result)) == (message, verdict)
    # The summary says the same as the page.
    assert verdict is None or verdict in lines.answer(result)


def test_an_interval_that_reaches_below_is_in_the_summary_and_the_head_of_the_page_alike() -> None:
    doubtful = rated(lifetime={"years": 5.8, "years_range": [1.1, 30.8], "years_range_from": ["waf", "days"]})
    text = "he target of 5 years is met, but the interval reaches below: 1.1-30.8 years"
    assert text in lines.answer(doubtful)
    assert f"T{text}." in lifetime_summary.headline(doubtful)
    assert f"the target of 5 years is {life_range.BELOW}" in cards.cards(doubtful)[0][2]
    # The rating ends the life before the interval does; the line of the interval has the same end.
    early = rated(drive=LATE_RATED, lifetime=doubtful["lifetime"])
    assert "reaches below: 1.1-9.5 years" in lines.answer(early)
    assert str(lines.interval(early)).startswith("1.1-9.5 years, which reaches below")
    # An interval above the target leaves no doubt.
    sure = rated(lifetime={"years": 5.8, "years_range": [5.1, 6.8], "years_range_from": ["waf"]})
    assert "the target of 5 years is met; " in f"{lines.answer(sure)}; "


def test_ends_and_target_are_marked() -> None:
    result = course(5.0, lifetime={"years": 4.0, "years_first_block": 2.0}, drive=RATED)
    assert [(mark.label, round(mark.x, 2)) for mark in ends.marks(result)] == [
        ("rated bytes: 347 days", 0.95),
        ("first block: 2.0 years", 2.0),
        ("average block: 4.0 years", 4.0),
        ("target: 5.0 years", 5.0),
    ]
    # They differ in black and white.
    assert len({mark.dash for mark in ends.marks(result)}) == 4
    assert ends.beyond(result) == ""


def test_ends_at_the_same_time_have_one_mark() -> None:
    [mark] = ends.marks(course(5.0))
    assert (mark.label, mark.x) == ("average block, target: 5.0 years", 5.0)


def test_a_course_far_longer_than_the_life_is_cut() -> None:
    result = course(5.0, lifetime={"years": 0.1, "years_first_block": 0.05})
    assert ends.shown_s(result) == pytest.approx(0.13 * YEAR_S)
    assert [mark.label for mark in ends.marks(result)] == ["first block: 18.3 days", "average block: 36.5 days"]
    assert [round(mark.x, 1) for mark in ends.marks(result)] == [18.2, 36.5]
    assert ends.beyond(result) == " Beyond the chart: target (5.0 years)."


def test_what_lies_beyond_the_course_is_named() -> None:
    result = course(5.0, lifetime={"years": 17.0})
    assert [mark.label for mark in ends.marks(result)] == ["target: 5.0 years"]
    assert ends.beyond(result) == " Beyond the chart: average block (17.0 years)."


def test_charts_of_the_course_have_the_marks() -> None:
    result = course(5.0, lifetime={"years": 4.0, "years_first_block": 2.0})
    [section] = parts.parts(result)
    figures = {figure.title: figure for figure in section.parts[0].parts}  # type: ignore[attr-defined]
    for title in ("Flash bytes programmed", "Throttling delay", "Endurance of a block"):
        for drawn in (figures[title].wide, figures[title].narrow):
            for label in ("first block: 2.0 years", "average block: 4.0 years", "target: 5.0 years"):
                assert drawn.count(f">{label}<") == 1, title
    assert "first block" not in figures["Delays of page writes"].wide


def test_without_a_throttle_no_capacity_of_zero_is_drawn() -> None:
    unthrottled = {"policy": "none", "delay_us": None}
    result = course(5.0, throttle=unthrottled, lifetime={"c_ssd_recovered_bytes": 10.0})
    [section] = parts.parts(result)
    written = section.parts[0].parts[0].wide  # type: ignore[attr-defined]
    assert ">flash endurance<" in written
    assert "capacity so far" not in written
    [section] = parts.parts(course(5.0))
    assert "capacity so far" in section.parts[0].parts[0].wide  # type: ignore[attr-defined]


def test_labels_of_marks_have_lines_of_their_own() -> None:
    marks = [Mark("left", 1.0, ()), Mark("right", 9.0, (2, 2)), Mark("end", 10.0, (4, 2))]
    rows = [{"x": float(x), "y": 5.0, "series": "a"} for x in range(11)]
    made = throttle_charts.lines(rows, [Look("a", "#000000", (), "circle")], "x", "y", marks=marks).to_dict()
    texts = [layer for layer in made["layer"] if layer["mark"]["type"] == "text"]
    labels = [(layer["data"]["values"][0]["label"], layer["encoding"]["y"]["value"]) for layer in texts]
    assert labels == [("end", 0), ("right", 15), ("left", 30)]
    assert [layer["mark"]["align"] for layer in texts] == ["right", "right", "left"]
    # Room above the line for three of them.
    assert made["layer"][0]["encoding"]["y"]["scale"]["domain"][1] > 5.0 * 1.2


def test_a_forecast_without_a_course_has_no_marks() -> None:
    bare = {**LIFE, "series": {}}
    assert ends.marks(bare) == []
    assert parts.parts(bare)[0].title == "Over the life"  # type: ignore[attr-defined]


def test_the_summary_leads_with_what_ends_first() -> None:
    until = "347 days until the rated bytes are written"
    assert lines.answer(rated(drive=RATED)).startswith(f"{until} (5.0 years for the flash) under ready-optimistic: ")
    both = lines.answer(rated(drive=RATED, lifetime=UNEVEN))
    assert both.startswith(
        f"{until} (2.0 years until the first block wears out, 5.0 years for the average block) under"
    )
    known = {"years_range": [4.7, 5.3], "years_range_from": ["waf"]}
    assert str(lines.interval(rated(drive=RATED, lifetime=known))).startswith(
        "the flash lasts 4.7-5.3 years, which reaches below"
    )
    # Rated bytes that are written after the flash is worn out do not lead.
    late = {"rated": {"tbw_bytes": 1e15, "visible_tbw_bytes": 1e15}}
    assert lines.answer(rated(drive=late)).startswith("5.0 years under ready-optimistic: the target of 5 years is met")
