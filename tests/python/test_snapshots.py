"""Drives in files."""

from __future__ import annotations

import json
from pathlib import Path

import floatgate
from conftest import SMALL, Cli


def test_a_drive_is_saved_and_runs_of_both_modes_start_from_it(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("run", experiment, "--save-drive", "worn.drive", "--no-report").done()
    assert (tmp_path / "worn.drive").stat().st_size > 1000
    waf = {}
    for mode in ("functional", "timed"):
        start = ("--set", "ftl.snapshot=worn.drive", "--set", f"mode={mode}", "--no-report", "--json", "-")
        result = json.loads(cli("run", experiment, *start).done())
        assert result["config"]["ftl"]["precondition"] == "snapshot"
        waf[mode] = result["waf"]
    assert waf["functional"] == waf["timed"]


def test_a_run_folder_repeats_a_run_that_started_from_a_drive(cli: Cli, experiment: Path) -> None:
    cli("run", experiment, "--save-drive", "worn.drive", "--no-report").done()
    first = ("run", experiment, "--set", "ftl.snapshot=worn.drive", "--no-report", "--out", "a", "--json", "-")
    again = ("run", "a/experiment.toml", "--no-report", "--json", "-")
    one, two = (json.loads(cli(*command).done()) for command in (first, again))
    assert one["config_hash"] == two["config_hash"]
    assert one["flash"] == two["flash"]


def test_another_drive_and_a_damaged_file_are_refused(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("run", experiment, "--save-drive", "worn.drive", "--no-report").done()
    start = ("run", experiment, "--set", "ftl.snapshot=worn.drive", "--no-report")
    other = cli(*start, "--set", "drive.geometry.pages_per_block=128").refused()
    assert "expected drive.geometry.blocks_per_plane = 256" in other
    whole = (tmp_path / "worn.drive").read_bytes()
    (tmp_path / "worn.drive").write_bytes(whole[:-10])
    assert cli(*start).refused().startswith(f"worn.drive@{len(whole) - 10 - 22}: the snapshot is cut off; expected")
    (tmp_path / "worn.drive").write_bytes(b"nothing")
    assert cli(*start).refused().startswith("worn.drive: is no snapshot of floatgate")


def test_a_drive_needs_a_place_and_a_single_run(cli: Cli, experiment: Path) -> None:
    assert cli("run", experiment, "--save-drive", "none/a").refused().startswith("none/a: its folder does not exist")
    assert cli("run", experiment, "--save-drive", ".").refused().startswith(".: is a directory")
    refused = cli("run", experiment, "--save-drive", "a", "--repeat", "2").refused()
    assert refused.startswith("--save-drive: several runs would write one file")


def test_the_python_interface_saves_and_starts(tmp_path: Path) -> None:
    file = tmp_path / "worn.drive"
    floatgate.run(SMALL, save_drive=file)
    run = floatgate.run(SMALL, set={"ftl.precondition": "snapshot", "ftl.snapshot": file, "seed": 3})
    assert len(run.config.ftl.snapshot_hash) == 64
