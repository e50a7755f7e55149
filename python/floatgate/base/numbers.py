"""Numbers and lists in options and arguments; errors name the option, the value and what was expected."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from floatgate.base.errors import input_error, quote

YEARS_MAX = 100.0
GROWTH_MIN, GROWTH_MAX = -0.9, 100.0
FACTOR_MIN, FACTOR_MAX = 1e-9, 1e9
_PREFIXES = "kmgtpe"
_PER_DAY = re.compile(
    rf"(?P<number>[^a-z]*?(?:\de[+-]?\d+)?)\s*(?P<prefix>[{_PREFIXES}]?)(?P<binary>i?)b\s*(?:/|\bper\b|\ba\b)\s*d(?:ay)?",
    re.IGNORECASE,
)

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])(i?)B?\s*")


def size(text: str) -> int | None:
    """Convert ``4GiB`` or ``512 MB`` to bytes; None for anything else."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    return int(float(match[1]) * (1024 if match[3] else 1000) ** ("KMGT".index(match[2]) + 1))


def volume(option: str, text: str | int | None) -> int | None:
    """Return the bytes of a volume: ``400GB``, ``372 GiB`` or a number of bytes.

    Raises:
        InputError: it is no size above 0.
    """
    if text is None:
        return None
    bytes_of = text if isinstance(text, int) else size(text) or (int(text) if text.strip().isdigit() else None)
    if not bytes_of or bytes_of < 0:
        raise _error(option, text, "not a size", "a size above 0 such as 400GB")
    return bytes_of


def years(text: str | float | None) -> float | None:
    """Parse ``--target``.

    Raises:
        InputError: it is no length of time.
    """
    if text is None:
        return None
    number = _number(text)
    if number is None or not 0 < number <= YEARS_MAX:
        raise _error("--target", text, "not a length of time", "years, more than 0 and up to 100, such as 5")
    return number


def growth(text: str | float | None) -> float | None:
    """Parse ``--growth``.

    Raises:
        InputError: it is no share by which demand may grow.
    """
    if text is None:
        return None
    number = _number(text)
    if number is None or not GROWTH_MIN <= number <= GROWTH_MAX:
        raise _error(
            "--growth",
            text,
            "not a growth rate",
            f"a yearly growth from {GROWTH_MIN} to {GROWTH_MAX:g}, such as 0.2 (20 %)",
        )
    return number


@dataclass(frozen=True)
class BytesPerDay:
    """Bytes that a host writes per day.

    Attributes:
        written_bytes: the bytes, more than 0.
        text: the rate as the user wrote it.
    """

    written_bytes: float
    text: str


def demand(option: str, text: str | float | None) -> float | BytesPerDay | None:
    """Return a factor that is neither 0 nor beyond any workload, or the bytes per day of ``350 GB/day``.

    Raises:
        InputError: it is neither.
    """
    if text is None:
        return None
    number = _number(text)
    if number is not None and FACTOR_MIN <= number <= FACTOR_MAX:
        return number
    rate = None if number is not None else _bytes_per_day(str(text))
    if rate is None:
        expected = "a figure from 0.000000001 to 1000000000 such as 2, or more than 0 bytes per day such as 350GB/day"
        raise _error(option, text, "not a factor or a rate", expected)
    return rate


def _bytes_per_day(text: str) -> BytesPerDay | None:
    match = _PER_DAY.fullmatch(text.strip())
    number = None if match is None else _number(match["number"])
    if match is None or number is None or not 0 < number < math.inf:
        return None
    power = _PREFIXES.index(match["prefix"].lower()) + 1 if match["prefix"] else 0
    return BytesPerDay(number * (1024.0 if match["binary"] else 1000.0) ** power, text.strip())


def share(option: str, text: str | float | None) -> float | None:
    """Return a share from 0 to 1.

    Raises:
        InputError: it is none.
    """
    if text is None:
        return None
    number = _number(text)
    if number is None or not 0 <= number <= 1:
        raise _error(option, text, "not a share", "a figure from 0 to 1 such as 0.99")
    return number


def above_zero(option: str, text: str | float | None, what: str, expected: str) -> float | None:
    """Return a finite number above 0.

    Raises:
        InputError: it is none; ``what`` says so, and ``expected`` what is wanted.
    """
    if text is None:
        return None
    number = _number(text)
    if number is None or not 0 < number < math.inf:
        raise _error(option, text, what, expected)
    return number


def listed(option: str, text: str | None) -> list[str] | None:
    """Return the values of an option, separated by commas.

    Raises:
        InputError: one is empty, or there twice.
    """
    if text is None:
        return None
    values = [value.strip() for value in text.split(",")]
    if not all(values):
        raise input_error(f"{option} {quote(text)}: an empty value; expected VALUE,VALUE,...")
    twice = [value for value in dict.fromkeys(values) if values.count(value) > 1]
    if twice:
        raise input_error(f"{option} {quote(text)}: {quote(twice[0])} given twice; expected each value once")
    return values


def _number(text: str | float) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _error(option: str, text: str | float, what: str, expected: str) -> Exception:
    return input_error(f"{option}: {text if _number(text) is not None else quote(text)} is {what}; expected {expected}")
