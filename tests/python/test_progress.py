"""Progress messages where standard error is no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floatgate.base.progress import EVERY_S, Lines, bars

if TYPE_CHECKING:
    import pytest


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
    assert capsys.readouterr().err == "small done (45 s)\n"


def test_several_runs_share_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines([f"seed {number}" for number in range(9)], clock)
    for number in range(7):
        lines(number, 10 * number, 60, "run")
    clock.now += EVERY_S
    lines(0, 60, 60, "run")
    line = capsys.readouterr().err
    assert line == "2 of 9 done, seed 5 run 83 %, seed 4 run 67 %, seed 3 run 50 %, seed 2 run 33 %, 1 more (10 s)\n"


def test_a_quiet_command_reports_nothing() -> None:
    with bars(["small"], quiet=True) as shown:
        assert shown is None
    with bars(["small"], quiet=False) as shown:
        assert isinstance(shown, Lines)
