"""Sweeps on a real scheduler of Dask, with workers that are processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import Cli, Outcome

VARY = ("--vary", "ftl.spare_factor=0.2..0.4:10", "--vary", "ftl.collect.policy=greedy,fifo", "--no-report")


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


ONE_THREAD = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", ".")


class Cluster:
    """A scheduler and its workers, in folders of their own."""

    def __init__(self, folder: Path, certificates: dict[str, str] | None = None) -> None:
        """Start the scheduler; with certificates, as Dask's environment variables name them, it speaks TLS alone."""
        self.folder, self.port, self.certificates = folder, free_port(), certificates
        self.on = f"{'dask' if certificates is None else 'tls'}://127.0.0.1:{self.port}"
        self.address = f"{'tcp' if certificates is None else 'tls'}://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        port = ("--port", str(self.port), "--dashboard-address", f"127.0.0.1:{free_port()}")
        protocol = () if certificates is None else ("--protocol", "tls")
        self.scheduler = self._start("scheduler", "Scheduler at", "scheduler", *port, *protocol)

    def _start(self, name: str, until: str, *arguments: str) -> subprocess.Popen[bytes]:
        process = self.begin(name, *arguments, **(self.certificates or {}))
        log = self.folder / name / "log"
        end = time.monotonic() + 90
        while until not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        return process

    def begin(self, name: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a process of Dask in a folder of its own, where it writes its log."""
        place = self.folder / name
        place.mkdir()
        with (place / "log").open("wb") as out:
            command = [sys.executable, "-m", "dask", *arguments]
            variables = {**os.environ, **environment}
            process = subprocess.Popen(command, cwd=place, stdout=out, stderr=subprocess.STDOUT, env=variables)
        self.processes.append(process)
        return process

    def worker(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        """A worker with one thread that has registered."""
        return self._start(name, "Registered to", "worker", self.address, *ONE_THREAD, *options)

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait(timeout=60)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.close()


@pytest.mark.long
def test_one_of_two_workers_is_killed_and_the_table_is_that_of_a_local_sweep(
    cli: Cli, cluster: Cluster, experiment: Path, tmp_path: Path
) -> None:
    first, _ = cluster.worker("one"), cluster.worker("two")
    more = ("--set", "workload.requests=1000000", "--repeat", "2")
    command = [sys.executable, "-m", "floatgate", "sweep", str(experiment), *VARY, *more, "--out", "d"]
    sweep = subprocess.Popen(
        [*command, "--on", cluster.on], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    journal = tmp_path / "d" / "journal.jsonl"
    end = time.monotonic() + 90
    while not (journal.exists() and len(workers_in(journal)) == 2):
        assert sweep.poll() is None, sweep.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)
    first.kill()
    # One that comes later is given work too.
    cluster.worker("three")
    out, err = sweep.communicate(timeout=110)
    # On a slow machine lines say how far it is.
    others = [line for line in err.decode().splitlines() if not re.fullmatch(r".*\(\d+ s\)", line)]
    assert (sweep.returncode, others) == (0, []), (out, err)
    assert b"dashboard  http://" in out
    cli("sweep", experiment, *VARY, *more, "--out", "l").done()
    assert (tmp_path / "d/sweep.parquet").read_bytes() == (tmp_path / "l/sweep.parquet").read_bytes()


def workers_in(journal: Path) -> set[str]:
    return set(re.findall(r'"worker":"([^"]+)"', journal.read_text("utf-8")))


@pytest.mark.long
def test_a_trace_that_workers_do_not_see_goes_to_each_of_them_once(
    cli: Cli, cluster: Cluster, trace: Path, tmp_path: Path
) -> None:
    cluster.worker("one")
    cluster.worker("two")
    # The folder of the process: workers have another, so the path says nothing to them.
    assert trace.parent == tmp_path
    (tmp_path / "e.toml").write_text('[drive]\ncapacity = "64 MiB"\n[workload]\nfile = "/proc/self/cwd/two.csv"\n')
    options = ("--vary", "ftl.spare_factor=0.2..0.4:12", "--set", "workload.repeat=20", "--no-report")
    cli("sweep", "e.toml", *options, "--out", "d", "--on", cluster.on).done()
    cli("sweep", "e.toml", *options, "--out", "l").done()
    assert (tmp_path / "d/sweep.parquet").read_bytes() == (tmp_path / "l/sweep.parquet").read_bytes()
    placed = sorted(cluster.folder.rglob("floatgate-files/*/two.csv"))
    assert len(placed) == len(workers_in(tmp_path / "d/journal.jsonl"))
    assert {path.read_bytes() for path in placed} == {trace.read_bytes()}


def test_failed_runs_are_rows_as_in_a_local_sweep(cli: Cli, cluster: Cluster, experiment: Path, tmp_path: Path) -> None:
    cluster.worker("one")
    vary = ("--vary", "ftl.spare_factor=0.1,0.4", "--vary", "ftl.collect.trigger_free_blocks=2,60", "--no-report")

    def swept(out: str, *options: str) -> Outcome:
        return cli("sweep", experiment, *vary, "--vary", "drive.endurance.pe_cycles=3000,1", "--out", out, *options)

    ended = [swept("d", "--on", cluster.on), swept("l")]
    assert [one.status for one in ended] == [1, 1]
    assert ended[0].err == ended[1].err
    assert (tmp_path / "d/sweep.parquet").read_bytes() == (tmp_path / "l/sweep.parquet").read_bytes()
    kinds = [row["status"] for row in pq.read_table(tmp_path / "d/sweep.parquet").to_pylist()]
    assert kinds == ["done", "failed", "unusable", "unusable", "done", "failed", "done", "failed"]


def test_a_leaderboard_on_workers_is_the_leaderboard_here(cli: Cli, cluster: Cluster) -> None:
    cluster.worker("one")
    command = ("leaderboard", "reporting", "--only", "dac", "--spare-factors", "0.15", "--repeat", "1", "--no-report")
    there = json.loads(cli(*command, "--out", "d", "--json", "-", "--on", cluster.on).done())
    here = json.loads(cli(*command, "--out", "l", "--json", "-").done())
    assert there["fields"] == here["fields"]
    assert [row["memory_bytes"] for row in there["standings"]] == [row["memory_bytes"] for row in here["standings"]]


def test_a_search_on_workers_is_the_search_here(cli: Cli, cluster: Cluster, experiment: Path, tmp_path: Path) -> None:
    cluster.worker("one")
    cluster.worker("two")
    options = ("--vary", "ftl.spare_factor=0.1..0.4", "--vary", "ftl.collect.policy=greedy,fifo", "--trials", "12")
    command = ("tune", experiment, "--minimise", "waf_bytes", *options, "--no-report")
    cli(*command, "--out", "d", "--on", cluster.on).done()
    cli(*command, "--out", "l").done()
    assert (tmp_path / "d/sweep.parquet").read_bytes() == (tmp_path / "l/sweep.parquet").read_bytes()
    assert (tmp_path / "d/best.toml").read_text() == (tmp_path / "l/best.toml").read_text()


OTHER = """
from floatgate.study.runs import on_worker
mine = on_worker.identity()
on_worker.identity = lambda: {**mine, %s}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("identity", "message"),
    [
        ('"version": "0.0.9"', "has floatgate 0.0.9; expected 0.1.0, as here: install it there"),
        ('"results": "0"', "has another build of floatgate 0.1.0, whose results differ"),
    ],
)
def test_a_worker_of_another_version_is_refused_by_name(
    cli: Cli, cluster: Cluster, experiment: Path, tmp_path: Path, identity: str, message: str
) -> None:
    (tmp_path / "other.py").write_text(OTHER % identity)
    cluster.worker("one")
    cluster.worker("two", "--preload", str(tmp_path / "other.py"))
    refused = cli("sweep", experiment, *VARY, "--out", "d", "--on", cluster.on).refused()
    assert re.match(r"worker tcp://127\.0\.0\.1:\d+: ", refused)
    assert message in refused
    assert not (tmp_path / "d").exists()


def test_a_scheduler_that_does_not_answer_is_named_with_the_remedy(
    cli: Cli, experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    port = free_port()
    error = cli("sweep", experiment, *VARY, "--out", "d", "--on", f"dask://127.0.0.1:{port}").refused()
    assert error.startswith(f"--on dask://127.0.0.1:{port}: no scheduler answers within 1 s (")
    assert f"dask scheduler --port {port}" in error
    assert not (tmp_path / "d").exists()


def test_a_scheduler_without_workers_is_refused(
    cli: Cli, cluster: Cluster, experiment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "2s")
    error = cli("sweep", experiment, *VARY, "--on", cluster.on).refused()
    assert "the scheduler has no worker; expected one: dask worker tcp://127.0.0.1:" in error


@pytest.mark.long
def test_a_sweep_outlives_its_scheduler(cli: Cli, cluster: Cluster, experiment: Path, tmp_path: Path) -> None:
    cluster.worker("one")
    more = ("--set", "workload.requests=2000000", "--out", "d")
    command = [sys.executable, "-m", "floatgate", "sweep", str(experiment), *VARY, *more, "--on", cluster.on]
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}
    sweep = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    journal = tmp_path / "d" / "journal.jsonl"
    end = time.monotonic() + 90
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
        assert sweep.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    cluster.scheduler.send_signal(signal.SIGKILL)
    _, err = sweep.communicate(timeout=110)
    lines = err.decode().splitlines()
    assert sweep.returncode == 2, lines
    assert lines[0].startswith(f"error: --on {cluster.on}: the scheduler is gone; expected it to run")
    assert "Traceback" not in err.decode()
    cli("sweep", "--out", "d", "--resume", "--no-report").done()
    assert pq.read_table(tmp_path / "d/sweep.parquet").num_rows == 20


def test_workers_load_policies_only_where_they_may(cluster: Cluster, cli: Cli, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "import floatgate\n"
        '@floatgate.victim_policy("own-one", order="closing", compiled=False)\n'
        "class OwnOne:\n"
        "    def pick(blocks, p):\n"
        "        return blocks.first\n"
    )
    words = ("--policy", own, "--vary", "ftl.collect.policy=fifo,own-one", "--no-report", "--quiet")
    few = ("--set", "drive.capacity=64 MiB", "--set", "workload.requests=20000")
    cluster.worker("closed")
    message = cli("sweep", *few, *words, "--on", cluster.on, "--out", "refused").refused()
    assert "loads no policies from outside; expected FLOATGATE_WORKER_POLICIES=1 in the environment" in message
    closed = cluster.processes.pop()
    closed.kill()
    closed.wait(timeout=60)
    os.environ["FLOATGATE_WORKER_POLICIES"] = "1"
    try:
        cluster.worker("open")
    finally:
        del os.environ["FLOATGATE_WORKER_POLICIES"]
    cli("sweep", *few, *words, "--on", cluster.on, "--out", "there").done()
    cli("sweep", *few, *words, "--out", "here").done()
    cli("sweep", *few, *words, "--memory", "1GiB", "--out", "limited").done()
    here, there, limited = (
        pq.read_table(tmp_path / name / "sweep.parquet", columns=["ftl.collect.policy", "waf"]).to_pylist()
        for name in ("here", "there", "limited")
    )
    assert here == there == limited
    assert here[0]["waf"] == here[1]["waf"]
