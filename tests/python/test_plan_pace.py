"""How long a plan still takes: its estimate against runs whose course is known, by a clock that the test moves."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import floatgate
from floatgate.run.experiment import resolve
from floatgate.study import planning
from floatgate.study.plan_pace import MEASURED_S, Pace, time_text
from test_planning import BRIEF
from test_progress import Clock

RUN = "write amplification"
SETTINGS = {**BRIEF, "workload.rate_per_s": 300.0}


def uneven(part: float) -> float:
    """The share that a run reports after a part of its time: leaps at its begin and in the middle, then a crawl."""
    return 0.2 + 0.05 * part if part < 0.3 else 0.8 + 0.2 * (part - 0.3) / 0.7


def served(pace: Pace, clock: Clock, number: int, takes_s: float, course: Callable[[float], float]) -> list[Any]:
    """Let a drive run to its end with a report per hundredth of its time; return what it estimates at each."""
    begun, estimates = clock.now, []
    pace.begin(number)
    for step in range(101):
        clock.now = begun + takes_s * step / 100
        pace.note(number, int(1000 * course(step / 100)), 1000, RUN)
        estimates.append(pace.left_s())
    pace.note(number, 1, 1, "life")
    pace.end(number)
    return estimates


def test_nothing_is_estimated_before_a_measurement_and_an_even_run_is_exact() -> None:
    clock = Clock()
    pace = Pace(["a"], [1.0], 1, clock)
    estimates = served(pace, clock, 0, 1000.0, lambda part: (1000 * part + 1) / 1001)
    assert estimates[: int(MEASURED_S / 10.0)] == [None]
    for step, left in list(enumerate(estimates))[20:]:
        # The phases before and after take some of the work, and none of the time.
        assert left == pytest.approx(((100 - step) * 10.0,) * 2, rel=0.3, abs=60), step
    assert estimates[-1][1] < 50
    assert pace.left_s() == (0.0, 0.0)


def test_an_uneven_run_ends_within_its_estimate_which_falls_to_its_end() -> None:
    clock = Clock()
    pace = Pace(["a"], [1.0], 1, clock)
    estimates = served(pace, clock, 0, 600.0, uneven)
    for step in (10, 15, 20, 25, 60, 70, 80, 90):
        low, high = estimates[step]
        # Before the leap all that is left looks slow.
        assert low <= 1.05 * 6.0 * (100 - step) <= high, (step, low, high)
    assert estimates[-1][1] < 0.1 * estimates[20][1]


def test_a_drive_that_is_done_gives_the_course_of_the_next_by_its_size() -> None:
    clock = Clock()
    pace = Pace(["a", "b"], [2.0, 1.0], 1, clock)
    served(pace, clock, 0, 600.0, uneven)
    assert pace.left_s() == pytest.approx((300.0, 300.0))
    for step, left in enumerate(served(pace, clock, 1, 300.0, uneven)):
        assert left == pytest.approx((3.0 * (100 - step),) * 2, abs=12.0), step


def test_a_slower_drive_renews_the_estimate() -> None:
    """It converges to the time of the drive itself, whatever those before it took."""
    clock = Clock()
    pace = Pace(["a", "b"], [1.0, 1.0], 1, clock)
    served(pace, clock, 0, 100.0, lambda part: part)
    errors = [
        abs(left[0] - 10.0 * (100 - step))
        for step, left in enumerate(served(pace, clock, 1, 1000.0, lambda part: part))
    ]
    assert errors[0] > 800.0
    assert errors[50] < 300.0
    assert errors[90] < 30.0
    assert all(after <= before + 1.0 for before, after in itertools.pairwise(errors))


def test_waiting_drives_take_the_next_free_place() -> None:
    clock = Clock()
    pace = Pace(["a", "b", "c", "d"], [4.0, 2.0, 2.0, 0.0], 2, clock)
    served(pace, clock, 0, 400.0, lambda part: part)
    pace.begin(3)
    pace.end(3)
    # Two drives of 200 s side by side.
    assert pace.left_s() == pytest.approx((200.0, 200.0))
    assert pace.share == 0.5


def test_drives_that_were_kept_and_impossible_ones_measure_nothing() -> None:
    clock = Clock()
    pace = Pace(["kept", "impossible", "b"], [1.0, 0.0, 1.0], 1, clock)
    for number in (0, 1):
        pace.begin(number)
        clock.now += 0.01
        pace.end(number)
    assert not pace.is_measured
    assert pace.left_s() is None


def test_a_life_without_laps_is_all_of_the_work() -> None:
    clock = Clock()
    pace = Pace(["a", "b"], [1.0, 1.0], 2, clock)
    for number in (0, 1):
        pace.begin(number)
    pace.note(0, 1, 2, "life")
    pace.note(1, 1, 2, RUN)
    pace.note(1, 1, 2, "life")
    pace.note(1, 0, 2, "life")
    assert pace.share == pytest.approx((0.525 + 0.985) / 2)


@pytest.mark.parametrize(
    ("left_s", "text"),
    [
        ((40.0, 41.0), "about 40 s"),
        ((180.0, 840.0), "3 to 14 min"),
        ((80.0, 300.0), "80 s to 5 min"),
        ((119.0, 149.0), "about 2 min"),
        ((7200.0, 7300.0), "about 2.0 hours"),
        ((130.0, float("inf")), "at least 2 min"),
        ((float("inf"), float("inf")), "an unknown time"),
        ((0.0, 0.0), "about 0 s"),
    ],
)
def test_times_are_rough(left_s: tuple[float, float], text: str) -> None:
    assert time_text(left_s) == text


def test_a_long_run_moves_with_each_report_and_its_time_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of a plan stood still: it had whole per cents of all drives, and no time."""
    clock = Clock()

    def forecast(*_: object, progress: Any, **__: object) -> list[dict[str, Any]]:
        for step in range(300):
            clock.now += 4.0
            progress(1000 + step, 2000, RUN)
        return [small_result()]

    monkeypatch.setattr(planning, "forecast", forecast)
    monkeypatch.setattr(planning, "LARGE_BYTES", 0)
    monkeypatch.setattr(planning, "Pace", lambda labels, sizes, jobs, _: Pace(labels, sizes, jobs, clock))
    texts: list[str] = []
    lines: list[str] = []
    planning.plan(
        resolve(None, set=SETTINGS),
        capacities=["32 MiB"],
        begins=lines.append,
        progress=lambda _done, _total, text: texts.append(text),
    )
    assert all(before != after for before, after in itertools.pairwise(texts))
    assert texts[10] == "38 s to 70 min left; 0 of 1 drive done; 32 MiB, write amplification, 51.4 % after 40 s; all"
    assert [line for line in lines if line.startswith("time: ")] == [
        "time: 11 s to 71 min left on this machine, by the speed so far; renewed as it goes on"
    ]


def small_result() -> dict[str, Any]:
    """The result of a forecast."""
    result: dict[str, Any] = floatgate.lifetime(set={**SETTINGS, "drive.capacity": "32 MiB"}).result.to_dict()
    return result
