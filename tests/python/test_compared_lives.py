"""Lives of several results: one definition and one unit for all rows, on the page as in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import floatgate
from conftest import SMALL
from floatgate.base import units
from floatgate.pages.parts import Cards
from floatgate.report.sections import lifetime_headline
from floatgate.report.sections.limits.figures import life_value, short_life
from floatgate.report.sections.limits.subject import Subject
from floatgate.run.experiment import resolve
from floatgate.study import varied_charts
from floatgate.study.kinds.kind import lives_of
from floatgate.study.runs.plan import plan_runs
from floatgate.study.runs.points import Points, axes_of
from floatgate.study.tune.objective import Goal, Objective
from floatgate.study.tune.page import pace_note
from floatgate.study.tune.search import SearchPlan, Trial

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

YEAR_H = 365.25 * 24


def of(average_h: float, first_h: float, ratio: float, *, enough: bool = True) -> dict[str, Any]:
    """A result with two lives in hours, and how many times the erases of the mean block the most erased one has."""
    lives = {"years": average_h / YEAR_H, "years_first_block": first_h / YEAR_H}
    written = {"tbw_bytes": 1e12 * average_h, "tbw_first_block_bytes": 1e12 * first_h}
    evidence = {"enough": enough, "why": "too short", "drive_writes": 1.0, "drive_writes_needed": 2.0}
    return {"lifetime": lives | written, "wear": {"max_over_mean": ratio}, "evidence": evidence}


NONE, FADAC = of(45.3, 37.1, 1.45), of(49.0, 41.7, 1.51)


def table(*results: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    columns = lifetime_headline.of_several(results)
    return list(columns.header), [list(columns.cells(one, None)) for one in results]


def test_one_uneven_row_gives_all_rows_both_lives() -> None:
    """Each by itself, one is the life of the average block, the other of the first one, and the better looks worse."""
    assert [lifetime_headline.cell(one) for one in (NONE, FADAC)] == ["45.3 hours", "41.7 hours (first block)"]
    assert table(NONE, FADAC) == (
        ["life, average block", "life, first block"],
        [["45.3 hours", "37.1 hours"], ["49.0 hours", "41.7 hours"]],
    )
    assert lifetime_headline.of_several([NONE, FADAC]).note.startswith("Life: until the average block")


def test_even_rows_keep_one_column_in_one_unit() -> None:
    # By themselves 45 hours and 2.0 days.
    assert table(of(45.3, 41.0, 1.2), of(49.0, 44.0, 1.2)) == (["life"], [["45.3 hours"], ["49.0 hours"]])


def test_a_run_that_is_too_short_decides_nothing() -> None:
    header, rows = table(of(45.3, 41.0, 1.2), of(9.0, 1.0, 9.0, enough=False))
    assert (header, rows) == (["life"], [["45.3 hours"], ["too short"]])
    header, rows = table(NONE, FADAC, of(9.0, 8.0, 1.1, enough=False))
    assert rows[2] == ["too short", "too short"]


def test_lists_of_results_have_one_definition() -> None:
    assert lives_of([NONE, FADAC]) == "37.1 hours to 41.7 hours"
    assert lives_of([of(45.3, 41.0, 1.2), of(49.0, 44.0, 1.2)]) == "45.3 hours to 49.0 hours"
    assert lives_of([]) == ""


def test_the_tiles_equal_the_table() -> None:
    rows = [
        {
            "policy": name,
            lifetime_headline.YEARS: one["lifetime"]["years"],
            lifetime_headline.FIRST_BLOCK: one["lifetime"]["years_first_block"],
        }
        for name, one in (("none", NONE), ("fadac", FADAC))
    ]
    tiles = varied_charts.best(rows, ["policy"], lambda _, row: str(row["policy"]))[0]
    assert isinstance(tiles, Cards)
    assert list(tiles.entries) == [
        ("longest life (average block)", "49.0 hours", "fadac"),
        ("longest life (first block)", "41.7 hours", "fadac"),
    ]
    names = [name for name, _ in varied_charts.listed(rows)]
    assert names == ["life, average block", "life, first block"]
    assert [cell(rows[1]) for _, cell in varied_charts.listed(rows)] == ["49.0 hours", "41.7 hours"]
    assert [figure.title for figure in varied_charts.figures_of(rows)] == [
        "Life of the average block",
        "Life of the first block",
    ]


def test_a_flat_row_says_the_same_as_a_result() -> None:
    for one in (NONE, FADAC):
        lives = one["lifetime"]
        row = {
            "wear.max_over_mean": one["wear"]["max_over_mean"],
            "lifetime.tbw_bytes": lives["tbw_bytes"],
            "lifetime.tbw_first_block_bytes": lives["tbw_first_block_bytes"],
        }
        assert lifetime_headline.uneven_row(row) == lifetime_headline.uneven(one)


def test_comparisons_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {**SMALL, "workload.requests": 200_000, "workload.warmup_requests": 50_000}
    study = floatgate.compare(settings, {"ftl.collect.policy": ["greedy", "fifo"]}, jobs=1)
    monkeypatch.setattr(lifetime_headline, "_TELLING", 0.5)
    for least, names in ((1.0, ["life, average block", "life, first block"]), (1e9, ["life"])):
        monkeypatch.setattr(lifetime_headline, "UNEVEN", least)
        header, _ = study.rows()
        assert [name for name in header if name.startswith("life")] == names
        assert ("Life of the first block" in study.report()) == (len(names) == 2)


def test_lives_in_one_unit() -> None:
    text = units.in_one_unit([0.5, 3.2, 2000.0])
    assert [text(life) for life in (0.5, 3.2, 2000.0)] == ["183 days", "1169 days", "more than 1000 years"]
    assert units.in_one_unit([1.0, 3.25])(3.25) == "3.2 years"
    assert units.in_one_unit([])(2.0) == "2.0 years"


def closed(result: dict[str, Any], arrival: str = "closed") -> dict[str, Any]:
    """The same result of a timed run in a closed loop, or with other arrivals."""
    return {"mode": "timed", "config": {"workload": {"arrival": arrival}}, **result}


def test_lives_of_closed_loops_are_compared_in_bytes() -> None:
    """With twice the spare space a drive endures more bytes, serves more per day, and lasts as long in days."""
    slow, fast = of(45.3, 41.0, 1.2), of(45.1, 40.0, 1.2)
    fast["lifetime"] |= {"tbw_bytes": 90.2e12, "tbw_first_block_bytes": 80e12}
    assert table(closed(slow), closed(fast)) == (["life"], [["45.3 TBW"], ["90.2 TBW"]])
    assert lifetime_headline.of_several([closed(slow)]).note == lifetime_headline.OWN_PACE_NOTE
    assert lives_of([closed(fast), closed(slow)]) == "45.3 TBW to 90.2 TBW"
    assert lifetime_headline.cell(closed(slow)) == "45.3 TBW"
    # Open arrivals keep their days, and functional mode has no rate.
    for other in (closed(slow, "open"), {**closed(slow), "mode": "functional"}):
        assert table(other, other)[1][0] == ["45.3 hours"]
    assert table(closed(NONE), closed(FADAC))[1][0] == ["45.3 TBW", "37.1 TBW"]


CLOSED = {key: value for key, value in SMALL.items() if key != "workload.rate_per_s"} | {
    "mode": "timed",
    "workload.queue_depth": 4,
    "workload.requests": 150_000,
    "workload.warmup_requests": 60_000,
}


def test_the_best_life_of_closed_loops_is_not_that_in_days(tmp_path: Path) -> None:
    vary: dict[str, list[object]] = {"ftl.spare_factor": [0.15, 0.2, 0.3]}
    done = floatgate.compare(CLOSED, vary)
    lives = [one.result["lifetime"] for one in done if one.result is not None]
    assert lives[2]["tbw_bytes"] > 1.3 * lives[0]["tbw_bytes"]
    assert lives[2]["years"] < lives[0]["years"]
    text, page = done.text(), done.report()
    assert text.count(" TBW ") == 3
    for shown in (text, page):
        assert lifetime_headline.OWN_PACE_NOTE in shown
        assert "longest life" not in shown
    assert "<b>Life in bytes written</b>" in page
    assert "<b>Life</b>" not in page
    before, after = (Subject("run", one.result, {}) for one in (done.settings[0], done.settings[2]) if one.result)
    assert [life_value(one) for one in (before, after)] == [lives[0]["tbw_bytes"], lives[2]["tbw_bytes"]]
    assert str(short_life(after)).endswith(" TBW")
    swept = floatgate.sweep(CLOSED, vary, out=tmp_path / "swept")
    assert swept.own_pace()
    assert all(lifetime_headline.YEARS not in row for row in swept.settings())
    page = swept.report()
    assert lifetime_headline.OWN_PACE_NOTE in page
    assert "longest life" not in page


def test_a_search_by_years_notes_that_the_drive_sets_the_rate() -> None:
    points = Points(axes_of(["ftl.spare_factor=0.15,0.3"]))
    for key, noted in (("lifetime.years", True), ("lifetime.tbw_bytes", False)):
        goal = Goal((Objective(key, maximise=True),))
        plan = SearchPlan(plan_runs(resolve(CLOSED), points, 1), goal, 2, 2)
        note = pace_note(plan, [Trial(1, [("ftl.spare_factor", "0.15")])])
        assert (note is not None) is noted
        assert not noted or "lifetime.tbw_bytes is free of the rate" in str(note)


def short(why: str, *, transient: int | None = None, written: float = 1.0) -> dict[str, Any]:
    """A result of 1000 requests that is too short for a life."""
    evidence = {"enough": False, "why": why, "drive_writes": written, "drive_writes_needed": 2.0}
    workload = {"requests": 1000, "warmup_requests": 500}
    return {
        "evidence": evidence | {"transient_requests": transient},
        "workload": {"kind": "synthetic"},
        "config": {"workload": workload},
    }


def test_the_remedy_of_runs_that_are_too_short_serves_all_of_them() -> None:
    known = of(45.3, 41.0, 1.2)
    first, second = (short("not stationary", transient=count) for count in (100, 300))
    assert lifetime_headline.shortages({"a": known, "b": known}) == []
    assert lifetime_headline.shortages({"a": first, "b": second, "c": known}) == [
        (
            "a, b: no steady WAF and no life yet; "
            "not stationary: only the beginning differs (workload.warmup_requests = 800 leaves it out of all)."
        )
    ]
    assert lifetime_headline.shortages({"a": first, "b": known}) == [f"a: no steady WAF and no life yet; {SHORT}."]
    assert lifetime_headline.too_short(first) == SHORT
    assert lifetime_headline.shortages({"a": short("too short", written=0.5), "b": short("too short")}) == [
        (
            "All settings: no life yet; "
            "too short: 0.50 drive writes, at least 2.0 needed (workload.requests = 4000 serves all)."
        )
    ]
    many = {str(number): first for number in range(5)}
    assert lifetime_headline.shortages(many | {"last": known})[0].startswith("5 of 6 settings: ")


SHORT = "not stationary: only the beginning differs (workload.warmup_requests = 600 leaves it out)"


def test_a_comparison_names_the_remedy_that_its_runs_name() -> None:
    done = floatgate.compare(SMALL | {"workload.requests": 2000}, {"ftl.spare_factor": [0.15, 0.3]})
    results = {one.label: one.result for one in done if one.result is not None}
    (note,) = lifetime_headline.shortages(results)
    assert "workload.requests = " in note
    assert note in done.text().splitlines()
    assert note in done.report()
