"""Traces whose time stamps count requests: no figure per day or year is given without a warning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli

COUNTER = "evenly spaced time stamps: probably a counter, not a clock"
SHORT = "of trace stand for 5 years: nights, weekends and busy days are not in them; record a week"
DRIVE = ("--set", "drive.geometry.pages_per_block=64", "--set", "drive.geometry.blocks_per_plane=256")
KNOWN = ("--set", "lifetime.forecast.waf=1.2")


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """A trace of 2,000 requests that are exactly 10 apart, in a format that SSDsim and MQSim share."""
    path = tmp_path / "server.trace"
    path.write_text("".join(f"{10 * i} 0 {i % 300 * 16} 16 {i % 2}\n" for i in range(2000)))
    return path


def test_a_trace_that_two_formats_read_alike_is_read(cli: Cli, counted: Path) -> None:
    facts = json.loads(cli("trace", "info", counted, "--json").done())
    assert facts["format"] == "ssdsim"
    [note] = [note for note in facts["assumed"] if note.startswith("read as ssdsim; the content would also fit ")]
    assert "mqsim" in note


def test_trace_info_doubts_evenly_spaced_stamps(cli: Cli, counted: Path) -> None:
    output = cli("trace", "info", counted, "--time-unit", "ms", "--report", "info.html").done()
    assert COUNTER in " ".join(output.split())
    assert COUNTER in (counted.parent / "info.html").read_text()
    facts = json.loads(cli("trace", "info", counted, "--json").done())
    assert [COUNTER in text for text in facts["suspicions"]] == [True]
    # No unit of time would be right.
    assert "if they are not, use --time-unit" not in facts["suspicions"][0]


@pytest.mark.parametrize("command", [("lifetime",), ("plan", "--capacities", "64MiB")])
def test_years_open_with_the_warning_and_name_the_assumed_units(
    cli: Cli, counted: Path, command: tuple[str, ...]
) -> None:
    arguments = (*command, "--trace", counted, "--time-unit", "s", *DRIVE, *KNOWN, "--out", "o", "--json", "made.json")
    output = cli(*arguments).done().splitlines()
    assert COUNTER in output[1]
    assert SHORT in output[2]
    text = "\n".join(output)
    assert "time in s (--time-unit)" in text
    assert "assumed: address and size in sectors of 512 bytes, 1 = read" in text
    page = (counted.parent / "o" / "report.html").read_text()
    assert page.index(COUNTER[1:]) < page.index("<table")
    assert SHORT in page
    assert COUNTER in (counted.parent / "made.json").read_text()


def test_a_converted_trace_is_doubted_too(cli: Cli, counted: Path) -> None:
    scaled = counted.parent / "scaled.parquet"
    cli("trace", "convert", counted, scaled, "--time-scale", "2500000.5").done()
    assert COUNTER in cli("lifetime", "--trace", scaled, *DRIVE, *KNOWN).done().splitlines()[1]


def test_a_counter_in_nanoseconds_is_too_short_and_no_unit_is_suggested_alone(cli: Cli, counted: Path) -> None:
    message = cli("lifetime", "--trace", counted, *DRIVE, *KNOWN).refused()
    assert "the workload lasts 0.00001999 s, too short for years" in message
    assert "a counter is no clock: scale it to the bytes per day that you know" in message
    assert "--time-scale" in message
