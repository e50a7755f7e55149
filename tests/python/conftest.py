"""What the tests share: the command line as a user meets it, a small experiment, a small trace."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

import floatgate
from floatgate import charts

# Charts that tests make in their own process are held against the schema of Vega-Lite.
charts.CHECKED = True

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

SMALL = {
    "drive.capacity": "64 MiB",
    "drive.geometry.pages_per_block": 64,
    "ftl.spare_factor": 0.2,
    "ftl.precondition": "random",
    "workload.requests": 60_000,
    "workload.rate_per_s": 1000.0,
}
"""Settings of a drive of 256 blocks that collects garbage within a blink."""


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int
    out: str
    err: str

    def refused(self, status: int = 2) -> str:
        """The error's text, after checking the form that every error has."""
        assert self.status == status, (self.status, self.out, self.err)
        assert self.out == ""
        first = self.err.splitlines()[0]
        assert first.startswith("error: ")
        assert "Traceback" not in self.err
        assert "panicked" not in self.err
        assert "\x1b" not in self.err
        return first.removeprefix("error: ")

    def done(self) -> str:
        """Standard output, after checking that nothing went wrong."""
        assert self.status == 0, (self.status, self.err)
        return self.out


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run ``floatgate ARGUMENTS`` in a folder of its own."""

    def call(*arguments: str | Path) -> Outcome:
        environment = {**os.environ, "NO_COLOR": "1"}
        command = [sys.executable, "-m", "floatgate", *map(str, arguments)]
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=120)
        return Outcome(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    return call


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """A small experiment file."""
    path = tmp_path / "small.toml"
    tables: dict[str, list[str]] = {}
    for key, value in SMALL.items():
        table, _, name = key.rpartition(".")
        tables.setdefault(table, []).append(f"{name} = {value!r}".replace("'", '"'))
    path.write_text("seed = 3\n" + "\n".join(f"[{table}]\n" + "\n".join(lines) for table, lines in tables.items()))
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """An MSR trace of two devices over 99.9 s: 1000 writes of 8 KiB and 100 reads."""
    path = tmp_path / "two.csv"
    start = 128_166_372_003_061_629
    lines = []
    for number in range(1000):
        stamp = start + number * 1_000_000
        lines.append(f"{stamp},usr,{number % 2},Write,{(number // 2 % 300) * 8192},8192,100")
        if number % 10 == 0:
            lines.append(f"{stamp},usr,0,Read,{number * 4096},4096,100")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def small_run() -> floatgate.Run:
    """The small experiment, run once for all tests that only look at it."""
    return floatgate.run(SMALL)
