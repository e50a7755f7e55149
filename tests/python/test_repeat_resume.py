"""An interrupted ``floatgate run --repeat``: it resumes from its folder."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import SMALL, Cli
from floatgate.cli import status
from floatgate.run.experiment import resolve
from floatgate.study import compare
from floatgate.study.compare import run_settings
from floatgate.study.repeat import WHOLE, plan_seeds
from floatgate.study.runs.engine import Local
from floatgate.study.runs.requested import carry_out
from floatgate.study.runs.resume import Unfinished
from floatgate.study.runs.work import FAILED, Answer, Job

SEEDS = ["seed-5", "seed-6", "seed-7"]


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """The folder of three seeds, two of which are done."""
    folder = tmp_path / "r"
    folder.mkdir()
    plan = plan_seeds(resolve({**SMALL, "seed": 5}), 3, reads_files=True)
    kept = Unfinished(folder, plan, WHOLE)
    with contextlib.closing(kept):
        run_settings(plan, Local(1), kept=kept)
    lines = (folder / "unfinished/journal.jsonl").read_text().splitlines(keepends=True)
    (folder / "unfinished/journal.jsonl").write_text("".join(lines[:2]))
    return folder


def test_seeds_that_were_interrupted_go_on(cli: Cli, part: Path, experiment: Path) -> None:
    before = (part / "unfinished/000001/result.json").read_text()
    command = ("run", experiment, "--repeat", "3", "--out", "r")
    assert "r: holds an interrupted run with several seeds; expected --resume" in cli(*command).refused()
    assert "expected no other settings" in cli("run", experiment, "--resume", "r").refused()
    assert "expected no other settings" in cli("run", "--resume", "r", "--snapshot-every", "5").refused()
    compared = cli("compare", experiment, "--vary", "seed=1", "--out", "r", "--resume")
    assert "holds no comparison to go on with" in compared.refused()
    answer = json.loads(cli("run", "--resume", "r", "--jobs", "1", "--json", "-").done())
    assert answer["seeds"] == [5, 6, 7]
    assert [result["seed"] for result in answer["runs"]] == [5, 6, 7]
    assert (part / "seed-6/result.json").read_text() == before
    assert sorted(entry.name for entry in part.iterdir()) == ["repeat.csv", "repeat.json", "repeat.parquet", *SEEDS]


def test_seeds_do_not_go_on_with_another_trace(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("".join(f"{1 + i * 10**7},h,0,Write,{i % 9 * 4096},4096,0\n" for i in range(61)))
    (tmp_path / "r").mkdir()
    plan = plan_seeds(resolve(SMALL, trace=tmp_path / "a.csv"), 2, reads_files=True)
    with contextlib.closing(Unfinished(tmp_path / "r", plan, WHOLE)) as kept:
        kept.add(Answer(0, FAILED, "worn out"))
    (tmp_path / "a.csv").write_text((tmp_path / "a.csv").read_text() + "\n")
    assert "(the content of a trace or snapshot differ)" in cli("run", "--resume", "r").refused()


def test_a_list_of_results_leaves_out_what_is_not_complete(cli: Cli, part: Path) -> None:
    assert "holds no results" in cli("ls", part.name).refused()


def test_ctrl_c_says_how_seeds_go_on(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def one(engine: Local, jobs: Iterator[Job], done: Callable[[Answer], None], _progress: object) -> None:
        carry_out(engine, [next(jobs)], done)
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "carry_out", one)
    out = str(tmp_path / "o")
    assert status(["run", str(experiment), "--repeat", "3", "--out", out, "--quiet"]) == 128 + signal.SIGINT
    assert f"interrupted, 1 runs are done; continue with floatgate run --resume {out}" in capsys.readouterr().err
    monkeypatch.undo()
    assert status(["run", "--resume", out, "--quiet", "--no-report"]) == 0
    assert (tmp_path / "o/repeat.json").is_file()
