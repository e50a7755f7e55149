"""``floatgate query`` and ``floatgate ls``; reports of folders."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate.study.query import query


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, a comparison, several seeds, a sweep and a forecast in one folder."""
    folder = tmp_path_factory.mktemp("results")
    floatgate.run(SMALL).save(folder / "one", report=False)
    floatgate.compare(SMALL, {"ftl.collect.policy": ["greedy", "fifo"]}, repeat=2).save(folder / "two", report=False)
    floatgate.sweep(SMALL, {"ftl.spare_factor": [0.2, 0.3], "ftl.collect.policy": ["fifo"]}, out=folder / "deep/three")
    return folder


def test_runs_of_every_kind_are_rows_with_the_same_columns(results: Path) -> None:
    sql = """select kind, "ftl.collect.policy" as policy, "ftl.spare_factor" as spare, waf, seed from runs
             order by kind, policy desc, spare, seed"""
    rows = query([results], sql).to_pylist()
    assert [(row["kind"], row["policy"], row["spare"], row["seed"]) for row in rows] == [
        ("compare", "greedy", 0.2, 1),
        ("compare", "greedy", 0.2, 2),
        ("compare", "fifo", 0.2, 1),
        ("compare", "fifo", 0.2, 2),
        ("run", "greedy", 0.2, 1),
        ("sweep", "fifo", 0.2, 1),
        ("sweep", "fifo", 0.3, 1),
    ]
    assert rows[0]["waf"] == rows[4]["waf"] == floatgate.load(results / "one").waf
    assert rows[2]["waf"] == rows[5]["waf"]


def test_series_and_sweeps_have_views(results: Path) -> None:
    assert query([results], "select count(*) as n from sweep").to_pylist() == [{"n": 2}]
    sums = query([results / "one"], "select sum(page_writes) as n from series").to_pylist()
    assert sums == [{"n": 60_000}]


def test_answers_go_to_the_terminal_and_to_files(cli: Cli, results: Path, tmp_path: Path) -> None:
    sql = "select kind, count(*) as n, null as nothing from runs group by kind order by kind"
    lines = [line.split() for line in cli("query", results, sql).done().splitlines()]
    assert lines == [["kind", "n", "nothing"], ["compare", "4", "-"], ["run", "1", "-"], ["sweep", "2", "-"]]
    assert "and 2 more rows" in cli("query", results, sql, "--rows", "1").done()
    answer = json.loads(cli("query", results, sql, "--json", "-").done())
    assert answer[0] == {"kind": "compare", "n": 4, "nothing": None}
    cli("query", results, sql, "--out", "a.csv").done()
    with (tmp_path / "a.csv").open() as file:
        assert list(csv.reader(file))[:2] == [["kind", "n", "nothing"], ["compare", "4", ""]]
    cli("query", results, sql, "--out", "a.parquet", "-q").done()
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 3
    assert "a.csv: exists already" in cli("query", results, sql, "--out", "a.csv").refused()
    assert "unknown kind of file" in cli("query", results, sql, "--out", "a.xls").refused()


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select waff from runs", 'Referenced column "waff" not found'),
        ("select 1 from nowhere", "expected a query over runs, series, sweep"),
        ("selec", "syntax error"),
        ("", "gives no rows"),
    ],
)
def test_a_query_that_cannot_be_understood_is_refused(cli: Cli, results: Path, sql: str, message: str) -> None:
    assert message in cli("query", results, sql).refused()


def test_what_holds_no_results_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "nowhere: no such folder" in cli("query", "nowhere", "select 1").refused()
    assert "empty: holds no results" in cli("ls", "empty").refused()
    assert "is the only argument" in cli("query", "select 1").refused()
    (tmp_path / "empty/result.json").write_text("{")
    assert "result.json:1:2: ends before its JSON is complete" in cli("query", "empty", "select 1 from runs").refused()
    assert "cannot be read" in cli("ls", "empty").done()
    assert "unknown kind; expected one of 'run'" in cli("ls", "empty", "--kind", "best").refused()


def test_ls_says_what_is_there(cli: Cli, results: Path) -> None:
    answer = {Path(one["folder"]).name: one for one in json.loads(cli("ls", results, "--json", "-").done())}
    assert {name: one["kind"] for name, one in answer.items()} == {"one": "run", "two": "compare", "three": "sweep"}
    assert answer["two"]["what"] == "2 settings of ftl.collect.policy"
    assert answer["three"]["what"] == "2 runs over ftl.spare_factor, ftl.collect.policy"
    assert answer["one"]["WAF"] == f"{floatgate.load(results / 'one').waf_bytes:.2f}"
    assert "64 MiB" in cli("ls", results, "--kind", "run").done()


def test_reports_of_folders_are_drawn_again(cli: Cli, results: Path, experiment: Path, tmp_path: Path) -> None:
    for name in ("one", "two", "deep/three"):
        cli("report", results / name, "--out", f"{Path(name).name}.html").done()
    assert "±" in (tmp_path / "two.html").read_text()
    assert "Differences are against greedy" in (tmp_path / "two.html").read_text()
    assert "sweep over" in (tmp_path / "three.html").read_text()
    cli("run", experiment, "--repeat", "2", "--out", "seeds", "--no-report").done()
    cli("report", "seeds").done()
    cli("lifetime", experiment, "--out", "life", "--no-report").done()
    cli("report", "life").done()
    assert "life of a drive" in (tmp_path / "life/report.html").read_text()
    assert "holds no results" in cli("report", tmp_path).refused()
