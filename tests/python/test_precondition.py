"""The command line's text on the state in which a drive starts under a trace."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from floatgate.report.sections import precondition

if TYPE_CHECKING:
    from conftest import Cli

GEOMETRY = ("--set", "drive.geometry.blocks_per_plane=64", "--set", "drive.geometry.pages_per_block=16")
SPARE = ("--set", "ftl.spare_factor=0.2")


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A trace of 200 page writes all over a drive of 819 pages."""
    lines = (f"{1_000_000 + i * 10_000},h,0,Write,{i * 131 % 800 * 4096},4096,0\n" for i in range(200))
    file = tmp_path / "short.csv"
    file.write_text("".join(lines))
    return file


def state(text: str) -> str:
    """The line of the summary."""
    return next(line for line in text.splitlines() if line.startswith("state "))


def test_a_trace_starts_on_a_full_drive_and_the_summary_says_how(cli: Cli, short: Path, tmp_path: Path) -> None:
    out = cli("run", "--trace", short, *GEOMETRY, *SPARE, "--no-report", "--out", "o").done()
    assert state(out).startswith(
        "state      auto: filled to the state that greedy collection reaches under uniform writes; worn in by "
    )
    assert "stationary" in state(out)
    assert "in the last two laps" in state(out)
    # What counts is still a quarter of a drive write, and has erased less than half of the blocks.
    result = json.loads((tmp_path / "o/result.json").read_text())
    evidence = result["evidence"]
    around = evidence["drive_writes"] * 3.0 / evidence["flash_writes"]
    assert evidence["drive_writes_needed"] == pytest.approx(around)
    assert f"too short: 0.24 drive writes, at least {math.ceil(10 * around) / 10:.1f} needed" in out
    assert result["precondition"]["became"] == result["config"]["ftl"]["auto_fill"] == "steady"
    assert result["config"]["ftl"]["precondition"] == "auto"


def test_without_a_law_the_summary_says_why(cli: Cli, short: Path) -> None:
    more = ("--set", "ftl.collect.policy=cost-benefit", "--no-report")
    out = cli("run", "--trace", short, *GEOMETRY, *SPARE, *more, "--out", "o").done()
    why = "no steady-state law is known for this victim policy: cost-benefit"
    assert f"auto: filled and overwritten at random ({why}); " in state(out)
    refused = cli("run", "--trace", short, *GEOMETRY, *more, "--set", "ftl.precondition=steady").refused()
    assert 'precondition = "auto"' in refused


def test_none_stays_a_choice_and_is_said_by_nothing(cli: Cli, short: Path) -> None:
    more = ("--set", "ftl.precondition=none", "--no-report")
    out = cli("run", "--trace", short, *GEOMETRY, *SPARE, *more, "--out", "o").done()
    assert "state " not in out
    assert "the drive was not full" in out


def test_what_takes_long_is_told_before(cli: Cli, short: Path) -> None:
    long = ("--set", "drive.capacity=8 GiB", "--no-report")
    run = cli("run", "--trace", short, *long, "--out", "o")
    run.done()
    assert run.err.startswith("precondition auto: 7.4 GiB filled at steady state, then up to ")
    assert " s and " in run.err
    assert run.err.endswith(" MiB of memory\n")
    assert cli("run", "--trace", short, *long, "--quiet", "--out", "p").err == ""


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"wear_in_passes": 0, "ended": "the trace writes nothing"}, "no laps of the trace: the trace writes nothing"),
        ({"wear_in_passes": 1, "wear_in_drive_writes": 0.9, "stationary": False}, "worn in by 1 pass over the trace"),
        ({"wear_in_passes": 4, "wear_in_drive_writes": 3.0, "error": 0.1, "stationary": False}, "change by 10 %"),
        ({"wear_in_passes": 4, "wear_in_drive_writes": 3.0, "error": 7.0, "stationary": False}, "not stationary yet ("),
        (
            {"wear_in_passes": 4, "wear_in_drive_writes": 0.1, "error": None, "stationary": False},
            "too few laps to tell whether WAF is stationary (",
        ),
        (
            {
                "wear_in_passes": 400,
                "wear_in_drive_writes": 0.7,
                "wear_in_requests": 40_000,
                "wear_in_page_writes": 4000,
                "error": 0.04,
                "stationary": False,
            },
            "WAF may still change by 4 %; most requests read, and the limit of requests ended the laps (",
        ),
    ],
)
def test_laps_are_told_as_they_ended(facts: dict[str, object], message: str) -> None:
    line = precondition.line({"precondition": {"became": "steady", **facts}})
    assert line is not None
    assert message in line


def test_a_drive_that_starts_otherwise_has_no_such_line() -> None:
    assert precondition.line({}) is None
    assert precondition.line(None) is None
