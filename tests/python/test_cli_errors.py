"""Bad input: exit status 2, one plain first line that says where and what was expected, nothing left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli

MSR = "128166372003061629,a,0,Write,0,4096,10\n"
FIFO = ("theory", "wa", "--policy", "fifo", "--spare-factor", "0.1", "--pages-per-block", "4")
DRIVE = ("--set", "drive.capacity=64 MiB")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["ftl.spare_factor=0"], "ftl.spare_factor"),
        (["ftl.spare_factor=nan"], "ftl.spare_factor"),
        (["ftl.spare_factor=1.5"], "ftl.spare_factor"),
        (["ftl.spare_factor=0.0001"], "spare"),
        (["workload.read_share=-0.5"], "workload.read_share"),
        (["workload.rate_per_s=inf"], "workload.rate_per_s"),
        (["workload.request_bytes=0"], "workload.request_bytes"),
        (["drive.geometry.page_bytes=3000"], "power of two"),
        (["drive.geometry.page_bytes=256"], "power of two"),
        (["drive.geometry.channels=0"], "drive.geometry.channels"),
        (["drive.capacity=100 TiB"], "2147483647"),
        (["nonsense=1"], "'nonsense'"),
        (["ftl.collect.polcy=greedy"], "'polcy'"),
        (["ftl.collect.policy=greedier"], "'greedier'"),
        (["drive.preset=nope"], "'nope'"),
        (["ftl.precondition=nope"], "'nope'"),
        (["workload.pattern=nope"], "'nope'"),
        (["noequals"], "no '='"),
        (["=1"], "dotted key"),
        (["a..b=1"], "dotted key"),
    ],
)
def test_settings_out_of_range_are_refused(cli: Cli, tmp_path: Path, settings: list[str], expected: str) -> None:
    options = [part for text in ["drive.capacity=64 MiB", *settings] for part in ("--set", text)]
    assert expected in cli("run", *options, "--out", "o").refused()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("unknown.toml", b"[ftl]\nspare = 1\n", "unknown.toml:2:1: unknown key 'spare'"),
        ("syntax.toml", b"seed = 1\n[drive\n", "syntax.toml:2"),
        ("bytes.toml", b'seed = 1\nx = "a\xff"\n', "bytes.toml:2:7: not UTF-8"),
    ],
)
def test_bad_experiment_files_name_line_and_column(
    cli: Cli, tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    (tmp_path / name).write_bytes(content)
    for command in (["run"], ["check"], ["compare", "--vary", "seed=1,2"]):
        assert cli(command[0], name, *command[1:]).refused().startswith(expected)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "t.csv: "),
        (MSR.encode() + b"not a line\n", "t.csv:2:"),
        (MSR.encode() + MSR.encode().replace(b"a,0", b"\xff,0"), "t.csv:2:"),
        (b"\x00\x01\x02\x03", "t.csv:1:1: "),
        (MSR.replace(",0,4096", ",0,-1").encode(), "t.csv:1:"),
    ],
)
def test_bad_traces_name_their_line(cli: Cli, tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    run = ("run", "--trace", "t.csv", *DRIVE, "--out", "o", "--json", "j")
    for command in (run, ("trace", "info", "t.csv"), ("trace", "convert", "t.csv", "t.parquet")):
        assert cli(*command, "--format", "msr").refused().startswith(expected)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_trace_beyond_the_drive_names_the_drive_it_needs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(MSR.replace(",0,4096", f",{1 << 30},4096"))
    error = cli("run", "--trace", "t.csv", *DRIVE).refused()
    assert "drive.capacity" in error
    assert "wrap" in error
    cli("run", "--trace", "t.csv", *DRIVE, "--beyond", "wrap", "--no-report").done()


def test_missing_files_and_directories(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for place in ("missing", "d"):
        assert cli("run", place).refused().startswith(f"{place}: ")
        assert cli("run", "--trace", place, *DRIVE).refused().startswith(f"{place}: ")
        assert cli("trace", "info", place).refused().startswith(f"{place}: ")
        assert cli("report", place).refused().startswith(f"{place}: ")


def test_names_are_quoted_and_the_valid_ones_listed(cli: Cli, trace: Path) -> None:
    error = cli("run", *DRIVE, "--set", "ftl.collect.policy=best").refused()
    assert all(name in error for name in ("'best'", "'greedy'", "'fifo'", "'floatgate policies' lists all"))
    error = cli("run", *DRIVE, "--trace", trace, "--format", "best").refused()
    assert all(name in error for name in ("'best'", "'msr'", "'spc'", "'floatgate schema' lists all"))
    error = cli("run", "--drive", "best").refused()
    assert all(name in error for name in ("'best'", "'floatgate drives' lists all"))
    assert all(name in cli("policies", "best").refused() for name in ("'best'", "'greedy'"))
    assert all(name in cli("drives", "best").refused() for name in ("'best'", "'floatgate drives' lists all"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["bogus"],
            "expected one of 'run', 'compare', 'sweep', 'tune', 'leaderboard' or 25 others ('floatgate --help' lists",
        ),
        (
            ["trace", "bogus"],
            "unknown command 'bogus' of floatgate trace; expected one of 'info', 'patterns', 'convert'",
        ),
        (["trace"], "no command; expected one of 'info', 'patterns', 'convert'"),
        (
            ["rb", "measure", "c.vcd", "--out", "d"],
            "unknown option '--out' of floatgate rb measure; expected --report FILE (see floatgate rb measure --help)",
        ),
        (["run", "--bogus"], "unknown option '--bogus' of floatgate run; expected one of '--trace'"),
        (["run", "--repeat", "0"], "--repeat '0': too small; expected 1 or more"),
        (["run", "--repeat", "x"], "--repeat 'x': not a whole number; expected"),
        (["run", "--set"], "--set"),
        (["run", "a", "b"], "unexpected argument 'b'"),
        (["run", "--out", ""], "--out: an empty path"),
        (["run", "--json", ""], "an empty path"),
        (["compare"], "no --vary; expected at least one"),
        (["trace", "convert"], "missing argument"),
        (["theory", "wa"], "missing option '--policy'"),
        (["theory", "wa", "--policy", "best", "--spare-factor", "0.1", "--pages-per-block", "4"], "'greedy'"),
        (["theory", "wa", "--policy", "fifo", "--spare-factor", "nan", "--pages-per-block", "4"], "spare"),
        (
            ["theory", "wa", "--policy", "fifo", "--spare-factor", "x", "--pages-per-block", "4"],
            "--spare-factor 'x': not a number",
        ),
        ([*FIFO, "--separated"], "--hot-share-of-pages: is missing"),
        ([*FIFO, "--hot-share-of-pages", "0.2"], "--hot-share-of-writes: is missing"),
        ([*FIFO, "--hot-share-of-pages", "2", "--hot-share-of-writes", "0.5"], "share_of_pages is 2"),
        (
            ["theory", "wa", "--policy", "greedy", *FIFO[4:], "--separated"],
            "hot pages have a closed form only under fifo",
        ),
        (["trace", "convert", "a", "b.xyz"], "b.xyz: no format has the extension '.xyz'"),
    ],
)
def test_usage_errors_have_the_form_of_all_errors(
    cli: Cli, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    assert expected in cli(*arguments).refused()
    assert list(tmp_path.iterdir()) == []


def test_strange_file_names_stay_on_one_plain_line(cli: Cli) -> None:
    error = cli("run", "a\nb\x1b[31m.toml").refused()
    assert error == "a b\\x1b[31m.toml: no such file; expected an experiment file (TOML)"


HUGE = "x" * 100_000


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--set", HUGE],
        ["run", "--set", f"{HUGE}=1"],
        ["run", "--set", f"ftl.collect.policy={HUGE}"],
        ["run", "--set", f"{'a b ' * 20_000}=1"],
        ["run", HUGE],
        ["run", f"--{HUGE}"],
        ["run", "--repeat", HUGE],
        ["run", *DRIVE, "--out", HUGE],
        ["compare", "x.toml", "--vary", f"{HUGE}=1,1"],
        ["policies", HUGE],
        ["reproduce", HUGE],
        ["fetch", HUGE],
        ["fetch", "baleen", "--from", HUGE],
        ["fetch", "baleen", "--cache", HUGE],
        ["trace", "info", "t.csv", "--format", HUGE],
        ["trace", "convert", "t.csv", f"b.{HUGE}"],
        ["trace", "info", "t.csv", "--fold", HUGE],
        ["trace", "generate", "--pattern", HUGE, "-o", "o.csv"],
        ["run", *DRIVE, "--timeline", HUGE],
        ["theory", "wa", "--policy", HUGE, *FIFO[4:]],
        [HUGE],
    ],
)
def test_errors_quote_the_beginning_of_what_a_user_gave(cli: Cli, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "t.csv").write_text(MSR)
    assert len(cli(*arguments).refused()) < 10_000


def test_more_runs_than_memory_holds_are_refused(cli: Cli, experiment: Path) -> None:
    assert "1000000" in cli("run", experiment, "--repeat", "1000001").refused()
    values = ",".join(map(str, range(100)))
    axes = [part for key in ("seed", "a", "b", "c") for part in ("--vary", f"{key}={values}")]
    assert cli("compare", experiment, *axes).refused() == "--vary: 100000000 runs; expected at most 1000000"


def test_files_that_are_there_are_not_written_over(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    vary = ("--vary", "seed=1,2")
    for command in (
        ("run", experiment, "--json", "mine"),
        ("run", experiment, "--save-drive", "mine"),
        ("run", experiment, "--repeat", "2", "--json", "mine"),
        ("run", "--resume", "o", "--json", "mine"),
        ("compare", experiment, *vary, "--json", "mine"),
        ("lifetime", experiment, "--json", "mine"),
        ("reproduce", "ready", "--json", "mine"),
    ):
        assert cli(*command).refused().startswith("mine: exists already; expected a new file")
    assert mine.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "small.toml"]
    cli("run", experiment, "--json", "mine", "--no-report", "--force").done()
    assert json.loads(mine.read_text())["schema"] == "floatgate.result/1"
    cli("run", experiment, "--save-drive", "mine", "--no-report", "--force").done()
    assert not mine.read_bytes().startswith(b"{")


EVIL = "a\x1b[2Jb\x9b31m\u202ec\nd.csv"


def test_names_reach_no_terminal_as_commands(cli: Cli, tmp_path: Path, trace: Path) -> None:
    (tmp_path / EVIL).write_text(trace.read_text().replace("usr", "u\x1b[31msr"))
    (tmp_path / "x.toml").write_text('[drive]\ncapacity = "64 MiB"\n')
    for command in (
        ("trace", "info", EVIL, "--format", "msr"),
        ("trace", "info", EVIL, "--format", "msr", "--json"),
        ("run", "--trace", EVIL, "--format", "msr", *DRIVE, "--no-report", "--out", "o\x1b]0;t\x07\n"),
        ("run", "--trace", EVIL, "--format", "msr", *DRIVE, "--no-report", "--json", "-"),
        ("compare", "x.toml", "--trace", EVIL, "--format", "msr", "--vary", "seed=1,2"),
        ("trace", "convert", EVIL, f"{EVIL}.msr", "--format", "msr", "--to", "msr"),
        ("report", "o\x1b]0;t\x07\n"),
    ):
        ended = cli(*command)
        output = ended.done() + ended.err
        assert not any(char in output for char in "\x1b\x9b\x07\u202e"), command
        assert not any(line.startswith("d.csv") for line in output.splitlines()), command


def test_a_worn_out_drive_is_a_failed_run(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    error = cli("run", experiment, "--set", "drive.endurance.pe_cycles=1", "--out", "o", "--json", "j").refused(1)
    assert "worn out" in error
    assert "request" in error
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_result_json_of_something_else_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/result.json").write_text("{")
    assert cli("report", "r").refused().startswith("r/result.json:1:2: ends before its JSON is complete")
    (tmp_path / "r/result.json").write_text(json.dumps({"schema": "other/1"}))
    assert "'floatgate.result/1'" in cli("report", "r").refused()


def test_a_trace_in_place_of_an_experiment_is_told_where_it_goes(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "writes.parquet").write_bytes(b"PAR1\x15\x04\xff\xfe")
    error = cli("run", "writes.parquet").refused()
    assert error.endswith("not UTF-8 text; expected an experiment file (TOML); a trace goes with --trace")
