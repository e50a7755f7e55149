"""What the tests share: the command line as a user meets it, a small experiment, a small trace."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import checked_charts
import floatgate
from commands import Commands
from floatgate.cli import status
from floatgate.study.runs.engine import Local
from floatgate.study.runs.work import Answer, Job

checked_charts.install()

# Speed is no matter of tests: on a busy machine examples take long to draw.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


_PROGRESS = re.compile(r"^.* \(\d+ s\)\n", re.MULTILINE)
"""A line of progress (``floatgate/base/progress.py``)."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command."""

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


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """Where the command lines of ``cli`` run."""
    server = Commands()
    yield server
    server.close()


@pytest.fixture
def cli(commands: Commands, tmp_path: Path) -> Cli:
    """Run ``floatgate ARGUMENTS`` in a folder of its own."""

    def call(*arguments: str | Path) -> Outcome:
        environment = {**os.environ, "NO_COLOR": "1"}
        ended = commands.run([str(argument) for argument in arguments], tmp_path, environment, timeout_s=120)
        # On a busy machine any command may take long enough to say how far it is.
        return Outcome(ended.returncode, ended.stdout.decode(), _PROGRESS.sub("", ended.stderr.decode()))

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


# Sweeps and searches to be damaged

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of four runs."""
    folder = tmp_path_factory.mktemp("swept") / "s"
    vary = {"ftl.spare_factor": [0.2, 0.3], "ftl.collect.policy": ["greedy", "fifo"]}
    floatgate.sweep({**SMALL, "workload.requests": 20_000}, vary, out=folder)
    return folder


@pytest.fixture
def sweep(swept: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    shutil.copytree(swept, tmp_path / "s")
    return tmp_path / "s"


@pytest.fixture(scope="session")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search of twelve trials with two seeds each, in two batches of which the second is half done."""
    folder = tmp_path_factory.mktemp("searched")
    settings = [text for key, value in SMALL.items() for text in ("--set", f"{key}={value}")]
    options = ["--set", "workload.requests=20000", "--vary", "ftl.spare_factor=0.2..0.4", "--trials", "12"]
    options += ["--vary", "ftl.collect.policy=greedy,fifo", "--repeat", "2", "--minimise", "waf_bytes"]
    (folder / "e.toml").write_text("seed = 1\n")
    done = status(
        ["tune", str(folder / "e.toml"), *settings, *options, "--out", str(folder / "t"), "--no-report", "-q"]
    )
    assert done == 0
    return folder / "t"


@pytest.fixture
def search(searched: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    shutil.copytree(searched, tmp_path / "t")
    return tmp_path / "t"


def lines_of(folder: Path) -> list[bytes]:
    return (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


def put(*path: str, to: Any) -> Change:
    def change(entry: dict[str, Any]) -> None:
        table = entry
        for key in path[:-1]:
            table = table[key]
        table[path[-1]] = to

    return change


def drop(*path: str) -> Change:
    def change(entry: dict[str, Any]) -> None:
        table = entry
        for key in path[:-1]:
            table = table[key]
        del table[path[-1]]

    return change


class Counting(Local):
    """The embedded engine with a list of its runs."""

    def __init__(self) -> None:
        super().__init__(1)
        self.given: list[int] = []

    def run(self, jobs: Iterable[Job], done: Callable[[Answer], None], progress: Any = None) -> None:
        def noted() -> Iterable[Job]:
            for job in jobs:
                self.given.append(job.number)
                yield job

        super().run(noted(), done, progress)
