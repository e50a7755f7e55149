"""``floatgate init``: what it writes checks and runs, for several drives and workloads, and it asks on a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import Cli
from floatgate.run import starter
from floatgate.run.setting_keys import leaf_schemas

SIZES = {"client-tlc-1t": ("--capacity", "64GiB"), "ent-qlc-30t72": ("--capacity", "1TiB")}
DEFAULT = re.compile(r"^# (\w+ = .*)$", re.M)
EXAMPLE = re.compile(r"^#   (\w+ = .*)$", re.M)
WORKLOADS = {
    "trace": ("--trace", "two.csv"),
    "twin": ("--twin", "proxy", "--set", "workload.requests=2000", "--beyond", "scale"),
    "zipf": ("--pattern", "zipf", "--set", "workload.requests=2000"),
    "sequential": ("--pattern", "sequential", "--set", "workload.requests=2000"),
    "jesd219": ("--pattern", "jesd219", "--set", "workload.requests=2000"),
}


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize(
    "drive",
    ["client-tlc-1t", "ufs-256g", "mlc-20nm", pytest.param("ent-qlc-30t72", marks=pytest.mark.long), "ssd-s"],
)
def test_an_experiment_checks_and_runs(drive: str, workload: str, cli: Cli, trace: Path, tmp_path: Path) -> None:
    assert trace.parent == tmp_path
    printed = cli("init", "--drive", drive, *WORKLOADS[workload], *SIZES.get(drive, ()), "-o", "sub/a.toml").done()
    assert "floatgate run sub/a.toml" in printed
    text = (tmp_path / "sub/a.toml").read_text()
    resolved = tomllib.loads(cli("check", "sub/a.toml").done())
    assert resolved["drive"]["preset"] == drive
    assert resolved["drive"]["geometry"]["blocks_per_plane"] >= 256  # smaller drives have fewer dies
    # Each default that the file shows is the default.
    assert len(DEFAULT.findall(text)) > 10
    (tmp_path / "sub/b.toml").write_text(DEFAULT.sub(r"\1", text))
    assert tomllib.loads(cli("check", "sub/b.toml").done()) == resolved
    cli("run", "sub/a.toml", "--no-report", "--quiet").done()


def test_examples_are_values(cli: Cli, tmp_path: Path) -> None:
    cli("init", "--drive", "mlc-20nm", "--pattern", "uniform").done()
    text = (tmp_path / "experiment.toml").read_text()
    assert {line.split(" = ")[0] for line in EXAMPLE.findall(text)} == {"capacity", "rate_per_s"}
    (tmp_path / "b.toml").write_text(EXAMPLE.sub(r"\1", text))
    cli("check", "b.toml").done()


def test_the_keys_of_the_file_are_keys() -> None:
    keys = {f"{table}.{name}".lstrip(".") for table, names in starter.SHOWN.items() for name in names}
    assert keys <= set(leaf_schemas())
    assert set(starter.EXAMPLES) <= keys
    assert set(starter.PATHS) <= set(leaf_schemas())


def test_it_has_the_settings_of_the_options(cli: Cli, tmp_path: Path) -> None:
    sets = ("--set", "ftl.collect.policy=fifo", "--set", "ftl.spare_factor=0.2", "--set", 'mode="timed"')
    cli("init", "--drive", "mlc-20nm", "--pattern", "zipf", *sets, "--set", "host.queues=2").done()
    text = (tmp_path / "experiment.toml").read_text()
    written = tomllib.loads(text)
    assert (written["ftl"]["spare_factor"], written["ftl"]["collect"]) == (0.2, {"policy": "fifo"})
    assert written["host"] == {"queues": 2}
    assert written["mode"] == "timed"
    # A comment stands above each key.
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if re.match(r"\w+ = ", line):
            assert lines[number - 1].startswith("# "), line


def test_files_that_are_there_stay(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "experiment.toml").write_text("mine")
    words = ("init", "--drive", "mlc-20nm", "--pattern", "zipf")
    assert cli(*words).refused() == "experiment.toml: exists already; expected a new file, or --force"
    assert (tmp_path / "experiment.toml").read_text() == "mine"
    cli(*words, "--force").done()
    assert "mlc-20nm" in (tmp_path / "experiment.toml").read_text()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "--pattern zipf",
            "no drive; expected --drive NAME, such as --drive client-tlc-1t ('floatgate drives' lists all)",
        ),
        ("--drive mlc-20nm", "no workload; expected --trace FILE, --twin NAME or --pattern P"),
        ("--drive mlc-20nm --pattern zipf --twin proxy", "--twin and --pattern exclude each other"),
        ("--drive mlc-20n --pattern zipf", "did you mean 'mlc-20nm'?"),
        ("--drive mlc-20nm --pattern zpf", "did you mean 'zipf'?"),
        ("--drive mlc-20nm --twin prxy", "did you mean 'proxy'"),
        ("--drive mlc-20nm --trace missing.csv", "missing.csv: no such file"),
        ("--drive mlc-20nm --trace -", "expected a file, not standard input"),
        ("--drive mlc-20nm --pattern zipf --set ftl.nothing=1", "unknown key 'nothing'"),
        ("--drive mlc-20nm --trace far.csv --format msr", "expected a larger drive (--drive, --capacity), or --beyond"),
        ("--drive mlc-20nm --pattern zipf -o .", "expected a file for the experiment"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(line: str, expected: str, cli: Cli, tmp_path: Path) -> None:
    far = tmp_path / "far.csv"
    far.write_text(f"128166372003061629,a,0,Write,{1 << 40},4096,10\n")
    assert expected in cli("init", *line.split()).refused()
    assert list(tmp_path.iterdir()) == [far]


def test_a_trace_beyond_the_drive_may_be_wrapped(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "far.csv").write_text(f"128166372003061629,a,0,Write,{1 << 40},4096,10\n")
    far = ("--trace", "far.csv", "--format", "msr", "--beyond", "wrap")
    cli("init", "--drive", "mlc-20nm", "--capacity", "128MiB", *far).done()
    cli("run", "experiment.toml", "--no-report", "--quiet").done()


def _answering(folder: Path, typed: str, *arguments: str) -> tuple[int, str]:
    """The exit status of the command on a terminal, and what it showed."""
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "floatgate", "init", *arguments]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, cwd=folder) as process:
        os.close(terminal)
        os.write(controller, typed.encode())
        shown = b""
        while True:
            try:
                part = os.read(controller, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(controller)
        return process.wait(), shown.decode()


def test_it_asks_on_a_terminal(tmp_path: Path, trace: Path) -> None:
    status, shown = _answering(tmp_path, f"ufs-256\nufs-256g\nnothing\n{trace.name}\nmine.toml\n")
    assert status == 0, shown
    assert "unknown drive 'ufs-256'; did you mean 'ufs-256g'" in shown
    assert "'nothing' is neither a file nor a workload" in shown
    written = tomllib.loads((tmp_path / "mine.toml").read_text())
    assert written["drive"]["preset"] == "ufs-256g"
    assert written["workload"] == {"kind": "trace", "file": trace.name}


def test_empty_answers_are_the_defaults(tmp_path: Path) -> None:
    status, shown = _answering(tmp_path, "\n\n\n")
    assert status == 0, shown
    written = tomllib.loads((tmp_path / "experiment.toml").read_text())
    assert (written["drive"]["preset"], written["workload"]) == ("client-tlc-1t", {"pattern": "uniform"})


def test_options_are_not_asked_for(tmp_path: Path) -> None:
    status, shown = _answering(tmp_path, "\n", "--drive", "mlc-20nm", "--pattern", "zipf")
    assert status == 0, shown
    assert "workload" not in shown
    assert tomllib.loads((tmp_path / "experiment.toml").read_text())["workload"] == {"pattern": "zipf"}


def test_the_end_of_the_input_is_an_error(tmp_path: Path) -> None:
    status, shown = _answering(tmp_path, "mlc-20nm\n\x04")
    assert status == 2
    assert "error: floatgate init: the input ended before the last answer" in shown
    assert list(tmp_path.iterdir()) == []


def test_the_stop_level_says_how_much_is_collected_at_a_time(cli: Cli, tmp_path: Path) -> None:
    cli("init", "--drive", "mlc-20nm", "--pattern", "zipf").done()
    text = (tmp_path / "experiment.toml").read_text()
    assert "\n# stop_free_blocks = 8\n" in text
    assert "one victim at a time" in text.replace("\n#   ", " ")
