"""When a test ends: once its bandwidth is stable (section 5).

The paper does not say what stable means. Here it is the steady state of SNIA's Solid State Storage Performance Test
Specification, over five rounds. The largest and the smallest bandwidth differ by at most a fifth of the mean, and the
line of best fit rises or falls by at most a tenth of it. The specification's rounds are of a minute; these are of a
volume, as the paper's other tests end by volume.

Runs go on for a fixed volume, which is also the longest test, and their series tells where the test ends. What comes
later does not change what came before, so this is the same as a test that stops there.

Runs without time have no bandwidth. With 32 requests under way the flash is never idle, and bandwidth goes with the
inverse of write amplification (section 5.2: "write performance varies inversely"). The rule has no unit, so the inverse
takes its place there. Runs in time of one micro-benchmark check that both end alike, within a round.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ROUNDS = 5
RANGE, SLOPE = 0.2, 0.1
"""Most that rounds differ, and most that their line of best fit changes, as shares of their mean."""
COLUMNS = ("page_writes", "flash_writes")
"""Columns of the series that this needs; in time also ``time_s``."""


@dataclass(frozen=True)
class Course:
    """A test, round by round.

    Attributes:
        bandwidth: host writes of each round, bytes per second; without time bytes per byte programmed.
        host_bytes: bytes that the host wrote in each round.
        flash_bytes: bytes programmed in each round.
    """

    bandwidth: list[float]
    host_bytes: list[float]
    flash_bytes: list[float]

    @property
    def end(self) -> int:
        """The number of rounds after which the test ends: bandwidth is stable, or the volume is used up."""
        return self._stable_after() or len(self.bandwidth)

    @property
    def is_stable(self) -> bool:
        """Whether bandwidth is stable when the test ends."""
        return self._stable_after() is not None

    def whole(self) -> float | None:
        """Return write amplification of the whole test, as a recorder counts that sends its count at the end."""
        return self._amplification(0, self.end)

    def settled(self) -> float | None:
        """Return write amplification of the last rounds of the test, over which bandwidth is stable."""
        return self._amplification(self.end - ROUNDS, self.end)

    def first(self) -> float | None:
        """Return write amplification of the first round."""
        return self._amplification(0, 1)

    def _stable_after(self) -> int | None:
        numbers = range(ROUNDS, len(self.bandwidth) + 1)
        return next((number for number in numbers if is_stable(self.bandwidth[number - ROUNDS : number])), None)

    def _amplification(self, first: int, end: int) -> float | None:
        if len(self.bandwidth) < ROUNDS:
            return None
        return sum(self.flash_bytes[first:end]) / sum(self.host_bytes[first:end])


def is_stable(bandwidth: Sequence[float]) -> bool:
    """Return whether the range of some rounds and the change of their line of best fit are within the bounds."""
    count = len(bandwidth)
    middle = sum(bandwidth) / count
    centre = (count - 1) / 2
    spread = sum((n - centre) ** 2 for n in range(count))
    slope = sum((n - centre) * (one - middle) for n, one in enumerate(bandwidth)) / spread
    return max(bandwidth) - min(bandwidth) <= RANGE * middle and abs(slope) * (count - 1) <= SLOPE * middle


def course(result: Mapping[str, Any] | None, round_bytes: float) -> Course | None:
    """Cut a run into rounds in which the host writes ``round_bytes``; what is left over is no round.

    Args:
        result: of a run whose series was kept (:data:`COLUMNS`); None where it is missing.
        round_bytes: bytes that the host writes in a round.
    """
    series = None if result is None else result.get("series")
    if result is None or not series:
        return None
    # Sequential requests touch a fixed number of pages each, random ones on average.
    page_bytes = result["host"]["write_bytes"] / result["host"]["page_writes"]
    written = _running(one * page_bytes for one in series["page_writes"])
    programmed = _running(one * result["drive"]["mapping_bytes"] for one in series["flash_writes"])
    times = [0.0, *series["time_s"]] if "time_s" in series else programmed
    ends = [number * round_bytes for number in range(int(written[-1] / round_bytes + 1e-9) + 1)]
    at_s, flash = (_at(ends, written, of) for of in (times, programmed))
    return Course(
        bandwidth=[round_bytes / (after - before) for before, after in itertools.pairwise(at_s)],
        host_bytes=[round_bytes] * (len(ends) - 1),
        flash_bytes=[after - before for before, after in itertools.pairwise(flash)],
    )


def _running(figures: Any) -> list[float]:
    return list(itertools.accumulate(figures, initial=0.0))


def _at(ends: Sequence[float], xs: Sequence[float], ys: Sequence[float]) -> list[float]:
    """Return ``ys`` where ``xs``, which never fall, reach each of ``ends``, by straight lines between the points."""
    made: list[float] = []
    place = 0
    for end in ends:
        while place + 1 < len(xs) - 1 and xs[place + 1] < end:
            place += 1
        width = xs[place + 1] - xs[place]
        share = (end - xs[place]) / width if width else 0.0
        made.append(ys[place] + min(1.0, share) * (ys[place + 1] - ys[place]))
    return made
