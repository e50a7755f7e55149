"""Searches whose journal, proposals or settings are damaged or forged, and those that an older version has left."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

import floatgate
from conftest import SMALL, Change, Cli, Counting, drop, lines_of, put
from floatgate.base.errors import InputError
from floatgate.cli import status
from floatgate.results.folder import RunFolder
from floatgate.study.runs.engine import Local
from floatgate.study.tune.search import Search, begun

NOT_FINITE = "is not a finite number or too large; expected a number below 2^128"


@pytest.mark.parametrize("missing", [0, 1, 9, 20])
def test_a_run_of_a_search_whose_line_is_missing_is_done_again_and_no_other(search: Path, missing: int) -> None:
    whole = (search / "sweep.parquet").read_bytes()
    lines = [line for line in lines_of(search) if json.loads(line)["run"] != missing]
    assert len(lines) == len(lines_of(search)) - 1
    (search / "journal.jsonl").write_bytes(b"".join(lines))
    engine = Counting()
    again = Search.open(search, begun(search), fresh=False)
    trials = again.run(engine)
    again.close()
    assert engine.given == [missing]
    assert all(trial.figures for trial in trials)
    assert (search / "sweep.parquet").read_bytes() == whole


@pytest.mark.parametrize("kept", [0, 3, 8, 11])
def test_a_search_without_the_last_proposals_goes_on_as_it_would_have(search: Path, kept: int) -> None:
    """Proposals depend on nothing but the seed and on the trials before."""
    before = {name: (search / name).read_bytes() for name in ("trials.jsonl", "sweep.parquet")}
    proposals = before["trials.jsonl"].splitlines(keepends=True)
    assert len(proposals) == 12
    (search / "trials.jsonl").write_bytes(b"".join(proposals[:kept]) + proposals[kept][:-5])
    numbers = [json.loads(line)["run"] for line in lines_of(search)]
    lines = [line for line, number in zip(lines_of(search), numbers, strict=True) if number < 2 * kept + 3]
    (search / "journal.jsonl").write_bytes(b"".join(lines))
    again = Search.open(search, begun(search), fresh=False)
    again.run(Local(1))
    again.close()
    assert {name: (search / name).read_bytes() for name in before} == before


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"trial":1,"params":{"ftl.spare_factor":0.9,"ftl.collect.policy":"fifo"}}', "ftl.spare_factor is 0.9"),
        (
            '{"trial":1,"params":{"ftl.spare_factor":NaN,"ftl.collect.policy":"fifo"}}',
            f": params['ftl.spare_factor']: {NOT_FINITE}",
        ),
        ('{"trial":1,"params":{"ftl.spare_factor":true,"ftl.collect.policy":"fifo"}}', "ftl.spare_factor is True"),
        ('{"trial":1,"params":{"ftl.spare_factor":0.3,"ftl.collect.policy":"best"}}', "ftl.collect.policy is "),
        ('{"trial":1,"params":{"ftl.spare_factor":0.3,"ftl.collect.policy":[]}}', "ftl.collect.policy is "),
        ('{"trial":1,"params":{"ftl.spare_factor":0.3}}', "expected values of 'ftl.spare_factor'"),
        ('{"trial":1,"params":3}', "expected values of 'ftl.spare_factor'"),
        ('{"trial":2,"params":{"ftl.spare_factor":0.3,"ftl.collect.policy":"fifo"}}', "'trial' is 2; expected 1"),
        ('{"trial":1,"params":{},"params":{}}', ": params: is there twice; expected each key once"),
        ('{"trial":1}', "has other keys than 'trial', 'params'"),
        ("x", ":1: not JSON: no value at 'x'; expected a line with the proposal of a trial"),
        ('{"trial":1,"params":', ":21: ends before its JSON is complete; expected a line with the proposal of a trial"),
    ],
)
def test_a_forged_proposal_is_refused_with_its_line(search: Path, line: str, expected: str) -> None:
    lines = (search / "trials.jsonl").read_text("utf-8").splitlines()
    (search / "trials.jsonl").write_text("\n".join([lines[0], line, *lines[2:]]) + "\n", "utf-8")
    with pytest.raises(InputError) as raised:
        Search.open(search, begun(search), fresh=False)
    place, message = f"{search / 'trials.jsonl'}:2", raised.value.message
    if expected.startswith(":"):
        assert message.startswith(f"{place}{expected}"), message
    assert message.startswith(f"{place}:"), message
    assert expected in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("run", to=24), "run 24: no run of this search; expected a number below 24"),
        (put("set", "seed", to=7), "'seed' is "),
        (put("figures", "waf_bytes", to="1"), "'waf_bytes' is '\"1\"'; expected a number or null"),
        (drop("set", "ftl.collect.policy"), "sets no 'ftl.collect.policy'"),
        (put("set", "ftl.spare_factor", to=0.2), "'ftl.spare_factor' is 0.2; expected 0."),
    ],
)
def test_a_forged_run_of_a_search_is_refused(search: Path, change: Change, message: str) -> None:
    lines = lines_of(search)
    entry = json.loads(lines[1])
    change(entry)
    content = b"".join([lines[0], json.dumps(entry).encode() + b"\n", *lines[2:]])
    (search / "journal.jsonl").write_bytes(content)
    with pytest.raises(InputError) as raised, contextlib.closing(Search(search, begun(search))) as again:
        again.run(Counting())
    assert raised.value.message.startswith(f"{search / 'journal.jsonl'}:")
    assert message in raised.value.message
    assert (search / "journal.jsonl").read_bytes() == content


def test_a_search_that_grows_to_the_size_of_its_space_goes_on_as_a_search(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text("seed = 1\n")
    settings = [text for key, value in SMALL.items() for text in ("--set", f"{key}={value}")]
    command = [str(tmp_path / "e.toml"), *settings, "--set", "workload.requests=20000", "--minimise", "waf_bytes"]
    command += ["--vary", "ftl.spare_factor=0.2,0.3,0.4", "--vary", "ftl.collect.policy=greedy,fifo"]
    command += ["--out", str(tmp_path / "t"), "--no-report", "--quiet", "--batch", "2"]
    assert status(["tune", *command, "--trials", "4"]) == 0
    first = (tmp_path / "t/trials.jsonl").read_bytes()
    assert status(["tune", *command, "--trials", "6", "--resume"]) == 0
    assert (tmp_path / "t/trials.jsonl").read_bytes().startswith(first)
    # The folder knows of the further trials; fewer than before are done already.
    assert begun(tmp_path / "t").trials == 6
    assert status(["tune", *command, "--trials", "4", "--resume"]) == 0
    assert begun(tmp_path / "t").trials == 6
    assert len(floatgate.load_sweep(tmp_path / "t")) <= 6


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (put("trials", to="20"), "trials: is the text '20'; expected a whole number from 0 on"),
        (
            put("trials", to=10**30),
            "trials: is the number 1000000000000000000000000000000; expected a whole number from 0 on, below 2^64",
        ),
        (put("batch", to=0), "batch: is the number 0; expected a whole number from 1 to 10000000"),
        (put("repeat", to=None), "repeat: is null; expected a whole number from 0 on"),
        (put("axes", to=[]), "axes: is an empty list; expected a key that varies, or more"),
        (put("axes", to={}), "axes: is an object; expected a list"),
        (
            put("axes", to=[{"key": "a", "ends": [5, 1], "steps": None, "scale": "log", "whole": False}]),
            "axes[0].ends: is not a range; expected two numbers, the smaller one first",
        ),
        (put("goal", "minimise", to=[]), "goal: is not a valid goal (floatgate tune: no objective;"),
        (put("goal", to=float("inf")), f"goal: {NOT_FINITE}"),
    ],
)
def test_forged_settings_of_a_search_are_refused(search: Path, change: Change, expected: str) -> None:
    kept = json.loads((search / "tune.json").read_text("utf-8"))
    change(kept)
    (search / "tune.json").write_text(json.dumps(kept), "utf-8")
    with pytest.raises(InputError) as raised:
        begun(search)
    message = raised.value.message
    assert message.startswith(f"{search / 'tune.json'}: {expected}"), message
    assert message.endswith(", in the settings of a search"), message


def test_the_lock_that_an_older_search_has_left_is_ignored_and_goes(cli: Cli, search: Path) -> None:
    whole = (search / "sweep.parquet").read_bytes()
    for name in ("trials.jsonl", "sweep.parquet"):
        (search / name).unlink()
    (search / "journal.jsonl").write_bytes(b"".join(lines_of(search)[:5]))
    (search / "study.log").write_text("{")
    (search / "study.log.lock").symlink_to("t/study.log")  # as Optuna makes it: it points nowhere
    cli("tune", "--out", "t", "--resume", "--no-report").done()
    assert (search / "sweep.parquet").read_bytes() == whole
    assert not (search / "study.log.lock").is_symlink()
    assert not (search / "study.log").exists()


def test_a_search_that_another_process_is_at_is_refused(cli: Cli, search: Path) -> None:
    with RunFolder.named(str(search), force=True):
        assert "another run is writing to this folder" in cli("tune", "--out", "t", "--resume").refused()
