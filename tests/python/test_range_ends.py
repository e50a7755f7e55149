"""Remarks on best values that lie at an end of the tried range."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.pages.parts import Cards
from floatgate.results import metrics
from floatgate.study import varied_charts
from floatgate.study.range_ends import of_search, remark
from floatgate.study.runs.points import Axis, parse_axis


def at_end(vary: str, value: Any, *ties: Any) -> str | None:
    """Which end a search that varies one key says that its best value is at."""
    axis = parse_axis(vary)
    ends = of_search([axis], {axis.key: value}, [{axis.key: one} for one in ties])
    return ends[0].to_dict()["end"] if ends else None


@pytest.mark.parametrize(
    ("vary", "value", "end"),
    [
        ("ftl.spare_factor=0.05..0.3", 0.3, "upper"),
        ("ftl.spare_factor=0.05..0.3", 0.2956, "upper"),
        ("ftl.spare_factor=0.05..0.3", 0.2, None),
        ("ftl.spare_factor=0.05..0.3", 0.0504, "lower"),
        # The setting itself ends there.
        ("ftl.spare_factor=0.05..0.95", 0.95, None),
        ("workload.read_share=0..1", 1, None),
        ("workload.read_share=0..1", 0, None),
        ("workload.queue_depth=1..64", 1, None),
        ("workload.queue_depth=1..64", 64, "upper"),
        # 2 % of the range of logarithms.
        ("workload.queue_depth=2..1000:log", 2, "lower"),
        ("workload.queue_depth=2..1000:log", 20, None),
        ("workload.queue_depth=2..1000", 20, "lower"),
        # Lists of numbers have ends, in whatever order they stand; two values have nothing in between.
        ("workload.queue_depth=8,2,4", 2, "lower"),
        ("workload.queue_depth=8,2,4", 4, None),
        ("workload.queue_depth=2,8", 8, None),
        ("ftl.collect.policy=greedy,fifo,random", "greedy", None),
        ("seed=2,3,4", 4, None),
    ],
)
def test_the_end_of_a_range_is_told_from_the_limit_of_a_setting(vary: str, value: Any, end: str | None) -> None:
    assert at_end(vary, value) == end


def test_a_tie_between_the_ends_shows_that_nothing_lies_beyond() -> None:
    assert at_end("ftl.spare_factor=0.05..0.3", 0.3, 0.3) == "upper"
    assert at_end("ftl.spare_factor=0.05..0.3", 0.3, 0.3, 0.15) is None


def test_the_text_says_which_end_and_what_to_do() -> None:
    (end,) = of_search([Axis("ftl.spare_factor", (), (0.05, 0.3))], {"ftl.spare_factor": 0.299671}, [])
    text = "ftl.spare_factor = 0.299671 is at the upper end of 0.05..0.3: better settings may lie beyond; "
    assert end.text() == f"{text}widen the range above 0.3"


PAGES = "drive.geometry.pages_per_block"


def test_a_page_names_each_end_once_with_what_is_best_there() -> None:
    rows: list[dict[str, Any]] = [
        {
            "workload.zipf_theta": spare,
            "ftl.collect.policy": policy,
            "waf_bytes": 3 - spare,
            "lifetime.years": 1 + spare,
        }
        for spare in (0.1, 0.2, 0.3)
        for policy in ("greedy", "fifo", "random")
    ]
    keys = ["workload.zipf_theta", "ftl.collect.policy"]
    assert remark(rows, keys) == (
        "Best at an end of what was tried: workload.zipf_theta = 0.3, the largest (lowest WAF, longest life). "
        "Better settings may lie beyond; try values there."
    )
    between = [{**row, "waf_bytes": abs(row["workload.zipf_theta"] - 0.2), "lifetime.years": None} for row in rows]
    assert remark(between, keys) is None
    # What makes no difference has no end.
    assert remark([{**row, "waf_bytes": 1.0, "lifetime.years": None} for row in rows], keys) is None
    assert remark([{**row, "waf_bytes": None, "lifetime.years": None} for row in rows], keys) is None


def test_searches_sweeps_and_comparisons_say_it(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    text = "ftl.spare_factor = 0.4 is at the upper end of 0.1..0.4: better settings may lie beyond"
    vary = ("--vary", "ftl.spare_factor=0.1,0.2,0.4")
    least = ("tune", experiment, "--minimise", "waf_bytes", "--trials", "3")
    ended = cli(*least, *vary, "--out", "t", "--json", "t.json", "--report")
    assert f"at an end  {text}; widen the range above 0.4" in (ended.out + ended.err)
    document = json.loads((tmp_path / "t.json").read_text())
    assert document["at_ends"] == [{"key": "ftl.spare_factor", "value": 0.4, "end": "upper", "range": [0.1, 0.4]}]
    assert text in (tmp_path / "t/report.html").read_text()
    for command in ("sweep", "compare"):
        # More spare space is always better; of pages per block nobody knows.
        for number, (key, count) in enumerate((("ftl.spare_factor=0.1,0.2,0.4", 0), (f"{PAGES}=16,32,64", 1))):
            place = f"{command}-{number}"
            cli(command, experiment, "--vary", key, "--out", place, "--report").done()
            page = (tmp_path / place / "report.html").read_text()
            assert page.count(f"Best at an end of what was tried: {PAGES} = ") == count
            assert page.count("at an end of what was tried") == count
    names = ("--vary", "ftl.collect.policy=greedy,fifo,random")
    document = json.loads(cli(*least, *names, "--out", "n", "--json", "-").done())
    assert document["at_ends"] == []


def test_no_best_is_told_where_some_do_not_know_the_figure() -> None:
    """A life of the only setting that ran for long enough is not the longest."""
    rows: list[dict[str, Any]] = [
        {"k": 1, "waf_bytes": 3.5, "lifetime.years": None},
        {"k": 2, "waf_bytes": 7.0, "lifetime.years": 74.6},
        {"k": 3},
    ]
    keys = [one.key for one in metrics.looked_for()]
    assert "lifetime.years" in keys
    assert "waf_bytes" in keys
    assert _best_names(rows) == ["lowest WAF"]
    rows[0]["lifetime.years"] = 148.0
    assert _best_names(rows) == ["lowest WAF", "longest life"]


def _best_names(rows: list[dict[str, Any]]) -> list[str]:
    cards, *_ = varied_charts.best(rows, ["k"], lambda _, row: str(row["k"]))
    assert isinstance(cards, Cards)
    return [name for name, _, _ in cards.entries]
