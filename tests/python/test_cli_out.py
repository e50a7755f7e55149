"""Where results go: ``--out DIR`` is the run folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import Cli

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
    assert names(tmp_path / "p") == ["01-greedy", "02-fifo", "compare.json"]
    assert names(tmp_path / "p/01-greedy") == FILES
