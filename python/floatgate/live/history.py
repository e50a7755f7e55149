"""What a live drive has counted, looked at ten times a second and kept."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

EVERY_S = 0.1
"""Time between two looks."""
FINE_S = 120.0
"""Time for which every look is kept."""
COARSE_MAX = 2048
"""Looks that are kept of the whole time; beyond them every second one goes."""

OF_CAUSE = "cause:"
"""Before the name of a cause: bytes that the flash programmed because of it."""

Sample = dict[str, float]
"""Cumulative counts: ``uptime_s``, ``time_s`` of the drive (timed mode), ``requests``, bytes of host and flash."""


def sample(shown: Mapping[str, Any]) -> Sample:
    """Return the cumulative counts of a look.

    Args:
        shown: what :meth:`floatgate.live.drive.LiveDrive.look` returns.

    Returns:
        The counts by name.
    """
    host = shown["host"]
    counts = {
        "uptime_s": shown["uptime_s"],
        "time_s": shown["time_s"] or 0.0,
        "requests": shown["requests"],
        "write_bytes": host["write_bytes"],
        "read_bytes": host["read_bytes"],
        "flash_bytes": shown["flash_bytes"],
    }
    for cause, pages in shown["programs"].items():
        if cause != "total":
            counts[f"{OF_CAUSE}{cause}"] = pages * shown["page_bytes"]
    return counts


class History:
    """Looks at a drive from a thread of its own until it is stopped."""

    def __init__(self, look: Callable[[], dict[str, Any] | None]) -> None:
        """Begin.

        Args:
            look: returns what the drive shows; None once it has stopped.
        """
        self._look = look
        self._changed = threading.Condition()
        self._fine: deque[Sample] = deque(maxlen=round(FINE_S / EVERY_S))
        self._coarse: list[Sample] = []
        self._coarse_s = 1.0
        self._latest: dict[str, Any] | None = None
        self._number = 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking; everyone who waits goes on."""
        self._ends.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join()

    @property
    def has_ended(self) -> bool:
        """Whether nothing comes any more."""
        return self._ends.is_set()

    def latest(self) -> dict[str, Any] | None:
        """Return the latest look, None before the first."""
        with self._changed:
            return self._latest

    def next_after(self, number: int, timeout_s: float) -> tuple[int, dict[str, Any] | None]:
        """Wait for a look after that of a number.

        Args:
            number: 0 for any.
            timeout_s: how long to wait at most.

        Returns:
            The number of the latest look, and the look; None if no later one came in time.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._number > number or self._ends.is_set(), timeout_s)
            return self._number, self._latest if self._number > number else None

    def fine(self) -> list[Sample]:
        """Return the counts of the last two minutes, ten per second."""
        with self._changed:
            return list(self._fine)

    def coarse(self) -> list[Sample]:
        """Return the counts of the whole time, at equal distances, and the latest."""
        with self._changed:
            return [*self._coarse, *([self._fine[-1]] if self._fine else [])]

    def _run(self) -> None:
        while not self._ends.wait(EVERY_S):
            shown = self._look()
            if shown is None:
                self._ends.set()
            with self._changed:
                if shown is not None:
                    self._latest = shown
                    self._number += 1
                    self._keep(sample(shown))
                self._changed.notify_all()

    def _keep(self, counts: Sample) -> None:
        self._fine.append(counts)
        if self._coarse and counts["uptime_s"] - self._coarse[-1]["uptime_s"] < self._coarse_s:
            return
        self._coarse.append(counts)
        if len(self._coarse) > COARSE_MAX:
            self._coarse = self._coarse[::2]
            self._coarse_s *= 2
