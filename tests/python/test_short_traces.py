"""Traces too short for years: forecasts and plans refuse them, or open with a warning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import Cli

DRIVE = ("--set", "drive.geometry.pages_per_block=64", "--set", "drive.geometry.blocks_per_plane=256")
START = 128_166_372_003_061_629
COMMANDS = [("lifetime",), ("plan", "--capacities", "64MiB")]


def msr(path: Path, rows: Sequence[tuple[float, str, int]]) -> Path:
    """A trace of requests of 8 KiB: second, operation, address in units of 8 KiB."""
    lines = (f"{START + int(at * 1e7)},usr,0,{op},{address * 8192},8192,100" for at, op, address in rows)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [(i * 0.5, "Read", i % 50) for i in range(200)],
            "t.csv: no request writes, so nothing wears the",
        ),
        (
            [(0.0, "Write", i) for i in range(200)],
            "t.csv: the requests of the trace have no time stamps, or",
        ),
        (
            [(i * 1e-3, "Write", i) for i in range(200)],
            "t.csv: the workload lasts 0.199 s, too short for years",
        ),
        ([(i * 0.5, "Write", i * 12_800) for i in range(200)], 'or "scale" (--capacit'),
    ],
)
def test_it_is_refused_and_nothing_is_written(
    cli: Cli, tmp_path: Path, command: tuple[str, ...], rows: list[tuple[float, str, int]], expected: str
) -> None:
    ended = cli(*command, "--trace", msr(tmp_path / "t.csv", rows), *DRIVE, "--out", "o", "--json", "r.json")
    message = ended.refused()
    assert expected in message
    assert "; expected" in message
    assert (
        "--capacities, --beyond)" if command[0] == "plan" else "--capacity, --beyond)"
    ) in message or "t.csv: " in expected
    assert len(ended.err.splitlines()) == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["t.csv"]


def test_a_trace_of_seconds_is_said_to_be_no_basis(cli: Cli, tmp_path: Path) -> None:
    trace = msr(tmp_path / "t.csv", [(i * 0.1, "Write", i % 300) for i in range(400)])
    text = "40 s of trace stand for 1 year, which is no basis for a decision; record an hour or more"
    lines = cli("lifetime", "--trace", trace, *DRIVE, "--target", "1").done().splitlines()
    assert (lines[0][:4], lines[1][:11]) == ("life", "basis      ")
    assert text in lines[1]
    ended = cli("plan", "--trace", trace, *DRIVE, "--target", "1", "--capacities", "64MiB,128MiB", "--out", "o")
    assert text in ended.done().splitlines()[1]
    assert text in (tmp_path / "o/report.html").read_text()
    document = json.loads((tmp_path / "o/plan.json").read_text())
    assert text in document["answer"]
    longer = msr(tmp_path / "l.csv", [(i * 0.2, "Write", i % 300) for i in range(400)])
    assert "no basis" not in cli("lifetime", "--trace", longer, *DRIVE, "--target", "1").done()


def test_a_generator_of_seconds_is_as_good_as_one_of_hours(cli: Cli, experiment: Path) -> None:
    assert "no basis" not in cli("lifetime", experiment, "--set", "workload.requests=2000", "--target", "0.01").done()


def test_a_drive_that_is_too_small_is_listed_beside_the_others(cli: Cli, tmp_path: Path) -> None:
    trace = msr(tmp_path / "t.csv", [(i * 0.5, "Write", i * 50) for i in range(200)])
    output = cli("plan", "--trace", trace, *DRIVE, "--target", "0.1", "--capacities", "64MiB,128MiB").done()
    assert "not possible" in output
    assert "64MiB: " in output.splitlines()[-1]
    assert "the trace addresses 77.7 MiB" in output.splitlines()[-1]
