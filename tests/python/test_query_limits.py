"""Limits of a query: its access, its memory, and how it ends."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate.base import interruption
from floatgate.base.errors import InputError, RunError
from floatgate.study.query import query

LONG = "select sum(a.range * b.range) from range(100000000) a, range(100000) b"
ENDLESS = "select * from range(100000000000)"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of two points."""
    folder = tmp_path_factory.mktemp("limits") / "sweep"
    floatgate.sweep(SMALL, {"ftl.spare_factor": [0.2, 0.3]}, out=folder)
    return folder


NAMES = [
    "1",
    "[1]",
    "r2",
    "r*",
    "?",
    "a\\[1]",
    "q'\"\n%20$HOME",
    "key=3",
    "~x",
    "file:",
    "{1,2}",
    os.fsdecode(b"\xff\xfe"),
    "back\\slash",
]


def _write(table: pa.Table, place: Path) -> None:
    with place.open("wb") as file:
        pq.write_table(table, file)


@pytest.fixture(scope="module")
def many(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of a sweep and its series in folders with hostile names; each has its number as a seed."""
    folder = tmp_path_factory.mktemp("names")
    table = pq.read_table(results / "sweep.parquet")
    series = floatgate.run(SMALL).series
    for number, name in enumerate(NAMES):
        one = folder / name
        (one / "runs").mkdir(parents=True)
        (one / "sweep.json").write_text((results / "sweep.json").read_text())
        place = table.schema.get_field_index("seed")
        _write(table.set_column(place, "seed", [[number] * len(table)]), one / "sweep.parquet")
        _write(series.slice(0, number + 1), one / "runs/series.parquet")
    return folder


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_names_of_folders_are_literal(many: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    name = NAMES[number]
    shown = os.fsencode(name).decode("utf-8", "backslashreplace")
    monkeypatch.chdir(many)
    for place in (name, many / name):
        rows = query([place], "select distinct folder, seed from runs").to_pylist()
        assert rows == [{"folder": str(place).replace(name, shown), "seed": number}]
        rows = query([place], "select folder, count(*) as n from series group by all").to_pylist()
        assert rows == [{"folder": str(place).replace(name, shown) + "/runs", "n": number + 1}]
    if name.isprintable() or "\n" in name:  # a path in bytes that are not UTF-8 is refused
        assert set(floatgate.load_sweep(many / name).arrow()["seed"].to_pylist()) == {number}


def test_all_names_at_once_and_no_column_from_a_name(many: Path) -> None:
    rows = query([many], "select seed, folder from sweep order by seed").to_pylist()
    assert [row["seed"] for row in rows] == [number for number in range(len(NAMES)) for _ in range(2)]
    assert len({row["folder"] for row in rows}) == len(NAMES)
    assert "key" not in query([many / "key=3"], "select * from sweep").column_names
    assert "key" not in query([many / "key=3"], "select * from series").column_names


def test_hidden_folders_and_links_hold_no_series(many: Path, tmp_path: Path) -> None:
    for name in (".floatgate.x", "inner"):
        (tmp_path / "sweep" / name).mkdir(parents=True)
        pq.write_table(floatgate.run(SMALL).series.slice(0, 1), tmp_path / "sweep" / name / "series.parquet")
    (tmp_path / "sweep/link").symlink_to(many / "r2")
    (tmp_path / "sweep/sweep.json").write_text("{}")
    assert query([tmp_path / "sweep"], "select count(*) as n from series").to_pylist() == [{"n": 1}]


FORBIDDEN = [
    "copy (select 1) to '{new}'",
    "copy (select 1 as v) to '{table}' (use_tmp_file false)",
    "explain analyze copy (select 1 as v) to '{table}' (use_tmp_file false)",
    "EXPLAIN (analyze, format json) COPY (select 1 as v) to '{table}' (use_tmp_file false)",
    "/**/ explain analyze copy (select 1 as v) to '{table}' (use_tmp_file false)",
    "explain analyze explain analyze copy (select 1 as v) to '{table}' (use_tmp_file false)",
    "select 1; copy (select 1 as v) to '{table}' (use_tmp_file false)",
    "copy (select 1) to '{new}'; select 1",
    "attach '{new}'",
    "install httpfs",
    "load httpfs",
    "select * from read_csv('{secret}')",
    "select * from read_text('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from '{secret}'",
    "select * from glob('/etc/*')",
    "select * from sniff_csv('{secret}')",
    "export database '{new}'",
    "import database '{new}'",
    "set memory_limit = '100GB'",
    "reset memory_limit",
    "set enable_external_access = true",
    "pragma memory_limit = '100GB'",
    "call enable_logging(storage = 'file', storage_config = {{'path': '{new}'}})",
    "select * from 'https://127.0.0.1:9/x.parquet'",
    "select * from 's3://bucket/x.parquet'",
    "select * from ours",
    "select * from theirs",
    "select 1; select 2",
    "create table t as select 1",
    "prepare p as copy (select 1) to '{new}'",
    "create persistent secret s (type s3)",
    "select * from query('copy (select 1) to ''{new}''')",
]


@pytest.mark.parametrize("form", FORBIDDEN)
def test_a_query_reaches_the_named_results_alone(results: Path, tmp_path: Path, form: str) -> None:
    ours = pq.read_table(results / "sweep.parquet")
    secret = tmp_path / "secret.csv"
    secret.write_text("password\nhunter2\n")
    table, new = results / "sweep.parquet", tmp_path / "new"
    before = table.read_bytes()
    theirs = ours  # a variable that DuckDB would find in the calling frame
    with pytest.raises(InputError, match=r"^SQL: "):
        query([results], form.format(new=new, table=table, secret=secret))
    assert table.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.csv"]
    assert theirs is ours


@pytest.mark.parametrize(
    "sql",
    [
        "describe runs",
        "summarize sweep",
        "from runs",
        "show tables",
        "explain select * from runs",
        "explain analyze select * from runs",
        "explain (format json) select * from runs",
        'pivot sweep on "ftl.spare_factor" using avg(waf)',
        "with a as (select waf from runs) select * from a",
        "select waf from runs;",
        "values (1)",
        "select current_date, '[1]'::json, now() at time zone 'Asia/Tokyo'",
    ],
)
def test_whatever_only_reads_is_possible(results: Path, sql: str) -> None:
    assert query([results], sql).num_rows >= 1


def test_files_are_open_on_request(cli: Cli, results: Path, tmp_path: Path) -> None:
    (tmp_path / "limits.csv").write_text("most\n1.5\n")
    sql = f"select count(*) as n from runs, '{tmp_path}/limits.csv' where waf > most or true"
    assert query([results], sql, allow_files=True).to_pylist() == [{"n": 2}]
    assert "expected a SELECT over them, or --allow-files" in cli("query", results, sql).refused()
    assert cli("query", results, sql, "--allow-files").done().split() == ["n", "2"]
    cli("query", results, f"copy (select 1 as v) to '{tmp_path}/new.parquet'; select 2", "--allow-files").done()
    assert pq.read_table(tmp_path / "new.parquet").to_pylist() == [{"v": 1}]


def _limited(folder: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """A query whose process may take 1 GiB for data."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))\n"
        "from floatgate.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "query", *map(str, arguments), "--memory", "256MiB"]
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_an_endless_answer_is_printed_as_far_as_it_is_shown(results: Path, tmp_path: Path) -> None:
    out, err = _limited(tmp_path, results, ENDLESS, "--rows", "3").communicate(timeout=120)
    assert err == ""
    assert out.split("\n")[:4] == ["range", "    0", "    1", "    2"]
    assert "... and more than 1,000,000 more rows" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("sql", "more"),
    [
        (ENDLESS, ["--out", "a.csv"]),
        (ENDLESS, ["--out", "a.parquet"]),
        (ENDLESS, ["--json", "a.json"]),
        (LONG, []),
        ("select * from range(100000000000) where range < 0", []),
    ],
)
def test_a_signal_ends_a_query_and_leaves_nothing(
    results: Path, tmp_path: Path, sent: signal.Signals, sql: str, more: list[str]
) -> None:
    child = _limited(tmp_path, results, sql, *more)
    try:
        for _ in range(600):
            if list(tmp_path.glob(".floatgate.*.a.*" if more else ".floatgate.*")) or child.poll() is not None:
                break
            time.sleep(0.05)
        child.send_signal(sent)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.communicate()
    assert (child.returncode, out, err) == (128 + sent, "", "error: interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_while_the_thread_starts_ends_the_query(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        time.sleep(0.2)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        query([results], LONG)
    assert "floatgate query" not in {thread.name for thread in threading.enumerate() if thread.is_alive()}


def test_a_signal_that_a_library_drops_ends_the_query(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruption, "_statuses", [143])
    with pytest.raises(KeyboardInterrupt):
        query([results], LONG)


def test_a_killed_query_leaves_nothing_for_long(results: Path, tmp_path: Path) -> None:
    child = _limited(tmp_path, results, "select * from range(100000000000) order by hash(range)")
    try:
        for _ in range(600):
            if list(tmp_path.glob(".floatgate.*/spill/*")) or child.poll() is not None:
                break
            time.sleep(0.05)
    finally:
        child.kill()
        child.communicate()
    assert list(tmp_path.iterdir())
    assert "2" in _limited(tmp_path, results, "select count(*) from runs").communicate(timeout=120)[0]
    assert list(tmp_path.iterdir()) == []


def test_memory_is_limited_and_what_does_not_fit_goes_to_files(results: Path) -> None:
    before = set(Path(tempfile.gettempdir()).glob(".floatgate.*"))
    sql = "select range as r from range(5000000) order by hash(range)"
    assert query([results], f"select count(*) as n from ({sql} limit 4000000)", memory=64 << 20).to_pylist() == [
        {"n": 4_000_000}
    ]
    with pytest.raises(RunError, match=r"the answer takes more than 8 MiB of memory; expected fewer rows"):
        query([results], "select * from range(10000000)", memory=8 << 20)
    with pytest.raises(RunError, match=r"SQL: more than 8 MiB of memory"):
        query([results], "select list(range) from range(10000000)", memory=8 << 20)
    # What a killed process left before may have been cleared meanwhile.
    assert set(Path(tempfile.gettempdir()).glob(".floatgate.*")) <= before


def test_memory_is_a_size(cli: Cli, results: Path) -> None:
    assert "not a size" in cli("query", results, "select 1", "--memory", "much").refused()
    assert "too small" in cli("query", results, "select 1", "--memory", "1KiB").refused()
    with pytest.raises(InputError, match="memory"):
        query([results], "select 1", memory=-1)
    text = "select list(range) from range(10000000)"
    error = cli("query", results, text, "--memory", "8MiB").refused(status=1)
    assert error.startswith("SQL: more than 8 MiB of memory")


def test_an_error_behind_the_first_rows_leaves_no_file(cli: Cli, results: Path, tmp_path: Path) -> None:
    sql = "select cast(case when range = 280000 then 'x' else '1' end as int) as n from range(300000)"
    # Behind two groups of rows of Parquet.
    for more in (["--out", "a.csv"], ["--out", "a.parquet"], ["--json", "a.json"]):
        assert "SQL: Conversion Error" in cli("query", results, sql, *more).refused()
        assert list(tmp_path.iterdir()) == []


def test_answers_of_all_types_and_of_columns_with_one_name(cli: Cli, results: Path, tmp_path: Path) -> None:
    sql = (
        "select 1 as a, 2 as a, sum(9007199254740993) as big, date '2026-01-02' as d, 'x'::blob as b, [1, null] as l, "
        "{'q': 1.5::decimal(4,1)} as s, interval 1 month as i, map {'k': 1} as m, null as n, time '01:02:03' as t"
    )
    answer = json.loads(cli("query", results, sql, "--json", "-").done())
    assert answer == [
        {"a": 1, "a_1": 2, "big": 9007199254740993, "d": "2026-01-02", "b": "78", "l": [1, None], "s": {"q": 1.5}}
        | {"i": answer[0]["i"], "m": [["k", 1]], "n": None, "t": "01:02:03"}
    ]
    assert (
        "expected a query whose columns Parquet can hold" in cli("query", results, sql, "--out", "a.parquet").refused()
    )
    assert list(tmp_path.iterdir()) == []
    cli("query", results, sql, "--out", "a.csv").done()
    with (tmp_path / "a.csv").open() as file:
        head, row = csv.reader(file)
    assert head[:3] == ["a", "a_1", "big"]
    assert row[:5] == ["1", "2", "9007199254740993", "2026-01-02", "78"]
    assert json.loads(cli("query", results, "select waf from runs where false", "--json", "-").done()) == []


def test_json_to_a_file_is_what_goes_to_the_terminal(cli: Cli, results: Path, tmp_path: Path) -> None:
    sql = "select 'é\n\u202e' as text, [1] as l, waf from runs order by waf"
    cli("query", results, sql, "--json", "a.json").done()
    printed = cli("query", results, sql, "--json", "-").done()
    value = json.loads(printed)
    assert (tmp_path / "a.json").read_text() == json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    assert "\u202e" not in printed
    cli("query", results, sql, "--json", "b.json", "--out", "b.parquet", "-q").done()
    assert pq.read_table(tmp_path / "b.parquet").to_pylist() == value == json.loads((tmp_path / "b.json").read_text())
