"""``floatgate leaderboard``: all policies of a slot on several traces, drives and seeds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import Cli
from floatgate.run.experiment import from_file
from floatgate.run.run import execute
from floatgate.study.leaderboard import request, traces
from floatgate.study.leaderboard.drives import SMALLEST, pages_per_block, scaled
from floatgate.study.leaderboard.slots import SLOTS
from floatgate.trace import library

ROOT = Path(__file__).parents[2]
SHORT = ("reporting", "cscope-rounds")
FEW = ("--spare-factors", "0.15,0.07", "--repeat", "2")
SOME = ("--only", "sepbit,dac,host-given,pds,ora")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> floatgate.Leaderboard:
    """Five separators and none on two recordings and one trace without contexts."""
    folder = tmp_path_factory.mktemp("board")
    plain = pq.read_table(library.path("reporting"))
    pq.write_table(plain.select(["time_ns", "device", "op", "offset", "bytes"]), folder / "plain.parquet")
    return floatgate.leaderboard(
        [*SHORT, folder / "plain.parquet"],
        out=folder / "b",
        policies=["sepbit", "dac", "host-given", "pds", "ora"],
        spare_factors=[0.15, 0.07],
        seeds=2,
    )


def test_every_field_has_the_figures_of_single_runs(board: floatgate.Leaderboard) -> None:
    trace = next(one for one in board.board.traces if one.name == "reporting")
    base = from_file(str(Path(request.__file__).parent / "experiment.toml"))
    drive = scaled(trace.pages, 0.07, pages_per_block(trace.pages))
    workload = [("workload.file", str(board.folder / trace.file)), ("workload.repeat", "2")]
    single = [
        *(("ftl.collect.policy", "cost-benefit-sqrt"), ("ftl.separate.policy", "sepbit"), ("seed", "2")),
        *(*workload, *drive),
    ]
    run = execute(base.with_overrides(single))
    assert board.cells["sepbit", "reporting", 0.07].waf[1] == run.waf
    assert len(board.to_arrow()) == board.board.runs == (3 * 2 + 1) * 6 * 2


def test_a_policy_is_not_applicable_where_a_trace_lacks_what_it_needs(board: floatgate.Leaderboard) -> None:
    missing = {row.policy: row.missing for row in board.standings.rows}
    assert set(missing["pds"]) == set(missing["host-given"]) == {"plain"}
    assert not missing["sepbit"]
    text = board.text()
    assert "not applicable: pds on plain: pds needs program contexts, and this workload has none" in text
    fields = {(one["trace"], one["spare_factor"]): one["policies"] for one in board.to_dict()["fields"]}
    assert fields["plain", 0.15]["pds"]["mean"] is None
    assert fields["plain", 0.15]["pds"]["reason"]
    # Without contexts there is the same to separate for all others.
    assert fields["plain", 0.07]["sepbit"]["mean"] == fields["reporting", 0.07]["sepbit"]["mean"]


def test_who_knows_the_future_has_no_rank(board: floatgate.Leaderboard) -> None:
    rows = {row.policy: row for row in board.standings.rows}
    assert rows["ora"].rank is None
    assert (rows["ora"].ratio or 1) < min(row.ratio or 9 for row in rows.values() if row.rank)
    assert sorted(row.rank for row in rows.values() if row.rank) == [1, 2, 3, 4, 5]
    assert rows["none"].ratio == 1


def test_few_traces_have_neither_intervals_nor_tests(board: floatgate.Leaderboard) -> None:
    assert all(row.ratio_95 is None and row.rank_95 is None and not row.against for row in board.standings.rows)
    assert re.search(r"no intervals and no tests: [123] traces? that counts?; expected 6 or more", board.text())


def test_memory_is_that_of_a_large_drive(board: floatgate.Leaderboard) -> None:
    """SepBIT keeps four bytes per page, DAC one, and no separation nothing; tables of a fixed size hardly count."""
    memory = board.memory_bytes
    assert memory["none"] == 0
    assert 1 <= memory["dac"] < 1.1
    assert 4 <= memory["sepbit"] < 4.1
    assert 2 <= memory["pds"] < 2.5


def test_the_page_has_the_table_and_the_charts(board: floatgate.Leaderboard) -> None:
    page = board.report("floatgate leaderboard")
    for text in ("leaderboard of separators", "WAF / none", "WAF against memory", "Every field", "n/a", "future"):
        assert text in page
    assert page.count("<svg") >= 3


def test_results_repeat(board: floatgate.Leaderboard, tmp_path: Path) -> None:
    again = floatgate.leaderboard(
        [one.source for one in board.board.traces],
        out=tmp_path / "again",
        policies=list(board.board.policies),
        spare_factors=[0.15, 0.07],
        seeds=2,
        jobs=1,
    )
    assert again.to_dict()["fields"] == board.to_dict()["fields"]
    assert again.memory_bytes == board.memory_bytes


def test_the_command_prints_and_resumes(cli: Cli, tmp_path: Path) -> None:
    command = ("leaderboard", *SHORT, *FEW, "--only", "dac,sepbit", "--out", "b")
    answer = json.loads(cli(*command, "--json", "-").done())
    assert answer["standings"][0]["policy"] in ("dac", "sepbit", "none")
    assert answer["runs"] == (2 * 2 + 1) * 3 * 2
    journal = tmp_path / "b/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-5]))
    printed = cli("leaderboard", "--out", "b", "--resume").done()
    assert "rank" in printed
    assert "report     b/report.html" in printed
    again = floatgate.load_leaderboard(tmp_path / "b").to_dict()
    assert again["fields"] == answer["fields"]
    assert "other settings" in cli(*command, "--resume", "--repeat", "3").refused()
    assert "expected --resume" in cli(*command).refused()
    assert "leaderboard" in cli("ls", "b").done()
    rows = json.loads(cli("query", "b", "select count(*) as n from runs where status = 'done'", "--json", "-").done())
    assert rows[0]["n"] == answer["runs"]


def test_own_policies_are_further_rows(cli: Cli, tmp_path: Path) -> None:
    policies = ROOT / "configs/policies/my_policies.py"
    options = ("--slot", "collector", "--only", "fifo,emptiest-of-oldest", "--param", "emptiest-of-oldest.k=4")
    printed = cli("leaderboard", SHORT[0], *FEW, *options, "--policy", policies, "--out", "b").done()
    assert "emptiest-of-oldest (k = 4) (own)" in printed
    assert "WAF / greedy" in printed
    assert "DRAM" not in printed
    assert "yours: emptiest-of-oldest" in (tmp_path / "b/report.html").read_text()
    # The page is drawn without the policy's code, too.
    assert cli("report", "b", "--force").done()


def test_all_policies_of_a_slot_take_part() -> None:
    every = request.Request(slot="separator")
    assert set(request._policies(SLOTS["separator"], every)) == set(SLOTS["separator"].policies())
    assert len(SLOTS["separator"].policies()) >= 22


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--only", "sepbot"), "'sepbot': unknown policy of ftl.separate; did you mean 'sepbit'?"),
        (("--only", "dac,dac"), "'dac' given twice"),
        (("--slot", "leveler"), "--slot 'leveler': no leaderboard of this slot"),
        (("--param", "none.x=1", "--only", "dac,none"), "ftl.separate.x"),
        (("--param", "eti.x=1", "--only", "dac"), "--param 'eti.x': no such policy here"),
        (("--param", "dac"), "--param 'dac': no '=' in it"),
        (("--spare-factors", "0"), "--spare-factors"),
        (("--spare-factors", "0.1,0.1"), "'0.1' given twice"),
        (("--set", "ftl.spare_factor=0.1"), "--set ftl.spare_factor: every run of a leaderboard has its own"),
        (("--set", "ftl.nonsense=0.1"), "ftl.nonsense"),
        (("--against", "nobody"), "'nobody': unknown policy of ftl.separate"),
        (("--resume",), "--resume: the folder of the leaderboard is missing"),
    ],
)
def test_unusable_requests_leave_nothing(options: tuple[str, ...], message: str, cli: Cli, tmp_path: Path) -> None:
    out = () if "--resume" in options else ("--out", "b")
    assert message in cli("leaderboard", SHORT[0], *options, *out).refused()
    assert not any(tmp_path.glob("b/*"))


def test_unusable_traces_are_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    assert "bad.parquet: " in cli("leaderboard", "bad.parquet", "--out", "b").refused()
    assert "absent.csv: " in cli("leaderboard", "absent.csv", "--out", "b").refused()
    assert "unknown recorded trace 'gcc-bild'" in cli("leaderboard", "gcc-bild", "--out", "b").refused()
    assert "two traces of this name" in cli("leaderboard", SHORT[0], f"x/{SHORT[0]}.parquet", "--out", "b").refused()
    small = f"writes 518 different pages of 4 KiB; a drive that holds 10 streams has {SMALLEST:,}"
    assert small in cli("leaderboard", "sqlite-content", "--out", "b").refused()
    two = {"time_ns": [0, 1], "device": ["a", "b"], "op": ["write"] * 2, "offset": [0, 0], "bytes": [4096, 4096]}
    pq.write_table(pa.table(two), tmp_path / "two.parquet")
    assert "two.parquet: has 2 devices" in cli("leaderboard", "two.parquet", "--out", "b").refused()
    assert not any(tmp_path.glob("b/*"))


def test_a_trace_in_another_format_is_converted(cli: Cli, tmp_path: Path) -> None:
    lines = [f"{1000 * number},h,0,Write,{4096 * (number * 37 % 1400)},4096,0" for number in range(9000)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    options = ("--only", "host-gc", "--spare-factors", "0.15", "--repeat", "1", "--json", "-")
    answer = json.loads(cli("leaderboard", "t.csv", *options, "--out", "b").done())
    assert answer["traces"][0]["pages"] == 1400
    assert answer["traces"][0]["page_writes"] == 9000
    assert not list(tmp_path.glob("b/leaderboard-traces/*.converted"))


def test_a_damaged_leaderboard_is_refused_with_its_place(cli: Cli, tmp_path: Path) -> None:
    command = ("leaderboard", SHORT[0], "--only", "dac", "--spare-factors", "0.15", "--repeat", "1")
    cli(*command, "--out", "b", "--no-report").done()
    file = tmp_path / "b/leaderboard.json"
    whole: dict[str, Any] = json.loads(file.read_text())
    for key, value in (("slot", "reclaim"), ("policies", ["dac"]), ("seeds", 0), ("traces", [])):
        file.write_text(json.dumps({**whole, key: value}))
        assert cli("report", "b", "--force").refused().startswith("b")
    file.write_text(json.dumps(whole))
    cli("report", "b", "--force").done()


def test_a_folder_of_traces_beside_it_is_left_alone(cli: Cli, tmp_path: Path) -> None:
    """With --force a leaderboard shares its folder: what it did not make it neither overwrites nor removes."""
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces/reporting.parquet").write_bytes(b"of the user")
    few = ("--only", "dac", "--spare-factors", "0.15", "--repeat", "1", "--no-report")
    assert "unknown policy" in cli("leaderboard", "reporting", "--only", "typo", "--out", ".", "--force").refused()
    cli("leaderboard", "reporting", *few, "--out", ".", "--force").done()
    assert (tmp_path / "traces/reporting.parquet").read_bytes() == b"of the user"
    before = floatgate.load_leaderboard(tmp_path).to_dict()["fields"]
    # A request that is refused leaves the leaderboard before it as it was.
    assert cli("leaderboard", "sqlite-content", *few, "--out", ".", "--force").refused()
    assert floatgate.load_leaderboard(tmp_path).to_dict()["fields"] == before
    cli("leaderboard", "--out", ".", "--resume", "--no-report").done()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_shipped_traces_are_taken_by_default_whatever_lies_here(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cscope").mkdir()
    assert traces.named(())["cscope"] == library.path("cscope")
    few = ("--only", "dac", "--spare-factors", "0.15", "--repeat", "1", "--no-report", "--quiet")
    (tmp_path / "reporting").mkdir()
    cli("leaderboard", "reporting", *few, "--out", "b").done()


def test_a_leaderboard_does_not_go_on_with_another_trace_or_other_code(cli: Cli, tmp_path: Path) -> None:
    text = """
import floatgate

@floatgate.victim_policy("own-first", order="closing", compiled=False)
class OwnFirst:
    def pick(blocks, p):
        return blocks.first
"""
    (tmp_path / "own.py").write_text(text)
    few = ("--slot", "collector", "--only", "own-first", "--spare-factors", "0.15", "--repeat", "2", "--no-report")
    cli("leaderboard", "reporting", *few, "--policy", "own.py", "--out", "b").done()
    journal = tmp_path / "b/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]))
    on = ("leaderboard", "--out", "b", "--resume", "--no-report")
    assert "its policy 'own-first' is not loaded" in cli(*on).refused()
    (tmp_path / "own.py").write_text(text + "# another text\n")
    assert "its policy 'own-first' has changed" in cli(*on, "--policy", "own.py").refused()
    (tmp_path / "own.py").write_text(text)
    trace = tmp_path / "b/leaderboard-traces/reporting.parquet"
    content = trace.read_bytes()
    trace.write_bytes(content + b" ")
    assert "has changed since the leaderboard was begun" in cli(*on, "--policy", "own.py").refused()
    trace.write_bytes(content)
    cli(*on, "--policy", "own.py").done()
    assert len(journal.read_bytes().splitlines()) == len(lines)


def test_another_study_in_the_folder_is_started_over(cli: Cli, experiment: Path) -> None:
    few = ("--only", "dac", "--spare-factors", "0.15", "--repeat", "1", "--no-report", "--force")
    cli("leaderboard", "reporting", *few, "--out", "b").done()
    cli("sweep", experiment, "--vary", "ftl.spare_factor=0.2,0.3", "--out", "b", "--force", "--no-report").done()
    assert "sweep" in cli("ls", "b").done()
    cli("leaderboard", "reporting", *few, "--out", "b").done()
    assert "leaderboard" in cli("ls", "b").done()
