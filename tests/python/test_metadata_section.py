"""What the summary says about the map on flash."""

from __future__ import annotations

from typing import Any

from floatgate.report.sections import metadata, not_modelled

COUNTS: dict[str, Any] = {
    "updates": 160_000,
    "moves": 80_000,
    "journal_pages": 320,
    "flushed_pages": 0,
    "map_pages": 48,
}


def test_the_cost_is_counted_in_pages() -> None:
    text = "320 journal pages and 48 map pages for 160 k changes by the host"
    assert metadata.line({"metadata": COUNTS}) == text
    flushed = {"metadata": COUNTS | {"flushed_pages": 20}}
    assert metadata.line(flushed) == f"{text}; 20 journal pages were flushed before they were full"


def test_a_map_without_programs_has_no_line() -> None:
    assert metadata.line({"metadata": None}) is None
    assert metadata.line({}) is None


def test_what_is_left_out_depends_on_the_policy() -> None:
    left_out = "metadata writes of the FTL"
    assert left_out in not_modelled.of_experiment({})
    assert left_out not in not_modelled.of_experiment({"ftl": {"metadata": {"policy": "journal"}}})
