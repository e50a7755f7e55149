"""Where results go: ``--out DIR`` is the run folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import floatgate
from conftest import Cli
from floatgate.base import unfinished_files
from floatgate.results.folder import RunFolder

FILES = ["experiment.toml", "result.json", "series.parquet"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("exists", [True, False])
def test_an_empty_or_missing_folder_is_used(cli: Cli, experiment: Path, tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "deep/er/o"
    if exists:
        folder.mkdir(parents=True)
    cli("run", experiment, "--out", folder, "--no-report").done()
    assert names(folder) == FILES
    assert names(folder.parent) == ["o"]


def test_a_folder_with_something_in_it_is_refused(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "o/mine.txt").write_text("mine")
    assert cli("run", experiment, "--out", "o").refused().startswith("o: folder is not empty")
    assert names(tmp_path / "o") == ["mine.txt"]


def test_force_writes_over_results_and_keeps_the_rest(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "o/mine.txt").write_text("mine")
    (tmp_path / "o/result.json").write_text("old")
    cli("run", experiment, "--out", "o", "--force", "--no-report").done()
    assert names(tmp_path / "o") == sorted([*FILES, "mine.txt"])
    assert (tmp_path / "o/result.json").read_text().startswith("{")


def test_a_link_to_a_folder_is_that_folder(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    cli("run", experiment, "--out", "link", "--no-report").done()
    assert names(tmp_path / "real") == FILES


def test_a_file_in_the_way_is_refused(cli: Cli, experiment: Path) -> None:
    assert cli("run", experiment, "--out", experiment).refused() == (
        f"{experiment}: is a file; expected an empty or missing folder"
    )
    assert "is a file" in cli("run", experiment, "--out", experiment / "below").refused()
    assert "is a file" in cli("run", experiment, "--json", experiment / "below.json").refused()


@pytest.mark.parametrize("bad", ["ftl.spare_factor=7", "nonsense=1"])
@pytest.mark.parametrize("exists", [True, False])
def test_unusable_input_leaves_the_folder_as_it_was(
    cli: Cli, experiment: Path, tmp_path: Path, bad: str, exists: bool
) -> None:
    if exists:
        (tmp_path / "o").mkdir()
    cli("run", experiment, "--out", "o", "--set", bad).refused()
    assert (tmp_path / "o").exists() == exists
    assert not exists or names(tmp_path / "o") == []


def test_results_have_the_rights_of_ordinary_files(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("run", experiment, "--out", "o", "--no-report", "--json", "j.json").done()
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "o").stat().st_mode & 0o777 == 0o777 & ~mask
    assert (tmp_path / "o/result.json").stat().st_mode & 0o777 == 0o666 & ~mask
    assert (tmp_path / "j.json").stat().st_mode & 0o777 == 0o666 & ~mask


def test_compare_follows_the_same_rules(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "o/mine.txt").write_text("mine")
    vary = ("--vary", "ftl.collect.policy=greedy,fifo")
    assert "not empty" in cli("compare", experiment, *vary, "--out", "o").refused()
    cli("compare", experiment, *vary, "--out", "p", "--no-report").done()
    assert names(tmp_path / "p") == ["01-greedy", "02-fifo", "compare.csv", "compare.json", "compare.parquet"]
    assert names(tmp_path / "p/01-greedy") == FILES


def started(folder: Path, *arguments: str | Path) -> subprocess.Popen[bytes]:
    """A run of its own that waits for its trace, which comes through a pipe."""
    command = [sys.executable, "-m", "floatgate", *map(str, arguments)]
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


PIPED = ("run", "--trace", "-", "--format", "msr", "--devices", "fold", "--set", "drive.capacity=64 MiB", "--no-report")


def wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} never came")


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_folder_takes_one_run_at_a_time(
    cli: Cli, experiment: Path, trace: Path, tmp_path: Path, force: list[str]
) -> None:
    first = started(tmp_path, *PIPED, "--out", "o")
    wait_for(tmp_path / "o")
    vary = ("--vary", "ftl.collect.policy=greedy,fifo")
    for command in (("run", experiment), ("compare", experiment, *vary), ("lifetime", experiment)):
        refused = cli(*command, "--out", "o", *force).refused()
        assert refused.startswith("o: another run is writing to this folder; expected a folder of its own")
    _, err = first.communicate(trace.read_bytes(), timeout=60)
    assert (first.returncode, err) == (0, b"")
    assert names(tmp_path / "o") == FILES
    assert "two.csv" not in (tmp_path / "o/experiment.toml").read_text()
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


def test_a_killed_run_keeps_nobody_out(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    first = started(tmp_path, *PIPED, "--out", "o")
    wait_for(tmp_path / "o")
    first.kill()
    first.communicate()
    cli("run", experiment, "--out", "o", "--no-report").done()
    assert names(tmp_path / "o") == FILES


def test_what_comes_into_the_folder_during_a_run_is_not_mixed_with_its_results(trace: Path, tmp_path: Path) -> None:
    first = started(tmp_path, *PIPED, "--out", "o")
    wait_for(tmp_path / "o")
    (tmp_path / "o/mine.txt").write_text("mine")
    _, err = first.communicate(trace.read_bytes(), timeout=60)
    assert first.returncode == 2
    assert err.decode().startswith("error: o: 'mine.txt' came into the folder during the run; the results are in ")
    assert names(tmp_path / "o") == ["mine.txt"]
    assert names(tmp_path / "o-2") == FILES


def test_force_leaves_no_file_of_the_result_that_it_replaces(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("run", experiment, "--set", "mode=timed", "--out", "o", "--log-requests").done()
    assert {"timeline.parquet", "requests.parquet", "report.html"} < set(names(tmp_path / "o"))
    (tmp_path / "o/mine.txt").write_text("mine")
    cli("run", experiment, "--out", "o", "--force", "--no-report").done()
    assert names(tmp_path / "o") == sorted([*FILES, "mine.txt"])


def test_a_folder_keeps_its_rights_and_the_working_folder_its_place(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "o").mkdir(mode=0o700)
    cli("run", experiment, "--out", "o", "--no-report").done()
    assert (tmp_path / "o").stat().st_mode & 0o777 == 0o700
    (tmp_path / "p").mkdir()
    before = (tmp_path / "p").stat().st_ino
    command = [sys.executable, "-m", "floatgate", "run", str(experiment), "--out", ".", "--no-report"]
    subprocess.run(command, cwd=tmp_path / "p", check=True, capture_output=True)
    assert (tmp_path / "p").stat().st_ino == before
    assert names(tmp_path / "p") == FILES


def test_other_files_of_the_same_run_may_stand_in_its_folder(
    cli: Cli, experiment: Path, trace: Path, tmp_path: Path
) -> None:
    (tmp_path / "o").mkdir()
    more = ("--save-drive", "o/worn.drive", "--json", "o/j.json", "--no-report")
    cli("run", experiment, "--out", "o", *more).done()
    assert names(tmp_path / "o") == sorted([*FILES, "worn.drive", "j.json"])
    info = ("trace", "info", trace, "--format", "msr")
    cli(*info, "--report", "p/r.html", "--pictures", "p").done()
    assert {"r.html", "demand.svg", "demand.png"} < set(names(tmp_path / "p"))


def test_a_file_that_comes_right_behind_the_new_folder_has_come_during_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the making of the folder and the look whether it is empty."""
    target = tmp_path / "o"
    folder = RunFolder.named(str(target), force=False)
    monkeypatch.setattr(unfinished_files, "clean", lambda path: (path / "mine.txt").write_text("mine"))
    with folder:
        assert names(target) == ["mine.txt"]
    with pytest.raises(floatgate.InputError, match="folder is not empty"):
        RunFolder.named(str(target), force=False)
