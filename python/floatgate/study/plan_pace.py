"""How far a plan is and how long it still takes, measured on its own drives and renewed with each report.

The core reports shares of the work on a drive that are not shares of its time: the last tenth may take longest. While
no drive is done, the time left lies between two estimates: by the mean speed so far, which leaps raise, and by its
median over equal parts of the time. A drive that is done gives the course of the others, by their flash.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from floatgate.base import units

_READ, _RUN, _LIVE = "workload", "write amplification", "life"
PHASES = {_READ: (0.0, 0.05), _RUN: (0.05, 0.97), _LIVE: (0.97, 1.0)}
"""Approximate begin and end of each phase in the work on a drive."""
_LIVE_ALONE = (0.05, 1.0)
"""Those of a life in which every request goes through the FTL: nothing runs before it."""
MEASURED_S = 10.0
"""Time of a run after which its speed says something."""
_PARTS = 10
"""Parts of the time so far, over which the median of the speed is taken."""
_ALIKE = 1.25
"""Estimates that differ by less are shown as one."""
_NAMED_MAX = 2
_STEP = 1e-4


@dataclass
class _Course:
    """The course of the work on one drive: its positions from 0 to 1, and the times at which it reached them."""

    begun_s: float
    phase: str = ""
    has_run: bool = False
    positions: list[float] = field(default_factory=lambda: [0.0])
    times_s: list[float] = field(default_factory=lambda: [0.0])
    took_s: float | None = None

    @property
    def position(self) -> float:
        return self.positions[-1]

    def note(self, position: float, time_s: float) -> None:
        if position >= self.position + _STEP:
            self.positions.append(position)
            self.times_s.append(time_s)

    def part(self, position: float) -> float:
        """Return the part of the whole time that a finished course had taken at a position."""
        assert self.took_s is not None  # noqa: S101 - for mypy: finished courses alone
        return _between(self.positions, self.times_s, position) / max(self.took_s, 1e-9)

    def left_s(self, time_s: float) -> tuple[float, ...]:
        """Return the time left by the mean speed, and by its median; infinite where nothing moves."""
        marks = [_between(self.times_s, self.positions, time_s * part / _PARTS) for part in range(_PARTS + 1)]
        median = statistics.median(after - before for before, after in itertools.pairwise(marks))
        left = 1.0 - self.position
        return tuple(left * time_s / speed if speed > 0 else math.inf for speed in (self.position, _PARTS * median))


class Pace:
    """The drives of a plan in their order of work, and the time that they take."""

    def __init__(self, labels: Sequence[str], sizes: Sequence[float], at_once: int, clock: Callable[[], float]) -> None:
        """Begin without any measurement.

        Args:
            labels: the names of the drives.
            sizes: the flash of each, to which its time is proportional; 0 for an impossible one.
            at_once: how many run at a time; the largest first.
            clock: returns a time in seconds.
        """
        self._labels, self._sizes, self._at_once, self._clock = labels, sizes, at_once, clock
        self._courses: dict[int, _Course] = {}
        self._done: set[int] = set()

    def begin(self, number: int) -> None:
        """Note that the work on a drive begins."""
        self._courses[number] = _Course(self._clock())

    def note(self, number: int, done: int, total: int | None, phase: str) -> None:
        """Note how far a drive is in one of :data:`PHASES`."""
        course = self._courses[number]
        course.phase, course.has_run = phase, course.has_run or phase == _RUN
        begins, ends = _LIVE_ALONE if phase == _LIVE and not course.has_run else PHASES.get(phase, (0.0, 1.0))
        course.note(begins + (ends - begins) * (min(1.0, done / total) if total else 0.0), self._time_s(course))

    def end(self, number: int) -> None:
        """Note that a drive is done; one that never reported gives no measurement."""
        course = self._courses[number]
        self._done.add(number)
        if course.phase and self._sizes[number]:
            course.took_s = self._time_s(course)

    @property
    def share(self) -> float:
        """The share of all the work that is done, by the flash of the drives."""
        parts = (
            size * (1.0 if number in self._done else self._courses[number].position)
            for number, size in enumerate(self._sizes)
            if number in self._courses
        )
        return sum(parts) / max(1.0, sum(self._sizes))

    @property
    def is_measured(self) -> bool:
        """Whether a run has lasted long enough, or is done, for :meth:`left_s` to mean something."""
        known = (course for number, course in self._courses.items() if course.phase and self._sizes[number])
        return any(course.took_s is not None or self._time_s(course) >= MEASURED_S for course in known)

    def left_s(self) -> tuple[float, float] | None:
        """Return the least and the most time that the plan still takes; None before a measurement.

        The most is infinite while runs have stood still for half of their time.
        """
        if not self.is_measured:
            return None
        ends = [self._whole_s(which) for which in (0, 1)]
        return min(ends), max(ends)

    def text(self) -> str:
        """Format as ``3 to 14 min left; 0 of 2 drives done; a, write amplification, 41.3 % after 85 s; all``.

        What matters comes first: a terminal cuts the end.
        """
        running = [(number, course) for number, course in self._courses.items() if number not in self._done]
        left_s = self.left_s()
        parts = [] if left_s is None else [f"{time_text(left_s)} left"]
        parts.append(f"{len(self._done)} of {units.counted(len(self._labels), 'drive')} done")
        for number, course in running[:_NAMED_MAX]:
            phase = f", {course.phase}" if course.phase else ""
            parts.append(
                f"{self._labels[number]}{phase}, {100 * course.position:.1f} % after {self._time_s(course):.0f} s"
            )
        parts += [f"{len(running) - _NAMED_MAX} more run"] if len(running) > _NAMED_MAX else []
        return "; ".join([*parts, "all"])

    def _time_s(self, course: _Course) -> float:
        return self._clock() - course.begun_s

    def _whole_s(self, which: int) -> float:
        """Return the time until the last drive is done: the waiting ones take the next free place in their order."""
        running = [number for number in self._courses if number not in self._done]
        left_s = {number: self._drive_left_s(number, which) for number in running}
        per_size = self._s_per_size(left_s)
        places = sorted(left_s.values())
        places = [0.0] * (self._at_once - len(places)) + places
        for number in self._waiting():
            begins_s = heapq.heappop(places)
            heapq.heappush(places, begins_s + per_size * self._sizes[number])
        return max(places, default=0.0)

    def _waiting(self) -> Iterator[int]:
        left = (number for number in range(len(self._sizes)) if number not in self._courses)
        yield from sorted(left, key=lambda number: -self._sizes[number])

    def _finished(self) -> list[tuple[float, _Course]]:
        return [(self._sizes[number], one) for number, one in self._courses.items() if one.took_s is not None]

    def _s_per_size(self, left_s: dict[int, float]) -> float:
        """Return the time per byte of flash: of finished drives, else of the running ones with what is left of them."""
        took = [(size, course.took_s or 0.0) for size, course in self._finished()]
        if not took:
            took = [
                (self._sizes[number], self._time_s(self._courses[number]) + left) for number, left in left_s.items()
            ]
        return sum(time_s for _, time_s in took) / max(1.0, sum(size for size, _ in took))

    def _drive_left_s(self, number: int, which: int) -> float:
        course, finished = self._courses[number], self._finished()
        time_s = self._time_s(course)
        if not finished:
            return course.left_s(time_s)[which] if time_s > 0 else math.inf
        # By the course of the finished ones, the more of its own time the further it is.
        part = min(1.0, sum(one.part(course.position) for _, one in finished) / len(finished))
        whole_s = self._s_per_size({}) * self._sizes[number]
        return (1.0 - part) * (time_s + (1.0 - part) * whole_s)


def time_text(left_s: tuple[float, float]) -> str:
    """Format a least and a most time: ``about 40 s``, ``3 to 14 min``, ``at least 2 min``."""
    low, high = left_s
    if math.isinf(high):
        return "an unknown time" if math.isinf(low) else f"at least {_time(low)}"
    if high <= max(1.0, _ALIKE * low) or _time(low) == _time(high):
        return f"about {_time((low + high) / 2)}"
    (small, small_unit), (large, large_unit) = _time(low).split(), _time(high).split()
    return f"{small} to {large} {large_unit}" if small_unit == large_unit else f"{small} {small_unit} to {_time(high)}"


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


def _between(places: Sequence[float], values: Sequence[float], place: float) -> float:
    """Interpolate values at a place; beyond the last place, the last value."""
    after = bisect.bisect_right(places, place)
    if after >= len(places):
        return values[-1]
    low, high = places[after - 1], places[after]
    return values[after - 1] + (values[after] - values[after - 1]) * (place - low) / (high - low)
