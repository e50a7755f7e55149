"""Rewrites and mixed runs of recorded traces: cases worked by hand, and a slow count beside the quick one."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floatgate.trace import library
from validation import mixed_runs


def test_a_page_write_is_replaced_by_a_later_write_of_the_page() -> None:
    assert mixed_runs.replaced_later([5, 6, 5, 5, 7]) == [True, False, True, False, False]


@pytest.mark.parametrize(
    ("replaced", "mixed"),
    [(0, 0), (6, 0), (7, 1), (64, 1), (121, 1), (122, 0), (128, 0)],  # 6.4 and 121.6 pages are 5 and 95 %
)
def test_a_run_is_mixed_from_five_to_ninety_five_per_cent(replaced: int, mixed: int) -> None:
    assert mixed_runs.mixed_runs([True] * replaced + [False] * (128 - replaced)) == (1, mixed)


def test_a_rest_counts_for_nothing() -> None:
    run = [True, False, False, False]
    assert mixed_runs.mixed_runs(run * 2 + run[:3], run_pages=4) == (2, 2)
    assert mixed_runs.mixed_runs(run[:3], run_pages=4) == (0, 0)


@given(st.lists(st.integers(0, 5), max_size=40))
def test_replacements_are_those_of_a_search(pages: list[int]) -> None:
    expected = [page in pages[place + 1 :] for place, page in enumerate(pages)]
    assert mixed_runs.replaced_later(pages) == expected


def test_a_trace_is_counted_by_pages(tmp_path: Path) -> None:
    # A run of 128 pages, then its first 32 again; page 200 is read and page 3 trimmed, which replaces nothing.
    rows = [
        ("write", 0, 128 * 4096, 7),
        ("trim", 3 * 4096, 4096, None),
        ("read", 200 * 4096, 4096, None),
        ("write", 0, 32 * 4096, 8),
        ("write", 4096 * 40, 1, None),
    ]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("op", "offset", "bytes", "context"))}
    described = {b"floatgate": b'{"contexts": {"7": {"name": "load"}, "8": {"name": "update"}}}'}
    path = tmp_path / "few.parquet"
    pq.write_table(pa.table(columns).replace_schema_metadata(described), path)
    counts = mixed_runs.read(path)
    assert (counts.pages, counts.distinct_pages, counts.runs, counts.mixed) == (161, 128, 1, 1)
    assert counts.writes_per_page == pytest.approx(161 / 128)
    assert counts.mixed_share == 1.0
    assert list(counts.contexts) == [("load", 128), ("update", 32), ("(no stack)", 1)]


def test_a_trace_that_writes_nothing_has_no_shares(tmp_path: Path) -> None:
    path = tmp_path / "reads.parquet"
    columns = {"op": ["read"], "offset": [0], "bytes": [4096], "context": pa.array([None], pa.uint64())}
    pq.write_table(pa.table(columns), path)
    counts = mixed_runs.read(path)
    assert (counts.writes_per_page, counts.mixed_share, list(counts.contexts)) == (None, None, [])


@pytest.mark.parametrize("name", ["cscope-rounds", "decision-refreshes"])
def test_these_write_a_page_eight_or_nine_times(name: str) -> None:
    # As the dissertation's cscope (8.1) and tpc-h (9.0): page writes over page writes that are no updates, table 10.
    counts = mixed_runs.read(library.path(name))
    assert counts.writes_per_page is not None
    assert 8 <= counts.writes_per_page <= 9


@pytest.mark.parametrize("name", ["three-interleaved", "load-beside-updates", "make-trees"])
def test_in_these_most_runs_are_mixed(name: str) -> None:
    counts = mixed_runs.read(library.path(name))
    assert counts.mixed_share is not None
    assert counts.mixed_share > 0.5
