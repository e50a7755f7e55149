"""Wear-leveling in summaries and reports."""

from __future__ import annotations

from typing import Any

from floatgate.report.sections import leveling


def result(policy: str, **level: int) -> dict[str, Any]:
    """Of a run in which wear-leveling took a hundredth of the time."""
    facts = {"rounds": 0, "triggered": 0, "moved_pages": 0, "pairs": 0, "unpaired": 0, "swaps": 0, "passed_over": 0}
    return {
        "config": {"ftl": {"level": {"policy": policy}}},
        "level": facts | level,
        "flash": {"time_s": {"level": 1.3, "total": 100.0}},
    }


def test_the_line_says_what_was_done_and_what_it_cost() -> None:
    line = leveling.line(result("swl", rounds=12, triggered=341, moved_pages=210_000))
    assert line == "swl: 12 rounds, 341 blocks moved (210 k pages), 1 % of flash time"
    line = leveling.line(result("read-balance", rounds=1, triggered=1, moved_pages=64, pairs=1, unpaired=2))
    assert line == (
        "read-balance: 1 round, 1 block moved (64 pages), 1 of them paired by reads, 2 destinations closed unpaired, "
        "1 % of flash time"
    )


def test_a_leveler_that_does_nothing_says_so_and_none_says_nothing() -> None:
    assert leveling.line(result("gap")) == "gap: nothing moved"
    assert leveling.line(result("none")) is None
    assert leveling.line({}) is None
