"""``floatgate tune``: the best of a space."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import Cli
from floatgate.study.tune.objective import Bound, Goal, Objective, goal_of
from floatgate.study.tune.page import unsteady_runs
from floatgate.study.tune.search import Trial, best_of

GRID = (
    *("--vary", "ftl.spare_factor=0.1,0.2,0.3,0.4"),
    *("--vary", "ftl.collect.policy=greedy,fifo,random,cost-benefit"),
    *("--vary", "ftl.separate.policy=none,dac,sepbit", "--set", "workload.pattern=zipf"),
)


def best_of_grid(cli: Cli, experiment: Path, folder: Path) -> dict[str, object]:
    """The best of the grid by going through all of it."""
    cli("sweep", experiment, *GRID, "--out", "grid", "--no-report").done()
    rows = pq.read_table(folder / "grid/sweep.parquet").to_pylist()
    row = min(rows, key=lambda row: row["waf_bytes"])
    return {key: row[key] for key in ("ftl.spare_factor", "ftl.collect.policy", "ftl.separate.policy", "waf_bytes")}


@pytest.mark.parametrize("trials", [30, pytest.param(48, marks=pytest.mark.long)])
def test_the_known_best_of_a_small_grid_is_found(cli: Cli, experiment: Path, tmp_path: Path, trials: int) -> None:
    """With 48 trials the grid of 48 is gone through whole; with 30 it is searched."""
    known = best_of_grid(cli, experiment, tmp_path)
    command = ("tune", experiment, "--minimise", "waf_bytes", *GRID, "--trials", str(trials), "--out", "t", "--report")
    answer = json.loads(cli(*command, "--json", "-").done())
    best = answer["best"]
    assert best["figures"]["waf_bytes"] == known.pop("waf_bytes")
    assert best["set"] == known
    assert answer["trials"] == trials
    assert set(answer["importance"]["waf_bytes"]) == set(known)
    assert sum(answer["importance"]["waf_bytes"].values()) == pytest.approx(1.0)
    assert max(answer["importance"]["waf_bytes"], key=answer["importance"]["waf_bytes"].get) == "ftl.spare_factor"
    # The command that proves it.
    assert answer["proof"] == "floatgate run t/best.toml"
    proof = json.loads(cli("run", "t/best.toml", "--no-report", "--json", "-").done())
    assert proof["waf_bytes"] == best["figures"]["waf_bytes"]
    assert "<svg" in (tmp_path / "t/report.html").read_text()
    (tmp_path / "t/report.html").unlink()
    cli("report", "t").done()
    assert "floatgate run t/best.toml" in (tmp_path / "t/report.html").read_text()
    # What was tried twice was not run twice.
    runs = floatgate.load_sweep(tmp_path / "t").arrow().to_pylist()
    settings = [tuple(row[key] for key in known) for row in runs]
    assert len(settings) == len(set(settings)) <= trials


def test_a_search_has_the_trigger_of_a_comparison(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    search = ("tune", experiment, "--vary", "ftl.separate.policy=none,sepbit", "--minimise", "waf_bytes")
    note = (
        "note       ftl.collect.trigger_free_blocks is 2 in all settings; by default it would be 1 under none, 2 under"
    )
    assert note in cli(*search, "--out", "t").done()
    assert note.removeprefix("note       ") in (tmp_path / "t/report.html").read_text()
    assert note in cli("tune", "--out", "t", "--resume").done()
    assert "also differs" in cli(*search, "--own-defaults", "--out", "own").done()


def test_runs_that_are_not_steady_are_named_once(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    """As sweeps and comparisons name them, with the setting that mends them; also where no setting wins."""
    vary = ("--vary", "ftl.collect.policy=greedy,cost-benefit", "--vary", "ftl.spare_factor=0.1,0.3")
    short = ("--set", "ftl.precondition=none", "--set", "workload.requests=30000")
    swept = lacking(cli("sweep", experiment, *vary, *short, "--out", "s", "--no-report").done())
    assert swept
    assert all("(workload." in line for line in swept)
    search = ("tune", experiment, *vary, "--minimise", "waf_bytes")
    assert lacking(cli(*search, *short, "--out", "t").done()) == swept
    assert (tmp_path / "t/report.html").read_text().count("no life yet; ") == len(swept)
    (tmp_path / "t/report.html").unlink()
    cli("report", "t").done()
    assert (tmp_path / "t/report.html").read_text().count("no life yet; ") == len(swept)
    missed = cli(*search, *short, "--subject-to", "waf_bytes < 0.1", "--out", "m", "--no-report")
    assert lacking(missed.out) == swept
    # A search that goes on has no table yet.
    (tmp_path / "m/sweep.parquet").unlink()
    assert unsteady_runs(tmp_path / "m") == []


def lacking(output: str) -> list[str]:
    """The sentences about runs that are not steady."""
    return [line.partition(" ")[2].strip() for line in output.splitlines() if "no life yet" in line]


def test_a_bound_rules_settings_out_and_a_maximum_is_found(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("sweep", experiment, *GRID, "--out", "grid", "--no-report").done()
    rows = pq.read_table(tmp_path / "grid/sweep.parquet").to_pylist()
    limit = sorted(row["wear.erases_max"] for row in rows)[len(rows) // 2]
    allowed = [row for row in rows if row["wear.erases_max"] < limit]
    command = ("tune", experiment, "--maximise", "wear.erases_std", "--subject-to", f"wear.erases_max < {limit}")
    answer = json.loads(cli(*command, *GRID, "--trials", "48", "--out", "t", "--no-report", "--json", "-").done())
    assert answer["best"]["figures"]["wear.erases_std"] == max(row["wear.erases_std"] for row in allowed)
    assert answer["best"]["figures"]["wear.erases_max"] < limit


def test_no_setting_keeps_to_the_bounds(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    command = ("tune", experiment, "--minimise", "waf_bytes", "--subject-to", "waf_bytes < 1", *GRID, "--trials", "8")
    ended = cli(*command, "--out", "t", "--no-report")
    assert ended.status == 1
    assert ended.err.startswith("error: none of 8 trials keeps to the bounds; the nearest has waf_bytes = ")
    assert not (tmp_path / "t/best.toml").exists()


def test_two_objectives_have_a_front(cli: Cli, experiment: Path) -> None:
    command = ("tune", experiment, "--minimise", "waf_bytes", "--minimise", "wear.erases_std", *GRID, "--trials", "48")
    answer = json.loads(cli(*command, "--repeat", "2", "--out", "t", "--json", "-").done())
    front = [(one["figures"]["waf_bytes"], one["figures"]["wear.erases_std"]) for one in answer["front"]]
    assert answer["best"] == answer["front"][0]
    for one in front:
        assert not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in front)
    assert answer["proof"].endswith(" --repeat 2")


def test_a_killed_search_goes_on_as_if_it_never_was(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    arguments = ["tune", str(experiment), "--minimise", "waf_bytes", "--vary", "ftl.spare_factor=0.2..0.4"]
    arguments += ["--vary", "ftl.collect.policy=greedy,fifo", "--trials", "20", "--set", "workload.requests=1000000"]
    command = [sys.executable, "-m", "floatgate", *arguments, "--out", "t", "--no-report"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    journal = tmp_path / "t/journal.jsonl"
    end = time.monotonic() + 90
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 10):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)
    process.kill()
    process.communicate()
    cli("tune", "--out", "t", "--resume", "--no-report").done()
    cli(*arguments, "--out", "u", "--no-report", "--jobs", "1").done()
    assert (tmp_path / "t/sweep.parquet").read_bytes() == (tmp_path / "u/sweep.parquet").read_bytes()
    assert (tmp_path / "t/best.toml").read_text() == (tmp_path / "u/best.toml").read_text()
    # More of it.
    answer = json.loads(cli("tune", "--out", "t", "--resume", "--trials", "24", "--no-report", "--json", "-").done())
    assert answer["trials"] == 24
    error = cli(*arguments[:-2], "--set", "workload.requests=5", "--out", "t", "--resume").refused()
    assert "was begun with other settings (the experiment differ)" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no objective; expected --minimise waf_bytes"),
        (
            ["--minimise", "throughput.iops"],
            "is null in mode = 'functional' for this experiment; expected another metric",
        ),
        (["--minimise", "waf_byte"], "unknown metric; did you mean 'waf_bytes'"),
        (["--minimise", "mode"], "--minimise 'mode': is not a number"),
        (["--minimise", "waf", "--maximise", "waf"], "'waf' requested twice"),
        (["--minimise", "waf bytes"], "not a metric"),
        (
            ["--minimise", "waf", "--subject-to", "latency_us.read.p99 < 500"],
            "--subject-to 'latency_us.read.p99': is null",
        ),
        (["--minimise", "waf", "--subject-to", "much"], "not a bound; expected FIGURE < NUMBER"),
        (["--minimise", "waf", "--resume"], "the folder of the search is missing"),
        (["--minimise", "waf", "--out", "o", "--resume"], "holds no search to go on with"),
    ],
)
def test_bad_input_is_refused(cli: Cli, experiment: Path, tmp_path: Path, options: list[str], message: str) -> None:
    place = [] if "--resume" in options else ["--out", "o"]
    refused = cli("tune", experiment, "--vary", "ftl.spare_factor=0.2,0.3", *options, *place).refused()
    assert message in refused
    assert not (tmp_path / "o").exists()


def test_the_front_and_the_choice_from_it() -> None:
    goal = Goal((Objective("a"), Objective("b", maximise=True)), (Bound("c", "<=", 3.0),))

    def trial(number: int, a: float, b: float, c: float = 0.0) -> Trial:
        figures = {"a": a, "b": b, "c": c}
        return Trial(number, [], figures, tuple(bound.excess(figures[bound.key]) for bound in goal.bounds))

    trials = [trial(0, 1, 1), trial(1, 2, 9), trial(2, 3, 10), trial(3, 3, 8), trial(4, 0, 99, c=4), Trial(5, [])]
    front = best_of(trials, goal)
    assert {one.number for one in front} == {0, 1, 2}
    assert front[0].number == 1  # near the best of both
    assert best_of([], goal) == []


def test_bounds_are_strict_where_they_say_so() -> None:
    goal = goal_of(["x"], [], ["a < 5", "b >= -1.5e3"])
    assert [str(bound) for bound in goal.bounds] == ["a < 5", "b >= -1500"]
    strict, loose = goal.bounds
    assert strict.excess(5.0) > 0 >= strict.excess(4.9)
    assert loose.excess(-1500.0) <= 0 < loose.excess(-1501.0)


def test_a_seed_that_varies_is_the_seed_of_its_runs(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    command = ("tune", experiment, "--minimise", "waf_bytes", "--vary", "seed=5,6,7", "--trials", "3")
    answer = json.loads(cli(*command, "--out", "t", "--no-report", "--json", "-").done())
    rows = pq.read_table(tmp_path / "t/sweep.parquet").to_pylist()
    assert [row["seed"] for row in rows] == [5, 6, 7]
    proof = json.loads(cli("run", "t/best.toml", "--no-report", "--json", "-").done())
    assert proof["seed"] == answer["best"]["set"]["seed"]
    assert proof["waf_bytes"] == answer["best"]["figures"]["waf_bytes"]
