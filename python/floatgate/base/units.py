"""Numbers in the words and units of the field: ``128 GiB``, ``4.2 M``, ``7.0 days``.

Capacities of flash are binary (GiB), data written is decimal (GB, TB), as drive makers state them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_COUNTS = ("", " k", " M", " G", " T")
_YEAR = 365.25 * 86_400.0
_SPANS = (
    ("years", _YEAR),
    ("days", 86_400.0),
    ("hours", 3_600.0),
    ("min", 60.0),
    ("s", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
)


def figure(value: float, digits: int = 3) -> str:
    """Format with ``digits`` significant figures, never in scientific notation: 412, 7.31, 0.056."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    if decimals and len(text.replace("-", "").replace(".", "").lstrip("0")) > digits:
        text = f"{value:.{decimals - 1}f}"
    return text


def _short(value: float) -> str:
    """Format with three figures at most: 128, 21.4, 9.77, and 128 rather than 128.0."""
    text = figure(value)
    return text.rstrip("0").rstrip(".") if "." in text and float(text).is_integer() else text


def factor(value: float) -> str:
    """Format a factor with three figures at most, never in scientific notation: 81.8, 2, 5.1, 1234."""
    text = figure(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scaled(value: float, step: float, names: tuple[str, ...]) -> str:
    index = 0
    while abs(value) >= step * 0.9995 and index < len(names) - 1:
        value /= step
        index += 1
    return f"{_short(value)}{names[index] if names[index][:1] in ('', ' ') else ' ' + names[index]}"


def binary_bytes(value: float) -> str:
    """Format a capacity: 128 GiB."""
    return _scaled(value, 1024.0, _BINARY)


def decimal_bytes(value: float) -> str:
    """Format an amount of data: 148 GB."""
    return _scaled(value, 1000.0, _DECIMAL)


def count(value: float) -> str:
    """Format a count: 4.2 M; small counts in full."""
    if abs(value) < 10_000:
        return f"{value:.0f}"
    index = 0
    while abs(value) >= 999.5 and index < len(_COUNTS) - 1:
        value /= 1000.0
        index += 1
    return f"{figure(value, 2) if value < 10 else _short(value)}{_COUNTS[index]}"


def share(value: float) -> str:
    """Format a share as whole per cent, small ones more precisely, none as zero: 52 %, 0.3 %, < 0.1 %."""
    percent = 100.0 * value
    if percent == 0:
        return "0 %"
    if percent < 0.1:
        return "< 0.1 %"
    if percent < 0.95 or 99.05 < percent < 99.95:
        return f"{percent:.1f} %"
    return f"{percent:.0f} %"


def percent1(value: float) -> str:
    """Share with one decimal, for spare factors: 7.0 %."""
    return f"{100.0 * value:.1f} %"


def span(seconds: float) -> str:
    """Format a length of time in the unit a person would choose: 7.0 days, 939 s, 61 us."""
    for name, length in _SPANS:
        least = {"years": 2.0, "days": 2.0, "hours": 2.0, "min": 20.0}.get(name, 1.0)
        if abs(seconds) >= least * length:
            value = seconds / length
            return f"{figure(value, 2) if value < 10 else _short(value)} {name}"
    return f"{figure(seconds / 1e-6, 2)} us"


def in_one_unit(lives: Sequence[float]) -> Callable[[float], str]:
    """Return what formats lives in years for one column: all in the unit that the shortest one would have.

    A life beyond 1000 years is named as :func:`years` does.
    """
    shortest = min((life for life in lives if life > 0), default=1.0)
    name = "years" if shortest >= 0.95 else span(shortest * _YEAR).rsplit(" ", 1)[1]
    size = dict(_SPANS)[name]

    def text(life: float) -> str:
        if life >= 1000:
            return years(life)
        value = life * _YEAR / size
        shown = f"{value:.1f}" if name == "years" and value < 100 else figure(value)
        return f"{shown} {name}"

    return text


def joules(value: float) -> str:
    """Format an energy: 1.24 kJ, 380 mJ, 4.7 nJ."""
    for name, size in (("MJ", 1e6), ("kJ", 1e3), ("J", 1.0), ("mJ", 1e-3), ("uJ", 1e-6)):
        if abs(value) >= 0.9995 * size:
            return f"{_short(value / size)} {name}"
    return f"{_short(value / 1e-9)} nJ" if value else "0 J"


def years(value: float) -> str:
    """Format a life: 4.1 years, 31 days, or so long that the figure means nothing."""
    if value >= 1000:
        return "more than 1000 years"
    if value >= 0.95:
        return f"{value:.1f} years" if value < 100 else f"{value:.0f} years"
    return span(value * 365.25 * 86_400.0)


def life(value: float | None, target: float | None = None) -> str:
    """Format a life to decide by: ``5.1 years``, ``unlimited`` for None.

    A life below ``target`` that would read like it has more digits, up to four decimals: 4.96 years of 5.
    """
    if value is None:
        return "unlimited"
    if target is not None and 0.95 <= value < target:
        unlike = (digits for digits in range(1, 5) if f"{value:.{digits}f}" != f"{target:.{digits}f}")
        digits = next(unlike, None)
        return years(value) if digits is None else f"{value:.{digits}f} years"
    return years(value)


def target_years(value: float) -> str:
    """Format a target life, with the digits that it has: ``1 year``, ``5 years``."""
    return f"{value:g} year{'' if value == 1 else 's'}"


def counted(count: int, noun: str) -> str:
    """Format a number of things: 1 file, 2 files."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
