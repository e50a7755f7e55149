"""The log of requests, and queues chosen by the streams of a trace."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import SMALL, Cli

TIMED = {**SMALL, "mode": "timed", "workload.requests": 150_000, "workload.read_share": 0.5}
QUEUES = {"host.queues": 2, "host.outstanding_max": 4, "host.priorities": [0, 1], "workload.arrival": "closed"}


def log_of(path: Path, **settings: object) -> tuple[floatgate.Run, pa.Table]:
    run = floatgate.run(TIMED, set=settings, log_requests=path)
    return run, pq.read_table(path)


def test_the_log_tells_what_the_result_sums_up(tmp_path: Path) -> None:
    run, log = log_of(tmp_path / "r.parquet", **QUEUES)
    assert log.num_rows == 150_000 > 2 * 65_536
    assert sorted(log["request"].to_pylist()) == list(range(1, 150_001))
    completed = log["completed_ns"].to_numpy()
    assert (np.diff(completed.astype("i8")) >= 0).all()
    assert (log["latency_ns"].to_numpy() == completed - log["arrival_ns"].to_numpy()).all()
    for op in ("read", "write"):
        rows = log.filter(pc.equal(log["op"].cast(pa.string()), op))
        facts = run.latency_us[op]
        assert rows.num_rows == facts.count
        assert rows["latency_ns"].to_numpy().mean() / 1e3 == pytest.approx(facts.mean, rel=1e-12)
        assert rows["latency_ns"].to_numpy().max() / 1e3 == facts.max
        waits = rows["fetched_ns"].to_numpy() - rows["arrival_ns"].to_numpy()
        assert waits.mean() / 1e3 == pytest.approx(run.latency_us.queue_wait[op], rel=1e-12)
    by_queue = [rows.requests for rows in run.latency_us.queues]
    assert by_queue == [int((log["queue"].to_numpy() == queue).sum()) for queue in (0, 1)]
    metadata = json.loads(pq.read_schema(tmp_path / "r.parquet").metadata[b"floatgate"])
    assert metadata == {"schema": "floatgate.requests/1"}


def test_logging_changes_nothing_and_repeats(tmp_path: Path) -> None:
    def without_run(run: floatgate.Run) -> dict[str, object]:
        return {key: value for key, value in run.result.items() if key != "run"}

    run, _ = log_of(tmp_path / "a.parquet")
    assert without_run(run) == without_run(floatgate.run(TIMED))
    log_of(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_the_command_puts_the_log_into_the_run_folder(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("run", experiment, "--set", "mode=timed", "--log-requests", "--no-report", "--out", "r").done()
    result = json.loads((tmp_path / "r/result.json").read_text("utf-8"))
    log = pq.read_table(tmp_path / "r/requests.parquet")
    assert log.num_rows == result["workload"]["requests"]
    assert {entry.name for entry in (tmp_path / "r").iterdir()} == {
        "result.json",
        "experiment.toml",
        "series.parquet",
        "requests.parquet",
        "timeline.parquet",
    }


def test_sql_subtracts_any_two_times(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    """Unsigned times ended in an overflow where the second one was larger."""
    cli("run", experiment, "--set", "mode=timed", "--log-requests", "--no-report", "--out", "r").done()
    sql = (
        "select r.arrival_ns - r.completed_ns as early, r.fetched_ns - s.to_ns, r.latency_ns - s.from_ns, "
        "r.request - s.from_ns, s.from_ns - s.to_ns as before, r.latency_ns "
        f"from (from '{tmp_path}/r/requests.parquet' limit 100) r, (from '{tmp_path}/r/timeline.parquet' limit 100) s"
    )
    rows = floatgate.query([tmp_path / "r"], sql, allow_files=True).to_pylist()
    assert all(row["early"] == -row["latency_ns"] for row in rows)
    assert all(row["before"] < 0 for row in rows)


def test_what_fails_leaves_no_log(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    there = sorted(tmp_path.iterdir())
    refused = cli("run", experiment, "--log-requests").refused()
    assert refused == (
        'mode: functional mode models no time; there is no request log; expected mode = "timed", or no request log'
    )
    refused = cli("run", experiment, "--set", "mode=timed", "--log-requests", "--repeat", "2").refused()
    assert refused == "--log-requests: a log belongs to one run; expected no --repeat with it"
    worn = ("--set", "mode=timed", "--set", "drive.endurance.pe_cycles=1")
    cli("run", experiment, *worn, "--log-requests", "--out", "r").refused(1)
    assert sorted(tmp_path.iterdir()) == there
    (tmp_path / "full").mkdir()
    with pytest.raises(floatgate.InputError, match=r"full: is a directory; expected a file that can be written"):
        floatgate.run(TIMED, log_requests=tmp_path / "full")
    with pytest.raises(floatgate.RunError, match="worn out"):
        floatgate.run(TIMED, set={"drive.endurance.pe_cycles": 1}, log_requests=tmp_path / "none.parquet")
    assert not list(tmp_path.glob("*none*"))


def test_streams_choose_queues(cli: Cli, tmp_path: Path) -> None:
    n = 300
    columns = {
        "time_ns": pa.array(np.arange(n) * 1000, pa.int64()),
        "op": pa.array(["write"] * n).dictionary_encode(),
        "offset": pa.array(np.arange(n, dtype="u8") * 4096),
        "bytes": pa.array(np.full(n, 4096, "u8")),
        "stream": pa.array(np.arange(n, dtype="u4") // 7 % 5),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    small = ("--set", "drive.capacity=64 MiB", "--set", "ftl.precondition=none", "--set", "mode=timed")
    host = ("--set", "host.queues=3", "--set", "host.outstanding_max=1", "--set", "host.queue_of=stream")
    cli("run", "--trace", "t.parquet", *small, *host, "--log-requests", "--no-report", "--out", "r").done()
    log = pq.read_table(tmp_path / "r/requests.parquet")
    assert (log["queue"].to_numpy() == (log["request"].to_numpy() - 1) // 7 % 5 % 3).all()
