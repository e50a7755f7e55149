"""Drives and interrupted runs in files."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import floatgate
from conftest import SMALL, Cli


def test_a_drive_is_saved_and_runs_of_both_modes_start_from_it(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("run", experiment, "--save-drive", "worn.drive", "--no-report").done()
    assert (tmp_path / "worn.drive").stat().st_size > 1000
    waf = {}
    for mode in ("functional", "timed"):
        start = ("--set", "ftl.snapshot=worn.drive", "--set", f"mode={mode}", "--set", "ftl.collect.mode=whole-block")
        result = json.loads(cli("run", experiment, *start, "--no-report", "--json", "-").done())
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
    assert cli(*start).refused().startswith("worn.drive: is not a snapshot of floatgate")


def test_a_drive_needs_a_place_and_a_single_run(cli: Cli, experiment: Path) -> None:
    assert cli("run", experiment, "--save-drive", "none/a").refused().startswith("none/a: its folder does not exist")
    assert cli("run", experiment, "--save-drive", ".").refused().startswith(".: is a directory")
    refused = cli("run", experiment, "--save-drive", "a", "--repeat", "2").refused()
    assert refused.startswith("--save-drive: several runs would write the same file")


def test_the_python_interface_saves_and_starts(tmp_path: Path) -> None:
    file = tmp_path / "worn.drive"
    floatgate.run(SMALL, save_drive=file)
    run = floatgate.run(SMALL, set={"ftl.precondition": "snapshot", "ftl.snapshot": file, "seed": 3})
    assert len(run.config.ftl.snapshot_hash) == 64


ENDURING = ("--set", "drive.endurance.pe_cycles=4000000000")


def start(experiment: Path, *more: str | Path) -> subprocess.Popen[bytes]:
    """The long experiment in a process of its own, which takes Ctrl-C."""
    return subprocess.Popen(
        [sys.executable, "-m", "floatgate", "run", str(experiment), *map(str, more)],
        cwd=experiment.parent,
        # Tests that run in the background inherit an ignored SIGINT, which Python then leaves ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} never came")


def without_run(path: Path) -> str:
    result = json.loads(path.read_text())
    del result["run"]
    return json.dumps(result)


def whole(cli: Cli, experiment: Path, *more: str) -> Path:
    """Folder of the long experiment run in one go."""
    cli("run", experiment, *more, "--no-report", "--out", "whole").done()
    return experiment.parent / "whole"


@pytest.mark.parametrize(
    ("mode", "requests"),
    [("functional", 20_000_000), pytest.param("timed", 4_000_000, marks=pytest.mark.long)],
)
def test_a_killed_run_goes_on_from_its_last_snapshot(cli: Cli, experiment: Path, mode: str, requests: int) -> None:
    folder = experiment.parent / "o"
    long = (*ENDURING, "--set", f"mode={mode}", "--set", f"workload.requests={requests}")
    process = start(experiment, *long, "--out", folder, "--snapshot-every", "0.2")
    wait_for(folder / "run.snapshot")
    process.kill()
    process.communicate()
    assert not (folder / "result.json").exists()
    refused = cli("run", experiment, "--out", "o").refused()
    assert refused.startswith("o: holds an interrupted run; expected --resume to go on with it, or --force")
    cli("run", "--resume", "o", "--no-report").done()
    expected = whole(cli, experiment, *long)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in expected.iterdir())
    assert without_run(folder / "result.json") == without_run(expected / "result.json")
    for name in ("experiment.toml", "series.parquet"):
        assert (folder / name).read_bytes() == (expected / name).read_bytes()


def test_ctrl_c_leaves_a_snapshot_and_says_how_to_go_on(cli: Cli, experiment: Path, trace: Path) -> None:
    folder = experiment.parent / "o"
    work = ("--trace", trace, "--set", "workload.repeat=10000", *ENDURING)
    # The first snapshot tells that the run has begun.
    process = start(experiment, *work, "--out", "o", "--snapshot-every", "0.2")
    wait_for(folder / "run.snapshot")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.decode().splitlines() == ["error: interrupted; continue with: floatgate run --resume o"]
    assert [path.name for path in folder.iterdir()] == ["run.snapshot"]
    text = trace.read_text()
    trace.write_text(text + text.splitlines()[0] + "\n")
    refused = cli("run", "--resume", "o").refused()
    assert "bytes and had" in refused
    assert refused.endswith("expected the same trace")
    trace.write_text(text)
    cli("run", "--resume", "o").done()
    assert "--out o" in (folder / "report.html").read_text()
    expected = whole(cli, experiment, *map(str, work))
    assert without_run(folder / "result.json") == without_run(expected / "result.json")


def test_sigterm_leaves_a_snapshot_as_ctrl_c_does(cli: Cli, experiment: Path) -> None:
    folder = experiment.parent / "o"
    long = (*ENDURING, "--set", "workload.requests=20000000")
    process = start(experiment, *long, "--out", "o", "--snapshot-every", "0.2", "--json", "j.json")
    wait_for(folder / "run.snapshot")
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (128 + signal.SIGTERM, b"")
    assert err.decode().splitlines() == ["error: interrupted; continue with: floatgate run --resume o"]
    assert [path.name for path in folder.iterdir()] == ["run.snapshot"]
    assert sorted(path.name for path in experiment.parent.iterdir()) == ["o", "small.toml"]
    cli("run", "--resume", "o", "--no-report").done()
    assert (folder / "result.json").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_leaves_no_hidden_file(experiment: Path, number: signal.Signals) -> None:
    long = (*ENDURING, "--set", "mode=timed", "--set", "workload.requests=100000000", "--log-requests")
    process = start(experiment, *long, "--out", "o")
    for _ in range(600):
        if list(experiment.parent.glob(".floatgate.*/*.parquet")):
            break
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err.decode().splitlines() == ["error: interrupted; nothing was written"]
    assert [path.name for path in experiment.parent.iterdir()] == ["small.toml"]


def test_a_snapshot_that_cannot_be_written_stops_no_run(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    # A folder in the way stands for a full disk.
    (tmp_path / "o/run.snapshot.part").mkdir(parents=True)
    more = ("--set", "workload.requests=3000000", *ENDURING, "--no-report", "--force")
    ended = cli("run", experiment, *more, "--out", "o", "--snapshot-every", "0.001")
    ended.done()
    notes = ended.err.splitlines()
    assert len(notes) == 1
    assert notes[0].startswith("note: a snapshot could not be written, the run goes on: o/run.snapshot: ")
    assert (tmp_path / "o/result.json").is_file()


def test_resume_takes_no_settings_and_needs_a_run(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    assert cli("run", "--resume", "none").refused().startswith("none/run.snapshot: no such file; expected a snapshot")
    for more in (("--set", "seed=3"), (str(experiment),), ("--out", "o"), ("--repeat", "2")):
        refused = cli("run", "--resume", "o", *more).refused()
        assert refused.startswith("--resume: the run continues with its original settings")
    (tmp_path / "o").mkdir()
    (tmp_path / "o/run.snapshot").write_bytes(b"nothing")
    assert cli("run", "--resume", "o").refused().startswith("o/run.snapshot: is not a snapshot of floatgate")
    for seconds in ("0", "-1", "nan", "inf"):
        refused = cli("run", experiment, "--out", "p", "--snapshot-every", seconds).refused()
        assert refused.startswith("--snapshot-every: ")
        assert refused.endswith("expected seconds, more than 0")
    assert "expected --out DIR" in cli("run", experiment, "--snapshot-every", "1").refused()
    assert "cannot be read again" in cli("run", "--trace", "-", "--out", "p", "--snapshot-every", "1").refused()
    assert not (tmp_path / "p").exists()


def test_the_python_interface_stops_and_goes_on(tmp_path: Path) -> None:
    settings = {**SMALL, "workload.requests": 30_000_000, "drive.endurance.pe_cycles": 4_000_000_000}
    file = tmp_path / "a.snapshot"

    def stop(done: int, total: int | None, phase: str) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        floatgate.run(settings, snapshot=file, progress=stop)
    run = floatgate.resume(file)
    assert not file.exists()
    straight = floatgate.run(settings, snapshot=file)
    assert (run.waf, run.flash, run.config_hash) == (straight.waf, straight.flash, straight.config_hash)
    assert not file.exists()


def test_a_run_removes_no_file_that_it_did_not_write(tmp_path: Path) -> None:
    mine = tmp_path / "important.txt"
    for path in (mine, tmp_path / "important.txt.part"):
        path.write_text("mine")
    floatgate.run(SMALL, snapshot=mine)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["important.txt", "important.txt.part"]
    assert mine.read_text() == "mine"


def test_a_run_removes_the_snapshot_that_it_wrote(tmp_path: Path) -> None:
    file = tmp_path / "a.snapshot"
    file.write_text("old")
    settings = {**SMALL, "workload.requests": 3_000_000, "drive.endurance.pe_cycles": 4_000_000_000}
    floatgate.run(settings, snapshot=file, snapshot_every=0.001)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_place_for_a_snapshot(tmp_path: Path) -> None:
    calls: list[int] = []
    with pytest.raises(floatgate.InputError, match="is a directory; expected a file for the snapshot"):
        floatgate.run(SMALL, snapshot=tmp_path, progress=lambda done, *_: calls.append(done))
    assert calls == []
    assert tmp_path.is_dir()
