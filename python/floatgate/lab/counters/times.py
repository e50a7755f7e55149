"""Times of readings: date lines as ``date`` and scripts print them, stamps in JSON, dates in names of files."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

FIRST_S, LAST_S = 631_152_000.0, 4_102_444_800.0
"""Readings are from 1990 to 2099; other numbers are no stamps."""
HOUR_S, DAY_S = 3600.0, 86_400.0

_ZONES = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "BST": 1, "EET": 2, "EEST": 3, "MSK": 3,
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "JST": 9, "KST": 9,
}  # fmt: skip
"""Hours of zones that ``date`` prints by name."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "(?P<month>" + "|".join(_MONTHS) + ")[a-z]*"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:[.,]\d+)?))?(?:\s?(?P<half>[ap]m))?"
_ZONE = r"(?:\s*(?P<zone>Z|[+-]\d\d:?\d\d|\(?[A-Z]{1,5}\)?))?"
_ISO = re.compile(rf"(?P<year>\d{{4}})-(?P<number>\d\d)-(?P<day>\d\d)(?:[T_ ]+{_CLOCK}{_ZONE})?", re.IGNORECASE)
_WEEKDAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+"
_DATE = re.compile(rf"{_WEEKDAY}{_MONTH}\s+(?P<day>\d{{1,2}})\s+{_CLOCK}{_ZONE}\s+(?P<year>\d{{4}})", re.IGNORECASE)
_ASCTIME = re.compile(rf"{_WEEKDAY}{_MONTH}\s+(?P<day>\d{{1,2}})\s+{_CLOCK}\s+(?P<year>\d{{4}}){_ZONE}", re.IGNORECASE)
_MAIL = re.compile(
    rf"(?:{_WEEKDAY})?(?P<day>\d{{1,2}})\s+{_MONTH}\s+(?P<year>\d{{4}})\s+{_CLOCK}{_ZONE}", re.IGNORECASE
)
_EPOCH = re.compile(r"@?(?P<epoch>\d{9,10}(?:\.\d+)?)")
_FORMS = (_ISO, _DATE, _ASCTIME, _MAIL, _EPOCH)
_YEAR = re.compile(r"\d{4}")
_RULE = r"[\s#=*\-_/<>\[\]|;]*"
_DRESS = re.compile(
    rf"{_RULE}(?:(?:date|time|timestamp|at|on|reading)(?: is)?\s*[:=]?\s*)?(?P<date>\S.*?){_RULE}:?{_RULE}",
    re.IGNORECASE,
)
_IN_NAME = re.compile(
    r"(?<![0-9A-Z])(?P<year>20\d\d)-?(?P<number>0[1-9]|1[0-2])-?(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?:[T_ .-]?(?P<hour>[01]\d|2[0-3])[:_.h-]?(?P<minute>[0-5]\d)(?:[:_.m-]?(?P<second>[0-5]\d))?)?(?P<zone>Z)?(?!\d)"
)


def of_line(line: str) -> float | None:
    """Return the time of a line that holds a date and a time of day and nothing else, in seconds since 1970.

    Known are the forms of ``date``, ``date -R``, ``date -Is``, asctime and seconds since 1970, between dashes or behind
    a word such as ``date:``. A time without a zone counts as UTC: only differences matter.
    """
    if len(line) > 120 or _YEAR.search(line) is None:
        return None
    dressed = _DRESS.fullmatch(line)
    text = (dressed["date"] if dressed else line).strip()
    match = next((match for match in (form.fullmatch(text) for form in _FORMS) if match is not None), None)
    return None if match is None else _seconds(match)


def of_text(text: str) -> float | None:
    """Return the time that a text is, as :func:`of_line`."""
    return of_line(text)


def of_name(name: str) -> float | None:
    """Return the date, with or without a time of day, in the name of a file."""
    match = _IN_NAME.search(name)
    return None if match is None else _seconds(match)


def of_number(value: float) -> float | None:
    """Return a stamp in seconds or milliseconds since 1970 in seconds; None if it is neither."""
    for scale in (1.0, 1e-3):
        if FIRST_S <= value * scale <= LAST_S:
            return value * scale
    return None


def _seconds(match: re.Match[str]) -> float | None:
    """Convert the parts of a date; None if they are no date."""
    parts = match.groupdict()
    if parts.get("epoch"):
        return of_number(float(parts["epoch"]))
    month = int(parts["number"]) if parts.get("number") else 1 + _MONTHS.index(parts["month"][:3].lower())
    second = float((parts.get("second") or "0").replace(",", "."))
    hour = int(parts.get("hour") or 0)
    if parts.get("half"):
        hour = hour % 12 + (12 if parts["half"].lower() == "pm" else 0)
    try:
        moment = datetime(int(parts["year"]), month, int(parts["day"]), hour, int(parts.get("minute") or 0), 0)
        stamp = moment.replace(tzinfo=_zone(parts.get("zone"))).timestamp() + second
    except (ValueError, OverflowError):
        return None
    return stamp if FIRST_S <= stamp <= LAST_S and second < 61 else None


def _zone(text: str | None) -> timezone:
    """Return a zone by its offset or name; UTC for an unknown one."""
    if not text:
        return UTC
    name = text.strip("() ").upper()
    if name[0] in "+-":
        minutes = int(name[1:3]) * 60 + int(name[-2:])
        return timezone(timedelta(minutes=-minutes if name[0] == "-" else minutes))
    return timezone(timedelta(hours=_ZONES.get(name, 0)))


def shown(time_s: float) -> str:
    """Format as ``2026-01-31 14:05``, in UTC."""
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M")


def day(time_s: float) -> str:
    """Format as ``2026-01-31``; times after 2099 as ``after 2099``."""
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d") if time_s < LAST_S else "after 2099"


def iso(time_s: float) -> str:
    """Format as ``2026-01-31T14:05:09Z``."""
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
