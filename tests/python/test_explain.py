"""``floatgate explain`` as a command: what it prints and writes, what --try measures, and what it refuses."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import explain_scenarios as scenarios
import floatgate
from conftest import SMALL, Cli
from explain_scenarios import TIMED
from floatgate.base.errors import RunError
from floatgate.cli import status
from floatgate.report.sections.limits.settings import Gain
from floatgate.results.folder import RunFolder
from floatgate.study.explain import trial
from floatgate.study.explain.case import reading
from floatgate.study.explain.explanation import explain
from floatgate.study.explain.trial import HELPED, NO_DIFFERENCE, UNSURE, WORSE, Measured, Trial

ZIPF = {**SMALL, "workload.pattern": "zipf", "workload.warmup_requests": 100_000, "workload.requests": 120_000}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run whose writes are skewed."""
    floatgate.run(ZIPF).save(tmp_path / "run", report=False)
    return tmp_path / "run"


def test_sentences_then_settings_with_commands(cli: Cli, run: Path) -> None:
    lines = cli("explain", run).done().splitlines()
    heads = [line[:11].strip() for line in lines]
    assert lines[0] == f"run        {run}: custom 64 MiB, zipf, functional"
    assert heads[:4] == ["run", "evidence", "life", "life"]
    assert [head for head in heads if head.startswith("try")] == ["try 1", "try 2", "try 3"]
    assert any(
        line.strip() == f"floatgate compare {run}/experiment.toml --vary ftl.spare_factor=0.2,0.4" for line in lines
    )


def test_the_file_of_a_result_names_its_folder(cli: Cli, run: Path) -> None:
    assert cli("explain", run / "result.json").done() == cli("explain", run).done()


def test_json_has_what_the_text_has(cli: Cli, run: Path, tmp_path: Path) -> None:
    ended = cli("explain", run, "--json", "-")
    answer = json.loads(ended.done())
    assert answer["schema"] == "floatgate.explain/1"
    assert (answer["kind"], answer["folder"]) == ("run", str(run))
    for sentence in answer["sentences"]:
        assert sentence["text"] in ended.err
        assert sentence["about"] in ("evidence", "life", "latency")
        assert None not in sentence["figures"].values()
    for one in answer["settings"]:
        assert one["why"] in ended.err
        assert all(command in ended.err for command in one["commands"])
        assert "tried" not in one
    assert cli("explain", run, "--json", "e.json", "--quiet").done() == ""
    assert json.loads((tmp_path / "e.json").read_text("utf-8")) == answer


def test_most_settings(cli: Cli, run: Path) -> None:
    def keys(*options: str) -> list[str]:
        return [one["key"] for one in json.loads(cli("explain", run, "--json", "-", *options).done())["settings"]]

    assert keys("--most", "1") == keys()[:1]
    assert keys("--most", "20")[:3] == keys()
    assert len(keys("--most", "20")) > 3


def test_a_trial_measures_what_the_commands_do(cli: Cli, run: Path) -> None:
    """Before and after are those of the runs that the printed commands do."""
    answer = json.loads(cli("explain", run, "--try", "--most", "20", "--json", "-").done())
    before = floatgate.load(run)
    seen = set()
    for one in answer["settings"]:
        for choice, tried in zip(one["choices"], one["tried"], strict=True):
            after = floatgate.run(before.experiment(), set={one["key"]: choice["value"], **choice["also"]})
            wear = next(figure for figure in tried["figures"] if figure["figure"] == "wear")
            assert (wear["before"], wear["after"]) == (before.wear.erases_mean, after.wear.erases_mean)
            assert wear["change"] == pytest.approx(after.wear.erases_mean / before.wear.erases_mean - 1)
            seen.add(tried["verdict"].partition(":")[0])
    assert {"helped", "did not help"} <= seen, "no trial is a failure, or none a success"


def test_the_printed_comparison_shows_the_measured_amplification(cli: Cli, run: Path) -> None:
    answer = json.loads(cli("explain", run, "--try", "--json", "-").done())
    (spare,) = [one for one in answer["settings"] if one["key"] == "ftl.spare_factor"]
    waf = next(figure for figure in spare["tried"][0]["figures"] if figure["figure"] == "amplification")
    (command,) = spare["commands"]
    rows = cli(*shlex.split(command)[1:]).done().splitlines()[1:]
    # Beside the gain stands what it costs, in the trial and in the comparison.
    assert (
        "visible space fell from 51.2 MiB to 38.4 MiB (the generated workload with it)" in spare["tried"][0]["verdict"]
    )
    assert rows.pop().startswith(
        "visible capacity: 51.2 MiB under 0.2, 38.4 MiB under 0.4; generated requests go to all"
    )
    assert [row.split()[1] for row in rows] == [f"{waf[side]:.2f}" for side in ("before", "after")]


def test_a_trial_prints_one_line_for_each_value(cli: Cli, run: Path) -> None:
    ended = cli("explain", run, "--try", "--jobs", "2")
    lines = [line for line in ended.done().splitlines() if line.startswith("measured")]
    answer = json.loads(cli("explain", run, "--json", "-").done())
    assert len(lines) == sum(len(one["choices"]) for one in answer["settings"])
    assert all("erases per block" in line for line in lines)


def test_a_trial_of_latency_compares_means(tmp_path: Path) -> None:
    floatgate.run({**TIMED, "ftl.collect.mode": "whole-block"}).save(tmp_path / "run", report=False)
    with reading(str(tmp_path / "run")) as case:
        answer = explain(case)
    tried = trial.run(answer, 2)
    (spare,) = [
        trials[0] for one, trials in zip(answer.suggestions, tried, strict=True) if one.key == "ftl.spare_factor"
    ]
    figures = {one.figure: one for one in spare.figures}
    assert figures["read_mean_us"].before == case.result["latency_us"]["read"]["mean"]
    after = floatgate.run({**TIMED, "ftl.collect.mode": "whole-block", "ftl.spare_factor": 0.4})
    assert figures["read_mean_us"].after == after.latency_us.read.mean
    less = "visible space fell from 51.2 MiB to 38.4 MiB (the generated workload with it)"
    assert spare.verdict == f"{HELPED}, but {less}"


def test_a_forecast_begins_with_the_life_that_lifetime_states(cli: Cli, tmp_path: Path) -> None:
    rated = {**SMALL, "workload.rate_per_s": 0.02, "drive.rated.tbw_tb": 0.001, "drive.rated.user_bytes": 50_000_000}
    life = floatgate.lifetime(rated)
    life.write(RunFolder.named(str(tmp_path / "rated"), force=False), report=False)
    stated = [line for line in life.summary().splitlines() if line.startswith(("life ", "per day "))]
    lines = cli("explain", "rated").done().splitlines()
    assert lines[1:3] == stated
    assert "until the rated bytes are written" in stated[0]
    # No other life, and no setting that saves wear alone: the rating counts what the host writes.
    assert [line for line in lines if line.startswith("life ") and " lasts " in line] == [
        "life       The drive lasts 152 days and misses the target of 5 years."
    ]
    [suggested] = [line for line in lines if line.startswith("try ")]
    assert suggested.endswith("blocks_per_plane = 512 (now 256): about 50 % less use of the rated bytes by proportion")


def test_a_trial_of_a_forecast(cli: Cli, tmp_path: Path) -> None:
    folder = scenarios.write("life, given", tmp_path)
    answer = json.loads(cli("explain", folder, "--try", "--json", "-").done())
    assert answer["kind"] == "lifetime"
    (throttle,) = [one for one in answer["settings"] if one["key"] == "lifetime.throttle.policy"]
    assert throttle["commands"] == [
        f"floatgate lifetime {folder}/experiment.toml --set lifetime.throttle.policy=ready-optimistic"
    ]
    gap = throttle["tried"][0]["figures"][0]
    life = floatgate.lifetime(scenarios.FORECASTS["life, given"][0])
    assert gap["before"] == pytest.approx(1 - life.lifetime.years / 5)
    assert gap["after"] == pytest.approx(0, abs=1e-3)
    assert throttle["tried"][0]["verdict"] == HELPED


@pytest.mark.parametrize(
    ("life", "verdict"), [(None, HELPED), (0.2, HELPED), (-0.04, HELPED), (-0.2, f"{HELPED}, but the life fell")]
)
def test_wear_that_falls_while_life_does_is_no_plain_help(life: float | None, verdict: str) -> None:
    """More blocks halve the mean erases; where the workload's data wears out some blocks, the drive may die earlier."""
    gain = Gain("wear", "", "", "wear")
    assert Trial(1, [Measured("wear", 10.0, 5.0, ("10", "5"), gain)], life=life).verdict == verdict


def test_what_got_much_worse_is_named() -> None:
    """A mean that fell was called help while p99 rose by 1349 %."""
    mean = Measured("read_mean_us", 172.0, 125.0, ("172 us", "125 us"), Gain("time of reads", "", "", "read_mean_us"))
    beside = Measured("read_p99_us", 125.0, 1800.0, ("125 us", "1.8 ms"))
    slight = Measured("write_p99_us", 100.0, 120.0, ("100 us", "120 us"))
    idle = Trial("idle", [mean, beside, slight], life=-0.2)
    assert idle.verdict == f"{HELPED}, but the life fell and read p99 rose by more than 25 %"
    assert idle.text().endswith("read p99 125 us to 1.8 ms (+1340 %), write p99 100 us to 120 us (+20 %)")


def test_a_mean_that_fell_alone_is_no_plain_help() -> None:
    """Mean and p99 are what a user sees first: a mean that falls while p99 does not, or another mean rises, is said."""

    def verdict(p99: float, write_mean: float) -> str:
        gain = Gain("time of reads", "", "", "read_mean_us")
        mean = Measured("read_mean_us", 415.0, 187.0, ("415 us", "187 us"), gain)
        beside = [
            Measured("read_p99_us", 737.0, p99, ("", "")),
            Measured("write_mean_us", 4600.0, write_mean, ("", "")),
        ]
        return Trial(True, [mean, *beside]).verdict

    assert verdict(300.0, 4600.0) == HELPED
    assert verdict(744.0, 4600.0) == f"{HELPED}, but read p99 did not fall (+1 %)"
    assert verdict(300.0, 5290.0) == f"{HELPED}, but mean write rose (+15 %)"
    assert verdict(810.0, 5290.0) == f"{HELPED}, but read p99 rose (+10 %) and mean write rose (+15 %)"


def test_gains_of_runs_that_are_not_steady_say_so(tmp_path: Path) -> None:
    floatgate.run({**SMALL, "ftl.precondition": "none", "workload.requests": 30_000}).save(
        tmp_path / "run", report=False
    )
    with reading(str(tmp_path / "run")) as case:
        answer = explain(case)
    trials = [one for tried in trial.run(answer, 2) for one in tried]
    assert trials
    assert all("no life yet" in one.text() and one.to_dict()["notes"] for one in trials if one.error is None)


def test_leveling_is_judged_by_the_life_of_the_drive() -> None:
    gain = Gain("wear of the most erased block", "", "", "short_life", instead="erases_max")
    texts = "2.6 days (first block)", "3.9 days"
    life = Measured("short_life", *texts, texts, gain, lives=(2.6, 3.9))
    assert Trial("hot-cold-swap", [life], life=0.5).text() == (
        "hot-cold-swap helped: life 2.6 days (first block) to 3.9 days (+50 %)"
    )
    shorter = Measured("short_life", *texts[::-1], texts[::-1], gain, lives=(3.9, 2.6))
    assert Trial("none", [shorter], life=-0.3).verdict == WORSE


@pytest.mark.parametrize(
    ("before", "after", "error", "verdict"),
    [
        (10.0, 5.0, UNSURE, HELPED),
        (10.0, 9.6, UNSURE, f"{NO_DIFFERENCE} of 5 %"),
        (10.0, 10.4, UNSURE, f"{NO_DIFFERENCE} of 5 %"),
        (10.0, 9.6, 0.01, HELPED),
        (10.0, 11.0, UNSURE, WORSE),
        (0.0, 0.0, UNSURE, f"{NO_DIFFERENCE} of 5 %"),
    ],
)
def test_verdicts(before: float, after: float, error: float, verdict: str) -> None:
    gain = Gain("wear", "", "", "wear")
    assert Measured("wear", before, after, (str(before), str(after)), gain, error).verdict == verdict


def test_a_trial_that_does_not_help_names_what_got_worse() -> None:
    def measured(figure: str, after: float, gain: Gain | None = None) -> Measured:
        return Measured(figure, 100.0, after, ("100", str(after)), gain)

    mean = measured("write_mean_us", 99.0, Gain("time of writes", "", "", "write_mean_us"))
    tail = [measured("write_p99_us", 128.0), measured("write_p999_us", 132.0), measured("read_p99_us", 104.0)]
    worse = "write p99 (+28 %), write p99.9 (+32 %)"
    assert Trial("128 KiB", [mean, *tail]).verdict == f"{NO_DIFFERENCE} of 5 %, and worse: {worse}"
    assert Trial("128 KiB", [mean, tail[2]]).verdict == f"{NO_DIFFERENCE} of 5 %"


def test_a_trial_that_fails_is_told_and_ends_with_1(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = trial._runs

    def failing(case: Any, experiments: Sequence[Any], *others: Any) -> list[Any]:
        outcomes = real(case, experiments, *others)
        return [outcomes[0], RunError("the drive was worn out"), *outcomes[2:]]

    monkeypatch.setattr(trial, "_runs", failing)
    assert status(["explain", str(run), "--try", "--quiet", "--json", "-"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert "the drive was worn out" in captured.err
    tried = json.loads(captured.out)["settings"]
    assert tried[0]["tried"][0]["verdict"] == "failed"
    assert tried[1]["tried"][0]["verdict"] != "failed"


def test_a_trial_runs_the_experiment_as_it_was_once(run: Path) -> None:
    with reading(str(run)) as case:
        answer = explain(case)
    sides = trial.sides(answer)
    assert sides[0] == []
    assert len(sides) == 1 + sum(len(one.choices) for one in answer.suggestions)
    assert trial.labels_of(answer)[0] == "as it was"


def test_nothing_to_try(cli: Cli, tmp_path: Path) -> None:
    folder = scenarios.write("only reads", tmp_path)
    text = cli("explain", folder, "--try").done()
    assert text.splitlines()[-1] == "try        no setting follows from these figures"


# Bad input


def test_folders_that_are_no_run_are_refused(cli: Cli, tmp_path: Path, experiment: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no results" in cli("explain", "empty").refused()
    assert "no such folder" in cli("explain", "missing").refused()
    cli("compare", experiment, "--vary", "seed=1,2", "--out", "both", "--no-report").done()
    message = cli("explain", "both").refused()
    assert message.startswith("both: holds the results of several runs ('compare.json'); expected")
    inner = next(path for path in (tmp_path / "both").iterdir() if path.is_dir())
    assert cli("explain", inner).done()


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("result.json", "{", "result.json"),
        ("result.json", "{}", "result.json"),
        ("experiment.toml", "[drive", "experiment.toml"),
        ("experiment.toml", "[ftl]\nspare = 1\n", "unknown key 'spare'"),
        ("experiment.toml", None, "no such file"),
    ],
)
def test_damaged_folders_are_refused(cli: Cli, run: Path, file: str, content: str | None, expected: str) -> None:
    (run / file).unlink()
    if content is not None:
        (run / file).write_text(content)
    assert expected in cli("explain", run).refused()


@pytest.mark.parametrize("keys", [["flash"], ["gc", "copied_pages"], ["wear", "erases_mean"], ["drive"], ["lifetime"]])
@pytest.mark.parametrize("value", [None, {}, [], "x", -1])
def test_damaged_figures_end_in_no_traceback(cli: Cli, run: Path, keys: list[str], value: Any) -> None:
    document = json.loads((run / "result.json").read_text("utf-8"))
    table = document
    for key in keys[:-1]:
        table = table[key]
    table[keys[-1]] = value
    (run / "result.json").write_text(json.dumps(document))
    ended = cli("explain", run)
    assert ended.status in (0, 2), ended.err
    if ended.status == 2:
        ended.refused()


def test_options_without_effect_are_refused(cli: Cli, run: Path, tmp_path: Path) -> None:
    assert "--try" in cli("explain", run, "--jobs", "2").refused()
    assert "--most" in cli("explain", run, "--most", "0").refused()
    (tmp_path / "there.json").write_text("")
    assert "there.json" in cli("explain", run, "--json", "there.json").refused()
    assert cli("explain", run, "--json", "there.json", "--force").done()


def test_a_trace_from_a_pipe_cannot_be_tried(cli: Cli, tmp_path: Path) -> None:
    folder = scenarios.write(scenarios.PIPED, tmp_path)
    assert "standard input" in cli("explain", folder, "--try").refused()
    assert "--trace FILE" in cli("explain", folder).done()
