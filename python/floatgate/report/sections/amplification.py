"""Write amplification in the words of reports: in bytes, as drive makers count it, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.pages.causes import by_cause, cause
from floatgate.report.sections import buffer, section
from floatgate.results.result_view import look

IN_BYTES, IN_PAGES = "waf_bytes", "waf"
"""Keys of write amplification: in flash bytes per host byte, and in pages."""
ENDS = ("waf_bytes_95.low", "waf_bytes_95.high")
"""Columns of flat tables with the interval of :data:`IN_BYTES`."""

Value = tuple[float | None, list[float] | None]
"""A value and its 95 % interval; None for what is not known."""

# Parts below this would read 0.00.
_SHOWN = 0.005
_MANY_PARTS = 0.1
"""Share of all bytes from which on the rest of partial pages deserves a word on buffers."""


def amplification(result: Mapping[str, Any] | None) -> Value:
    """Return flash bytes programmed per host byte written, and the 95 % interval of that; None for what is not known.

    Results from before ``waf_bytes`` existed give their figure in pages.
    """
    value = look(result, "waf_bytes")
    if value is None:
        return in_pages(result)
    return value, look(result, "waf_bytes_95")


def in_pages(result: Mapping[str, Any] | None) -> Value:
    """Return pages programmed per page that the host wrote, and the 95 % interval of that."""
    return look(result, "waf"), look(result, "waf_95")


WITH_INTERVAL = {IN_BYTES: amplification, IN_PAGES: in_pages}
"""Metrics of which a single run knows the interval, and where it stands."""


def row(result: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the columns of charts: ``waf_bytes``, and ``waf_bytes.low`` and ``waf_bytes.high`` if they are known."""
    waf, interval = amplification(result)
    ends = ends_of(min(interval), max(interval)) if interval else {}
    return {IN_BYTES: waf, **ends}


def ends_of(low: float, high: float) -> dict[str, float | None]:
    """Return the ends of the interval as columns of pictures."""
    return {f"{IN_BYTES}.low": low, f"{IN_BYTES}.high": high}


Delta = tuple[float, list[float] | None]
"""A difference and its interval, which is None where it is not known."""


def difference_entry(of_bytes: Delta, of_pages: Delta) -> dict[str, Any]:
    """Return both differences of two settings as ``compare.json`` has them."""
    return {
        "waf_bytes": of_bytes[0],
        "waf_bytes_95": of_bytes[1],
        "waf": of_pages[0],
        "waf_95": of_pages[1],
    }


def differs(result: Mapping[str, Any]) -> bool:
    """Return whether write amplification in bytes and in pages differ by more than rounding."""
    pages, in_bytes = look(result, "waf"), look(result, "waf_bytes")
    return pages is not None and in_bytes is not None and abs(in_bytes - pages) > 0.005 * pages


def text(value: float, interval: list[float] | None = None) -> str:
    """Format with two decimals, three where the interval is that narrow: 1.93, 7.124."""
    return f"{value:.{_decimals(interval)}f}"


def digits(value: float, interval: list[float]) -> tuple[str, str]:
    """Return the ends of the interval with as many decimals as the value has in :func:`text`."""
    low, high = sorted(interval)
    decimals = _decimals([min(low, value), max(high, value)])
    return f"{low:.{decimals}f}", f"{high:.{decimals}f}"


def _decimals(interval: list[float] | None) -> int:
    return 3 if interval and 0 < abs(interval[1] - interval[0]) < 0.01 else 2


def line(result: Mapping[str, Any]) -> str | None:
    """Format as ``1.93 (95 %: 1.92-1.94, stationary)``."""
    value, interval = amplification(result)
    if value is None:
        return "none: the workload wrote nothing" if look(result, "host") else None
    parts = [f"95 %: {'-'.join(digits(value, interval))}"] if interval else ["too short for an interval"]
    stationary = look(result, "stationary")
    if stationary is not None:
        parts.append("stationary" if stationary else "not stationary")
    return f"{text(value, interval)} ({', '.join(parts)})"


def sources(result: Mapping[str, Any]) -> str | None:
    """Format as ``1.00 data, 2.87 rest of partial pages, 0.41 collection``; None if bytes equal pages without padding.

    Pages are programmed whole: a write of part of a page programs more bytes than it has, the rest of the page. Shares
    of programs count these pages whole. If writes have more bytes than are programmed for them, a buffer merged them.
    """
    parts = look(result, "waf_bytes_parts")
    if not parts or not (differs(result) or parts.get("padding", 0.0) >= _SHOWN):
        return None
    return _split(result)


def split(result: Mapping[str, Any] | None, *, alone: bool = True) -> str | None:
    """Format write amplification by cause as :func:`sources` does; None where no causes are known but the data.

    Args:
        result: of a run, a forecast, or the part of one that a plan keeps.
        alone: whether it may speak of what would change it; a table of drives says that elsewhere.
    """
    text = _split(result, alone=alone)
    return text if text is not None and "," in text else None


def _split(result: Mapping[str, Any] | None, *, alone: bool = True) -> str | None:
    parts = look(result, "waf_bytes_parts")
    if not parts:
        return None
    host = parts.get("host", 0.0) + parts.get("partial", 0.0)
    rest = f"rest of {cause('partial').label}{_unmerged(result, host) if alone else ''}"
    named = [(min(host, 1.0), "data"), (max(host - 1.0, 0.0), rest)]
    named += [(value, cause(name).label) for name, value in by_cause(parts) if name not in ("host", "partial")]
    reduces = look(result, "reduce", "policy") not in (None, "none")
    saved_by = "reduction saved" if reduces else "the buffer merged"
    merged = f" ({saved_by} the rest)" if host < 1.0 - _SHOWN else ""
    shown = [f"{value:.2f} {label}" for value, label in named if value >= _SHOWN]
    return ", ".join([shown[0] + merged, *shown[1:]]) if shown else None


def _unmerged(result: Mapping[str, Any] | None, host: float) -> str:
    """Say that a buffer might merge writes of parts of pages, where these are many and the drive has none."""
    many = host - 1.0 >= _MANY_PARTS * (look(result, IN_BYTES) or 0.0)
    has_none = look(result, "config") is not None and not buffer.is_modelled(look(result, "config"))
    return " (no DRAM buffer, which may merge such writes: drive.buffer.capacity)" if many and has_none else ""


def explanation(result: Mapping[str, Any]) -> str | None:
    """Return why bytes and pages give two figures; None where they agree."""
    if not differs(result):
        return None
    pages = f"counted in pages, write amplification is {look(result, 'waf'):.2f}"
    if look(result, "waf_bytes") < look(result, "waf"):
        return f"{pages}: the buffer merges host writes, so fewer pages reach the flash"
    page_bytes = look(result, "drive", "mapping_bytes") or look(result, "drive", "page_bytes")
    size = "" if page_bytes is None else f" of {page_bytes // 1024} KiB" if page_bytes >= 1024 else ""
    return f"{pages}; the drive writes whole pages{size}, and many writes are smaller or not aligned to them"


def cards(result: Mapping[str, Any]) -> list[section.Card]:
    """Write amplification with its interval and its parts."""
    waf, interval = amplification(result)
    if waf is None:
        return []
    below = [f"95 %: {'-'.join(digits(waf, interval))}"] if interval else ["write amplification"]
    parts = sources(result)
    return [("WAF", text(waf, interval), ", ".join(below + ([parts] if parts else [])))]


def cells(result: Mapping[str, Any], difference: section.Difference | None) -> list[str]:
    """Write amplification, its interval, and how it differs from the baseline's."""
    waf, interval = amplification(result)
    return [
        "-" if waf is None else text(waf, interval),
        "-" if waf is None or not interval else "-".join(digits(waf, interval)),
        difference_text(difference),
    ]


def difference_text(difference: section.Difference | None) -> str:
    """Format as ``+0.12 ± 0.03``."""
    if difference is None:
        return "-"
    delta, interval = difference["waf_bytes"], difference["waf_bytes_95"]
    half = None if interval is None else (interval[1] - interval[0]) / 2
    decimals = 3 if half is not None and 0 < half < 0.005 else 2
    shown = f"{round(delta, decimals) + 0.0:+.{decimals}f}"
    return shown if half is None else f"{shown} ± {half:.{decimals}f}"


SECTION = section.Section(
    "write amplification",
    lines=lambda _, result: [("WAF", line(result)), ("", sources(result))],
    cards=cards,
    remarks=lambda result: [explanation(result)],
    columns=[section.Columns(["WAF", "95 %", "difference"], cells)],
)
