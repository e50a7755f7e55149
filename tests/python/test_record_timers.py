"""Programs with timers under the recorder: they reach their end, and the cause of the end is known."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from test_record_cli import backend, problem

__all__ = ["backend"]
SOURCE = Path(__file__).parent / "test_record_samples" / "timer.c"
PATIENCE_S = 120
"""Natively the program takes some 20 ms, recorded a second; where it hangs, for ever."""


def test_a_timer_does_not_keep_a_program_from_its_end(tmp_path: Path) -> None:
    why = problem("strace", tmp_path)
    if why is not None:
        pytest.skip(f"strace: {why}")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing")
    program = tmp_path / "timer"
    subprocess.run(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", SOURCE, "-o", program], check=True)
    # If it hangs, timeout ends the program itself, and leaves no process behind.
    bounded = ["timeout", "-s", "KILL", str(PATIENCE_S), str(program)]
    command = [sys.executable, "-m", "floatgate", "trace", "record", "--backend", "strace", "--json", "--", *bounded]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=2 * PATIENCE_S)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["pages_written"], facts["exit_status"]) == (20, 0)


def test_the_signal_of_a_timer_that_ends_a_program_is_its_status(cli: Cli, backend: str) -> None:
    script = "printf x > file; kill -ALRM $$"
    ended = cli("trace", "record", "-q", "--backend", backend, "-o", "t.parquet", "--", "sh", "-c", script)
    assert ended.status == 1
    assert "ended with status 142; its trace is kept" in ended.err
