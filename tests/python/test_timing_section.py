"""What the summary says about collection that program contexts time."""

from __future__ import annotations

from typing import Any

from floatgate.report.sections import timing

BURSTS: dict[str, Any] = {"bursts": 50, "predicted": 40, "as_predicted": 38, "prepared_blocks": 90, "used_blocks": 85}
FACTS: dict[str, Any] = {
    "pages_with_context_share": 1.0,
    "predicted_deaths": 1000,
    "deaths_in_time": 900,
    "outlived_pages": 5,
    "passed_over": 40,
    "put_off": 12,
    "collected_later": 35,
    "dead_later": 20,
    "saved_pages": 310,
    "copied_later": 60,
    "instead": 9,
    "instead_pages": 27,
    "needed": 3,
    "needed_pages": 20,
    "bursts": BURSTS,
    "contexts": 7,
    "contexts_replaced": 0,
}


def result(facts: dict[str, Any] | None) -> dict[str, Any]:
    return {"gc": {"victims": 100, "timing": facts}}


def test_what_waited_and_what_came_of_it_is_in_the_summary() -> None:
    assert timing.lines(result(FACTS)) == [
        "40 blocks passed over because their data were dying; 35 of them collected later, 20 dead by then",
        "310 of their pages died meanwhile, 60 were copied",
        "9 other blocks collected instead, with 27 more valid pages",
        "3 blocks could have waited, but space was needed",
        "90 % of 1000 expected deaths came in time",
        "40 of 50 bursts predicted by context, 38 of these from half to twice as large; 90 blocks prepared, 85 used",
    ]
    assert timing.remarks(result(FACTS)) == []


def test_without_expectations_and_bursts_little_is_left_to_say() -> None:
    nothing = FACTS | dict.fromkeys(("predicted_deaths", "passed_over", "collected_later", "instead", "needed"), 0)
    waits = "no block had to wait for its data to be overwritten"
    assert timing.lines(result(nothing | {"bursts": None})) == [waits]
    none = BURSTS | {"predicted": 0, "as_predicted": 0}
    assert timing.lines(result(nothing | {"bursts": none})) == [waits, "none of 50 bursts predicted by context"]
    assert timing.lines(result(nothing | {"bursts": BURSTS | {"bursts": 0}})) == [waits]


def test_the_first_line_has_the_name() -> None:
    named = timing.SECTION.lines({}, result(FACTS))  # type: ignore[arg-type]
    assert [name for name, _ in named] == ["timing", "", "", "", "", ""]


def test_harm_and_pages_without_a_context_are_remarked() -> None:
    harmed = FACTS | {"instead_pages": 311, "pages_with_context_share": 0.4}
    harm = (
        "Blocks that waited saved fewer copies than those collected instead cost: "
        'compare with ftl.collect.timing = "free-blocks".'
    )
    assert timing.remarks(result(harmed)) == [
        "Only 40 % of the pages were written with a program context; the others are collected as without contexts.",
        harm,
    ]


def test_runs_that_count_free_blocks_say_nothing() -> None:
    assert timing.lines(result(None)) == timing.lines({"gc": None}) == timing.remarks(result(None)) == []
