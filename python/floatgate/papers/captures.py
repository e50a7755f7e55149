"""Captures of Ready/Busy pins in reproductions: runs in time write them, and they are measured as a user would.

A batch with a table ``capture`` writes the pin of one die (``die = N``) or of all (``die = "all"``, the default), and
reads the capture in one way or more: ``[batch.capture.as.NAME]`` with the keys

``program_us``
    interval of programs, ``"A..B"``; without it the interval is found.
``poll_us``
    time between two looks of a recorder that polls.
``dies``
    numbers of the dies whose pins count; without it all that were captured.

``[batch.capture.multi_page]`` says by variant how many pages of the paper's drive one program writes (M_p), where a
page of ours is so many of theirs. The result of such a run has ``captured.NAME``, what ``floatgate rb measure`` finds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floatgate.base.errors import quote
from floatgate.lab.rb import Host, Settings, Shape, as_counted, measure
from floatgate.run.waveform import Waveform

_KEPT = ("programs", "reads", "erases", "unclassified", "interval_us", "multi_page", "n_p", "p_volume_bytes")
_KEPT_OF_WA = ("host_bytes", "wa", "wa_low", "wa_high", "duration_s", "signals", "recorder")


@dataclass(frozen=True)
class Reading:
    """One way to read a capture."""

    program_us: str | None = None
    poll_us: float | None = None
    dies: tuple[int, ...] = ()


@dataclass(frozen=True)
class Capture:
    """The capture of a batch.

    Attributes:
        die: number of the die; None for all.
        readings: by name, how the capture is read.
        multi_page: by variant, pages per program of the paper's drive; 1 where it is not there.
    """

    die: int | None
    readings: Mapping[str, Reading]
    multi_page: Mapping[str, int] = field(default_factory=dict)


def capture_of(entry: Mapping[str, Any]) -> Capture:
    """Return a batch's ``capture``.

    Raises:
        ValueError: a key or a value is not one that a capture has.
    """
    unknown = sorted(set(entry) - {"die", "as", "multi_page"})
    if unknown:
        raise ValueError(f"unknown key {quote(unknown[0])} of capture; expected 'die', 'as' or 'multi_page'")
    die = entry.get("die", "all")
    if die != "all" and (not isinstance(die, int) or die < 0):
        raise ValueError(f"capture of die {quote(str(die))}; expected a number from 0 on, or 'all'")
    if not entry.get("as"):
        raise ValueError("a capture that nobody reads; expected a table 'capture.as'")
    readings = {name: _reading(name, settings) for name, settings in entry["as"].items()}
    return Capture(None if die == "all" else die, readings, dict(entry.get("multi_page", {})))


def _reading(name: str, settings: Mapping[str, Any]) -> Reading:
    unknown = sorted(set(settings) - {"program_us", "poll_us", "dies"})
    if unknown:
        raise ValueError(
            f"unknown key {quote(unknown[0])} of reading {quote(name)}; expected 'program_us', 'poll_us' or 'dies'"
        )
    return Reading(settings.get("program_us"), settings.get("poll_us"), tuple(settings.get("dies", ())))


def captured(capture: Capture, variant: str, run: Callable[[Waveform], dict[str, Any]]) -> dict[str, Any]:
    """Return the result of a run, and under ``captured`` what its capture tells by each way to read it.

    Args:
        capture: what to capture.
        variant: of the run.
        run: runs it, with a waveform, and gives its result.
    """
    with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
        path = Path(folder) / "pins.vcd"
        result = run(Waveform(path, capture.die))
        table = result["waveform"]
        pages = capture.multi_page.get(variant, 1)
        shape = _shape(table["shape"], pages)
        host = Host(table["host_bytes"]) if table["host_bytes"] else None

        def measured(reading: Reading) -> dict[str, Any]:
            signals = tuple(f"rb{die}" for die in reading.dies)
            settings = Settings(signals=signals, program_us=reading.program_us, poll_us=reading.poll_us)
            # The truth is known here, so a doubtful count stands beside it as well.
            facts = as_counted(measure([path], shape, settings, multi_page=pages, host=host))
            return {key: facts.get(key) for key in (*_KEPT, *_KEPT_OF_WA)}

        return {**result, "captured": {name: measured(reading) for name, reading in capture.readings.items()}}


def _shape(table: Mapping[str, int], pages: int) -> Shape:
    """Return the shape in the paper's terms: a page of ours is ``pages`` of theirs, one in each plane."""
    whole = Shape(**table)
    return Shape(
        whole.channels,
        whole.chips,
        whole.dies,
        whole.planes * pages,
        whole.page_bytes // pages,
        whole.pages_per_block,
    )
