"""What a summary and a comparison say of modes of erases."""

from __future__ import annotations

from typing import Any

import pytest

from floatgate.report.sections import erase_modes, lifetime_headline


def result(policy: str = "idle", **facts: Any) -> dict[str, Any]:
    """Return a result with modes of erases: 19 * 1 + 1 * 0.71 + 80 * 0.4 cycles of wear by 100 erases."""
    table = {
        "erases_by_mode": [19, 0, 1, 0, 80],
        "programs_by_mode": [1216, 0, 64, 0, 5120],
        "deepened": 0,
        "effective_cycles": 51.71,
        "cycles_saved": 48.29,
        "mean_wear": 0.5171,
        "time_added_s": {"programs": 2.25, "erases": 0.2, "deepened": 0.05, "total": 2.5},
        "time_added_share": 0.125,
    }
    return {"config": {"ftl": {"dpes": {"policy": policy}}}, "dpes": {**table, **facts}}


def test_the_line_says_what_was_saved_and_what_it_took() -> None:
    assert erase_modes.line(result()) == (
        "idle: 81 % of 100 blocks erased less deeply, 0.52 cycles of wear per erase (48 cycles saved); "
        "programs and erases take 2.5 s more (12 % of flash time)"
    )
    assert "; 7 blocks erased once more for a burst; " in str(erase_modes.line(result(deepened=7)))
    assert "; 1 block erased once more for a burst; " in str(erase_modes.line(result(deepened=1)))


@pytest.mark.parametrize(
    ("by_mode", "line"),
    [([0, 0], "fixed: no block erased"), ([412, 0], "fixed: all 412 blocks erased at full depth")],
)
def test_a_drive_without_shallow_erases_says_so(by_mode: list[int], line: str) -> None:
    no_gain = result("fixed", erases_by_mode=by_mode)
    assert erase_modes.line(no_gain) == line
    assert erase_modes.remark(no_gain) is None


def test_a_gain_names_the_table_on_which_it_rests() -> None:
    remark = str(erase_modes.remark(result()))
    assert "ftl.dpes.modes" in remark
    assert "assumed" in remark
    assert erase_modes.remark_of_forecast(result("fixed")) == remark
    assert erase_modes.remark_of_forecast({"config": {"ftl": {}}}) is None


def test_a_life_names_the_wear_of_its_erases() -> None:
    life = {"pe_cycles": 3000, "pe_cycles_achievable": 7500.0, "mean_idle_h": None}
    text = lifetime_headline.cycles_text
    assert text(life, 0.4) == "7500 erases of 0.40 cycles each, 3000 nominal"
    # Rest is named only where it adds to the cycles.
    rested = {**life, "mean_idle_h": 2.0}
    assert text(rested, 0.4) == "7500 erases of 0.40 cycles each, 3000 nominal"
    both = {**rested, "pe_cycles_achievable": 9000.0}
    assert text(both, 0.4) == "9000 erases of 0.40 cycles each at 2.0 hours of rest, 3000 nominal"
    assert text(rested) == "7500 P/E cycles at 2.0 hours of rest, 3000 nominal"
    assert text({**life, "pe_cycles_achievable": 3000}) == "3000 P/E cycles"


def test_a_run_without_modes_has_no_line() -> None:
    assert erase_modes.line({}) is None
    assert erase_modes.remark({}) is None
    assert erase_modes.cells({}) == ["-", "-"]
    assert erase_modes.cells(result()) == ["0.52", "12 %"]
