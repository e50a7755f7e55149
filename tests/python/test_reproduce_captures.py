"""Reproductions whose runs write Ready/Busy pins, start from another workload's drives, and go in subtests."""

from __future__ import annotations

from pathlib import Path

import pytest

from floatgate.base.errors import InputError
from floatgate.papers import Settings, load, reproduce

PAPER = """
title = "Pins"
source = "A. Nobody, 2026"
[workload.wear]
set = { "workload.stop_after" = "64 MiB" }
[workload.writes]
set = { "workload.stop_after" = "4 MiB" }
[variant.small]
set = { "drive.geometry.channels" = 2 }
[[batch]]
name = "worn"
command = "run"
workloads = ["wear"]
set = { "ftl.precondition" = "random" }
[[batch]]
name = "pins"
command = "run"
workloads = ["writes"]
from = "worn"
from_workload = "wear"
subtests = 3
set = { mode = "timed" }
[batch.capture]
die = "all"
multi_page = { small = 2 }
[batch.capture.as]
one = { dies = [1] }
all = { program_us = "100..1000" }
polled = { program_us = "100..1000", poll_us = 200 }
"""
EXPERIMENT = """
[drive.geometry]
blocks_per_plane = 40
pages_per_block = 32
page_bytes = 8192
[drive.timing]
program_us = 300
erase_us = 4000
[ftl]
mapping_bytes = 4096
spare_factor = 0.3
"""
CLAIMS = """
[[claim]]
id = "exact"
text = "The pins tell what the FTL counts"
where = "section 4.3"
judge = "near"
value = "pins-3.writes.small.captured.all.programs"
paper = 1
tolerance = 0.5
"""


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    folder = tmp_path / "pins"
    folder.mkdir()
    for name, text in (("paper.toml", PAPER), ("experiment.toml", EXPERIMENT), ("claims.toml", CLAIMS)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_runs_in_subtests_are_measured_from_their_pins(pins: Path) -> None:
    done = reproduce(load(str(pins)), Settings())
    assert not done.failures
    assert list(done.findings.results) == ["worn", "pins-1", "pins-2", "pins-3"]
    totals = []
    for number in (1, 2, 3):
        run = done.findings.results[f"pins-{number}"]["writes"]["small"]
        captured = run["captured"]
        assert run["host"]["write_bytes"] == 4 << 20
        begun = run["config"]["workload"].get("start_after")
        assert begun == (None if number == 1 else f"{4 * (number - 1)} MiB")
        assert captured["all"]["programs"] == run["waveform"]["flash"]["programs"]
        assert [signal["name"] for signal in captured["one"]["signals"]] == ["drive.rb1"]
        assert captured["one"]["programs"] == captured["all"]["signals"][1]["programs"]
        # At the pin a page of 8 KiB counts as two pages of 4 KiB: as many bytes.
        assert captured["all"]["multi_page"] == 2
        assert captured["all"]["p_volume_bytes"] == run["flash"]["programs"]["total"] * 8192
        assert captured["polled"]["recorder"] is not None
        totals.append(run["flash"]["programs"]["total"])
    # Each goes on from the drive of the one before; the same drive would do the same again.
    assert len(set(totals)) > 1


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ('die = "all"', 'die = "some"', "capture of die 'some'; expected a number from 0 on, or 'all'"),
        ('die = "all"', "pin = 3", "unknown key 'pin' of capture; expected 'die', 'as' or 'multi_page'"),
        ("dies = [1]", "poll = 1", "unknown key 'poll' of reading 'one'; expected 'program_us', 'poll_us' or 'dies'"),
        ('from_workload = "wear"', "", "workload 'writes' is not in batch 'worn'"),
        ('from_workload = "wear"', 'from_workload = "tear"', "workload 'tear' is not in batch 'worn'"),
        ("subtests = 3", "subtests = 0", "subtests is 0; expected a whole number from 1"),
    ],
)
def test_what_makes_no_sense_is_refused(pins: Path, was: str, now: str, message: str) -> None:
    assert was in PAPER
    (pins / "paper.toml").write_text(PAPER.replace(was, now), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load(str(pins))
    assert message in str(refused.value)
