"""Journals, plans and tables of sweeps that are damaged or forged: refused with their place, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import SMALL, Change, Cli, Counting, drop, lines_of, put
from floatgate import _core
from floatgate.base import json_in
from floatgate.base.errors import InputError
from floatgate.results.flat import CONTRACT, flat
from floatgate.run.experiment import resolve
from floatgate.run.run import check
from floatgate.study.runs.journal import Journal
from floatgate.study.runs.rows import wrong_figures
from floatgate.study.sweeps.sweep import Sweep, planned

ROOT = Path(__file__).parents[2]
NOT_FINITE = "is not a finite number or too large; expected a number below 2^128"
IN_64_BITS = "expected a whole number from -2^63 on, below 2^64"
IN_A_LINE = "expected a line of a sweep's journal"


def opened(folder: Path) -> Journal:
    plan = planned(folder)
    return Journal(folder / "journal.jsonl", plan.keys, plan.wrong)


CHANGES: list[tuple[Change, str]] = [
    (put("figures", "waf", to=float("nan")), f"figures.waf: {NOT_FINITE}"),
    (put("figures", "waf", to=float("inf")), f"figures.waf: {NOT_FINITE}"),
    (put("figures", "waf", to=-float("inf")), f"figures.waf: {NOT_FINITE}"),
    (put("figures", "host.page_writes", to=10**30), f"'host.page_writes' is {10**30}; {IN_64_BITS}"),
    (put("figures", "host.page_writes", to=-(10**30)), f"'host.page_writes' is -{10**30}; {IN_64_BITS}"),
    (put("set", "seed", to=2**64), f"'seed' is {2**64}; {IN_64_BITS}"),
    (put("figures", "host.page_writes", to=2**64), f"'host.page_writes' is {2**64}; {IN_64_BITS}"),
    (put("figures", "host.page_writes", to=10**39), f"figures['host.page_writes']: {NOT_FINITE}"),
    (put("figures", "wear.erases_max", to=-1), "'wear.erases_max' is -1; expected a whole number of 0 or more"),
    (put("figures", "wear.erases_max", to=1.5), "'wear.erases_max' is 1.5; expected a whole number"),
    (put("figures", "waf", to="1.5"), "'waf' is '\"1.5\"'; expected a number or null"),
    (put("figures", "waf", to=True), "'waf' is True; expected a number or null"),
    (put("figures", "stationary", to=1), "'stationary' is 1; expected true or false or null"),
    (put("figures", "flash.programs.gc", to="12"), "'flash.programs.gc' is '\"12\"'; expected a number, as in run"),
    (put("figures", "flash.programs.gc", to=False), "'flash.programs.gc' is False; expected a number, as in run"),
    (put("figures", "drive.timing.read_us", to="much"), "'drive.timing.read_us' is '\"much\"'; expected a number"),
    (put("figures", "waf", to=[1.5]), "'waf' is '[1.5]'; expected a number, a text"),
    (put("figures", "waf", to={"mean": 1.5}), "expected a number, a text"),
    (put("figures", "surprise", to=1), "'surprise': no run has such a figure"),
    (put("figures", "surprise.waf", to=1), "'surprise.waf': no run has such a figure"),
    (put("figures", "waf\n", to=1), "does not name a figure"),
    (put("figures", "config_hash", to="0" * 63), "'config_hash' is "),
    (put("figures", "config_hash", to=None), "'config_hash' is None; expected a text"),
    (put("figures", "seed", to=99), "'seed' is 99 among the figures; expected 1"),
    (drop("figures", "config_hash"), "'config_hash' is None; expected a text"),
    (put("figures", to={}), "has no figures though the run is done"),
    (put("figures", to=[]), "'figures' is '[]'; expected an object"),
    (put("figures", to=None), "'figures' is None; expected an object"),
    (put("run", to=4), "run 4: no run of the plan; expected a number below 4"),
    (put("run", to=-1), "'run' is -1; expected a whole number of 0 or more"),
    (put("run", to=1.0), "'run' is 1.0; expected a whole number"),
    (put("run", to=True), "'run' is True; expected a whole number"),
    (put("run", to="1"), "'run' is '\"1\"'; expected a whole number"),
    (put("run", to=10**20), "no run of the plan"),
    (put("run", to=None), "'run' is None; expected a whole number"),
    (put("status", to="ok"), "'status' is '\"ok\"'; expected one of 'done', 'failed', 'unusable'"),
    (put("status", to=None), "'status' is None; expected one of"),
    (put("status", to=["done"]), "'status' is '[\"done\"]'; expected one of"),
    (put("status", to="failed"), "'error' is None though the run has no result"),
    (put("error", to="worn out"), "though the run is done; expected null"),
    (put("error", to=3), "though the run is done; expected null"),
    (put("set", "ftl.spare_factor", to=0.25), "'ftl.spare_factor' is 0.25; expected 0."),
    (put("set", "ftl.spare_factor", to="0.2"), "'ftl.spare_factor' is '\"0.2\"'; expected 0."),
    (put("set", "ftl.spare_factor", to=None), "'ftl.spare_factor' is None; expected"),
    (put("set", "ftl.spare_factor", to=[0.2]), "'ftl.spare_factor' is '[0.2]'; expected"),
    (put("set", "seed", to=2), "'seed' is 1 among the figures; expected 2"),
    (put("set", "seed", to=True), "'seed' is True; expected 1, as planned"),
    (put("set", "more", to=1), "sets 'more'; expected 'ftl.spare_factor'"),
    (drop("set", "ftl.collect.policy"), "sets no 'ftl.collect.policy'; expected"),
    (put("set", to=[]), "'set' is '[]'; expected an object"),
    (put("spent", "wall_s", to="long"), "'wall_s' is '\"long\"'; expected a number"),
    (put("spent", "wall_s", to=-1.0), "'wall_s' is -1.0; expected a number"),
    (put("spent", "more", to=1.0), "'spent' has 'more'; expected 'wall_s'"),
    (put("spent", "worker", to=5), "'worker' is 5; expected a text"),
    (put("more", to=1), "has the key 'more'; expected 'run', 'status'"),
    *((drop(key), f"has no '{key}'; expected 'run'") for key in ("run", "status", "error", "set", "figures", "spent")),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_a_forged_row_is_refused_with_its_line(sweep: Path, change: Change, message: str) -> None:
    lines = lines_of(sweep)
    entry = json.loads(lines[1])
    change(entry)
    content = b"".join([lines[0], json.dumps(entry).encode() + b"\n", *lines[2:]])
    (sweep / "journal.jsonl").write_bytes(content)
    with pytest.raises(InputError) as raised:
        opened(sweep)
    assert raised.value.message.startswith(f"{sweep / 'journal.jsonl'}:2: "), raised.value.message
    assert message in raised.value.message
    assert "expected" in raised.value.message
    assert (sweep / "journal.jsonl").read_bytes() == content


RAW: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda line: line.replace(b'"run":', b'"run":0,"run":', 1), ": run: is there twice; expected each key once"),
    (lambda line: line.replace(b'"waf":', b'"waf":1.0,"waf":', 1), ": figures.waf: is there twice; expected each key"),
    (lambda line: line.replace(b'"done"', b'"done\xff"', 1), f":COLUMN: byte 0xff is not UTF-8 text; {IN_A_LINE}"),
    (lambda line: line.replace(b'"waf":', b'"waf":1e999,"x":', 1), f": figures.waf: {NOT_FINITE}"),
    (lambda line: line.replace(b'"waf":', b'"waf":' + b"9" * 5000 + b',"x":', 1), f": figures.waf: {NOT_FINITE}"),
    (lambda line: line.replace(b'"waf":', b'"waf":"\\ud800","x":', 1), ": figures.waf: holds half a character"),
    (lambda _: b"[" * 100_000 + b"\n", f":101: is nested too deeply; {IN_A_LINE}, with at most 100 levels"),
    (lambda _: b'{"x":' + b"[" * 100 + b"]" * 100 + b"}\n", f":105: is nested too deeply; {IN_A_LINE}"),
    (
        lambda line: line[: line.index(b",", len(line) // 2)] + b"\n",
        f":COLUMN: ends before its JSON is complete; {IN_A_LINE}",
    ),
    (
        lambda line: line[:-1] + line,
        f":COLUMN: not JSON: something follows the end of the JSON at '{{'; {IN_A_LINE}",
    ),
    (lambda _: b"\n", f": is empty; {IN_A_LINE}"),
    (lambda _: b"\0\0\0\n", f":1: not JSON: no value at '\\x00'; {IN_A_LINE}"),
    (lambda _: b"[1]\n", f": is not an object; {IN_A_LINE}"),
    (lambda _: b"null\n", f": is not an object; {IN_A_LINE}"),
    (lambda line: line.decode().encode("utf-16"), f": is text in UTF-16; {IN_A_LINE} in UTF-8"),
    (lambda line: b" " * (1 << 20) + line, f": has more than 1 MiB; {IN_A_LINE}"),
]
"""Changes of a line, and what follows its number in the message; ``COLUMN`` is that of the first byte that differs."""


@pytest.mark.parametrize(("change", "message"), RAW)
def test_a_damaged_line_is_refused_with_its_line(sweep: Path, change: Callable[[bytes], bytes], message: str) -> None:
    lines = lines_of(sweep)
    changed = change(lines[1])
    (sweep / "journal.jsonl").write_bytes(b"".join([lines[0], changed, *lines[2:]]))
    with pytest.raises(InputError) as raised:
        opened(sweep)
    differing = next(place for place, (one, other) in enumerate(zip(lines[1], changed, strict=False)) if one != other)
    message = message.replace("COLUMN", str(differing + 1))
    assert raised.value.message.startswith(f"{sweep / 'journal.jsonl'}:2{message}"), raised.value.message


def test_a_run_twice_is_refused_where_its_content_differs(sweep: Path) -> None:
    lines = lines_of(sweep)
    again = json.loads(lines[2])
    again["spent"] = {}
    (sweep / "journal.jsonl").write_bytes(b"".join([*lines, json.dumps(again).encode() + b"\n"]))
    journal = opened(sweep)
    assert len(journal) == 4
    journal.close()
    again["figures"]["host.page_writes"] += 1
    (sweep / "journal.jsonl").write_bytes(b"".join([*lines, json.dumps(again).encode() + b"\n"]))
    with pytest.raises(InputError, match=rf"journal\.jsonl:5: run {again['run']} is there twice, with different"):
        opened(sweep)


def test_the_command_line_refuses_a_forged_row_and_changes_nothing(cli: Cli, sweep: Path) -> None:
    lines = lines_of(sweep)
    forged = lines[1].replace(b'"stationary":', b'"stationary":null,"x":', 1)
    (sweep / "journal.jsonl").write_bytes(b"".join([lines[0], forged, lines[2]]))
    before = {path.name: path.read_bytes() for path in sweep.iterdir()}
    error = cli("sweep", "--out", "s", "--resume", "--no-report").refused()
    assert error.startswith("s/journal.jsonl:2: 'x': no run has such a figure; expected")
    assert {path.name: path.read_bytes() for path in sweep.iterdir()} == before
    with pytest.raises(InputError, match=r"journal\.jsonl:2: 'x'"):
        floatgate.load_sweep(sweep).runs()


@pytest.mark.parametrize("missing", range(4))
def test_a_run_whose_line_is_missing_is_done_again_and_no_other(sweep: Path, missing: int) -> None:
    whole = (sweep / "sweep.parquet").read_bytes()
    lines = [line for line in lines_of(sweep) if json.loads(line)["run"] != missing]
    assert len(lines) == 3
    (sweep / "journal.jsonl").write_bytes(b"".join(lines))
    (sweep / "sweep.parquet").unlink()
    engine = Counting()
    begun_again = Sweep.open(sweep, planned(sweep), fresh=False)
    begun_again.run(engine)
    begun_again.close()
    assert engine.given == [missing]
    assert lines_of(sweep)[:3] == lines
    assert json.loads(lines_of(sweep)[3])["run"] == missing
    assert (sweep / "sweep.parquet").read_bytes() == whole


def test_a_line_that_is_cut_at_the_end_is_done_again(sweep: Path) -> None:
    whole = (sweep / "sweep.parquet").read_bytes()
    lines = lines_of(sweep)
    last = json.loads(lines[-1])["run"]
    for cut in (1, len(lines[-1]) // 2, len(lines[-1]) - 1):
        (sweep / "journal.jsonl").write_bytes(b"".join(lines)[:-cut])
        engine = Counting()
        begun_again = Sweep.open(sweep, planned(sweep), fresh=False)
        begun_again.run(engine)
        begun_again.close()
        assert engine.given == [last]
        assert (sweep / "sweep.parquet").read_bytes() == whole


def test_a_reader_leaves_the_line_that_is_being_written(sweep: Path) -> None:
    content = b"".join(lines_of(sweep)) + b'{"run": 3, "sta'
    (sweep / "journal.jsonl").write_bytes(content)
    assert floatgate.load_sweep(sweep).runs().num_rows == 4
    assert (sweep / "journal.jsonl").read_bytes() == content
    (sweep / "journal.jsonl").unlink()
    with pytest.raises(InputError, match=r"journal\.jsonl: No such file"):
        floatgate.load_sweep(sweep).runs()
    assert not (sweep / "journal.jsonl").exists()


PLANS: list[tuple[Change, str]] = [
    (put("repeat", to="2"), "repeat: is the text '2'; expected a whole number from 0 on"),
    (put("repeat", to=True), "repeat: is true; expected a whole number from 0 on"),
    (put("repeat", to=0), "repeat: is the number 0; expected a whole number from 1 to 10000000"),
    (put("repeat", to=10**30), f"repeat: is the number {10**30}; expected a whole number from 0 on, below 2^64"),
    (put("repeat", to=10**39), f"repeat: {NOT_FINITE}"),
    (put("seed", to=1.5), "seed: is the number 1.5; expected a whole number from 0 on"),
    (put("seed", to=2**64), f"seed: is the number {2**64}; expected a number, between -2^64 and 2^64"),
    (put("files", to=[]), "files: is a list; expected an object"),
    (put("shadow", to=1), "shadow: is the number 1; expected true or false"),
    (put("points", to=None), "points: is null; expected an object"),
    (
        put("points", "axes", to=[{"key": "seed", "values": [1]}]),
        "points.axes[0].values[0]: is the number 1; expected a text",
    ),
    (put("points", "axes", to=[{"key": 5, "values": ["1"]}]), "points.axes[0].key: is the number 5; expected a text"),
    (put("points", "sample", to=float("nan")), f"points.sample: {NOT_FINITE}"),
    (put("experiment", "overrides", to=[[1, 2]]), "experiment.overrides[0][0]: is the number 1; expected a text"),
    (put("experiment", to={}), "experiment.toml: is missing; expected a text or null"),
    (put("more", to=2**64), f"more: is the number {2**64}; expected a value, between -2^64 and 2^64"),
    (drop("contents"), "contents: is missing; expected an object"),
]


@pytest.mark.parametrize(("change", "expected"), PLANS)
def test_a_forged_plan_is_refused(sweep: Path, change: Change, expected: str) -> None:
    plan = json.loads((sweep / "sweep.json").read_text("utf-8"))
    change(plan)
    (sweep / "sweep.json").write_text(json.dumps(plan), "utf-8")
    with pytest.raises(InputError) as raised:
        floatgate.load_sweep(sweep)
    message = raised.value.message
    assert message.startswith(f"{sweep / 'sweep.json'}: {expected}"), message
    assert message.endswith(", in the plan of a sweep"), message


# Tables


def with_column(table: pa.Table, name: str, values: list[Any], kind: pa.DataType | None = None) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, kind))


TABLES: list[tuple[Callable[[pa.Table], pa.Table], str]] = [
    (lambda t: with_column(t, "waf", [1.0, float("nan"), 1.0, 1.0]), "row 2: 'waf' is nan; expected a number or null"),
    (lambda t: with_column(t, "span_s", [1.0, 1.0, float("inf"), 1.0]), "row 3: 'span_s' is inf"),
    (lambda t: with_column(t, "waf", ["1", "2", "3", "4"]), "'waf' is a column of string; expected float"),
    (lambda t: with_column(t, "waf", [True] * 4), "'waf' is a column of bool; expected float"),
    (lambda t: with_column(t, "stationary", [1] * 4), "'stationary' is a column of int64; expected bool"),
    (lambda t: with_column(t, "run", [0, 1, 1, 3]), "run 1 is there twice"),
    (lambda t: with_column(t, "run", [0, 1, 2, 4]), "row 4: 'run' is 4; expected a number below 4"),
    (lambda t: with_column(t, "run", [0, None, 2, 3]), "row 2: 'run' is None"),
    (lambda t: with_column(t, "status", ["done", "ok", "done", "done"]), "row 2: 'status' is '\"ok\"'"),
    (lambda t: t.drop_columns(["wear.erases_max"]), "has no columns 'wear.erases_max'; expected one"),
    (lambda t: t.drop_columns(["ftl.spare_factor"]), "has no columns 'ftl.spare_factor'; expected one"),
    (lambda t: t.append_column("waf", t["waf"]), "has 2 columns 'waf'; expected one"),
    (lambda t: t.select(["run"]), "has no columns 'status'"),
]


@pytest.mark.parametrize(("change", "message"), TABLES)
def test_a_forged_table_does_not_load(sweep: Path, change: Callable[[pa.Table], pa.Table], message: str) -> None:
    pq.write_table(change(pq.ParquetFile(sweep / "sweep.parquet").read()), sweep / "sweep.parquet")
    with pytest.raises(InputError) as raised:
        floatgate.load_sweep(sweep).arrow()
    assert str(sweep / "sweep.parquet") in raised.value.message
    assert message in raised.value.message


# What runs give


def test_rows_of_all_kinds_of_runs_are_right() -> None:
    goldens = sorted((ROOT / "tests/golden").glob("*.json"))
    assert len(goldens) > 8
    for golden in goldens:
        result = json_in.parse(golden.read_bytes(), str(golden), "a result").value
        assert wrong_figures(flat(result)) is None, golden.name
    assert {key.partition(".")[0] for key in CONTRACT} <= set(result)


def test_the_hash_of_a_configuration_is_known_before_the_run(trace: Path) -> None:
    for settings in (SMALL, {**SMALL, "mode": "timed", "workload.requests": 2000}, {"workload.requests": 10}):
        resolved = resolve(settings)
        known = _core.config_hash(resolved.toml, resolved.path, resolved.overrides)
        if settings.get("drive.capacity"):
            assert floatgate.run(settings).config_hash == known
        # It is that of the resolved experiment too, which is what workers get.
        assert _core.config_hash(check(resolved), "experiment", []) == known
    resolved = resolve({**SMALL, "workload.kind": "trace", "workload.file": str(trace)})
    assert _core.config_hash(resolved.toml, resolved.path, resolved.overrides) is None
