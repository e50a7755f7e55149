"""Studies that are killed (SIGKILL) and resumed: their results are those of an undisturbed run.

``FLOATGATE_KILLS=40 pytest tests/python/test_kills.py -s`` kills each command forty times and prints how often the
table was the same; ``FLOATGATE_SEED`` sets where.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import staged_paper

KILLS = int(os.environ.get("FLOATGATE_KILLS", "1"))
SEED = int(os.environ.get("FLOATGATE_SEED", "1"))
LENGTH = ("--set", "workload.requests=150000")
QUIET = ("--no-report", "--quiet")
JOBS = ("--jobs", "2", *QUIET)
SPARE = ("--vary", "ftl.spare_factor=0.2..0.4:6")
POLICIES = ("--vary", "ftl.collect.policy=greedy,fifo")


def _lines(name: str) -> Callable[[Path], int]:
    def done(folder: Path) -> int:
        file = folder / name
        return file.read_bytes().count(b"\n") if file.exists() else 0

    return done


@dataclass(frozen=True)
class Command:
    """A command to kill.

    Attributes:
        verb: which command.
        arguments: of the experiment.
        options: beside them, each time.
        runs: how many it does.
        done: how many of them are done in its folder.
        begun: what makes the folder one to resume.
        tables: files that tell whether it came out the same.
        alone: whether it goes on from its folder, without the experiment.
        subject: what it runs.
    """

    verb: str
    arguments: tuple[str, ...]
    options: tuple[str, ...]
    runs: int
    done: Callable[[Path], int]
    begun: str
    tables: tuple[str, ...]
    alone: bool = False
    subject: tuple[str, ...] = ("small.toml", *LENGTH)


DRIVES = ("--set", "workload.requests=2000", "--target", "0.01", "--plan", "--throttles", "none,static")
SEARCH = ("--minimise", "waf_bytes", "--vary", "ftl.spare_factor=0.2..0.4", *POLICIES, "--trials", "12", "--batch", "4")
JOURNAL = "journal.jsonl"
SEEDS = (
    "repeat.json",
    "repeat.parquet",
    "repeat.csv",
    "seed-3/result.json",
    "seed-14/series.parquet",
    "seed-14/experiment.toml",
)
COMPARED = ("compare.parquet", "compare.csv", "03-0.3-greedy-seed-4/result.json", "06-0.4-fifo-seed-3/series.parquet")
COMMANDS = {
    "sweep": Command("sweep", (*SPARE, *POLICIES), JOBS, 12, _lines(JOURNAL), "sweep.json", ("sweep.parquet",)),
    "tune": Command(
        "tune",
        SEARCH,
        JOBS,
        12,
        _lines(JOURNAL),
        "tune.json",
        ("sweep.parquet", "trials.jsonl", "best.toml", "tune.json"),
    ),
    "compare": Command(
        "compare",
        ("--vary", "ftl.spare_factor=0.2,0.3,0.4", *POLICIES, "--repeat", "2"),
        JOBS,
        12,
        _lines(f"unfinished/{JOURNAL}"),
        "unfinished/plan.json",
        ("compare.json", *COMPARED),
    ),
    "repeat": Command(
        "run", ("--repeat", "12"), JOBS, 12, _lines(f"unfinished/{JOURNAL}"), "unfinished/plan.json", SEEDS, alone=True
    ),
    "plan": Command(
        "lifetime",
        DRIVES,
        QUIET,
        10,
        _lines(f"unfinished/{JOURNAL}"),
        "unfinished/plan.json",
        ("plan.json", "plan.parquet", "plan.csv", "experiment.toml"),
    ),
    "reproduce": Command(
        "reproduce",
        ("--quick",),
        QUIET,
        staged_paper.RUNS,
        _lines(f"unfinished/{JOURNAL}"),
        "unfinished/plan.json",
        ("reproduce.json", "results.json"),
        subject=("staged",),
    ),
}


def started(folder: Path, name: str, out: str, *, resume: bool = False) -> subprocess.Popen[bytes]:
    command_of = COMMANDS[name]
    place = ["--resume", out] if resume and command_of.alone else ["--out", out, *(["--resume"] if resume else [])]
    experiment = [] if resume and command_of.alone else [*command_of.subject, *command_of.arguments]
    command = [sys.executable, "-m", "floatgate", command_of.verb, *experiment, *command_of.options, *place]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> None:
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err.decode()


TIMES = re.compile(rb'"(?:wall_s|cpu_s|peak_rss_bytes|programs_per_cpu_s)": [^,}\s]+|/floatgate-\w+/')
"""What differs each time, in JSON: clocks, and where a capture of pins was."""


def tables(folder: Path, name: str) -> dict[str, bytes]:
    return {file: TIMES.sub(b"", (folder / file).read_bytes()) for file in COMMANDS[name].tables}


def killed(folder: Path, name: str, out: str, rng: random.Random, whole_s: float) -> tuple[bool, str]:
    """Start the command and kill it at a random point; whether it was still at work, and where that was."""
    command = COMMANDS[name]
    least = rng.randrange(-2, command.runs + 1)
    # Before the first run it starts, and after the last one it writes: both may take longer than a run.
    wait_s = rng.random() * (whole_s / 2 if least < 0 else 2 * whole_s / command.runs)
    process = started(folder, name, out)
    end = time.monotonic() + 120
    while command.done(folder / out) < least and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.001)
    begun = time.monotonic()
    while time.monotonic() < begun + wait_s and process.poll() is None:
        time.sleep(0.001)
    at_work = process.poll() is None
    process.kill()
    process.communicate(timeout=60)
    return at_work, f"{command.done(folder / out)} of {command.runs} runs done, {wait_s:.3f} s after {least}"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in ("plan", "tune") else name for name in COMMANDS]
)
def test_what_is_killed_and_resumed_gives_the_same_table(experiment: Path, name: str) -> None:
    folder, rng = experiment.parent, random.Random(f"{SEED} {name}")
    staged_paper.write(folder / "staged")
    begun = time.monotonic()
    ended(started(folder, name, "whole"))
    whole_s = time.monotonic() - begun
    expected = tables(folder / "whole", name)
    hits = equal = 0
    for attempt in range(5 * KILLS + 5):
        if hits == KILLS:
            break
        out = f"k{attempt}"
        at_work, where = killed(folder, name, out, rng, whole_s)
        if not at_work:
            continue
        hits += 1
        resumes = (folder / out / COMMANDS[name].begun).is_file()
        if resumes or not (folder / out / COMMANDS[name].tables[0]).is_file():
            ended(started(folder, name, out, resume=resumes))
        resumed = tables(folder / out, name)
        differing = [file for file in expected if resumed[file] != expected[file]]
        assert differing == [], f"FLOATGATE_SEED={SEED}, attempt {attempt}, killed with {where}: {out}"
        equal += 1
    seconds = time.monotonic() - begun
    print(f"\n{name}: seed {SEED}, {hits} kills of a process at work, {equal} equal tables, {seconds:.0f} s")
    assert hits == KILLS
