"""The series of a run, and what the charts make of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import floatgate
from floatgate.results.series import rates, table, thinned

COLUMNS = {
    "requests": [10, 20, 30, 35],
    "time_s": [1.0, 2.0, 2.0, 4.0],
    "page_writes": [10, 20, 20, 25],
    "programs_host": [10, 20, 20, 25],
    "programs_gc": [0, 10, 30, 30],
    "erases_gc": [0, 1, 2, 2],
    "free_blocks": [9, 5, 4, 4],
}


def made() -> pa.Table:
    types = {name: "f8" if name == "time_s" else "i8" for name in COLUMNS}
    return table({name: np.array(values, f"<{types[name]}").tobytes() for name, values in COLUMNS.items()}, types)


def test_counts_are_of_the_interval_and_levels_at_its_end() -> None:
    rows = made().to_pydict()
    assert rows["requests"] == [10, 20, 30, 35]
    assert rows["time_s"] == [1.0, 2.0, 2.0, 4.0]
    assert rows["page_writes"] == [10, 10, 0, 5]
    assert rows["programs_gc"] == [0, 10, 20, 0]
    assert rows["erases_gc"] == [0, 1, 1, 0]
    assert rows["free_blocks"] == [9, 5, 4, 4]
    assert rows["flash_writes"] == [10, 20, 20, 5]
    assert rows["waf"] == [1.0, 2.0, None, 1.0]


def test_thinning_keeps_the_sums() -> None:
    series = made()
    assert [row["requests"] for row in thinned(series, 2)] == [20, 35]
    first, second = thinned(series, 2)
    assert (first["page_writes"], first["flash_writes"], first["waf"], first["free_blocks"]) == (20, 30, 1.5, 5)
    assert (second["page_writes"], second["flash_writes"], second["waf"]) == (5, 25, 5.0)
    assert len(thinned(series, 100)) == 4
    assert thinned(series.slice(0, 0), 10) == []


def test_rates_are_over_equal_times_and_keep_the_sums() -> None:
    rows = rates(made(), 4)
    assert rows is not None
    assert [row["time_s"] for row in rows] == [1.0, 2.0, 3.0, 4.0]
    assert [row["programs_host"] for row in rows] == [10.0, 10.0, 2.5, 2.5]
    assert sum(row["programs_gc"] for row in rows) == pytest.approx(30)


def test_without_time_there_are_no_rates() -> None:
    series = made()
    still = series.set_column(series.column_names.index("time_s"), "time_s", pa.array([0.0] * 4))
    assert rates(still, 4) is None
    assert rates(series.slice(0, 0), 4) is None


def test_time_that_runs_backwards_does_not_hurt(small_run: floatgate.Run) -> None:
    series = made()
    back = series.set_column(series.column_names.index("time_s"), "time_s", pa.array([1.0, 3.0, -2.0, 4.0]))
    rows = rates(back, 8)
    assert rows is not None
    assert sum(row["programs_host"] for row in rows) * 0.5 == pytest.approx(25)
    assert all(value >= 0 for row in rows for value in row.values())


TIMED = {
    "requests": [10, 20, 30, 40],
    "reads_done": [2, 2, 5, 9],
    "read_latency_sum_us": [100.0, 100.0, 400.0, 1200.0],
    "read_latency_max_us": [60.0, 0.0, 200.0, 500.0],
    "writes_done": [8, 18, 25, 31],
    "write_latency_sum_us": [80.0, 180.0, 250.0, 310.0],
    "write_latency_max_us": [10.0, 11.0, 12.0, 10.0],
}


def test_latencies_have_means_and_maxima_of_the_interval() -> None:
    types = {name: "f8" if name.endswith("_us") else "i8" for name in TIMED}
    series = table({name: np.array(values, f"<{types[name]}").tobytes() for name, values in TIMED.items()}, types)
    rows = series.to_pydict()
    assert rows["reads_done"] == [2, 0, 3, 4]
    assert rows["read_latency_mean_us"] == [50.0, None, 100.0, 200.0]
    assert rows["read_latency_max_us"] == [60.0, None, 200.0, 500.0]
    assert rows["write_latency_mean_us"] == [10.0, 10.0, 10.0, 10.0]
    assert rows["write_latency_max_us"] == [10.0, 11.0, 12.0, 10.0]
    first, second = thinned(series, 2)
    assert (first["read_latency_mean_us"], first["read_latency_max_us"]) == (50.0, 60.0)
    assert (second["read_latency_mean_us"], second["read_latency_max_us"]) == (1100 / 7, 500.0)
    assert second["write_latency_max_us"] == 12.0


def test_only_timed_runs_have_latencies_in_their_series() -> None:
    settings = {"drive.capacity": "64 MiB", "workload.requests": 3000, "workload.read_share": 0.5}
    assert not [name for name in floatgate.run(settings).series.column_names if "latency" in name]
    run = floatgate.run(settings, set={"mode": "timed"})
    rows = run.series.to_pydict()
    for kind in ("read", "write"):
        facts = run.latency_us[kind]
        assert sum(rows[f"{kind}s_done"]) == facts["count"]
        assert sum(rows[f"{kind}_latency_sum_us"]) == pytest.approx(facts["mean"] * facts["count"])
        assert max(value for value in rows[f"{kind}_latency_max_us"] if value is not None) == facts["max"]
    assert run.series.field("read_latency_mean_us").metadata[b"unit"] == b"us, mean of the latencies of the reads done"
