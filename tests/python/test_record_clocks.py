"""The two clocks of a recording: perf's events carry the monotonic one, strace's calls the time since 1970."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from floatgate.trace.recorder import backends

AHEAD = 1_000_000_000_000
"""What the monotonic clock is ahead, nanoseconds."""


class Clock:
    """Both clocks, which differ by :data:`AHEAD`; a look takes 50 ns, some looks as long as ``pauses`` say."""

    def __init__(self, pauses: Iterator[int]) -> None:
        """Start at an arbitrary moment."""
        self.now = 5_000_000_000
        self._pauses = pauses

    def real(self) -> int:
        """The time since 1970."""
        self.now += next(self._pauses)
        return self.now

    def monotonic(self) -> int:
        """The monotonic clock."""
        return self.real() + AHEAD


def read_by(monkeypatch: pytest.MonkeyPatch, pauses: Callable[[int], int]) -> tuple[int, int]:
    clock = Clock(pauses(look) for look in range(1000))
    monkeypatch.setattr(time, "monotonic_ns", clock.monotonic)
    monkeypatch.setattr(time, "time_ns", clock.real)
    return backends._clocks()


@pytest.mark.parametrize("interrupted", range(27))
def test_an_interruption_between_two_looks_at_the_clocks_moves_no_call(
    monkeypatch: pytest.MonkeyPatch, interrupted: int
) -> None:
    _, add = read_by(monkeypatch, lambda look: 4_000_000 if look == interrupted else 50)
    assert abs(add - AHEAD) <= 50


def test_one_quiet_reading_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    _, add = read_by(monkeypatch, lambda look: 50 if 12 <= look < 15 else 300_000 + 1000 * look)
    assert abs(add - AHEAD) <= 50


def test_between_two_readings_the_clock_drifts_evenly() -> None:
    clock = backends._to_monotonic([(1000, 50), (2000, 60), (3000, 60)])
    assert [clock(real) for real in (900, 1000, 1500, 2000, 2500, 9000)] == [950, 1050, 1555, 2060, 2560, 9060]
