"""Journals that are damaged or forged, and answers that no run gives: refused with their place, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate import _core
from floatgate.cli import status
from floatgate.compare import run_settings
from floatgate.errors import InputError
from floatgate.experiment import resolve
from floatgate.folder import RunFolder
from floatgate.run import check
from floatgate.sweeps.engine import Local
from floatgate.sweeps.figures import CONTRACT, flat
from floatgate.sweeps.journal import Journal
from floatgate.sweeps.rows import strict_json, wrong_figures
from floatgate.sweeps.sweep import Sweep, planned
from floatgate.sweeps.work import Answer, Job
from floatgate.tune.search import Search, begun

ROOT = Path(__file__).parents[2]
VARY = {"ftl.spare_factor": [0.2, 0.3], "ftl.collect.policy": ["greedy", "fifo"]}
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of four runs."""
    folder = tmp_path_factory.mktemp("swept") / "s"
    floatgate.sweep({**SMALL, "workload.requests": 20_000}, VARY, out=folder)
    return folder


@pytest.fixture
def sweep(swept: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    shutil.copytree(swept, tmp_path / "s")
    return tmp_path / "s"


def lines_of(folder: Path) -> list[bytes]:
    return (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


def opened(folder: Path) -> Journal:
    plan = planned(folder)
    return Journal(folder / "journal.jsonl", plan.keys, plan.wrong)


def put(*path: str, to: Any) -> Change:
    def change(entry: dict[str, Any]) -> None:
        table = entry
        for key in path[:-1]:
            table = table[key]
        table[path[-1]] = to

    return change


def drop(*path: str) -> Change:
    def change(entry: dict[str, Any]) -> None:
        table = entry
        for key in path[:-1]:
            table = table[key]
        del table[path[-1]]

    return change


CHANGES: list[tuple[Change, str]] = [
    (put("figures", "waf", to=float("nan")), "NaN is no number"),
    (put("figures", "waf", to=float("inf")), "Infinity is no number"),
    (put("figures", "waf", to=-float("inf")), "-Infinity is no number"),
    (put("figures", "host.page_writes", to=10**30), "'host.page_writes' is 1000000000"),
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
    (put("figures", "waf\n", to=1), "is no name of a figure"),
    (put("figures", "config_hash", to="0" * 63), "'config_hash' is "),
    (put("figures", "config_hash", to=None), "'config_hash' is None; expected a text"),
    (put("figures", "seed", to=99), "'seed' is 99 among the figures; expected 1"),
    (drop("figures", "config_hash"), "'config_hash' is None; expected a text"),
    (put("figures", to={}), "has no figures though the run is done"),
    (put("figures", to=[]), "'figures' is '[]'; expected an object"),
    (put("figures", to=None), "'figures' is None; expected an object"),
    (put("run", to=4), "run 4: no run of this sweep; expected a number below 4"),
    (put("run", to=-1), "'run' is -1; expected a whole number of 0 or more"),
    (put("run", to=1.0), "'run' is 1.0; expected a whole number"),
    (put("run", to=True), "'run' is True; expected a whole number"),
    (put("run", to="1"), "'run' is '\"1\"'; expected a whole number"),
    (put("run", to=10**20), "no run of this sweep"),
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


@pytest.mark.parametrize(("change", "said"), CHANGES)
def test_a_forged_row_is_refused_with_its_line(sweep: Path, change: Change, said: str) -> None:
    lines = lines_of(sweep)
    entry = json.loads(lines[1])
    change(entry)
    content = b"".join([lines[0], json.dumps(entry).encode() + b"\n", *lines[2:]])
    (sweep / "journal.jsonl").write_bytes(content)
    # A difference to the other rows shows at the first of both that comes second.
    with pytest.raises(InputError) as raised:
        opened(sweep)
    assert raised.value.message.startswith(f"{sweep / 'journal.jsonl'}:2: "), raised.value.message
    assert said in raised.value.message
    assert "expected" in raised.value.message
    assert (sweep / "journal.jsonl").read_bytes() == content


RAW: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda line: line.replace(b'"run":', b'"run":0,"run":', 1), "'run' stands there twice"),
    (lambda line: line.replace(b'"waf":', b'"waf":1.0,"waf":', 1), "'waf' stands there twice"),
    (lambda line: line.replace(b'"status":"done"', b'"status":"done\xff"', 1), "its content is damaged"),
    (lambda line: line.replace(b'"waf":', b'"waf":1e999,"x":', 1), "is too large a number"),
    (lambda line: line.replace(b'"waf":', b'"waf":' + b"9" * 5000 + b',"x":', 1), "its content is damaged"),
    (lambda _: b"[" * 100_000 + b"\n", "its content is"),
    (lambda line: line[: len(line) // 2] + b"\n", "its content is damaged"),
    (lambda line: line[:-1] + line, "its content is damaged"),
    (lambda _: b"\n", "its content is damaged"),
    (lambda _: b"\0\0\0\n", "its content is damaged"),
    (lambda _: b"[1]\n", "is no object"),
    (lambda _: b"null\n", "is no object"),
    (lambda line: line.decode().encode("utf-16"), "its content is damaged"),
    (lambda line: b" " * (1 << 20) + line, "has more than 1 MiB"),
]


@pytest.mark.parametrize(("change", "said"), RAW)
def test_a_damaged_line_is_refused_with_its_line(sweep: Path, change: Callable[[bytes], bytes], said: str) -> None:
    lines = lines_of(sweep)
    (sweep / "journal.jsonl").write_bytes(b"".join([lines[0], change(lines[1]), *lines[2:]]))
    with pytest.raises(InputError) as raised:
        opened(sweep)
    assert raised.value.message.startswith(f"{sweep / 'journal.jsonl'}:2: "), raised.value.message
    assert said in raised.value.message


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
    with pytest.raises(InputError, match=rf"journal\.jsonl:5: run {again['run']} stands there twice, with different"):
        opened(sweep)


def test_the_command_line_refuses_a_forged_row_and_changes_nothing(cli: Cli, sweep: Path) -> None:
    lines = lines_of(sweep)
    forged = lines[1].replace(b'"stationary":', b'"stationary":null,"x":', 1)
    (sweep / "journal.jsonl").write_bytes(b"".join([lines[0], forged, lines[2]]))
    before = {path.name: path.read_bytes() for path in sweep.iterdir()}
    said = cli("sweep", "--out", "s", "--resume", "--no-report").refused()
    assert said.startswith("s/journal.jsonl:2: 'x': no run has such a figure; expected")
    assert {path.name: path.read_bytes() for path in sweep.iterdir()} == before
    with pytest.raises(InputError, match=r"journal\.jsonl:2: 'x'"):
        floatgate.load_sweep(sweep).runs()


class Counting(Local):
    """The embedded engine with a list of the runs that it was given."""

    def __init__(self) -> None:
        super().__init__(1)
        self.given: list[int] = []

    def run(self, jobs: Iterable[Job], done: Callable[[Answer], None], progress: Any = None) -> None:
        def noted() -> Iterable[Job]:
            for job in jobs:
                self.given.append(job.number)
                yield job

        super().run(noted(), done, progress)


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
    (lambda t: with_column(t, "run", [0, 1, 1, 3]), "run 1 stands there twice"),
    (lambda t: with_column(t, "run", [0, 1, 2, 4]), "row 4: 'run' is 4; expected a number below 4"),
    (lambda t: with_column(t, "run", [0, None, 2, 3]), "row 2: 'run' is None"),
    (lambda t: with_column(t, "status", ["done", "ok", "done", "done"]), "row 2: 'status' is '\"ok\"'"),
    (lambda t: t.drop_columns(["wear.erases_max"]), "has no columns 'wear.erases_max'; expected one"),
    (lambda t: t.drop_columns(["ftl.spare_factor"]), "has no columns 'ftl.spare_factor'; expected one"),
    (lambda t: t.append_column("waf", t["waf"]), "has 2 columns 'waf'; expected one"),
    (lambda t: t.select(["run"]), "has no columns 'status'"),
]


@pytest.mark.parametrize(("change", "said"), TABLES)
def test_a_forged_table_does_not_load(sweep: Path, change: Callable[[pa.Table], pa.Table], said: str) -> None:
    pq.write_table(change(pq.ParquetFile(sweep / "sweep.parquet").read()), sweep / "sweep.parquet")
    with pytest.raises(InputError) as raised:
        floatgate.load_sweep(sweep).arrow()
    assert str(sweep / "sweep.parquet") in raised.value.message
    assert said in raised.value.message


# What runs give


def test_rows_of_all_kinds_of_runs_are_right() -> None:
    goldens = sorted((ROOT / "tests/golden").glob("*.json"))
    assert len(goldens) > 8
    for golden in goldens:
        result = strict_json(golden.read_bytes(), str(golden), "expected a result")
        assert wrong_figures(flat(result)) is None, golden.name
    assert {key.partition(".")[0] for key in CONTRACT} <= set(result)


def test_the_hash_of_a_configuration_is_known_before_the_run(trace: Path) -> None:
    for settings in (SMALL, {**SMALL, "mode": "timed", "workload.requests": 2000}, {"workload.requests": 10}):
        asked = resolve(settings)
        known = _core.config_hash(asked.toml, asked.path, asked.overrides)
        if settings.get("drive.capacity"):
            assert floatgate.run(settings).config_hash == known
        # It is that of the resolved experiment too, which is what workers get.
        assert _core.config_hash(check(asked), "experiment", []) == known
    asked = resolve({**SMALL, "workload.kind": "trace", "workload.file": str(trace)})
    assert _core.config_hash(asked.toml, asked.path, asked.overrides) is None


# Searches


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search of twelve trials with two seeds each, in two batches of which the second is half done."""
    folder = tmp_path_factory.mktemp("searched")
    settings = [text for key, value in SMALL.items() for text in ("--set", f"{key}={value}")]
    asked = ["--set", "workload.requests=20000", "--vary", "ftl.spare_factor=0.2..0.4", "--trials", "12"]
    asked += ["--vary", "ftl.collect.policy=greedy,fifo", "--repeat", "2", "--minimise", "waf_bytes"]
    (folder / "e.toml").write_text("seed = 1\n")
    done = status(["tune", str(folder / "e.toml"), *settings, *asked, "--out", str(folder / "t"), "--no-report", "-q"])
    assert done == 0
    return folder / "t"


@pytest.fixture
def search(searched: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    shutil.copytree(searched, tmp_path / "t")
    return tmp_path / "t"


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
    ("line", "said"),
    [
        ('{"trial":1,"params":{"ftl.spare_factor":0.9,"ftl.collect.policy":"fifo"}}', "ftl.spare_factor is 0.9"),
        ('{"trial":1,"params":{"ftl.spare_factor":NaN,"ftl.collect.policy":"fifo"}}', "NaN is no number"),
        ('{"trial":1,"params":{"ftl.spare_factor":true,"ftl.collect.policy":"fifo"}}', "ftl.spare_factor is True"),
        ('{"trial":1,"params":{"ftl.spare_factor":0.3,"ftl.collect.policy":"best"}}', "ftl.collect.policy is "),
        ('{"trial":1,"params":{"ftl.spare_factor":0.3,"ftl.collect.policy":[]}}', "ftl.collect.policy is "),
        ('{"trial":1,"params":{"ftl.spare_factor":0.3}}', "expected values of 'ftl.spare_factor'"),
        ('{"trial":1,"params":3}', "expected values of 'ftl.spare_factor'"),
        ('{"trial":2,"params":{"ftl.spare_factor":0.3,"ftl.collect.policy":"fifo"}}', "'trial' is 2; expected 1"),
        ('{"trial":1,"params":{},"params":{}}', "'params' stands there twice"),
        ('{"trial":1}', "has other keys than 'trial', 'params'"),
        ("x", "its content is damaged"),
    ],
)
def test_a_forged_proposal_is_refused_with_its_line(search: Path, line: str, said: str) -> None:
    lines = (search / "trials.jsonl").read_text("utf-8").splitlines()
    (search / "trials.jsonl").write_text("\n".join([lines[0], line, *lines[2:]]) + "\n", "utf-8")
    with pytest.raises(InputError) as raised:
        Search.open(search, begun(search), fresh=False)
    assert raised.value.message.startswith(f"{search / 'trials.jsonl'}:2: "), raised.value.message
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("run", to=24), "run 24: no run of this search; expected a number below 24"),
        (put("set", "seed", to=7), "'seed' is "),
        (put("figures", "waf_bytes", to="1"), "'waf_bytes' is '\"1\"'; expected a number or null"),
        (drop("set", "ftl.collect.policy"), "sets no 'ftl.collect.policy'"),
        (put("set", "ftl.spare_factor", to=0.2), "'ftl.spare_factor' is 0.2; expected 0."),
    ],
)
def test_a_forged_run_of_a_search_is_refused(search: Path, change: Change, said: str) -> None:
    lines = lines_of(search)
    entry = json.loads(lines[1])
    change(entry)
    content = b"".join([lines[0], json.dumps(entry).encode() + b"\n", *lines[2:]])
    (search / "journal.jsonl").write_bytes(content)
    with pytest.raises(InputError) as raised, contextlib.closing(Search(search, begun(search))) as again:
        again.run(Counting())
    assert raised.value.message.startswith(f"{search / 'journal.jsonl'}:")
    assert said in raised.value.message
    assert (search / "journal.jsonl").read_bytes() == content


def test_a_search_that_grows_to_the_size_of_its_space_goes_on_as_a_search(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text("seed = 1\n")
    settings = [text for key, value in SMALL.items() for text in ("--set", f"{key}={value}")]
    asked = [str(tmp_path / "e.toml"), *settings, "--set", "workload.requests=20000", "--minimise", "waf_bytes"]
    asked += ["--vary", "ftl.spare_factor=0.2,0.3,0.4", "--vary", "ftl.collect.policy=greedy,fifo"]
    asked += ["--out", str(tmp_path / "t"), "--no-report", "--quiet", "--batch", "2"]
    assert status(["tune", *asked, "--trials", "4"]) == 0
    first = (tmp_path / "t/trials.jsonl").read_bytes()
    assert status(["tune", *asked, "--trials", "6", "--resume"]) == 0
    assert (tmp_path / "t/trials.jsonl").read_bytes().startswith(first)
    # The folder knows of the further trials; fewer than before are done already.
    assert begun(tmp_path / "t").trials == 6
    assert status(["tune", *asked, "--trials", "4", "--resume"]) == 0
    assert begun(tmp_path / "t").trials == 6
    assert len(floatgate.load_sweep(tmp_path / "t")) <= 6


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
    with RunFolder.given(str(search), force=True):
        assert "another run is writing to this folder" in cli("tune", "--out", "t", "--resume").refused()


# Engines


class Foreign:
    """An engine that changes the answer to run 1."""

    dashboard: str | None = None

    def __init__(self, change: Callable[[Answer], Any]) -> None:
        self.change = change

    def run(self, jobs: Iterable[Job], done: Callable[[Answer], None], progress: Any = None) -> None:
        def forged(answer: Answer) -> None:
            for one in self.change(answer) if answer.number == 1 else [answer]:
                done(one)

        Local(1).run(jobs, forged, progress)

    def close(self) -> None:
        pass


def with_figure(key: str, value: Any) -> Callable[[Answer], Any]:
    return lambda answer: [replace_in(answer, figures={**answer.figures, key: value})]


def replace_in(answer: Answer, **changes: Any) -> Answer:
    return replace(answer, **changes)


ANSWERS: list[tuple[Callable[[Answer], Any], str]] = [
    (lambda a: [a, a], "run 1: answered twice, or not requested; expected one answer"),
    (lambda a: [replace_in(a, number=0)], "run 0: answered twice, or not requested"),
    (lambda a: [replace_in(a, number=7)], "run 7: answered twice, or not requested"),
    (lambda a: [replace_in(a, number="1")], "expected the answer to a run"),
    (lambda a: [replace_in(a, number=True)], "expected the answer to a run"),
    (lambda _: [{"number": 1}], "expected the answer to a run"),
    (lambda _: [], "run 1: the engine ended without an answer"),
    (with_figure("seed", 5), "'seed' is 5; expected 1, as requested"),
    (with_figure("config_hash", "0" * 64), "'config_hash' is '\"0000"),
    (with_figure("config_hash", 5), "'config_hash' is 5; expected a text"),
    (with_figure("waf", float("nan")), "'waf' is nan; expected a number"),
    (with_figure("waf", float("inf")), "'waf' is inf; expected a number"),
    (with_figure("waf", "1"), "'waf' is '\"1\"'; expected a number"),
    (with_figure("wear.erases_max", True), "'wear.erases_max' is True; expected a whole number"),
    (with_figure("host.page_writes", 10**40), "'host.page_writes' is 1000"),
    (with_figure("host.page_writes", {}), "'host.page_writes' is '{}'; expected a number, a text"),
    (with_figure("host.page_writes", object()), "'host.page_writes' is <object"),
    (with_figure("surprise", 1), "'surprise': no run has such a figure"),
    (with_figure("ftl.collect.policy", "random"), "'ftl.collect.policy' is '\"random\"'; expected '\"fifo\"', as requ"),
    (lambda a: [replace_in(a, figures={})], "has no figures though the run is done"),
    (lambda a: [replace_in(a, figures=None)], "its figures are no table"),
    (lambda a: [replace_in(a, status="ok")], "'status' is '\"ok\"'; expected one of"),
    (lambda a: [replace_in(a, error="x")], "though the run is done; expected null"),
    (lambda a: [replace_in(a, status="failed")], "though the run has no result; expected a text"),
    (lambda a: [replace_in(a, status="failed", error="x")], "has figures though the run is failed"),
    (lambda a: [replace_in(a, spent={"wall_s": float("nan")})], "'wall_s' is nan"),
    (lambda a: [replace_in(a, spent={"more": 1})], "'spent' has 'more'"),
]


@pytest.mark.parametrize(("change", "said"), ANSWERS)
def test_an_answer_that_was_not_requested_is_refused(
    swept: Path, tmp_path: Path, change: Callable[[Answer], Any], said: str
) -> None:
    (tmp_path / "s").mkdir()
    begun_here = Sweep.open(tmp_path / "s", planned(swept), fresh=True)
    with pytest.raises(InputError) as raised:
        begun_here.run(Foreign(change))
    begun_here.close()
    assert said in raised.value.message
    assert raised.value.message.startswith(("run ", "the engine gives "))
    # What came before is kept, and the sweep goes on elsewhere.
    again = Sweep.open(tmp_path / "s", planned(tmp_path / "s"), fresh=False)
    again.run(Foreign(lambda answer: [answer]))
    again.close()
    assert (tmp_path / "s/sweep.parquet").read_bytes() == (swept / "sweep.parquet").read_bytes()


def test_answers_of_a_search_and_of_a_comparison_are_checked_too(search: Path) -> None:
    (search / "journal.jsonl").write_bytes(b"")
    (search / "trials.jsonl").write_bytes(b"")
    again = Search.open(search, begun(search), fresh=False)
    with pytest.raises(InputError, match=r"run 1: .*'seed' is 77; expected 2, as requested"):
        again.run(Foreign(with_figure("seed", 77)))
    again.close()
    points = [[("ftl.collect.policy", '"greedy"')], [("ftl.collect.policy", '"fifo"')]]
    base = resolve({**SMALL, "workload.requests": 20_000})
    with pytest.raises(InputError, match=r"run 1: .*'waf' is nan"):
        run_settings(base, points, engine=Foreign(with_figure("waf", float("nan"))))
    with pytest.raises(InputError, match=r"run 1: .*it lacks the run itself"):
        run_settings(base, points, engine=Foreign(lambda answer: [replace_in(answer, run=None)]))
