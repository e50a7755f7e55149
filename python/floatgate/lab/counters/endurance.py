"""What the flash endures: host writes until its P/E cycles are used, at the measured write amplification.

A drive programs each block once per cycle, so with even wear it takes ``flash bytes x P/E cycles`` of programs. Divided
by write amplification that is what the host may write. The interval is that of write amplification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.lab.counters import times
from floatgate.lab.counters.reading import Reading

Facts = dict[str, Any]
_YEAR_S = 365.25 * times.DAY_S


@dataclass(frozen=True)
class Endurance:
    """The endurance of the flash.

    Attributes:
        flash_bytes: all flash of the drive, with its spare space.
        pe_cycles: cycles that a block endures.
        source: where that stands.
    """

    flash_bytes: float
    pe_cycles: float
    source: str


def by_cycles(last: Reading, total: Facts, endurance: Endurance | None) -> Facts | None:
    """Return what the flash endures, what is used of it, and when the rest is at the rate of the readings.

    Args:
        last: the last reading.
        total: the figures of all intervals.
        endurance: that of the flash; None if it is not known.
    """
    if endurance is None:
        return None
    most = endurance.flash_bytes * endurance.pe_cycles
    waf, low, high = (total[key] for key in ("waf", "waf_low", "waf_high"))
    programmed = None if last.media is None else float(last.media.value_bytes)
    by_waf = programmed is None and last.host is not None and bool(waf)
    if by_waf and last.host is not None:
        programmed = last.host.value_bytes * waf
    left = None if programmed is None else max(most - programmed, 0.0)

    def host(programs: float | None, factor: float | None) -> float | None:
        return None if programs is None or not factor else programs / factor

    def seconds(host_bytes: float | None) -> float | None:
        per_day = total["host_bytes_per_day"]
        return host_bytes / per_day * times.DAY_S if host_bytes is not None and per_day else None

    left_s = seconds(host(left, waf))
    return {
        "flash_bytes": endurance.flash_bytes,
        "pe_cycles": endurance.pe_cycles,
        "source": endurance.source,
        "program_bytes": most,
        "host_bytes": host(most, waf),
        "host_bytes_low": host(most, high),
        "host_bytes_high": host(most, low),
        "programmed_bytes": programmed,
        "programmed_by_waf": by_waf,
        "used_share": None if programmed is None else programmed / most,
        "left_host_bytes": host(left, waf),
        "left_s": left_s,
        "left_s_low": seconds(host(left, high)),
        "left_s_high": seconds(host(left, low)),
        "end_s": None if left_s is None or last.time_s is None else last.time_s + left_s,
    }


ASSUMED = "assuming even wear and this rate; the interval covers steps of counters only"
"""What a life rests on."""


def left(facts: Facts) -> tuple[str, str] | None:
    """Return how long the flash still lasts, and what that rests on; None where it is not known."""
    life = facts["life"]["cycles"]
    if life is None or life["left_s"] is None or life["used_share"] >= 1:
        return None
    return _years(life["left_s"]), f"{ASSUMED}{_ends(life, 'left_s', _years)}"


def line(facts: Facts) -> str:
    """Format what the flash endures; empty where its endurance is not known."""
    life = facts["life"]["cycles"]
    if life is None:
        return ""
    flash = f"{units.decimal_bytes(life['flash_bytes'])} of flash for {life['pe_cycles']:g} cycles ({life['source']})"
    if life["host_bytes"] is None:
        programs = units.decimal_bytes(life["program_bytes"])
        return f"{flash} endure {programs} of programs; WAF is unknown, so no host writes follow"
    ends = _ends(life, "host_bytes", units.decimal_bytes)
    text = f"{flash} endure {units.decimal_bytes(life['host_bytes'])} of host writes at this WAF{ends}"
    if life["used_share"] is None:
        return text
    since = ", if WAF was the same since it was new" if life["programmed_by_waf"] else ""
    text += f"; {units.share(life['used_share'])} used{since}"
    if life["used_share"] >= 1:
        return f"{text}: the flash is worn out"
    text += f", {units.decimal_bytes(life['left_host_bytes'])} left"
    if life["left_s"] is None:
        return text
    day = "" if life["end_s"] is None else f", until {times.day(life['end_s'])}"
    return f"{text}, which lasts {_years(life['left_s'])}{_ends(life, 'left_s', _years)} at this rate{day} ({ASSUMED})"


def _years(seconds: float) -> str:
    return units.years(seconds / _YEAR_S)


def _ends(life: Facts, key: str, text: Callable[[float], str]) -> str:
    """Format the ends of an interval as `` (2.1 PB to 2.3 PB)``; empty where both read as the figure itself."""
    ends = ["?" if end is None else text(end) for end in (life[f"{key}_low"], life[f"{key}_high"])]
    return "" if set(ends) == {text(life[key])} else f" ({ends[0]} to {ends[1]})"
