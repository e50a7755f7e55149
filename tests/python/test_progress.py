"""Progress messages where standard error is no terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time

import pytest

from conftest import SMALL
from floatgate.base import progress
from floatgate.base.progress import EVERY_S, Lines, bars, busy
from floatgate.run.experiment import Experiment
from floatgate.study.runs.engine import Local
from floatgate.study.runs.requested import carry_out
from floatgate.study.runs.work import Job


class Clock:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(["small"], clock)
    lines(0, 1, 100, "workload")
    clock.now += EVERY_S - 0.1
    lines(0, 2, 100, "workload")
    assert capsys.readouterr().err == ""
    clock.now += 0.1
    lines(0, 45, 100, "write amplification")
    lines(0, 46, 100, "write amplification")
    assert capsys.readouterr().err == "small write amplification 45 % (10 s)\n"
    clock.now += 25.0
    lines(0, 47, None, "life\x1b[2J")
    assert capsys.readouterr().err == "small life\\x1b[2J (35 s)\n"
    clock.now += EVERY_S
    lines(0, 100, 100, "life")
    assert capsys.readouterr().err == "small life 100 % (45 s)\n"


def test_several_runs_share_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines([f"seed {number}" for number in range(9)], clock)
    for number in range(7):
        lines(number, 10 * number, 60, "run")
    clock.now += EVERY_S
    lines(0, 60, 60, "run")
    line = capsys.readouterr().err
    assert line == (
        "2 of 9 ended; now: seed 5, running 83 %; seed 4, running 67 %; seed 3, running 50 %; seed 2, running 33 %; "
        "1 more (10 s)\n"
    )


def test_runs_of_unknown_length_end_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Runs of traces that do not say their length stayed at 0 done to the end."""
    clock = Clock()
    lines = Lines(["as it was", "policy = d-choices, choices = 4"], clock)

    def unknown(number: int, done: int, total: int | None, phase: str) -> None:
        lines(number, done, total if phase == "ended" else None, phase)

    experiment = Experiment(overrides=[(key, str(value)) for key, value in SMALL.items()])
    carry_out(Local(1), [Job(0, experiment)], lambda _: None, unknown)
    clock.now += EVERY_S
    lines(1, 1, None, "run")
    line = capsys.readouterr().err
    assert line == "1 of 2 ended; now: policy = d-choices, choices = 4, running (10 s)\n"


def test_work_that_tells_nothing_shows_that_it_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.02)
    monkeypatch.setattr(progress, "TICK_S", 0.005)
    with busy("trace.parquet", quiet=True):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""
    with busy("trace.parquet", quiet=False):
        for _ in range(1000):
            time.sleep(0.01)
            shown = capsys.readouterr().err
            if shown:
                break
    assert shown.startswith("trace.parquet (0 s)\n")


@pytest.mark.parametrize("without_colours", [False, True])
def test_bars_honour_no_color(without_colours: bool) -> None:
    code = (
        "import time\nfrom floatgate.base.progress import bar\n"
        "with bar('small', quiet=False) as shown:\n    shown(1, 2, 'run')\n    time.sleep(0.3)\n"
    )
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    variables |= {"TERM": "xterm-256color", "COLUMNS": "80"} | ({"NO_COLOR": "1"} if without_colours else {})
    controller, terminal = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stdout=terminal, stderr=terminal, env=variables, check=True)
    os.close(terminal)
    shown = os.read(controller, 1 << 16).decode()
    os.close(controller)
    assert "small run" in shown
    assert bool(re.search("\x1b\\[[0-9;]*[34]8?[0-9;]*m", shown)) is not without_colours


def test_a_long_description_leaves_room_for_the_per_cent() -> None:
    code = (
        "import time\nfrom floatgate.base.progress import bar\n"
        "with bar('small', quiet=False, estimates=False) as shown:\n"
        "    shown(37, 100, '3 to 14 min left; ' + 'client-tlc-2t, ' * 9)\n    time.sleep(0.3)\n"
    )
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    controller, terminal = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stdout=terminal, stderr=terminal, env=variables, check=True)
    os.close(terminal)
    shown = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", os.read(controller, 1 << 16).decode())
    os.close(controller)
    assert re.search("small 3 to 14 min left; client-tlc-2t, .* 37%", shown), shown


def test_a_quiet_command_reports_nothing() -> None:
    with bars(["small"], quiet=True) as shown:
        assert shown is None
    with bars(["small"], quiet=False) as shown:
        assert isinstance(shown, Lines)
