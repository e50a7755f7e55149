"""``floatgate trace record`` from end to end, on a C program and on Python."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conftest import Cli
from floatgate.base.units import counted
from floatgate.trace.recorder import backends

WRITER = """
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char page[4096];
__attribute__((noinline)) void logs(int fd) { for (int i = 0; i < 4; i++) if (write(fd, page, 4096) < 0) exit(9); }
__attribute__((noinline)) void update(int fd) {
  for (int i = 0; i < 3; i++) { if (pwrite(fd, page, 4096, 4096) < 0) exit(9); fsync(fd); }
}
int main(int count, char **arguments) {
  memset(page, 'x', sizeof page);
  int log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0644), table = open("table", O_RDWR | O_CREAT, 0644);
  logs(log);
  update(table);
  int scratch = open("scratch", O_WRONLY | O_CREAT, 0644);
  logs(scratch);
  fsync(scratch);
  unlink("scratch");
  return count > 1 ? atoi(arguments[1]) : 0;
}
"""


@functools.cache
def problem(backend: str, folder: Path) -> backends.Problem | None:
    return backends.strace_problem(folder) if backend == "strace" else backends.perf_problem(folder)


@pytest.fixture(params=["strace", "perf"])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Every back end that works here."""
    name: str = request.param
    why = problem(name, tmp_path_factory.getbasetemp())
    if why is not None:
        pytest.skip(f"{name}: {why}")
    return name


@pytest.fixture
def some_backend(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The first back end that works here, the quicker one to start first."""
    why = {name: problem(name, tmp_path_factory.getbasetemp()) for name in ("strace", "perf")}
    working = [name for name, reason in why.items() if reason is None]
    if not working:
        pytest.skip(f"no back end works here: {why}")
    return working[0]


@pytest.fixture
def writer(tmp_path: Path) -> Path:
    """A program that writes a log and updates a table."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing")
    source, program = tmp_path / "writer.c", tmp_path / "writer"
    source.write_text(WRITER)
    subprocess.run(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", source, "-o", program], check=True)
    return program


def described(path: Path) -> dict[str, Any]:
    metadata: dict[str, Any] = json.loads(pq.ParquetFile(path).metadata.metadata[b"floatgate"])
    return metadata


def test_a_program_is_recorded(cli: Cli, writer: Path, tmp_path: Path, backend: str) -> None:
    facts = json.loads(cli("trace", "record", "--backend", backend, "-o", "t.parquet", "--json", "--", writer).done())
    assert facts["pages_written"] == 4 + 3 + 4
    assert (facts["updates"], facts["trims"], facts["contexts"]) == (2, 1, 3)
    assert (facts["exit_status"], facts["lost_events"], facts["malformed_lines"]) == (0, 0, 0)
    table = pq.read_table(tmp_path / "t.parquet")
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("time_ns", "int64"),
        ("device", "dictionary<values=string, indices=int32, ordered=0>"),
        ("op", "dictionary<values=string, indices=int8, ordered=0>"),
        ("offset", "uint64"),
        ("bytes", "uint64"),
        ("context", "uint64"),
        ("process", "uint32"),
        ("thread", "uint32"),
        ("fd", "int32"),
        ("file", "uint32"),
    ]
    rows = table.to_pylist()
    mib = 1 << 20
    assert [(row["op"], row["offset"], row["bytes"]) for row in rows] == [
        *[("write", mib + 4096, 4096)] * 3,
        ("write", 2 * mib, 16384),
        ("trim", 2 * mib, 16384),
        ("write", 0, 16384),  # the log, by the flusher, after the program's end
    ]
    times = [row["time_ns"] for row in rows]
    assert times == sorted(times)
    assert times[-1] - times[0] > 25e9
    metadata = described(tmp_path / "t.parquet")
    assert metadata["schema"] == "floatgate.trace/1"
    names = {key: value["name"] for key, value in metadata["contexts"].items()}
    assert names[str(rows[0]["context"])].startswith("update < main")
    assert names[str(rows[3]["context"])].startswith("logs < main")
    assert names[str(rows[5]["context"])].startswith("logs < main")
    assert rows[3]["context"] != rows[5]["context"]  # the same function, called from two places
    assert rows[4]["context"] is None
    assert metadata["recorder"]["backend"] == backend
    (process,) = {row["process"] for row in rows if row["op"] == "write"}
    assert metadata["processes"] == {str(process): {"name": "writer", "programs": ["writer"]}}
    assert {row["thread"] for row in rows} == {process, None}
    assert 2 < rows[5]["fd"] < rows[0]["fd"] < rows[3]["fd"]  # perf leaves descriptors of its own open in between
    assert [rows[4][column] for column in ("process", "thread", "fd")] == [None] * 3
    files = {Path(metadata["files"][str(row["file"])]).name for row in (rows[5], rows[0], rows[3])}
    assert files == {"log", "table", "scratch"}
    assert metadata["recorder"]["cache"]["writeback"] == "linux"


def test_evictions_alone_write(cli: Cli, writer: Path, tmp_path: Path, some_backend: str) -> None:
    # Two pages of cache. The log's four pages push out its first two; the table's page the third; scratch's four pages
    # the fourth, the table's and the first two of its own; the other two are deleted in the cache.
    command = ("trace", "record", "--backend", some_backend, "--writeback", "lru", "--force", "-o", "t.parquet")
    facts = json.loads(cli(*command, "--cache-mb", 2 / 256, "--json", "--", writer).done())
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    mib = 1 << 20
    assert [(row["op"], row["offset"], row["bytes"]) for row in rows] == [
        *[("write", page * 4096, 4096) for page in range(4)],
        ("write", mib + 4096, 4096),
        *[("write", 2 * mib + page * 4096, 4096) for page in range(2)],
        ("trim", 2 * mib, 8192),
    ]
    assert facts["cache"] == {"writeback": "lru", "cache_mb": 2 / 256}
    assert (facts["pages_written"], facts["updates"], facts["dirty_at_end"]) == (7, 0, 0)
    recorder = described(tmp_path / "t.parquet")["recorder"]
    assert (recorder["cache"], recorder["dirty_at_end"]) == (facts["cache"], 0)
    text = cli(*command, "--cache-mb", 5 / 256, "--", writer).done()
    assert "cache      0.0195312 MiB, evictions alone; 1 page dirty in it at the end\n" in text
    message = cli(*command, "--", writer).refused()
    assert message.endswith(
        "wrote 5 pages, which all stayed in the cache of 262144 pages; expected a smaller --cache-mb, a program that "
        "writes more, or --writeback linux"
    )


def test_threads_and_children_are_told_apart(cli: Cli, tmp_path: Path, backend: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, threading, subprocess\n"
        "def work(name):\n"
        "    with open(name, 'wb', buffering=0) as file:\n"
        "        file.write(b'y' * 4096); os.fsync(file.fileno())\n"
        "work('main')\n"
        "thread = threading.Thread(target=work, args=('thread',)); thread.start(); thread.join()\n"
        "if os.fork() == 0:\n"
        "    work('child'); os._exit(0)\n"
        "os.wait()\n"
        "subprocess.run(['dd', 'if=/dev/zero', 'of=dd', 'bs=4096', 'count=1', 'conv=fsync'], check=True)\n"
    )
    command = ("trace", "record", "-q", "--backend", backend, "-o", "t.parquet", "--", sys.executable, "-B", script)
    cli(*command).done()
    metadata = described(tmp_path / "t.parquet")
    rows = {
        Path(metadata["files"][str(row["file"])]).name: row
        for row in pq.read_table(tmp_path / "t.parquet").to_pylist()
        if row["op"] == "write"
    }
    by = {name: (row["process"], row["thread"]) for name, row in rows.items()}
    assert by["main"][0] == by["main"][1] == by["thread"][0]
    assert by["thread"][1] != by["main"][1]
    assert len({process for process, _ in by.values()}) == 3
    programs = {name: metadata["processes"][str(row["process"])] for name, row in rows.items()}
    python = programs["main"]["name"]
    assert programs["child"] == {"name": python, "programs": [python]}
    assert programs["dd"] == {"name": "dd", "programs": [python, "dd"]}


def test_contexts_are_the_same_on_every_run_and_back_end(cli: Cli, writer: Path, tmp_path: Path) -> None:
    recorded = []
    for number, name in enumerate(("strace", "strace", "perf", "perf")):
        if problem(name, tmp_path) is None:
            out = tmp_path / f"{number}.parquet"
            cli("trace", "record", "-q", "--backend", name, "-o", out, "--", "sh", "-c", writer).done()
            recorded.append(set(described(out)["contexts"]))
    if not recorded:
        pytest.skip(f"no back end works here: {problem('strace', tmp_path)}")
    assert len(recorded[0]) == 3
    assert all(contexts == recorded[0] for contexts in recorded)


def test_python_with_threads_and_children(cli: Cli, tmp_path: Path, backend: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, threading\n"
        "def work(name):\n"
        "    with open(name, 'wb', buffering=0) as file:\n"
        "        for _ in range(5): file.write(b'y' * 5000)\n"
        "        os.fsync(file.fileno())\n"
        "threads = [threading.Thread(target=work, args=(f't{n}',)) for n in range(3)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "if os.fork() == 0:\n"
        "    work('child'); os._exit(0)\n"
        "os.wait()\n"
    )
    command = ("trace", "record", "--backend", backend, "-o", "t.parquet", "--content", "--json", "--")
    facts = json.loads(cli(*command, sys.executable, "-B", script).done())
    assert facts["pages_written"] == 4 * 7  # 25,000 bytes each
    assert facts["writes_elsewhere"] == 0
    rows = [row for row in pq.read_table(tmp_path / "t.parquet").to_pylist() if row["op"] == "write"]
    full = int.from_bytes(hashlib.blake2b(b"y" * 4096, digest_size=8).digest(), "little")
    prints = [value for row in rows for value in row["fingerprints"]]
    assert prints.count(full) == 4 * 6
    assert all(0 < size < 100 for row in rows for size in row["compressed_bytes"])
    recorder = described(tmp_path / "t.parquet")["recorder"]
    assert (recorder["content"]["pages_known"], recorder["content"]["pages_unknown"]) == (28, 0)


def test_content_is_known_for_the_last_write_alone(cli: Cli, writer: Path, tmp_path: Path) -> None:
    if problem("perf", tmp_path) is not None:
        pytest.skip(f"perf: {problem('perf', tmp_path)}")
    text = cli("trace", "record", "--backend", "perf", "-o", "t.parquet", "--content", "--", writer).done()
    assert "45 % of page writes known (5 of 11): the last write of each page; --backend strace sees" in text
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    known = [None if row["fingerprints"] is None else [v is not None for v in row["fingerprints"]] for row in rows]
    assert known == [[False], [False], [True], [False] * 4, None, [True] * 4]


def test_a_failing_program_is_told_and_its_trace_kept(
    cli: Cli, writer: Path, tmp_path: Path, some_backend: str
) -> None:
    outcome = cli("trace", "record", "--backend", some_backend, "-o", "t.parquet", "--", writer, "7")
    assert outcome.status == 1
    assert f"error: '{writer}' ended with status 7; its trace is kept in t.parquet" in outcome.err
    assert "contexts   3" in outcome.out
    assert described(tmp_path / "t.parquet")["recorder"]["exit_status"] == 7
    killed = cli(
        "trace", "record", "-q", "--backend", some_backend, "-o", "k.parquet", "--", "sh", "-c", f"{writer}; kill -9 $$"
    )
    assert "ended with status 137" in killed.err


def test_the_summary_for_people(cli: Cli, writer: Path, some_backend: str) -> None:
    text = cli("trace", "record", "--backend", some_backend, "--measure-overhead", "--", writer).done()
    assert "recorded.parquet" in text
    assert "times as long" in text
    assert "100 %" in text  # both updates replace what `update` wrote


def test_a_second_run_that_fails_has_no_slowdown(cli: Cli, writer: Path, tmp_path: Path, some_backend: str) -> None:
    twice = f"test ! -e there || exit 3; touch there; {writer}"
    record = ("trace", "record", "--backend", some_backend, "--measure-overhead")
    outcome = cli(*record, "-o", "t.parquet", "--json", "--", "sh", "-c", twice)
    assert outcome.status == 1
    facts = json.loads(outcome.out)
    assert (facts["exit_status"], facts["exit_status_without"]) == (0, 3)
    assert facts["slowdown"] is None
    assert facts["program_without_s"] is None
    assert "the second run of 'sh', without the recorder, ended with status 3" in outcome.err
    assert "times as long" not in outcome.err
    assert (tmp_path / "t.parquet").exists()
    failed = cli(*record, "-o", "f.parquet", "--", writer, "7")
    assert failed.status == 1
    assert f"'{writer}' ended with status 7" in failed.err
    assert "times as long" not in failed.out


def test_nothing_is_kept_where_nothing_was_written(cli: Cli, tmp_path: Path, some_backend: str) -> None:
    message = cli("trace", "record", "--backend", some_backend, "--", "true").refused()
    assert "wrote no file" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "no command to record"),
        (["--", "no-such-program"], "'no-such-program': no such program"),
        (["--backend", "best", "--", "true"], "'perf', 'strace'"),
        (["--cache-mb", "0", "--", "true"], "--cache-mb: 0; expected"),
        (["--cache-mb", "nan", "--", "true"], "--cache-mb: nan; expected"),
        (["--dirty-ratio", "1.5", "--", "true"], "a share above 0, at most 1"),
        (["--flush-interval-s", "-1", "--", "true"], "--flush-interval-s: -1; expected"),
        (["--stack-bytes", "1001", "--", "true"], "--stack-bytes: 1001; expected"),
        (["--writeback", "mru", "--", "true"], "--writeback: 'mru' is unknown; did you mean 'lru'?"),
        (
            ["--writeback", "lru", "--dirty-ratio", "0.1", "--", "true"],
            "--dirty-ratio: has no effect under --writeback lru; expected --writeback linux",
        ),
        (
            ["--writeback", "lru", "--flush-interval-s", "5", "--", "true"],
            "--flush-interval-s: has no effect under --writeback lru; expected --writeback linux",
        ),
        (["-o", ".", "--", "true"], "is a directory"),
        (["-o", "there", "--", "true"], "exists already"),
    ],
)
def test_unusable_input(cli: Cli, tmp_path: Path, arguments: list[str], expected: str) -> None:
    (tmp_path / "there").touch()
    assert expected in cli("trace", "record", *arguments).refused()


def test_without_a_back_end_it_says_what_to_allow(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    message = cli("trace", "record", "--", program).refused()
    assert "perf is not installed" in message
    assert "strace is not installed" in message
    assert "install perf (package linux-perf" in message
    assert message.endswith("; install strace (package strace)")
    assert "sysctl" not in message
    for name, package in (("perf", "linux-perf"), ("strace", "strace")):
        message = cli("trace", "record", "--backend", name, "--", program).refused()
        assert message.startswith(f"--backend {name}: {name} is not installed; install {name} (package {package}")
        assert "sysctl" not in message
        assert "--backend strace" not in message.removeprefix("--backend strace")


@pytest.mark.parametrize("options", [(), ("--backend", "perf"), ("--backend", "strace")])
def test_with_perf_alone_it_says_to_install_strace(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    perf, true = shutil.which("perf"), shutil.which("true")
    if perf is None or true is None:
        pytest.skip("perf is missing")
    for program in (perf, true):
        (tmp_path / Path(program).name).symlink_to(program)
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    message = cli("trace", "record", *options, "--", "true").refused()
    assert "strace is not installed" in message
    assert message.count("install strace (package strace)") == 1
    assert "sysctl" not in message


def test_what_is_single_is_told_so(cli: Cli, some_backend: str) -> None:
    text = cli("trace", "record", "--backend", some_backend, "--", "sh", "-c", "printf x > one").done()
    assert "requests   1: 1 write\n" in text
    assert "drive      1 file on " in text
    command = "import os; f = os.open('f', 65); [(os.pwrite(f, b'x', 0), os.fsync(f)) for _ in range(2)]"
    text = cli("trace", "record", "--force", "--backend", some_backend, "--", sys.executable, "-IBSc", command).done()
    assert "requests   2: 2 writes\n" in text
    assert "pages      2 of 4 KiB written, 1 of them overwrites data\n" in text


@pytest.mark.parametrize(("count", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_counts(count: int, text: str) -> None:
    assert counted(count, "file") == text
