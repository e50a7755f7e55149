"""``floatgate compare``: settings side by side."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate.report.sections import orders
from floatgate.report.sections.section import Columns, Section
from floatgate.study.compare import baselines_of


def test_the_table_holds_every_combination(cli: Cli, experiment: Path) -> None:
    vary = ("--vary", "ftl.collect.policy=greedy,fifo", "--vary", "ftl.spare_factor=0.2,0.4")
    lines = cli("compare", experiment, *vary).done().splitlines()
    assert lines[0].split()[:3] == ["ftl.collect.policy", "ftl.spare_factor", "WAF"]
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["greedy", "0.2"],
        ["greedy", "0.4"],
        ["fifo", "0.2"],
        ["fifo", "0.4"],
    ]
    # Each is measured against greedy at its own spare factor.
    assert ["±" in line for line in lines[1:5]] == [False, False, True, True]
    assert lines[5].startswith("visible capacity: 51.2 MiB under 0.2, 38.4 MiB under 0.4; generated requests go to all")
    assert lines[6] == "Differences are from greedy at the same ftl.spare_factor."
    # Below it stand the settings without a life, and what mends it.
    assert [line.split(": no ")[1][:12] for line in lines[7:]] == ["steady WAF a"] * (len(lines) - 7)


def test_the_visible_capacity_stands_below_the_table_and_on_the_page(cli: Cli, experiment: Path) -> None:
    def noted(*vary: str) -> str:
        lines = cli("compare", experiment, *(part for one in vary for part in ("--vary", one))).done().splitlines()
        return next((line for line in lines if line.startswith("visible capacity: ")), "")

    whole = "; generated requests go to all of it, and the workload differs with it"
    assert noted("ftl.spare_factor=0.2,0.3,0.4") == (
        f"visible capacity: 51.2 MiB under 0.2, 44.8 MiB under 0.3, 38.4 MiB under 0.4{whole}"
    )
    spares = ",".join(f"0.2{place}" for place in range(7))
    assert noted(f"ftl.spare_factor={spares}") == f"visible capacity: 47.4 MiB to 51.2 MiB{whole}"
    assert noted("ftl.collect.policy=greedy,fifo") == ""
    done = floatgate.compare(SMALL, {"ftl.spare_factor": [0.2, 0.4]})
    assert "visible capacity: 51.2 MiB under 0.2" in done.report()


def test_json_gives_results_and_differences(cli: Cli, experiment: Path) -> None:
    ended = cli("compare", experiment, "--vary", "ftl.collect.policy=greedy,fifo", "--json", "-")
    answer = json.loads(ended.done())
    assert answer["schema"] == "floatgate.compare/1"
    first, second = answer["settings"]
    assert first["set"] == {"ftl.collect.policy": "greedy"}
    assert first["difference"] is None
    difference = second["difference"]
    assert difference["waf"] == pytest.approx(second["result"]["waf"] - first["result"]["waf"])
    low, high = difference["waf_95"]
    halves = [(result["waf_95"][1] - result["waf_95"][0]) / 2 for result in (first["result"], second["result"])]
    # Both serve the same requests: batches are paired, and what the requests do to both cancels.
    assert 0 < (high - low) / 2 < math.hypot(*halves)
    assert difference["interval_from"] == "paired batches"
    assert "greedy" in ended.err


def test_the_number_of_jobs_changes_no_result(cli: Cli, experiment: Path) -> None:
    def results(jobs: str) -> list[object]:
        command = ("compare", experiment, "--vary", "seed=1,2,3,4", "--json", "-", "--jobs", jobs)
        settings = json.loads(cli(*command).done())["settings"]
        return [(setting["set"], setting["result"]["flash"], setting["result"]["wear"]) for setting in settings]

    assert results("1") == results("4")


def test_a_trace_and_a_drive_do_without_an_experiment(cli: Cli, trace: Path) -> None:
    small = ("--drive", "mlc-20nm", "--capacity", "64MiB", "--devices", "fold", "--beyond", "wrap")
    command = ("compare", "--trace", trace, *small, "--vary", "ftl.collect.policy=greedy,fifo", "--json", "-")
    first, second = json.loads(cli(*command).done())["settings"]
    run = json.loads(cli("run", "--trace", trace, *small, "--json", "-", "--out", "o").done())
    assert {**first["result"], "run": None} == {**run, "run": None}
    assert second["result"]["config"]["ftl"]["collect"]["policy"] == "fifo"
    assert "no --vary" in cli("compare", "--trace", trace).refused()
    assert "missing.csv" in cli("compare", "--trace", "missing.csv", *command[3:]).refused()


def test_one_bad_setting_stops_all_before_they_start(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    error = cli("compare", experiment, "--vary", "ftl.collect.policy=greedy,best", "--out", "o").refused()
    assert "'best'" in error
    assert not (tmp_path / "o").exists()


def test_a_failed_run_keeps_the_others(cli: Cli, experiment: Path) -> None:
    ended = cli("compare", experiment, "--vary", "drive.endurance.pe_cycles=3000,1", "--json", "-")
    assert ended.status == 1
    assert ended.err.startswith("error: drive.endurance.pe_cycles = 1: the drive was worn out")
    good, bad = json.loads(ended.out)["settings"]
    assert good["error"] is None
    assert good["result"]["waf"] > 1
    assert bad["result"] is None
    assert "worn out" in bad["error"]


@pytest.mark.parametrize(
    ("vary", "expected"),
    [
        ([], "no --vary"),
        (["seed"], "no '='"),
        (["seed="], "empty value"),
        (["seed=1,"], "empty value"),
        (["seed=1,1"], "given twice"),
        (["seed=1", "seed=2"], "given twice"),
    ],
)
def test_vary_that_cannot_be_meant_is_refused(cli: Cli, experiment: Path, vary: list[str], expected: str) -> None:
    options = [part for text in vary for part in ("--vary", text)]
    assert expected in cli("compare", experiment, *options).refused()


def test_compare_from_python() -> None:
    done = floatgate.compare(SMALL, {"ftl.collect.policy": ["greedy", "random"]}, jobs=2)
    assert [setting.label for setting in done] == ["greedy", "random"]
    assert len(done.runs) == 2
    greedy, rand = done.runs
    assert greedy.waf < rand.waf
    assert "greedy" in done.text()
    report = done.report()
    assert "<svg" in report
    assert "±" in report


def test_a_section_adds_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    note = "Victims: blocks that were collected."
    victims = Columns(["victims"], lambda result, _: [str(result["gc"]["victims"])], note=note)
    unknown = Columns(["patterns"], lambda *_: ["-"], applies=lambda result: bool(result.get("dispatch")))
    added = Section("victims", columns=[victims, unknown])
    monkeypatch.setattr(orders, "COMPARED", (*orders.COMPARED, added))
    done = floatgate.compare(SMALL, {"ftl.collect.policy": ["greedy", "fifo"]}, jobs=1)
    header, rows = done.rows()
    assert header[-1] == "victims"
    assert [row[-1] for row in rows] == [str(run.gc.victims) for run in done.runs]
    assert note in done.text().splitlines()
    assert note in done.report()


def test_columns_have_a_cell_for_each_name() -> None:
    """This holds even for a result without the metrics."""
    for section in orders.COMPARED:
        assert section.columns, section.name
        for columns in section.columns:
            assert list(columns.cells({}, None)) == ["-"] * len(columns.header)


def test_compare_from_python_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="jobs"):
        floatgate.compare(SMALL, {"seed": [1]}, jobs=0)
    with pytest.raises(ValueError, match="value"):
        floatgate.compare(SMALL, {"seed": []})


def test_a_capacity_is_that_of_all_settings(cli: Cli, experiment: Path) -> None:
    vary = ("--vary", "ftl.collect.policy=greedy,fifo")
    ended = cli("compare", experiment, *vary, "--capacity", "32 MiB", "--json", "-")
    sizes = [one["result"]["drive"]["physical_bytes"] for one in json.loads(ended.done())["settings"]]
    assert sizes == [32 << 20] * 2


def test_identical_runs_differ_by_nothing(cli: Cli, experiment: Path) -> None:
    """Common random numbers: settings that do the same serve the same requests, seed by seed."""
    vary = ("--vary", "ftl.collect.policy=greedy,windowed-greedy,fifo")
    for repeat in ((), ("--repeat", "3")):
        ended = cli("compare", experiment, *vary, *repeat, "--set", "ftl.collect.window=256", "--json", "-")
        if ended.status == 2:  # greedy takes no window
            ended = cli("compare", experiment, *vary, *repeat, "--json", "-")
        same, other = (one["difference"] for one in json.loads(ended.done())["settings"][1:])
        assert (same["waf_bytes"], same["waf_bytes_95"]) == (0.0, [0.0, 0.0])
        assert "+0.00 ± 0.00" in ended.err
        assert other["waf_bytes"] > 0


def test_differences_of_seeds_are_paired(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    vary = ("--vary", "ftl.collect.policy=fifo,greedy")
    command = ("compare", experiment, *vary, "--repeat", "4", "--baseline", "ftl.collect.policy=greedy", "--out", "o")
    answer = json.loads(cli(*command, "--json", "-", "--no-report").done())
    assert answer["baseline"] == 1
    ours, theirs = answer["settings"]
    assert theirs["difference"] is None
    assert ours["seeds"] == theirs["seeds"] == [3, 4, 5, 6]
    deltas = [a["waf_bytes"] - b["waf_bytes"] for a, b in zip(ours["results"], theirs["results"], strict=True)]
    mean = sum(deltas) / 4
    # Student's t for three degrees of freedom.
    half = 3.182 * math.sqrt(sum((delta - mean) ** 2 for delta in deltas) / 3) / 2
    difference = ours["difference"]
    assert difference["pairs"] == 4
    assert difference["waf_bytes"] == pytest.approx(mean)
    assert difference["seeds_95"]["waf_bytes"] == pytest.approx([mean - half, mean + half])
    low, high = difference["waf_bytes_95"]
    assert (high - low) / 2 >= half
    assert difference["figures"]["waf_bytes"]["difference"] == pytest.approx(mean)
    # One flat row a run, and a folder of its own for each.
    table = pq.read_table(tmp_path / "o/compare.parquet").to_pylist()
    assert [(row["ftl.collect.policy"], row["seed"]) for row in table] == [
        (policy, seed) for policy in ("fifo", "greedy") for seed in (3, 4, 5, 6)
    ]
    assert [row["waf_bytes"] for row in table[:4]] == [result["waf_bytes"] for result in ours["results"]]
    assert len((tmp_path / "o/compare.csv").read_text().splitlines()) == 9
    assert floatgate.load(tmp_path / "o/02-greedy-seed-5").waf == theirs["results"][2]["waf"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--baseline", "ftl.collect.policy=random"], "no setting has it"),
        (["--baseline", "seed=3"], "'seed' does not vary; expected 'ftl.collect.policy'"),
        (["--baseline", "greedy"], "no '='"),
        (["--resume"], "the folder of the comparison is missing"),
        (["--resume", "--out", "o"], "holds no comparison to go on with"),
    ],
)
def test_what_cannot_be_compared_with_is_refused(cli: Cli, experiment: Path, options: list[str], message: str) -> None:
    assert message in cli("compare", experiment, "--vary", "ftl.collect.policy=greedy,fifo", *options).refused()


def test_an_interrupted_comparison_goes_on(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    # The second setting takes very much longer than the first.
    command = ["compare", str(experiment), "--vary", "workload.requests=60000,20000000000", "--jobs", "1"]
    command += ["--set", "drive.endurance.pe_cycles=4000000000", "--out", "o", "--no-report"]
    process = subprocess.Popen(
        [sys.executable, "-m", "floatgate", *command],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    end = time.monotonic() + 60
    while not (tmp_path / "o/unfinished/000000").is_dir():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.decode().startswith("error: interrupted, 1 runs are done; continue with the same command and --resume")
    assert "holds an interrupted comparison" in cli(*command).refused()
    shorter = [text.replace("20000000000", "70000") for text in command]
    assert "(the settings that vary differ)" in cli(*shorter, "--resume").refused()
    # As if the plan had been the shorter one.
    plan = tmp_path / "o/unfinished/plan.json"
    plan.write_text(plan.read_text().replace("20000000000", "70000"))
    kept = (tmp_path / "o/unfinished/000000/result.json").read_text()
    cli(*shorter, "--resume").done()
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "01-60000",
        "02-70000",
        "compare.csv",
        "compare.json",
        "compare.parquet",
    ]
    assert (tmp_path / "o/01-60000/result.json").read_text() == kept


TWO_KEYS: dict[str, list[object]] = {"ftl.collect.policy": ["greedy", "fifo"], "ftl.spare_factor": [0.2, 0.3]}


@pytest.mark.parametrize(
    ("baseline", "expected", "against"),
    [
        # By default the first value of the first key, within each value of the other.
        (None, [0, 1, 0, 1], "greedy at the same ftl.spare_factor"),
        ({"ftl.collect.policy": "fifo"}, [2, 3, 2, 3], "fifo at the same ftl.spare_factor"),
        ({"ftl.spare_factor": 0.3}, [1, 1, 3, 3], "0.3 at the same ftl.collect.policy"),
        ({"ftl.collect.policy": "greedy", "ftl.spare_factor": 0.3}, [1, 1, 1, 1], "greedy, 0.3"),
    ],
)
def test_a_baseline_is_matched_within_the_other_keys(
    baseline: dict[str, object] | None, expected: list[int], against: str
) -> None:
    done = floatgate.compare(SMALL, TWO_KEYS, baseline=baseline, jobs=2)
    answer = done.to_dict()
    assert [entry["baseline"] for entry in answer["settings"]] == expected
    assert done.against == against
    for number, (entry, at) in enumerate(zip(answer["settings"], expected, strict=True)):
        other = answer["settings"][at]["result"]["waf"]
        if number == at:
            assert entry["difference"] is None
        else:
            assert entry["difference"]["waf"] == pytest.approx(entry["result"]["waf"] - other)
    assert (f"Differences are from {against}." in done.text()) == (len(set(expected)) > 1)
    assert f"Differences from {against}" in done.report()


def test_a_key_with_one_value_is_no_baseline() -> None:
    points = [[("ftl.collect.policy", '"d-choices"'), ("ftl.collect.choices", str(k))] for k in (2, 4, 8)]
    assert baselines_of(points, {}) == [0, 0, 0]
    assert baselines_of([point[:1] for point in points[:1]], {}) == [0]


def test_a_report_drawn_again_has_the_same_baselines(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    vary = ("--vary", "ftl.collect.policy=greedy,fifo", "--vary", "ftl.spare_factor=0.2,0.3")
    cli("compare", experiment, *vary, "--baseline", "ftl.collect.policy=fifo", "--out", "o").done()
    first = (tmp_path / "o/report.html").read_text()
    cli("report", "o", "--out", "again.html").done()
    again = (tmp_path / "again.html").read_text()
    for text in ("Differences from fifo at the same ftl.spare_factor", "greedy, 0.3"):
        assert text in first
        assert text in again


def test_the_page_says_what_collection_copied_and_where_the_runs_are(
    cli: Cli, experiment: Path, tmp_path: Path
) -> None:
    out = cli("compare", experiment, "--vary", "ftl.collect.policy=greedy,fifo", "--out", "o").done()
    page = (tmp_path / "o/report.html").read_text()
    names = ("pages copied per victim", "victims without valid pages")
    for name in names:
        assert f">{name}</th>" in page
        assert name not in out
    assert "01-greedy" in page
    assert "02-fifo" in page
    row = pq.read_table(tmp_path / "o/compare.parquet").to_pylist()[0]
    assert row["gc.copied_pages_per_victim"] > 0
    assert row["gc.dead_victims"] >= 0


def test_a_best_value_at_an_end_is_named_on_the_terminal(cli: Cli, experiment: Path) -> None:
    key = "drive.geometry.pages_per_block"
    assert (
        f"Best at an end of what was tried: {key} = " in cli("compare", experiment, "--vary", f"{key}=16,32,64").done()
    )
    spare = cli("compare", experiment, "--vary", "ftl.spare_factor=0.2,0.3,0.4").done()
    assert "at an end" not in spare  # more is better by nature
    assert "at an end" not in cli("compare", experiment, "--vary", "ftl.collect.policy=greedy,fifo").done()


def test_a_kept_comparison_has_another_baseline(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    command = ("compare", experiment, "--vary", "ftl.collect.policy=greedy,fifo,random", "--repeat", "2")
    cli(*command, "--out", "o").done()
    other = ("--baseline", "ftl.collect.policy=fifo")
    fresh = json.loads(cli(*command, *other, "--json", "-").done())
    kept = json.loads((tmp_path / "o/compare.json").read_text())
    assert floatgate.load_comparison(tmp_path / "o").to_dict() == kept
    again = floatgate.load_comparison(tmp_path / "o/compare.json", baseline={"ftl.collect.policy": "fifo"})
    assert [one["difference"] for one in again.to_dict()["settings"]] == [
        one["difference"] for one in fresh["settings"]
    ]
    shown = cli("report", "o", *other).done()
    assert again.text() in shown
    assert "Differences from fifo" in (tmp_path / "o/report.html").read_text()
    assert "no setting has it" in cli("report", "o", "--baseline", "ftl.collect.policy=lru").refused()
    run = sorted(entry.name for entry in (tmp_path / "o").iterdir() if entry.is_dir())[0]
    assert f"o/{run}: no comparison" in cli("report", f"o/{run}", *other).refused()
    finished = cli(*command, "--out", "o", "--resume").refused()
    assert "o: this comparison is finished, no run is left" in finished
    assert "'floatgate report o' draws its page again" in finished


def test_loaders_name_the_one_that_reads_a_comparison(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("compare", experiment, "--vary", "ftl.collect.policy=greedy,fifo", "--out", "o", "--no-report").done()
    for load in (floatgate.load, floatgate.load_sweep):
        with pytest.raises(floatgate.InputError, match=r"floatgate\.load_comparison reads this one"):
            load(tmp_path / "o")
    with pytest.raises(floatgate.InputError, match="holds no comparison"):
        floatgate.load_comparison(tmp_path / "o/01-greedy")
