"""The kept runs of an interrupted comparison: reused if they match the plan, else refused with their file."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL
from floatgate.base.errors import InputError
from floatgate.results.folder import RunFolder
from floatgate.run.experiment import resolve
from floatgate.study.compare import WHOLE, run_settings
from floatgate.study.runs.engine import Local
from floatgate.study.runs.plan import RunPlan, plan_runs
from floatgate.study.runs.points import Axis, Points
from floatgate.study.runs.resume import Unfinished, remove
from floatgate.study.runs.work import FAILED, Answer

BASE = resolve({**SMALL, "workload.requests": 20_000})
PLAN = plan_runs(BASE, Points((Axis("ftl.collect.policy", ('"greedy"', '"fifo"')),)), 2)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a comparison whose four runs are done, the third of them as failed."""
    folder = tmp_path_factory.mktemp("compared")
    part = Unfinished(folder, PLAN, WHOLE)
    add = part.add
    worn_out = Answer(2, FAILED, "worn out")
    with contextlib.closing(part), pytest.MonkeyPatch.context() as patch:
        patch.setattr(part, "add", lambda answer: add(answer if answer.number != 2 else worn_out))
        run_settings(PLAN, Local(1), kept=part)
    return folder


@pytest.fixture
def out(done: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    shutil.copytree(done, tmp_path / "o")
    return tmp_path / "o"


def kept(out: Path, plan: RunPlan = PLAN) -> Unfinished:
    part = Unfinished(out, plan, WHOLE)
    with contextlib.closing(part):
        part.go_on()
    return part


def test_what_is_kept_is_taken_over(out: Path) -> None:
    (out / "unfinished/.part-3").mkdir()  # what a killed comparison leaves of a run
    done = kept(out).done
    assert sorted(done) == [0, 1, 2, 3]
    assert str(done[2].failure()) == "worn out"
    run = done[3].run
    assert run is not None
    assert run.result.seed == 2


@pytest.mark.parametrize("missing", range(4))
def test_a_run_that_is_missing_is_done_again_and_no_other(
    out: Path, missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (out / JOURNAL).read_text().splitlines(keepends=True)
    (out / JOURNAL).write_text("".join(line for line in lines if json.loads(line)["run"] != missing))
    named: list[int] = []
    run = Local.run

    def counting(self: Local, jobs: Any, *more: Any) -> None:
        listed = list(jobs)
        named.extend(job.number for job in listed)
        run(self, listed, *more)

    monkeypatch.setattr(Local, "run", counting)
    part = Unfinished(out, PLAN, WHOLE)
    with contextlib.closing(part):
        part.go_on()
        settings = run_settings(PLAN, Local(1), kept=part)
    assert named == [missing]
    failed = [0, 0] if missing == 2 else [0, 1]
    assert [sum(one.error is not None for one in setting.each) for setting in settings] == failed


def edited(name: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        file = folder / name
        content = json.loads(file.read_text("utf-8"))
        change(content)
        file.write_text(json.dumps(content), "utf-8")

    return damage


def replaced(name: str, before: str, after: str) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        file = folder / name
        text = file.read_text("utf-8")
        assert before in text
        file.write_text(text.replace(before, after, 1), "utf-8")

    return damage


JOURNAL = "unfinished/journal.jsonl"
R, J = "000001/result.json", "journal.jsonl"
NOT_FINITE = "is not a finite number or too large; expected a number below 2^128"
DAMAGES: list[tuple[Callable[[Path], object], str]] = [
    (edited(R, lambda r: r.update(waf=float("nan"))), f"{R}: waf: {NOT_FINITE}"),
    (edited(R, lambda r: r.update(waf="1.5")), f"{R}: waf: is the text '1.5'; expected a number or null"),
    (edited(R, lambda r: r.update(waf=True)), f"{R}: waf: is true; expected a number or null"),
    (
        edited(R, lambda r: r["host"].update(page_writes=10**30)),
        f"{R}: host.page_writes: is the number {10**30}; expected a whole number from 0 on, below 2^64",
    ),
    (edited(R, lambda r: r.update(surprise=1)), f"{R}: 'surprise' is 1; expected None, as in the journal"),
    (edited(R, lambda r: r.update(seed=1)), f"{R}: 'seed' is 1; expected 2, as in the journal"),
    (edited(R, lambda r: r.update(waf=1.5)), f"{R}: 'waf' is 1.5; expected "),
    (edited(R, lambda r: r.update(config_hash="0" * 64)), f"{R}: 'config_hash' is '\"0000"),
    (edited(R, lambda r: r.pop("config_hash")), f"{R}: 'config_hash' is None; expected "),
    (replaced(R, '"seed"', '"seed": 1, "seed"'), f"{R}: config.seed: is there twice; expected each key once"),
    (lambda f: (f / R).write_text("[]"), f"{R}: is a list; expected an object"),
    (edited(R, lambda r: r.pop("schema")), f"{R}: schema: is missing; expected"),
    (edited(R, lambda r: r.update(schema="x")), f"{R}: its schema is 'x'; expected 'floatgate.result/1'"),
    (lambda f: (f / R).write_text('{"schema'), f"{R}:1:2: not JSON: a text that begins here has no end"),
    (lambda f: (f / R).unlink(), f"{R}: No such file or directory; expected a result"),
    (replaced("000001/experiment.toml", "greedy", "fifo"), "000001/experiment.toml: has other settings than its run"),
    (lambda f: (f / "000001/series.parquet").write_bytes(b"PAR1"), "000001/series.parquet: cannot be read"),
    (lambda f: (f / "000003").rename(f / "000004"), "000003/result.json: No such file or directory"),
    (lambda f: shutil.copytree(f / "000001", f / "000003", dirs_exist_ok=True), "000003/experiment.toml: has other"),
    (lambda f: (f / J).write_text("[]\n"), f"{J}:1: is not an object; expected a line"),
    (replaced(J, '"run":1', '"run":4'), f"{J}:2: run 4: no run of the plan; expected a number below 4"),
    (replaced(J, '"error":"worn out"', '"error":null'), f"{J}:3: 'error' is None though the run has no result"),
    (replaced(J, '"set":{"ftl.collect.policy":"greedy"', '"set":{"ftl.collect.policy":"fifo"'), f"{J}:1: run 0: 'ftl"),
    (lambda f: (f / "plan.json").write_text("[]"), "plan.json: is a list; expected an object"),
    (lambda f: (f / "plan.json").write_text('{"seed": NaN}'), f"plan.json: seed: {NOT_FINITE}"),
    (edited("plan.json", lambda p: p.update(seed=3)), "was begun with other settings (the seed differ)"),
    (edited("plan.json", lambda p: p.update(version="0")), "settings (the version of floatgate differ)"),
    (edited("plan.json", lambda p: p.update(study="repeat")), "holds no comparison to go on with"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_what_is_kept_and_damaged_is_refused(out: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(out / "unfinished")
    with pytest.raises(InputError) as raised:
        kept(out)
    assert message in raised.value.message
    assert "expected" in raised.value.message


def test_names_that_are_no_runs_are_left_alone(out: Path) -> None:
    for name in ("²", "12", "00000x"):
        (out / "unfinished" / name).mkdir()
    assert sorted(kept(out).done) == [0, 1, 2, 3]


def test_the_plan_comes_and_all_of_it_goes_at_once(tmp_path: Path, done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison that is killed in between leaves none that says --resume and cannot be resumed."""

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            Unfinished(tmp_path, PLAN, WHOLE).add(Answer(0, FAILED, "worn out"))
    assert not (tmp_path / "unfinished").exists()
    shutil.copytree(done / "unfinished", tmp_path / "unfinished")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            remove(tmp_path)
    assert not (tmp_path / "unfinished").exists()
    remove(tmp_path)


def test_hidden_names_of_a_killed_run_do_not_fill_a_folder(tmp_path: Path) -> None:
    (tmp_path / "o/.floatgate.17.abc").mkdir(parents=True)
    RunFolder.named(str(tmp_path / "o"), force=False)
    (tmp_path / "o/result.json").touch()
    with pytest.raises(InputError, match="folder is not empty"):
        RunFolder.named(str(tmp_path / "o"), force=False)
