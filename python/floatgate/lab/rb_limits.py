"""Says which figures of a measurement are physically impossible, with the likely reasons and what to do.

The counts are exact for what the pins show. An impossible figure means that something else does not fit: the geometry,
the pages per program, the host's bytes, or the time that each of them covers.
"""

from __future__ import annotations

from typing import Any

from floatgate.base import units

Facts = dict[str, Any]

SLACK_SHARE = 0.01
"""Share of the host's writes that may still be in the drive's cache before a figure counts as impossible."""
LATE_S = 1.0
"""A capture whose times begin here or later may lack its beginning."""
DATE_S = 1e7
"""Times from here on are dates, not times since the start of the recorder."""
UNKNOWN_DIES_SHARE = 0.15
"""By how much dies may differ where one of several was measured, and nothing is known of the host's writes."""

_GEOMETRY = "--page-bytes, --channels, --chips, --dies and --multi-page"
_SPANS = "the capture must span both readings, and begin and end while the drive is idle"


def clip(facts: Facts) -> None:
    """Bound what may be among the programs by the programs themselves."""
    terms = facts["terms"]
    terms["hidden_erases"] = min(terms["hidden_erases"], float(facts["programs"]))


def cut_at(facts: Facts) -> list[str]:
    """Return the ends at which dies are busy: the capture may be cut there."""
    return [end for end in ("begin", "end") if facts["ends"][f"{end}_low"]]


def of_ends(facts: Facts) -> list[str]:
    """Return warnings about captures that may be a part of the time in which the host wrote."""
    phrases = []
    if facts["cut_at"]:
        verbs = " and ".join(f"{end}s" for end in facts["cut_at"])
        phrases.append(
            f"the capture {verbs} while dies are busy: it may be cut; the host bytes must be those of the same time"
        )
    begin_s, tail_s = facts["ends"]["begin_s"], facts["ends"]["tail_s"]
    if begin_s is not None and LATE_S <= begin_s < DATE_S:
        phrases.append(
            f"the times of the capture begin at {begin_s:.3f} s: if something before is missing, the host bytes must "
            "be those of the rest"
        )
    if tail_s == 0 and "end" not in facts["cut_at"]:
        phrases.append(
            "the capture ends with an edge, without quiet time after it: it may be cut; go on until the pin stays high"
        )
    return phrases


def of_counts(facts: Facts) -> list[str]:
    """Return warnings about an interval without a lower end."""
    terms, programs = facts["terms"], facts["programs"]
    if not facts["host_bytes"] or facts["wa_low"] or not programs:
        return []
    dies = terms["dies_share"] or terms["one_die_share"] or 0.0
    why = f"up to {units.count(terms['near_ends'] + terms['hidden_erases'])} of {programs} programs may be none"
    why += f", and dies differ by {units.share(dies)}" if dies >= 1 else ""
    text = (
        f"impossible: the interval of WAF begins at 0, and the host wrote {units.decimal_bytes(facts['host_bytes'])}; "
        f"{why}: capture longer, probe more dies, or use --program-us and --pages-per-block"
    )
    return [text]


def of_host(facts: Facts) -> list[str]:
    """Return warnings about less programmed than the host wrote."""
    host_bytes = facts["host_bytes"]
    if host_bytes is None:
        return []
    if facts["programs"] == 0:
        none = (
            f"impossible: no program, and the host wrote {units.decimal_bytes(host_bytes)}; the capture must span "
            "these writes, --signal must name the pin, and --program-us must cover its programs"
        )
        return [none]
    high = facts["wa_high"]
    if high is None or high >= 1 - SLACK_SHARE:
        return []
    planes = facts["shape"]["planes"]
    more = f"; with M_p = {planes} WAF is {units.figure(facts['wa'] / facts['multi_page'] * planes, 4)}"
    several = facts["multi_page"] < planes
    less = (
        f"impossible without compression: {units.decimal_bytes(facts['p_volume_bytes'])} programmed for "
        f"{units.decimal_bytes(host_bytes)} of the host (WAF at most {units.figure(high, 4)})"
        f"{more if several else ''}; "
        f"check {_GEOMETRY} (floatgate rb multi-page finds M_p), whether the host bytes are those of the capture, and "
        "whether it goes on until the drive has emptied its cache; drives that compress can be below 1"
    )
    return [less]


def of_firmware(facts: Facts) -> list[str]:
    """Return warnings about counters of the drive that contradict the pins or the host."""
    if "firmware" not in facts:
        return []
    media_bytes, host_bytes = facts["firmware"]["media_bytes"], facts["host_bytes"]
    phrases = []
    if host_bytes is not None and media_bytes < host_bytes * (1 - SLACK_SHARE):
        phrases.append(
            f"impossible without compression: the drive counts {units.decimal_bytes(media_bytes)} programmed for "
            f"{units.decimal_bytes(host_bytes)} of the host; take the readings of --ocp at the times of the host "
            "bytes, the later one after the drive has emptied its cache"
        )
    low_bytes, high_bytes = _volumes(facts)
    if high_bytes < media_bytes * (1 - SLACK_SHARE) or low_bytes > media_bytes * (1 + SLACK_SHARE):
        most, least = f"at most {units.decimal_bytes(high_bytes)}", f"at least {units.decimal_bytes(low_bytes)}"
        side = most if high_bytes < media_bytes else least
        phrases.append(
            f"impossible: the drive counts {units.decimal_bytes(media_bytes)} programmed, the pins {side}; check "
            f"{_GEOMETRY}, and when --ocp was read: {_SPANS}"
        )
    return phrases


def _volumes(facts: Facts) -> tuple[float, float]:
    """Return the least and most programmed bytes that the pins allow, within the interval of WAF."""
    terms, programs, shape = facts["terms"], facts["programs"], facts["shape"]
    known = terms["one_die_share"] if terms["dies_share"] is None else terms["dies_share"]
    dies = UNKNOWN_DIES_SHARE if known is None else known
    pins = max(len(facts["signals"]), 1)
    per_program = facts["multi_page"] / pins * shape["page_bytes"] * shape["channels"] * shape["chips"] * shape["dies"]
    least = max(programs - terms["near_ends"] - terms["hidden_erases"], 0) * max(1 - dies, 0)
    most = (programs + terms["near_ends"] + terms["cut"] + terms["missed"]) * (1 + dies)
    low, high = (end / facts["multi_page"] for end in facts["multi_page_interval"] or [facts["multi_page"]] * 2)
    return least * per_program * low, most * per_program * high
