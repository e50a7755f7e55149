"""Write amplification from a Ready/Busy pin: captures in, figures out (``docs/rb-explorer.md``).

Source: the paper on RB-Explorer, sections 3 and 4. The core reads captures and counts; this adds what the host wrote.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base.errors import input_error, quote
from floatgate.lab import rb_limits

if TYPE_CHECKING:
    from floatgate._core import Progress

SCHEMA = "floatgate.rb/1"
_U32_MAX = 2**32 - 1
_U64_MAX = 2**64 - 1
FAR_SHARE = 0.15
"""Further than this from 1, 1/2, ... 1/planes, write amplification does not show how many planes program."""

_PAGES = re.compile(r"\s*(\d+(\.\d*)?)\s*(?:\.\.\s*(\d+(?:\.\d*)?)\s*)?")
_PLANES_SHOWN = 8
_DIES_MAX = 64


@dataclass(frozen=True)
class Shape:
    """Shape of the drive that was measured.

    Attributes:
        channels: channels of the drive.
        chips: chips per channel.
        dies: dies per chip; each has a Ready/Busy pin.
        planes: planes per die.
        page_bytes: bytes of a page, without its spare area.
        pages_per_block: pages per block, where it is known.
        blocks_per_plane: blocks per plane, where it is known.
    """

    channels: int
    chips: int
    dies: int
    planes: int
    page_bytes: int
    pages_per_block: int | None = None
    blocks_per_plane: int | None = None


@dataclass(frozen=True)
class PagesPerProgram:
    """The mean pages of a program (M_p of Equation 4), with the interval that holds it.

    Attributes:
        mean: for the estimate.
        low: lower end.
        high: upper end.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, text: str | float | None) -> PagesPerProgram | None:
        """Parse ``2``, ``1.05`` (rounded: half a unit of the last digit either way) or ``1.04..1.06``.

        Args:
            text: pages per program, a number being exact; None where it is not known.

        Returns:
            The pages, None for None.

        Raises:
            InputError: it is neither a number nor an interval.
        """
        if text is None:
            return None
        if not isinstance(text, str):
            return cls(text, text, text)
        match = _PAGES.fullmatch(text)
        if match is None or float(match[3] or match[1]) < float(match[1]):
            raise input_error(
                f"--multi-page: {quote(text)} is not a number of pages; expected one such as 2 or 1.05, or an "
                "interval such as 1.04..1.06"
            )
        first, decimals, last = float(match[1]), len(match[2] or "."), match[3]
        if last is not None:
            return cls((first + float(last)) / 2, first, float(last))
        half = 0.5 * 10.0 ** (1 - decimals) if decimals > 1 else 0.0
        return cls(first, first - half, first + half)

    def within(self, planes: int) -> PagesPerProgram:
        """Clip the interval to what a die can program at once: 1 to ``planes``."""
        return PagesPerProgram(self.mean, max(self.low, 1.0), min(self.high, float(planes)))


@dataclass(frozen=True)
class Host:
    """The writes of the host while the pin was captured.

    Attributes:
        written_bytes: bytes.
        step_bytes: by less than this the figure may be wrong.
        source: where the figure comes from.
    """

    written_bytes: int
    step_bytes: int = 0
    source: str = "given"


@dataclass(frozen=True)
class Settings:
    """How to read captures and what to count.

    Attributes:
        format: ``vcd``, ``sigrok``, ``csv`` or ``intervals``; detected if None.
        time_unit: unit of the times of a file that does not say it, such as ``1us``; for files of samples the time
            between two.
        signals: names of the signals that count, whole or behind the last dot; empty for all Ready/Busy pins.
        program_us: ``A..B``: programs take longer than A and shorter than B microseconds; detected if None.
        poll_us: time between two looks of a recorder that stands between the captures and the counts.
        quiet_s: how long the pin must be high before that recorder sends its counts; 0: it always does.
        min_high_us: shorter high phases are glitches within a low phase; 0: none is. Their hump is detected if None.
        dies_per_signal: dies behind each pin; one if None, unless the lengths show that several overlap.
    """

    format: str | None = None
    time_unit: str | None = None
    signals: tuple[str, ...] = ()
    program_us: str | None = None
    poll_us: float | None = None
    quiet_s: float = 0.0
    min_high_us: float | None = None
    dies_per_signal: int | None = None


def measure(
    paths: Sequence[str | os.PathLike[str]],
    shape: Shape,
    settings: Settings | None = None,
    *,
    multi_page: PagesPerProgram | float | None = None,
    host: Host | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Count the operations of the dies behind some pins, and the bytes programmed per byte of the host.

    Args:
        paths: captures; each signal of each is a die.
        shape: shape of the drive.
        settings: how to read them.
        multi_page: pages per program, from 1 to the planes of a die; a number is exact. 1 where they are not known.
        host: what the host wrote.
        progress: called now and then with ``(bytes, total, phase)``.

    Returns:
        The JSON of ``floatgate rb measure`` (``docs/rb-explorer.md``). Where the count is too doubtful for an estimate,
        ``wa`` is None and ``withheld`` has the reasons; ``wa_low`` and ``wa_high`` remain.

    Raises:
        InputError: a capture cannot be read, no low phase is as long as a program, or a figure is outside its range.
    """
    pages = multi_page if isinstance(multi_page, PagesPerProgram) else PagesPerProgram.of(multi_page)
    facts = _counted(paths, shape, settings or Settings(), pages, host, progress)
    facts["warnings"] += [*rb_limits.of_host(as_counted(facts)), *_of_counts(facts), *rb_limits.of_ends(facts)]
    return facts


def as_counted(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the figures with write amplification as counted, even if it is withheld."""
    return {**facts, "wa": facts["p_volume_bytes"] / facts["host_bytes"]} if facts["host_bytes"] else facts


def _of_counts(facts: dict[str, Any]) -> list[str]:
    """Return warnings about an interval without a lower end, unless doubts explain it."""
    return [] if facts["withheld"] else rb_limits.of_counts(_widened(facts))


def _widened(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the figures with the doubts among the terms of the interval."""
    less, more = (sum(doubt[side] for doubt in facts["doubts"]) for side in ("less", "more"))
    terms = facts["terms"]
    # Terms that count in one direction only.
    terms = {**terms, "hidden_erases": terms["hidden_erases"] + less, "missed": terms["missed"] + more}
    return {**facts, "terms": terms}


def with_firmware(facts: dict[str, Any], media_bytes: int) -> dict[str, Any]:
    """Compare the drive's own counters with the pins; warn if the two contradict each other."""
    facts = {**facts, "firmware": {"media_bytes": media_bytes}}
    facts["warnings"] = [*facts["warnings"], *rb_limits.of_firmware(_widened(facts))]
    return facts


def _counted(
    paths: Sequence[str | os.PathLike[str]],
    shape: Shape,
    wanted: Settings,
    pages: PagesPerProgram | None,
    host: Host | None,
    progress: Progress | None,
) -> dict[str, Any]:
    """Measure as :func:`measure` does, without warnings about impossible figures.

    Raises:
        InputError: as :func:`measure`.
    """
    _check(paths, shape, wanted, pages, host)
    text = _core.capture_measure(
        [os.fspath(path) for path in paths],
        (
            *(shape.channels, shape.chips, shape.dies, shape.planes, shape.page_bytes),
            *(shape.pages_per_block, shape.blocks_per_plane),
        ),
        progress,
        format=wanted.format,
        time_unit=wanted.time_unit,
        signals=list(wanted.signals),
        program_us=wanted.program_us,
        poll_us=wanted.poll_us,
        quiet_s=wanted.quiet_s,
        multi_page=None if pages is None else pages.mean,
        host=None if host is None else (host.written_bytes, host.step_bytes),
        min_high_us=wanted.min_high_us,
        dies_per_signal=wanted.dies_per_signal,
    )
    facts = {"schema": SCHEMA, "version": _core.__version__, **json.loads(text)}
    facts["host_source"] = None if host is None else host.source
    facts["shape"] = vars(shape)
    _widen_by_pages(facts, pages, shape.planes)
    for hump in facts["humps"]:
        hump["class"] = kind_of(hump["median_ps"] / 1e6, facts["interval_us"])
    facts["cut_at"] = rb_limits.cut_at(facts)
    rb_limits.clip(facts)
    return facts


def _widen_by_pages(facts: dict[str, Any], pages: PagesPerProgram | None, planes: int) -> None:
    """Add the interval of the pages per program, and widen that of write amplification by it."""
    if pages is None and planes > 1:
        facts["multi_page_interval"] = None
        return
    pages = (pages or PagesPerProgram(1.0, 1.0, 1.0)).within(planes)
    facts["multi_page_interval"] = [pages.low, pages.high]
    for key, end in (("wa_low", pages.low), ("wa_high", pages.high)):
        facts[key] = None if facts[key] is None else facts[key] * (end / pages.mean)


def kind_of(length_us: float, interval_us: Sequence[float]) -> str:
    """Return what a low phase counts as: ``reads``, ``programs`` or ``erases``.

    Args:
        length_us: its length.
        interval_us: programs are longer than the first and shorter than the second.
    """
    low, high = interval_us
    return "reads" if length_us <= low else "programs" if length_us < high else "erases"


def find_multi_page(
    paths: Sequence[str | os.PathLike[str]],
    shape: Shape,
    settings: Settings | None = None,
    *,
    host: Host,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Find out how many pages a program writes, from a capture of sequential writes (section 3.5).

    Such writes have a write amplification near 1. Counted with one page per program, it comes out near 1 for
    single-plane programs and near 1/planes for programs of all planes.

    Args:
        paths: captures of sequential, incompressible writes to a drive that was empty, 2 GB or so.
        shape: shape of the drive.
        settings: how to read them.
        host: what the host wrote.
        progress: called now and then with ``(bytes, total, phase)``.

    Returns:
        As :func:`measure`, with ``wa_single``, the write amplification with one page per program. ``multi_page`` is
        None where the capture may be cut (``cut_at``): the other figures are then those of one page per program.

    Raises:
        InputError: as :func:`measure`.
    """
    single = _counted(paths, shape, settings or Settings(), PagesPerProgram.of(1.0), host, progress)
    wa_single = as_counted(single)["wa"]
    if not wa_single:
        raise input_error("no low phase is a program; expected a capture of sequential writes")
    if single["cut_at"]:
        return _without_verdict(single, wa_single)
    pages = _nearest(wa_single, shape.planes)
    keys = ("n_p", "p_volume_bytes", "wa", "wa_low", "wa_high")
    scaled = {key: None if single[key] is None else single[key] * pages for key in keys}
    facts = {**single, **scaled, "wa_single": wa_single, "multi_page": float(pages)}
    facts["multi_page_interval"] = [float(pages), float(pages)]
    if is_far(wa_single, pages):
        shown = range(2, shape.planes + 1) if shape.planes <= _PLANES_SHOWN else (2,)
        choices = ", ".join(["1", *(f"1/{count}" for count in shown)])
        choices += f" ... 1/{shape.planes}" if shape.planes > _PLANES_SHOWN else ""
        far = (
            f"with one page per program the write amplification is {wa_single:.3g}, further than 15 % from {choices}: "
            "was the drive empty, were the writes sequential, and do geometry and host bytes fit?"
        )
        facts["warnings"] = [*single["warnings"], far]
    facts["warnings"] += [*_of_counts(facts), *rb_limits.of_ends(facts)]
    return facts


def is_far(wa_single: float, pages: float) -> bool:
    """Return whether a capture of sequential writes does not show how many planes program.

    Args:
        wa_single: write amplification with one page per program.
        pages: the pages per program whose inverse is nearest to it.
    """
    return abs(wa_single * pages - 1) > FAR_SHARE


def _without_verdict(single: dict[str, Any], wa_single: float) -> dict[str, Any]:
    """Return figures of one page per program: a capture that may be cut does not show how many pages there are."""
    facts = {**single, "wa_single": wa_single, "multi_page": None, "multi_page_interval": None}
    facts["warnings"] = [*single["warnings"], *_of_counts(facts), *rb_limits.of_ends(facts)]
    return facts


def _nearest(wa_single: float, planes: int) -> int:
    """Return the pages per program, 1 to ``planes``, whose inverse is nearest to a write amplification, as a ratio."""
    below = min(max(math.floor(1 / wa_single), 1), planes)
    return min((below, min(below + 1, planes)), key=lambda pages: abs(math.log(wa_single * pages)))


def _check(
    paths: Sequence[str | os.PathLike[str]],
    shape: Shape,
    settings: Settings,
    pages: PagesPerProgram | None,
    host: Host | None,
) -> None:
    """Refuse impossible values.

    Raises:
        InputError: a figure is outside its range.
    """
    if not paths:
        raise input_error("no capture; expected one or more files")
    for name, value in vars(shape).items():
        if value is not None and not 1 <= value <= _U32_MAX:
            raise input_error(f"--{name.replace('_', '-')}: {value} is out of range; expected a whole number from 1 on")
    if settings.dies_per_signal is not None and not 1 <= settings.dies_per_signal <= _DIES_MAX:
        raise input_error(
            f"--dies-per-signal: {settings.dies_per_signal} is out of range; expected from 1 to {_DIES_MAX}"
        )
    if pages is not None and not 1 <= pages.mean <= shape.planes:
        raise input_error(
            f"--multi-page: {pages.mean:g} pages per program on {shape.planes} planes; "
            f"expected from 1 to {shape.planes}"
        )
    if host is not None and not 0 < host.written_bytes <= _U64_MAX:
        what = "the host wrote nothing" if host.written_bytes == 0 else f"{host.written_bytes} bytes cannot be"
        raise input_error(f"{host.source}: {what}; expected bytes that were written during the capture")
    if settings.poll_us is None and settings.quiet_s:
        raise input_error("--quiet-s: is of a recorder that polls; expected it with --poll-us")
