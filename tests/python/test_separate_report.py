"""Streams in the report and the summary: the result's own figures, in a table that narrow pages scroll."""

from __future__ import annotations

from typing import Any

import pytest

import floatgate
from conftest import SMALL
from floatgate.pages.page import rendered_parts
from floatgate.report import summary
from floatgate.report.sections import streams

HASHED = SMALL | {
    "workload.pattern": "hot-cold",
    "ftl.separate.policy": "hash",
}


@pytest.fixture(scope="module")
def run() -> floatgate.Run:
    return floatgate.run(HASHED)


def stream(number: int, pages: int) -> dict[str, Any]:
    return {
        "stream": number,
        "host_pages": pages,
        "moved_pages": 0,
        "opened": 2,
        "victims": 2,
        "dead_victims": 1,
        "copied_pages": 3,
        "strayed_pages": 1,
    }


def test_each_stream_has_a_row_and_the_sum_is_that_of_the_drive(run: floatgate.Run) -> None:
    result = run.result.to_dict()
    by_stream = result["separate"]["streams"]
    rows = streams.rows(by_stream)
    assert [row[0] for row in rows] == ["0", "1", "all"]
    figures = [text.replace(" ", "") for text in rows[-1]]
    assert figures[1] == str(result["flash"]["programs"]["host"])
    assert figures[2] == str(result["gc"]["copied_pages"])
    assert figures[4:6] == [str(result["gc"]["victims"]), str(result["gc"]["dead_victims"])]
    report = run.report()
    assert "<h2>Streams</h2>" in report
    assert all(f"<th class=n>{name}</th>" in report for name in ("host pages", "moved in", "collected", "dead"))
    # The table stands in a box of its own that scrolls where the page is narrow.
    assert '<div class="scroll"><table>' in rendered_parts(streams.parts(result))


def test_what_was_found_is_counted_in_whole_numbers(run: floatgate.Run) -> None:
    result = run.result.to_dict()
    result["separate"]["found"] = {"contexts_updating": 12.0, "mean_life_page_writes": 20.5}
    page = rendered_parts(streams.parts(result))
    assert "contexts updating" in page
    assert ">12<" in page
    assert ">20.5<" in page


def test_of_many_streams_the_smallest_share_a_row() -> None:
    rows = streams.rows([stream(number, 1000 - number) for number in range(100)])
    assert [row[0] for row in rows[:2]] == ["0", "1"]
    assert rows[-2][0] == "68 others"
    assert rows[-1] == ["all", "95 050", "0", "200", "200", "100", "1.50"]
    assert len(rows) == streams.SHOWN_MAX + 2


def test_a_stream_without_a_victim_has_no_mean() -> None:
    assert streams.rows([stream(3, 10) | {"victims": 0, "copied_pages": 0}])[0][-1] == "-"


def test_the_summary_says_what_streams_cost(run: floatgate.Run, small_run: floatgate.Run) -> None:
    line = dict(summary.lines(run))["streams"]
    assert line.startswith("hash: 2 streams, ")
    assert "free pages in open blocks on average" in line
    assert line.endswith("KiB of memory")
    # Where no page is looked at, nothing is said.
    assert "streams" not in dict(summary.lines(small_run))
    assert "<h2>Streams</h2>" not in small_run.report()
