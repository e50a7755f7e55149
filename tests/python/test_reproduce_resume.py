"""An interrupted ``floatgate reproduce``: it resumes from its folder, or says why it does not."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import staged_paper
from conftest import Cli
from floatgate.cli import status
from floatgate.papers import Settings, load, reproduce, runner
from floatgate.run.experiment import Experiment
from floatgate.run.run import Run, execute
from floatgate.study.runs.resume import Unfinished

TIMES = re.compile(rb'"(?:wall_s|cpu_s|peak_rss_bytes|programs_per_cpu_s)": [^,}\s]+|/floatgate-\w+/')
"""What differs each time: clocks, and where a capture was."""


def results(out: Path) -> bytes:
    return TIMES.sub(b"", (out / "results.json").read_bytes())


def answer(out: Path) -> Any:
    return json.loads((out / "reproduce.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper, ``whole``: its undisturbed reproduction, ``o``: one with all runs done, and not yet complete."""
    folder = tmp_path_factory.mktemp("reproduced")
    staged_paper.write(folder / "staged")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert status(["reproduce", "staged", "--quick", "--quiet", "--no-report", "--out", "whole"]) == 0
        patch.setattr("floatgate.study.runs.resume.remove", lambda _: None)
        assert status(["reproduce", "staged", "--quick", "--quiet", "--no-report", "--out", "o"]) == 0
    for file in ("reproduce.json", "results.json"):
        (folder / "o" / file).unlink()
    return folder


@pytest.fixture
def out(begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the latter, to be damaged, beside the paper."""
    for name in ("staged", "o"):
        shutil.copytree(begun / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "o"


COMMAND = ("reproduce", "staged", "--quick", "--quiet", "--no-report", "--out", "o")
RESUMED = (*COMMAND, "--resume")


def keep_lines(out: Path, wanted: Callable[[int, str], bool]) -> None:
    """Leave some lines in the journal, by the number of their run and its batch."""
    journal = out / "unfinished/journal.jsonl"
    lines = [(json.loads(line), line) for line in journal.read_text("utf-8").splitlines(keepends=True)]
    journal.write_text("".join(line for entry, line in lines if wanted(entry["run"], entry["set"]["batch"])), "utf-8")


def test_a_run_is_kept_with_all_that_others_need(out: Path) -> None:
    entries = [json.loads(line) for line in (out / "unfinished/journal.jsonl").read_text("utf-8").splitlines()]
    assert len(entries) == staged_paper.RUNS
    for entry in entries:
        files = {file.name for file in (out / f"unfinished/{entry['run']:06d}").iterdir()}
        place = (entry["set"]["batch"], entry["set"]["workload"])
        starts = place[0] == "worn" or place == ("timed", "made")
        assert files == ({"result.json", "end.drive"} if starts else {"result.json"}), entry
    plan = json.loads((out / "unfinished/plan.json").read_text("utf-8"))
    assert list(plan["contents"]) == ["prepared/made.parquet"]


@pytest.mark.parametrize(
    "wanted",
    [
        lambda _run, _batch: True,
        lambda _run, _batch: False,
        lambda run, _batch: run % 2 == 0,
        lambda run, _batch: run % 3 == 1,
        lambda _run, batch: batch == "worn",
        lambda _run, batch: batch not in ("worn", "lives"),
    ],
)
def test_what_is_left_is_done_and_nothing_else(
    begun: Path, out: Path, wanted: Callable[[int, str], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_lines(out, wanted)
    kept = len((out / "unfinished/journal.jsonl").read_text("utf-8").splitlines())
    again: list[Experiment] = []

    def counting(experiment: Experiment, **named: Any) -> Run:
        again.append(experiment)
        return execute(experiment, **named)

    monkeypatch.setattr(runner, "execute", counting)
    assert status([*RESUMED]) == 0
    assert results(out) == results(begun / "whole")
    assert sorted(entry.name for entry in out.iterdir()) == ["reproduce.json", "results.json"]
    assert len(again) <= staged_paper.RUNS - kept
    if kept == staged_paper.RUNS:
        assert again == []


def test_a_lifetime_of_which_a_part_is_kept_is_what_it_was(begun: Path, out: Path) -> None:
    keep_lines(out, lambda run, batch: batch != "lives" or run % 2 == 0)
    assert status([*RESUMED]) == 0
    assert results(out) == results(begun / "whole")


def edited(name: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        content = json.loads((folder / name).read_text("utf-8"))
        change(content)
        (folder / name).write_text(json.dumps(content), "utf-8")

    return damage


def replaced(name: str, before: str, after: str) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        text = (folder / name).read_text("utf-8")
        assert before in text
        (folder / name).write_text(text.replace(before, after, 1), "utf-8")

    return damage


R, D, J = "000001/result.json", "000001/end.drive", "journal.jsonl"
DAMAGES: list[tuple[Callable[[Path], object], str]] = [
    (edited(R, lambda r: r.update(waf=1.5)), f"{R}: 'result_hash' is '"),
    (lambda f: (f / R).write_text('{"schema'), f"{R}:1:2: not JSON: a text that begins here has no end"),
    (lambda f: (f / R).write_text("[]"), f"{R}: is a list; expected an object, in the result of a run of a"),
    (lambda f: (f / R).unlink(), f"{R}: No such file or directory; expected the result of a run of a reproduction"),
    (lambda f: (f / D).write_bytes((f / D).read_bytes()[:-1]), f"{R}: 'drive_hash' is '"),
    (lambda f: (f / D).unlink(), f"{R}: 'drive_hash' is None; expected '"),
    (lambda f: shutil.copytree(f / "000000", f / "000001", dirs_exist_ok=True), f"{R}: 'drive_hash' is '"),
    (lambda f: (f / J).write_text("[]\n"), f"{J}:1: is not an object; expected a line"),
    (replaced(J, '"result_hash":"', '"result_hash":1,"x":"'), "'result_hash' is 1; expected a hash"),
    (replaced(J, '"batch":"worn"', '"batch":"torn"'), ": 'batch' is '\"torn\"'; expected '\"worn\"', as planned"),
    (lambda f: (f / "plan.json").write_text("[]"), "plan.json: is a list; expected an object"),
    (edited("plan.json", lambda p: p.update(version="0")), "other settings (the version of floatgate differ)"),
    (edited("plan.json", lambda p: p["contents"].clear()), "(the content of a trace or snapshot differ)"),
    (edited("plan.json", lambda p: p.update(study="compare")), "o: holds no reproduction to go on with"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_what_is_kept_and_damaged_is_refused(
    out: Path, damage: Callable[[Path], object], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(out / "unfinished")
    assert status([*RESUMED]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "expected" in err
    assert not (out / "results.json").exists()


def test_other_settings_are_refused(out: Path, cli: Cli, trace: Path) -> None:
    refusal = "o: was begun with other settings ({} differ); expected the same command, or a new folder"
    without = [option for option in RESUMED if option != "--quick"]
    assert cli(*without).refused() == refusal.format("the settings that vary")
    error = cli(*RESUMED, "--trace", f"made={trace}").refused()
    assert error == refusal.format("the settings that vary, the content of a trace or snapshot")
    ready = ["ready" if option == "staged" else option for option in RESUMED]
    assert "(the experiment, the settings that vary" in cli(*ready).refused()
    made_by = out.parent / "staged/workloads.py"
    text, before = made_by.read_text("utf-8"), made_by.stat().st_mtime_ns
    made_by.write_text(text.replace("seed=1", "seed=2"), "utf-8")
    # Of the same size and time: what Python compiled of the text before must not stand for it.
    os.utime(made_by, ns=(before, before))
    assert cli(*RESUMED).refused() == refusal.format("the content of a trace or snapshot")
    assert not list(made_by.parent.glob("__pycache__"))
    made_by.write_text(text, "utf-8")
    text = (out.parent / "staged/paper.toml").read_text("utf-8")
    (out.parent / "staged/paper.toml").write_text(text.replace("responses = true\n", ""), "utf-8")
    assert cli(*RESUMED).refused() == refusal.format("the settings that vary")


def test_a_claim_may_change_meanwhile(begun: Path, out: Path) -> None:
    assert [claim["holds"] for claim in answer(begun / "whole")["claims"]] == [False, True]
    text = (out.parent / "staged/claims.toml").read_text("utf-8")
    (out.parent / "staged/claims.toml").write_text(text.replace("than = 1000.0", "than = 0.0"), "utf-8")
    assert status([*RESUMED]) == 0
    assert [claim["holds"] for claim in answer(out)["claims"]] == [False, False]


def test_there_must_be_something_to_go_on_with(out: Path, cli: Cli) -> None:
    text = "o: holds an interrupted reproduction; expected --resume to go on with it, or --force to start over"
    assert cli(*COMMAND).refused() == text
    assert "n: holds no reproduction to go on with" in cli("reproduce", "staged", "--out", "n", "--resume").refused()
    assert (
        "the folder of the reproduction is missing; expected --out DIR"
        in cli("reproduce", "staged", "--resume").refused()
    )
    assert "no paper is named" in cli("reproduce", "--resume", "--out", "o").refused()
    compared = cli("compare", "staged/experiment.toml", "--vary", "seed=1,2", "--out", "o", "--resume")
    assert "holds no comparison to go on with" in compared.refused()
    assert cli("ls", "o").refused().startswith("o: holds no results")


def test_force_starts_over(begun: Path, out: Path) -> None:
    shutil.rmtree(out / "unfinished/000001")
    assert status([*COMMAND, "--force"]) == 0
    assert results(out) == results(begun / "whole")
    assert not (out / "unfinished").exists()


def test_ctrl_c_says_how_it_goes_on(
    begun: Path, out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add, done = Unfinished.add, 0

    def interrupting(self: Unfinished, *answer: Any) -> None:
        nonlocal done
        if done == 3:
            raise KeyboardInterrupt
        done += 1
        add(self, *answer)

    monkeypatch.setattr(Unfinished, "add", interrupting)
    assert status([*COMMAND, "--force"]) == 128 + signal.SIGINT
    how = "continue with the same command and --resume (--out o)"
    assert f"interrupted, 3 runs are done; {how}" in capsys.readouterr().err
    monkeypatch.setattr(Unfinished, "add", add)
    with monkeypatch.context() as patch:
        # While workloads are prepared.
        patch.setattr(runner, "workloads", interrupting)
        assert status([*RESUMED]) == 128 + signal.SIGINT
        assert f"interrupted; {how}" in capsys.readouterr().err
    assert status([*RESUMED]) == 0
    assert results(out) == results(begun / "whole")


def test_a_run_that_failed_is_done_again(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is not kept: it may have been for want of memory."""
    text = (out.parent / "staged/experiment.toml").read_text("utf-8")
    (out.parent / "staged/experiment.toml").write_text(text + "[drive.endurance]\npe_cycles = 1\n", "utf-8")
    monkeypatch.setattr("floatgate.study.runs.resume.remove", lambda _: None)
    shutil.rmtree(out)
    assert status([*COMMAND]) == 0
    failures = answer(out)["failures"]
    assert len(failures) > 1  # the drives of these are missing in later stages
    kept = len((out / "unfinished/journal.jsonl").read_text("utf-8").splitlines())
    assert 0 < kept < staged_paper.RUNS
    assert status([*RESUMED]) == 0
    again = answer(out)["failures"]
    assert [re.sub(r"/floatgate-\w+/", "", one) for one in again] == [
        re.sub(r"/floatgate-\w+/", "", one) for one in failures
    ]


def test_results_are_the_same_when_they_were_written_and_read(begun: Path) -> None:
    done = reproduce(load(str(begun / "staged")), Settings())
    assert not done.failures
    for workloads in done.findings.results.values():
        for variants in workloads.values():
            for result in variants.values():
                assert json.loads(json.dumps(result)) == result


def test_no_room_says_how_it_goes_on(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.move", full)
    assert status([*COMMAND, "--force"]) == 2
    err = capsys.readouterr().err
    assert "o/unfinished: No space left on device; expected room for the results; make some, then go on with" in err
    monkeypatch.undo()
    monkeypatch.chdir(out.parent)
    assert status([*RESUMED]) == 0
