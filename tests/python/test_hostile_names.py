"""Names that a terminal or a spreadsheet would take for commands, in every command of the command line."""

from __future__ import annotations

import csv
import io
import itertools
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import SMALL
from floatgate.base import text_out
from floatgate.cli import status
from floatgate.cli.app import command
from test_placement_keys import record
from test_rb import ONE_PLANE, hand_made

NAME = "=cmd|' C'!A0\x1b]0;x\x07\x9b31m\u202e\u2066\nz\r\ty"
DRIVE = [part for key, value in SMALL.items() if "workload" not in key for part in ("--set", f"{key}={value}")]
FEW = ["--set", "workload.requests=1000", "--set", "ftl.precondition=none"]
WRITER = ["sh", "-c", 'head -c 9000 /dev/zero > "$0"', NAME]
_TABLE = ["--capacities", "64MiB", "--csv", f"p{NAME}.csv"]
_BOARD = ["--spare-factors", "0.15", "--repeat", "1"]
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    for name, inner in getattr(group, "commands", {}).items():
        yield from _commands(inner, (*path, name))
    if not hasattr(group, "commands"):
        yield " ".join(path)


def _toml(folder: Path) -> str:
    path = folder / f"{NAME}.toml"
    if not path.exists():
        floatgate.run({**SMALL, "workload.requests": 1000}).save(folder / "made", report=False)
        shutil.move(folder / "made/experiment.toml", path)
        shutil.rmtree(folder / "made")
    return path.name


def _trace(folder: Path) -> str:
    """A trace of MSR in a file and of a host with hostile names."""
    lines = [
        f"{128166372003061629 + n * 1_000_000},{NAME.splitlines()[0]},0,Write,{n % 90 * 8192},8192,1"
        for n in range(900)
    ]
    (folder / f"{NAME}.csv").write_text("\n".join(lines) + "\n", "utf-8", newline="")
    return f"{NAME}.csv"


def _recording(folder: Path) -> str:
    """A recording whose files, contexts and frames have hostile names."""
    rows: list[dict[str, Any]] = [{"page": page, "file": 0, "context": 1} for page in range(600)]
    for turn in range(30):
        rows += [{"page": page, "file": 1, "context": 2} for page in range(40)]
        rows.append({"page": 100 + 7 * turn, "file": 0, "context": 1})
    contexts = {str(n): {"name": NAME, "frames": [NAME, "+main"], "writes": 9} for n in (1, 2)}
    record(folder / f"{NAME}.parquet", rows, files={"0": f"/db/{NAME}", "1": f"/db/-{NAME}.log"}, contexts=contexts)
    return f"{NAME}.parquet"


def _runs(folder: Path) -> str:
    path = folder / NAME
    if not path.exists():
        floatgate.run({**SMALL, "workload.requests": 1000}).save(path, report=False)
    return NAME


def _capture(folder: Path) -> str:
    hand_made(folder / "made")
    shutil.move(folder / "made", folder / f"{NAME}.vcd")
    return f"{NAME}.vcd"


def _reading(folder: Path, number: int) -> str:
    made = {"serial_number": NAME, "time": number + 1_700_000_000, "data_units_written": 1000 * number}
    (folder / f"{number}{NAME}").write_text(json.dumps(made))
    return f"{number}{NAME}"


Case = list[tuple[int, list[str]]]
CASES: dict[str, Callable[[Path], Case]] = {
    "run": lambda at: [
        (0, [_toml(at), *FEW, "--out", f"r{NAME}", "--no-report"]),
        (0, ["--trace", _trace(at), *DRIVE, *FEW[2:], "--out", f"t{NAME}", "--no-report"]),
        (2, [NAME]),
        (2, [_toml(at), "--set", f"{NAME}=1"]),
    ],
    "compare": lambda at: [
        (0, [_toml(at), *FEW, "--vary", "ftl.collect.policy=greedy,fifo", "--out", f"c{NAME}", "--no-report"]),
        (2, [_toml(at), "--vary", f"ftl.collect.policy={NAME}"]),
    ],
    "sweep": lambda at: [
        (0, [_toml(at), *FEW, "--vary", "ftl.spare_factor=0.2,0.3", "--out", f"s{NAME}", "--no-report"]),
        (2, [_toml(at), "--vary", f"{NAME}=1", "--out", "s"]),
    ],
    "leaderboard": lambda at: [
        (2, [NAME, "--out", "b"]),
        (2, [_trace(at), "--only", NAME, "--out", "b"]),
        (2, ["reporting", "--param", f"{NAME}=1", "--out", "b"]),
        (0, ["reporting", "--only", "dac", *_BOARD, "--out", f"b{NAME}", "--no-report"]),
    ],
    "explain": lambda at: [
        (0, [_runs(at), "--json", f"x{NAME}.json"]),
        (0, [_runs(at), "--try", "--most", "1"]),
        (2, [f"no{NAME}"]),
    ],
    "cite": lambda at: [(0, [_runs(at)]), (0, [_toml(at)]), (2, [NAME + "x"])],
    "tune": lambda at: [
        (2, [_toml(at), "--minimise", NAME, "--search", "ftl.spare_factor=0.1..0.3", "--out", f"u{NAME}"]),
        (2, [NAME, "--minimise", "waf"]),
    ],
    "query": lambda at: [
        (0, [_runs(at), f"select '{NAME.replace(chr(39), '')}' as \"{NAME}\", folder, waf, -1.5 as n from runs"]),
        (0, [_runs(at), "select folder, '=1+1' as f, -1 as n from runs", "--out", "q.csv", "--json", "-"]),
        (2, [_runs(at), f"select {NAME}"]),
        (2, [NAME + "x", "select 1"]),
    ],
    "ls": lambda at: [(0, [".", _runs(at)]), (0, [_runs(at), "--json", "-"]), (2, [NAME + "x"])],
    "lifetime": lambda at: [
        (0, [_toml(at), "--set", "workload.rate_per_s=1", "--out", f"l{NAME}", "--no-report"]),
        (2, [_toml(at), "--set", "workload.rate_per_s=1000000", "--out", f"m{NAME}"]),
        (2, [NAME]),
    ],
    "plan": lambda at: [
        (0, [_toml(at), "--set", "workload.rate_per_s=1", "--out", f"n{NAME}", "--no-report", *_TABLE]),
        (2, [_toml(at), "--drives", NAME]),
        (2, [_toml(at), "--capacities", NAME]),
        (2, [NAME]),
    ],
    "reproduce": lambda _: [(2, [NAME]), (0, [])],
    "content": lambda at: [(0, [_trace(at)]), (2, [NAME])],
    "placement": lambda at: [
        (0, [_recording(at), "--by", "file", "--format", "csv", "--out", "p1"]),
        (0, [_recording(at), "--by", "context", "--policy", "lifetime", "--format", "csv", "--out", "p2"]),
        (0, [_recording(at), "--by", "path-pattern", "--out", f"p3{NAME}"]),
        (2, [_recording(at), "--by", NAME]),
        (2, [NAME]),
    ],
    "init": lambda at: [
        (0, ["--drive", "mlc-20nm", "--trace", _trace(at), "-o", f"i{NAME}.toml"]),
        (2, ["--drive", NAME, "--pattern", "zipf"]),
        (2, ["--drive", "mlc-20nm", "--trace", NAME]),
        (2, ["--drive", "mlc-20nm", "--twin", NAME]),
    ],
    "completion": lambda at: [
        (2, [NAME]),
        *((0, [shell, "--line", f"floatgate run {_toml(at)} {NAME}"]) for shell in ("bash", "zsh", "fish")),
    ],
    "man": lambda _: [(0, []), (2, [NAME])],
    "live": lambda at: [
        (2, [NAME, "--exports", NAME]),
        (2, [NAME, "--cache", NAME]),
        (2, [NAME, "--assert", NAME]),
        (2, [NAME, _toml(at), "--set", f"{NAME}=1"]),
        (2, [NAME, NAME]),
    ],
    "check": lambda at: [(0, [_toml(at)]), (2, [NAME]), (2, [_toml(at), "--set", f"{NAME}=1"])],
    "docs": lambda _: [(0, []), (2, [NAME])],
    "drives": lambda _: [(2, [NAME])],
    "policies": lambda _: [(2, [NAME]), (2, ["--policy", NAME])],
    "policy new": lambda _: [(0, ["own", "--slot", "victim", "--out", f"n{NAME}.py"]), (2, [NAME, "--slot", "victim"])],
    "policy header": lambda _: [(0, [])],
    "schema": lambda _: [(0, []), (2, [NAME])],
    "report": lambda at: [(0, [_runs(at), "--out", f"{NAME}.html"]), (2, [NAME + "x"])],
    "counters": lambda at: [
        (0, [_reading(at, 1), _reading(at, 2), "--out", f"c{NAME}", "--no-report"]),
        (2, [_reading(at, 1), _reading(at, 2), "--serial", NAME + "x"]),
        (2, [_reading(at, 1), _reading(at, 2), "--attribute", NAME]),
        (2, [NAME]),
    ],
    "rb measure": lambda at: [(0, [_capture(at), *ONE_PLANE, "--host-bytes", "1000000"]), (2, [NAME])],
    "rb multi-page": lambda at: [(0, [_capture(at), *ONE_PLANE, "--host-bytes", "1000000"]), (2, [NAME])],
    "theory wa": lambda _: [(2, ["--policy", NAME, "--spare-factor", "0.1", "--pages-per-block", "9"])],
    "trace info": lambda at: [(0, [_trace(at)]), (0, [_recording(at)]), (0, [_trace(at), "--json"]), (2, [NAME])],
    "trace patterns": lambda at: [(0, [_trace(at)]), (2, [NAME])],
    "trace features": lambda at: [(0, [_trace(at), "-o", f"f{NAME}.parquet"]), (2, [NAME, "-o", "x.parquet"])],
    "trace convert": lambda at: [
        (0, [_trace(at), f"o{NAME}.parquet"]),
        *((0, [_trace(at), "-", "--to", to]) for to in ("fio-iolog", "msr", "mqsim", "blkparse")),
        (2, [_trace(at), f"{NAME}.nothing"]),
    ],
    "trace generate": lambda _: [
        (0, ["--pattern", "zipf", "--size", "1 MiB", "-o", f"g{NAME}.csv"]),
        (2, ["--pattern", NAME, "-o", "g.csv"]),
        (2, ["--twin", NAME, "-o", "g.csv"]),
    ],
    "fetch": lambda at: [
        (0, ["ycsb-sample", "--from", _trace(at), "--cache", f"h{NAME}"]),
        (0, ["--cache", f"h{NAME}"]),
        (0, ["ycsb-sample", "--cache", f"h{NAME}", "--json"]),
        (2, ["fiu-homes", "--cache", f"h{NAME}"]),
        (2, ["fiu-homes", "--from", _trace(at), "--member", NAME]),
        (2, ["fiu-homes", "--from", _trace(at), "--cache", f"h{NAME}"]),
        (2, ["fiu-homes", "--from", NAME + "x"]),
        (2, [NAME]),
    ],
    "trace record": lambda _: [
        (2, ["--backend", NAME, "-o", "x.parquet", "--", "true"]),
        (2, ["--backend", "strace", "-o", f"w{NAME}.parquet", "--", f"./{NAME}"]),
        *([(0, ["--backend", "strace", "-o", f"w{NAME}.parquet", "--", *WRITER])] if shutil.which("strace") else []),
    ],
}


def test_every_command_is_covered() -> None:
    assert sorted(CASES) == sorted(_commands(command(None)))


@pytest.mark.parametrize("name", CASES)
def test_no_name_reaches_a_terminal_or_a_spreadsheet_as_a_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for expected, arguments in CASES[name](tmp_path):
        capfd.readouterr()
        code = status([*name.split(), *arguments])
        out, err = capfd.readouterr()
        assert code == expected, (arguments, out, err)
        strange = {char for char in out + err if char != "\n" and not char.isprintable()}
        assert not strange, (arguments, strange)
        if "csv" in arguments or "msr" in arguments:
            _must_be_harmless(out)
    # What a program wrote or another one is to read, in a format that is not ours, is no table.
    tables = [path for path in tmp_path.rglob("*.csv") if path.name[0] not in "=go"]
    for path in tables:
        _must_be_harmless(path.read_text("utf-8"))
    assert tables or name not in ("query", "placement", "compare")


def _must_be_harmless(text: str) -> None:
    cells = list(itertools.chain.from_iterable(csv.reader(io.StringIO(text, newline=""))))
    assert cells
    for cell in cells:
        assert cell.isprintable(), cell
        try:
            float(cell)
        except ValueError:
            assert not cell.startswith(FORMULAS), cell


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\\t=1"),
        ("\r=1", "'\\r=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\nb", "a\\nb"),
        (-1.5, -1.5),
        (-3, -3),
        (True, True),
        (None, ""),
        (b"=1", "3d31"),
        ("plain, text", "plain, text"),
    ],
)
def test_cells_of_csv(value: object, cell: object) -> None:
    assert text_out.csv_cell(value) == cell
