"""``floatgate run --waveform``: the files for other tools, the options, and the errors."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from vcd.reader import TokenKind, tokenize

import floatgate
from conftest import SMALL, Cli
from floatgate.lab import rb
from floatgate.run.waveform import Waveform

DRIVE = {
    **SMALL,
    "mode": "timed",
    "drive.geometry.channels": 2,
    "ftl.precondition": "none",
    "workload.requests": 3000,
    "workload.read_share": 0.4,
}


def options(**more: Any) -> list[str]:
    return [text for key, value in {**DRIVE, **more}.items() for text in ("--set", f"{key}={json.dumps(value)}")]


def table_of(cli: Cli, *arguments: str | Path, **more: Any) -> dict[str, Any]:
    result = json.loads(cli("run", *options(**more), "--no-report", "--json", "-", *arguments).done())
    table: dict[str, Any] = result["waveform"]
    return table


def counts(facts: dict[str, Any]) -> tuple[int, int, int]:
    return facts["reads"], facts["programs"], facts["erases"]


def lows_by_pyvcd(path: Path) -> dict[str, int]:
    """Low phases by name, as another library reads the file."""
    names: dict[str, str] = {}
    levels: dict[str, str] = {}
    lows: dict[str, int] = {}
    with path.open("rb") as file:
        for token in tokenize(file):
            if token.kind is TokenKind.TIMESCALE:
                assert str(token.timescale) == "1 ns"
            if token.kind is TokenKind.VAR:
                names[token.var.id_code] = token.var.reference
            if token.kind is TokenKind.CHANGE_SCALAR:
                code, value = token.scalar_change.id_code, token.scalar_change.value
                if levels.get(code) == "0" and value == "1":
                    lows[names[code]] = lows.get(names[code], 0) + 1
                levels[code] = value
    assert set(levels.values()) == {"1"}
    return lows


def test_other_libraries_and_our_reader_count_what_the_run_says(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "pins.vcd"
    table = table_of(cli, "--waveform", path, "--die", "all")
    assert sum(lows_by_pyvcd(path).values()) == table["low_phases"] == sum(counts(table))
    assert set(lows_by_pyvcd(path)) == {"rb0", "rb1"}
    assert table["flash"] == {key: table[key] for key in ("programs", "reads", "erases")}
    run = floatgate.run(set=DRIVE, waveform=Waveform(tmp_path / "again.vcd", None))
    command = next(line for line in run.summary().splitlines() if "rb measure" in line).split()
    facts = json.loads(cli(*command[1:], "--json", "-").done())
    assert counts(facts) == counts(table)
    assert facts["wa"] == pytest.approx(run.result["waf"], rel=1e-9)
    assert facts["terms"]["dies_share"] == 0.0


@pytest.mark.skipif(shutil.which("sigrok-cli") is None, reason="sigrok-cli is not installed")
def test_sigrok_cli_converts_it(cli: Cli, tmp_path: Path) -> None:
    path, session = tmp_path / "pins.vcd", tmp_path / "pins.sr"
    table = table_of(cli, "--waveform", path, "--until", "0.5s")
    command = ["sigrok-cli", "-I", "vcd:downsample=100", "-i", str(path), "-O", "srzip", "-o", str(session)]
    subprocess.run(command, check=True, capture_output=True)
    shape = [
        "--channels",
        "2",
        "--chips",
        "1",
        "--dies",
        "1",
        "--planes",
        "1",
        "--page-bytes",
        "4096",
        "--program-us",
        "150..1500",
    ]
    facts = json.loads(cli("rb", "measure", session, *shape, "--program-us", "150..1500", "--json", "-").done())
    assert counts(facts) == counts(table)


def test_rows_and_dumps_say_the_same_of_a_window(cli: Cli, tmp_path: Path) -> None:
    pairs = []
    for name in ("pins.vcd", "pins.csv"):
        window = ("--die", "1", "--from", "100ms", "--until", "0.4s")
        table = table_of(cli, "--waveform", tmp_path / name, *window, "--out", tmp_path / name[5:])
        assert (table["from_s"], table["until_s"], table["die"]) == (0.1, 0.4, 1)
        shape = [text for key, value in table["shape"].items() for text in (f"--{key.replace('_', '-')}", str(value))]
        facts = json.loads(cli("rb", "measure", tmp_path / name, *shape, "--json", "-").done())
        assert facts["duration_s"] == pytest.approx(0.3, abs=1e-6)
        assert [signal["name"].rsplit(".")[-1] for signal in facts["signals"]] == ["rb1"]
        pairs.append((counts(facts), counts(table)))
    assert pairs[0] == pairs[1]
    assert pairs[0][0] == pairs[0][1]


def test_the_summary_gives_a_command_that_works(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a b.vcd"
    text = cli("run", *options(), "--waveform", path, "--no-report").done()
    command = next(line for line in text.splitlines() if "floatgate rb measure" in line).strip()
    assert "WAF " in cli(*shlex.split(command)[1:]).done()
    assert "low phases of die 0 in" in text
    assert (
        f"--blocks-per-plane {floatgate.run(set=DRIVE).experiment()['drive']['geometry']['blocks_per_plane']} "
        in command
    )
    assert "will be off" not in text


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("pattern", "read_share"), [("uniform", 0.25), ("uniform", 0.6), ("zipf", 0.25)])
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (None, None),
        ("cache_read", None),
        ("program_suspend", "suspended_programs"),
        ("cache_program", "cache_programs"),
    ],
)
def test_pins_of_drives_that_suspend_or_cache_programs_are_doubted(
    command: str | None, code: str | None, pattern: str, read_share: float, seed: int, tmp_path: Path
) -> None:
    """The interval holds the truth; plain drives, and those with cached reads, leave no doubt."""
    settings: dict[str, Any] = {
        "drive.preset": "ssd-v",
        "drive.capacity": "256 MiB",
        "mode": "timed",
        "ftl.precondition": "random",
    }
    settings |= {"seed": seed, "workload.requests": 20_000, "workload.queue_depth": 4}
    settings |= {"workload.pattern": pattern, "workload.read_share": read_share}
    settings |= {} if command is None else {f"drive.commands.{command}": True}
    run = floatgate.run(set=settings, waveform=Waveform(tmp_path / "pins.vcd", None))
    table = run.result["waveform"]
    shape = rb.Shape(**table["shape"], blocks_per_plane=run.experiment()["drive"]["geometry"]["blocks_per_plane"])
    facts = rb.measure([tmp_path / "pins.vcd"], shape, multi_page=1, host=rb.Host(table["host_bytes"]))
    assert [doubt["code"] for doubt in facts["doubts"]] == ([] if code is None else [code])
    assert facts["wa_low"] <= table["flash"]["programs"] * shape.page_bytes / table["host_bytes"] <= facts["wa_high"]


@pytest.mark.parametrize(
    ("command", "workload", "why"),
    [
        ({"multi_plane": "any"}, {"read_share": 0.0}, "multi-plane programs write several pages in one low phase: "),
        ({"program_suspend": True}, {"rate_per_s": 1500.0}, "a suspended program is several low phases"),
        ({"cache_program": True}, {"pattern": "sequential"}, "a cache program is low only until the array takes its"),
        ({"erase_suspend": True}, {"rate_per_s": 1500.0}, "a suspended erase is several low phases"),
    ],
)
def test_the_command_says_which_flash_commands_make_it_wrong(
    command: dict[str, Any], workload: dict[str, Any], why: str, cli: Cli, tmp_path: Path
) -> None:
    more = {"ftl.precondition": "random", "drive.geometry.planes_per_die": 2, "workload.requests": 10_000}
    more |= {f"drive.commands.{key}": value for key, value in command.items()}
    more |= {"workload.queue_depth": 8} | {f"workload.{key}": value for key, value in workload.items()}
    made = cli("run", *options(**more), "--waveform", "p.vcd", "--die", "all", "--no-report", "--out", "o").done()
    lines = [line.strip() for line in made.splitlines()]
    place = next(number for number, line in enumerate(lines) if line.startswith("floatgate rb measure"))
    assert lines[place + 1].startswith(why if why.startswith("multi-plane") else f"rb measure will be off: {why}")
    table = floatgate.load(tmp_path / "o").result.to_dict()["waveform"]
    pages = table["flash"]["programs"] / table["programs"]
    if not why.startswith("multi-plane"):
        assert " --multi-page 1 " in lines[place]
    else:
        assert pages > 1.01
        assert f" --multi-page {pages:.3f} " in lines[place]
        measured = json.loads(cli(*shlex.split(lines[place])[1:], "--json", "-", "--quiet").done())
        written = table["flash"]["programs"] * table["shape"]["page_bytes"]
        assert measured["p_volume_bytes"] == pytest.approx(written, rel=0.01)
    if why.startswith("a suspended program"):
        assert pages < 1
        assert f"({1 / pages:.4g} on average)" in lines[place + 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--waveform", "pins.txt"], "--waveform: 'pins.txt' has no format; expected a name that ends in .vcd or .csv"),
        (["--waveform", "p.vcd", "--die", "x"], "--die: 'x' is not a die; expected a number from 0 on, or all"),
        (["--waveform", "p.vcd", "--die", "2"], "--die: no die 2; expected one from 0 to 1, or all"),
        (["--waveform", "p.vcd", "--from", "1"], "--from: '1' is not a time; expected one such as 1.5s or 20ms"),
        (
            ["--waveform", "p.vcd", "--from", "2s", "--until", "1s"],
            "--until: the capture ends before it begins; expected an end behind --from",
        ),
        (["--die", "1"], "--die: no waveform is written; expected it with --waveform FILE"),
        (
            ["--waveform", "p.vcd", "--repeat", "2"],
            "--waveform: a waveform belongs to one run; expected no --repeat with it",
        ),
        (
            ["--waveform", "p.vcd", "--out", "o", "--snapshot-every", "5"],
            "--snapshot-every: a log of requests or a waveform cannot be resumed; expected a run without it",
        ),
        (
            ["--waveform", "p.vcd", "--set", "mode=functional"],
            '--waveform: functional mode models no time; there is no pin waveform to record; expected mode = "timed"',
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("run", *options(), *arguments).refused() == message
    assert not list(tmp_path.glob("p*"))


def test_a_file_that_is_there_stays_without_force(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "pins.vcd"
    path.write_text("mine")
    assert "exists already" in cli("run", *options(), "--waveform", path).refused()
    assert path.read_text() == "mine"
    assert table_of(cli, "--waveform", path, "--force")["low_phases"] > 0
