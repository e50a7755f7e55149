"""Lives of several results: one definition and one unit for all rows, on the page as in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import floatgate
from conftest import SMALL
from floatgate.base import units
from floatgate.pages.parts import Cards
from floatgate.report.sections import lifetime_headline
from floatgate.study import varied_charts
from floatgate.study.kinds.kind import lives_of

if TYPE_CHECKING:
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
