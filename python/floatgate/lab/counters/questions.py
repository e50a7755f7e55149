"""Questions about counters whose unit or role is open: what each answer would mean, and how to state it."""

from __future__ import annotations

from collections.abc import Sequence

from floatgate.base import units
from floatgate.base.errors import InputError, input_error, quote
from floatgate.lab.counters.intervals import SPEED_MAX, SPEEDS, of_series
from floatgate.lab.counters.reading import Question, Reading, Role
from floatgate.lab.counters.values import unit_text

_DAY_S = 86_400.0


def text(readings: Sequence[Reading], question: Question, hours: float | None = None) -> str:
    """Return a question with what each usual unit would mean over the readings.

    Args:
        readings: of the drive, in order.
        question: of the last of them.
        hours: between two readings, if the user says so.
    """
    key = question.key
    name = f"attribute {key} ({quote(question.name)})" if key.isdigit() else quote(question.name)
    roles = [question.role.value] if question.role is not None else [Role.HOST.value, Role.MEDIA.value]
    what = " or ".join(f"--attribute {key}={role}:UNIT" for role in roles)
    means = _meanings(readings, question, hours)
    return f"{name} {question.why}; expected {what}{f' ({means})' if means else ''}"


def _meanings(readings: Sequence[Reading], question: Question, hours: float | None) -> str:
    """Return what each usual unit would mean: bytes per day, or bytes in all where the time is unknown."""
    first, last = readings[0], readings[-1]
    before = next((one.value for one in first.questions if one.key == question.key), None)
    after = next((one.value for one in last.questions if one.key == question.key), None)
    if len(readings) < 2 or before is None or after is None or after < before:
        return ", ".join(unit_text(unit) for unit in question.units)
    intervals = of_series(readings, hours)
    known = all(one.seconds is not None for one in intervals)
    seconds = sum(one.seconds or 0.0 for one in intervals) if known else 0.0
    least = seconds + max((one.seconds_error for one in intervals), default=0.0)
    limit = last.bytes_per_s or SPEEDS.get(last.interface, SPEED_MAX)
    phrases = []
    for unit in question.units:
        volume = (after - before) * unit
        rate = f"{units.decimal_bytes(volume / seconds * _DAY_S)} per day" if seconds else units.decimal_bytes(volume)
        fast = ", more than the interface takes" if known and least and volume > limit * least else ""
        phrases.append(f"{unit_text(unit)}: {rate}{fast}")
    return "; ".join(phrases)


def refusal(readings: Sequence[Reading], hours: float | None = None) -> InputError:
    """Return the error of readings that have no counter but open ones."""
    last = readings[-1]
    first = last.questions[0]
    more = [one for one in last.questions[1:] if one.key != first.key]
    also = f"; also open: {', '.join(quote(one.name) for one in more)}" if more else ""
    return input_error(f"{last.place}: {text(readings, first, hours)}{also}")
