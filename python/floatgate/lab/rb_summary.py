"""The text summary of a capture: write amplification, counts, and what the figure rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.base import units
from floatgate.base.text_table import named, table
from floatgate.lab.rb import is_far

Facts = dict[str, Any]
Bin = tuple[float, float, int]
"""Low phases between two lengths in microseconds, and how many."""

SIGNALS = ["signal", "programs", "reads", "erases", "cut"]
"""The columns of the table of signals."""
ERRORS = ["what the error comes from", "programs", "share"]
"""The columns of the table of errors."""
DOUBTS = {
    "merged_lows": ("low phases that merge between two samples", "low phases that merge between two samples"),
    "shared_pin": ("dies that share a pin", "low phases of dies that share a pin"),
    "suspended_programs": ("suspended programs", "suspended programs that count twice"),
    "cache_programs": ("cache programs as short as reads", "cache programs as short as reads"),
    "slow_programs": ("programs as long as erases", "programs as long as erases"),
    "slc_programs": ("programs as short as reads", "programs as short as reads"),
    "lost_time": ("lost time of the capture", "programs in lost time of the capture"),
}
"""What makes a count doubtful, by code: as a reason for no estimate, and as a part of the interval."""
_DIGITS = 4
"""Significant digits of a figure whose interval is as narrow."""
_MINOR_SHARE = 0.01
"""Humps with a smaller share of the low phases of their class are outliers."""
_ROUNDING = 1e-9
_ERASE_MIN_US = 1000.0
"""No erase is shorter (``crates/capture/src/humps.rs``)."""
_PATHS_MAX = 3
_NAMES_MAX = 6


def screen(paths: Sequence[str], facts: Facts) -> str:
    """Return the text for a terminal.

    Args:
        paths: the captures as the user called them.
        facts: the JSON of ``floatgate rb measure`` or ``rb multi-page``.
    """
    text = named(lines(paths, facts))
    tables = [table(ERRORS, errors(facts), right=frozenset((1, 2)))]
    if len(facts["signals"]) > 1:
        tables.append(table(SIGNALS, signals(facts), right=frozenset(range(1, 5))))
    return "\n\n".join([text, *tables])


def lines(paths: Sequence[str], facts: Facts) -> list[tuple[str, str]]:
    """Return subject and text of each line; subjects that the capture cannot show are left out."""
    impossible = [text for text in facts["warnings"] if text.startswith("impossible")]
    rows = [
        *[("warning", text) for text in impossible],
        ("WAF", _wa(facts)),
        ("M_p", _multi_page(facts)),
        ("programs", _programs(facts)),
        ("times", _times(facts)),
        ("others", _others(facts)),
        ("volume", _volume(facts)),
        ("host", _host(facts)),
        ("drive says", _firmware(facts)),
        ("capture", _capture(paths, facts)),
        ("recorder", _recorder(facts)),
        *[("warning", text) for text in facts["warnings"] if text not in impossible],
    ]
    return [(name, text) for name, text in rows if text]


def signals(facts: Facts) -> list[list[str]]:
    """Name and counts of each signal."""
    return [
        [
            entry["name"],
            *(str(entry[key]) for key in ("programs", "reads")),
            "?" if hide_erases(facts) else str(entry["erases"]),
            str(entry["unclassified"]),
        ]
        for entry in facts["signals"]
    ]


def hide_erases(facts: Facts) -> bool:
    """Return whether erases are not told from programs: none is longer, or the limit of programs cuts their hump."""
    return bool(facts["terms"]["hidden_erases"] > 0)


def errors(facts: Facts) -> list[list[str]]:
    """Return the parts of the interval of write amplification: term, programs, share of all programs."""
    terms, programs = facts["terms"], facts["programs"]

    def row(what: str, count: float, sign: str) -> list[str]:
        share = units.share(count / programs) if programs else ""
        signed = share if share.startswith("<") else f"{sign}{share}"
        return [what, f"{sign}{units.count(count)}" if count else "0", signed if count else "0"]

    rows = [
        row("low phases near the ends of the interval", terms["near_ends"], "+-"),
        row("erases that may count as programs", terms["hidden_erases"], "-"),
        row("low phases cut at the ends of the capture", terms["cut"], "+"),
        row("low phases between two looks or samples", terms["missed"], "+"),
    ]
    for doubt in facts["doubts"]:
        rows += [
            row(DOUBTS[doubt["code"]][1], doubt[side], sign)
            for side, sign in (("less", "-"), ("more", "+"))
            if doubt[side] >= 1
        ]
    one, dies = terms["one_die_share"], terms["dies_share"]
    share = one if dies is None else dies
    text = "unknown" if share is None else "0" if share == 0 else f"+-{units.figure(100 * share, 2)} %"
    rows.append([f"one of {dies_of(facts['shape'])} dies for all" if dies is None else "dies that differ", "", text])
    rows += [["pages per program (M_p)", "", text] for text in [_pages_error(facts)] if text]
    if facts["host_step_bytes"]:
        share = facts["host_step_bytes"] / facts["host_bytes"]
        rows.append(["step of the host's counter", "", f"+-{units.share(share)}"])
    return rows


def _pages_error(facts: Facts) -> str:
    """Return what the mean pages per program add to the interval; nothing where a die has one plane."""
    planes, ends, pages = facts["shape"]["planes"], facts["multi_page_interval"], facts["multi_page"]
    if planes == 1:
        return ""
    if pages is None or _pages_unknown(facts):
        return f"unknown: 1 assumed, up to {planes}"
    most = max(ends[1] / pages - 1, 1 - ends[0] / pages)
    return f"+-{units.figure(100 * most, 2)} %" if most else "0"


def dies_of(shape: Mapping[str, int]) -> int:
    """Dies of the drive."""
    return shape["channels"] * shape["chips"] * shape["dies"]


def _wa(facts: Facts) -> str:
    if facts["host_bytes"] is None:
        return "unknown: say what the host wrote, with --host-bytes, --smart or --trace"
    if facts["wa"] is None:
        return f"no estimate ({', '.join(withheld(facts))}); {interval(facts)}{may_be_cut(facts)}"
    return f"{estimate(facts)} ({interval(facts)}){may_be_cut(facts)}"


def estimate(facts: Facts) -> str:
    """Return write amplification with the digits that its interval supports: the last one is at most its half width."""
    return f"{facts['wa']:.{_decimals(facts)}f}"


def _decimals(facts: Facts) -> int:
    """Return the decimals of write amplification and of the ends of its interval."""
    low, high, middle = facts["wa_low"], facts["wa_high"], facts["wa"]
    largest = max(value for value in (low, high, middle, 0.0) if value is not None)
    most = max(0, _DIGITS - 1 - math.floor(math.log10(largest))) if largest > 0 else 0
    if high is None or high <= low:
        return most
    return min(most, max(0, math.ceil(-math.log10((high - low) / 2))))


def may_be_cut(facts: Facts) -> str:
    """Return what the figure rests on where dies are busy at an end of the capture."""
    return "; the capture may be cut: right only for host bytes of the same time" if facts["cut_at"] else ""


def withheld(facts: Facts) -> list[str]:
    """Return why there is no estimate of write amplification, in words."""
    return [DOUBTS.get(code, (code, ""))[0] for code in facts["withheld"]]


def interval(facts: Facts) -> str:
    """Return the interval of write amplification as text, its ends rounded outwards."""
    low, high, decimals = facts["wa_low"], facts["wa_high"], _decimals(facts)
    step = 10.0**decimals
    begin = f"{math.floor(low * step + _ROUNDING) / step:.{decimals}f}" if low else "0"
    end = "?" if high is None else f"{math.ceil(high * step - _ROUNDING) / step:.{decimals}f}"
    one = "" if facts["terms"]["dies_share"] is not None else f", one of {dies_of(facts['shape'])} dies for all"
    pages = ", if one page per program" if _pages_unknown(facts) else ""
    return f"{begin} to {end}{one}{pages}"


def _pages_unknown(facts: Facts) -> bool:
    """Return whether a program may write several pages, and nobody says how many."""
    return bool(facts["shape"]["planes"] > 1 and facts["multi_page_interval"] is None)


def _multi_page(facts: Facts) -> str:
    """Describe the pages per program, if the settings name them."""
    if "wa_single" not in facts:
        return ""
    pages = facts["multi_page"]
    if pages is None:
        return f"unknown: the capture may be cut (WAF with one page per program: {units.figure(facts['wa_single'], 4)})"
    single = f"WAF with one page per program: {units.figure(facts['wa_single'], 4)}"
    if is_far(facts["wa_single"], pages):
        return f"doubtful, {pages:g} is nearest ({single}, expected near {units.figure(1 / pages)}; see the warning)"
    kind = "single-plane programs" if pages == 1 else f"programs of {pages:g} planes"
    return f"{pages:g}: {kind} ({single})"


def _programs(facts: Facts) -> str:
    low, high = facts["interval_us"]
    source = "given" if facts["interval_given"] else "found"
    count = len(facts["signals"])
    of = f"on {'1 signal' if count == 1 else f'{count} signals'}"
    return f"{facts['programs']} {of}: low phases from {units.figure(low)} to {units.figure(high)} us ({source})"


def _times(facts: Facts) -> str:
    """Return the lengths of programs and erases: about the range, median and count of each hump, from its bins."""
    phrases, by_kind = [], _by_kind(facts)
    for kind in ("programs", "erases"):
        humps = [bins for hump in facts["humps"] if (bins := _within(hump, by_kind[kind]))]
        count = sum(_count(bins) for bins in humps)
        humps = [bins for bins in humps if _count(bins) >= _MINOR_SHARE * count]
        ranges = [_range(bins, facts["interval_us"]) for bins in humps]
        if kind == "programs" and humps and hide_erases(facts) and humps[-1][-1][1] > _ERASE_MIN_US:
            ranges[-1] = f"{ranges[-1][:-1]}, erases included)"
        name = "longer" if kind == "erases" and hide_erases(facts) else kind
        phrases += [f"{name} about {', '.join(ranges)}"] if ranges else []
    return "; ".join(phrases)


def _within(hump: Facts, bins: Sequence[Bin]) -> list[Bin]:
    """Return the bins of a hump."""
    begin, end = (hump[f"{key}_ps"] / 1e6 for key in ("from", "to"))
    return [entry for entry in bins if begin <= (entry[0] + entry[1]) / 2 < end]


def _by_kind(facts: Facts) -> dict[str, list[Bin]]:
    """Return the bins of the lengths of reads, programs and erases; a bin that an end of the interval cuts in parts.

    The counts of reads and erases are exact, so the parts are, too.
    """
    first, last = facts["interval_us"]
    held = [entry for entry in facts["histogram_us"] if entry[2]]
    kinds: dict[str, list[Bin]] = {"reads": [], "programs": [], "erases": []}
    reads = facts["reads"] - sum(count for _, high, count in held if high <= first)
    erases = facts["erases"] - sum(count for low, _, count in held if low >= last)
    for low, high, count in held:
        below = count if high <= first else min(max(reads, 0), count) if low < first else 0
        above = count if low >= last else min(max(erases, 0), count - below) if high > last else 0
        parts = {
            "reads": (low, min(high, first), below),
            "programs": (max(low, first), min(high, last), count - below - above),
            "erases": (max(low, last), high, above),
        }
        for kind, part in parts.items():
            kinds[kind] += [part] if part[2] else []
    return kinds


def _count(bins: Sequence[Bin]) -> int:
    return sum(count for _, _, count in bins)


def _range(bins: Sequence[Bin], interval_us: Sequence[float]) -> str:
    """Return a hump as ``200 to 600 us (median 400, 5.81 k)``, with the two digits that bins of 2 % support.

    Args:
        bins: of the hump, ascending.
        interval_us: the lengths of programs; no end of a hump is rounded across an end of it.
    """
    shown = []
    for length in ((bins[0][0] + bins[0][1]) / 2, (bins[-1][0] + bins[-1][1]) / 2, _median(bins)):
        rounded = round(length, 1 - math.floor(math.log10(max(length, _ROUNDING))))
        crossed = [limit for limit in interval_us if min(length, rounded) < limit < max(length, rounded)]
        shown.append(units.factor(crossed[0] if crossed else rounded))
    begin, end, median = shown
    ends = begin if begin == end else f"{begin} to {end}"
    return f"{ends} us (median {median}, {units.count(_count(bins))})"


def _median(bins: Sequence[Bin]) -> float:
    """Return the length that half of the low phases do not exceed; they are spread evenly over their bin."""
    half, before = _count(bins) / 2, 0
    for low, high, count in bins:
        if before + count >= half:
            return low + (half - before) / count * (high - low)
        before += count
    return bins[-1][1]


def _others(facts: Facts) -> str:
    erases = f"{facts['erases']} erases (longer)"
    if hide_erases(facts):
        longer = f"{facts['erases']} longer (programs or erases), " if facts["erases"] else ""
        erases = f"{longer}erases unknown, up to {math.ceil(facts['terms']['hidden_erases'])} among the programs"
    text = f"{facts['reads']} reads (shorter), {erases}"
    return text + (f", {facts['unclassified']} cut" if facts["unclassified"] else "")


def _volume(facts: Facts) -> str:
    shape = facts["shape"]
    pages = f"{facts['n_p']:.0f} pages per die"
    volume = units.decimal_bytes(facts["p_volume_bytes"])
    return f"{volume} programmed: {pages}, {dies_of(shape)} dies, {shape['page_bytes']} bytes"


def _host(facts: Facts) -> str:
    if facts["host_bytes"] is None:
        return ""
    return f"{units.decimal_bytes(facts['host_bytes'])} written ({facts['host_source']})"


def _firmware(facts: Facts) -> str:
    """Return what the drive itself counts, if it does."""
    if "firmware" not in facts:
        return ""
    media_bytes = facts["firmware"]["media_bytes"]
    text = f"{units.decimal_bytes(media_bytes)} programmed"
    if facts["host_bytes"]:
        text += f", a write amplification of {units.figure(media_bytes / facts['host_bytes'], 4)}"
    if media_bytes:
        text += f"; the pin count {_beside(facts['p_volume_bytes'] / media_bytes)}"
    return text


def _beside(ratio: float) -> str:
    """Compare a figure with another, in words; a negative share is none."""
    if abs(ratio - 1) < 0.0005:
        return "is the same to 0.1 %"
    if ratio >= 2:
        return f"is {units.figure(ratio, 4)} times that"
    return f"is {abs(ratio - 1):.1%} {'lower' if ratio < 1 else 'higher'}".replace("%", " %")


def _capture(paths: Sequence[str], facts: Facts) -> str:
    shown = ", ".join(paths if len(paths) <= _PATHS_MAX else paths[: _PATHS_MAX - 1])
    more = f" and {len(paths) - _PATHS_MAX + 1} more" if len(paths) > _PATHS_MAX else ""
    length = f", {units.span(facts['duration_s'])}" if facts["duration_s"] is not None else ""
    others = facts["left_out"]
    left = f", not counted: {', '.join(others[:_NAMES_MAX])}" if others else ""
    left += f" and {len(others) - _NAMES_MAX} more" if len(others) > _NAMES_MAX else ""
    return f"{shown}{more}{length}{left}"


def _recorder(facts: Facts) -> str:
    recorder = facts["recorder"]
    if recorder is None:
        return ""
    exact, missed, merged = (recorder[key] for key in ("programs_exact", "missed", "merged"))
    seen = facts["programs"] / exact - 1 if exact else 0.0
    return (
        f"polls every {recorder['period_us']:g} us: {seen:+.2%} of {exact:.0f} programs; to be expected are "
        f"{units.count(missed)} missed and {units.count(merged)} merged low phases"
    )
