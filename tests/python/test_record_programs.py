"""Lessons of recording real programs (compilers, databases): each case once went wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import Cli
from floatgate.trace.recorder import backends

OPENS = 300


def test_perf_keeps_no_stacks_of_strace(tmp_path: Path) -> None:
    # Strace writes each of its lines by itself; of a compilation these were 98 of 100 events.
    why = backends.perf_problem(tmp_path)
    if why is not None:
        pytest.skip(f"perf: {why}")
    program = f"[open({str(tmp_path / 'out')!r}, 'w').close() for _ in range({OPENS})]"
    choice = backends.Choice(backends.PERF, "for the test")
    recording = backends.run(choice, [sys.executable, "-c", program], tmp_path, reads=False, stack_bytes=8192)
    assert recording.perf_text_file is not None
    text = recording.perf_text_file.read_text(errors="replace")
    ours = [line for line in text.splitlines() if line.lstrip().startswith(f"{recording.strace_process}/")]
    assert len(ours) < OPENS / 10  # the shell that tells strace's number has it too
    assert recording.strace_file.read_text().count("O_TRUNC") >= OPENS


def test_the_ring_follows_the_free_memory() -> None:
    assert backends.ring_mib(0, 2) == 16
    assert backends.ring_mib(8 << 30, 2) == 128  # 8 GiB / 32 / 2
    assert backends.ring_mib(10 << 30, 2) == 128  # a power of two
    assert backends.ring_mib(1 << 40, 2) == 256


def test_only_contexts_of_the_trace_are_described(cli: Cli, tmp_path: Path) -> None:
    # A compiler's temporary files are gone before they are written back: their contexts stand in no request.
    program = "\n".join(
        [
            "import os",
            "def keep():",
            "    with open('kept', 'wb') as file: file.write(b'k' * 9000)",
            "keep()",
            "file = os.open('gone', os.O_WRONLY | os.O_CREAT)",
            "os.pwrite(file, b'g' * 9000, 0)",
            "os.close(file)",
            "os.unlink('gone')",
        ]
    )
    out = tmp_path / "short.parquet"
    cli("trace", "record", "-o", out, "--", sys.executable, "-c", program).done()
    table = pq.read_table(out)
    described = set(json.loads(pq.ParquetFile(out).metadata.metadata[b"floatgate"])["contexts"])
    assert described == {str(value) for value in table["context"].to_pylist() if value is not None}
    assert len(described) == 1
