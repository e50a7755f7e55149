"""The text summary of the addresses of a trace that are written together."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.base.text_table import named, table
from floatgate.report import timestamp_warning, trace_format

Facts = dict[str, Any]

SETS = 5
"""Sets of the list that the summary shows."""
ADDRESSES = 4
"""Addresses of a set that the summary shows."""
STRONGEST = ["window", "support", "size", "addresses"]
"""The columns of the list."""


def screen(path: str, facts: Facts) -> str:
    """Return the text for a terminal.

    Args:
        path: the trace as the user called it.
        facts: the JSON of ``floatgate trace patterns``.
    """
    text = named(lines(path, facts))
    rows = strongest(facts, SETS, ADDRESSES)
    return f"{text}\n\n{table(STRONGEST, rows, right=frozenset(range(3)))}" if rows else text


def lines(path: str, facts: Facts) -> list[tuple[str, str]]:
    """Return subject and text of each line; subjects without data in the trace are left out."""
    rows = [
        ("trace", f"{path} ({trace_format.named(facts['format'], facts)})"),
        ("requests", _requests(facts)),
        ("windows", _windows(facts)),
        ("patterns", _patterns(facts)),
        ("in them", _inside(facts)),
        ("frequent", _frequent(facts)),
        ("accesses", _accesses(facts)),
        ("note", _notes(facts)),
    ]
    return [(name, text) for name, text in rows if text]


def strongest(facts: Facts, sets: int, addresses: int) -> list[list[str]]:
    """Return the first sets of the list, as rows; devices are named where they differ."""
    listed = facts["strongest"]
    several = len({start["device"] for entry in listed for start in entry["addresses"]}) > 1
    rows = []
    for entry in listed[:sets]:
        named = [
            f"{start['device']}:{start['offset']}" if several else str(start["offset"])
            for start in entry["addresses"][:addresses]
        ]
        more = entry["size"] - len(named)
        text = ", ".join(named) + (f" and {more} more" if more else "")
        rows.append([str(entry["window"]), str(entry["support"]), str(entry["size"]), text])
    return rows


def kind(facts: Facts) -> str:
    """Return which sets were counted."""
    return "closed" if facts["settings"]["closed"] else "maximal"


def _requests(facts: Facts) -> str:
    trims = f", {facts['trims']} trims" if facts["trims"] else ""
    return f"{facts['requests']}: {facts['reads']} reads, {facts['writes']} writes{trims}"


def _windows(facts: Facts) -> str:
    settings = facts["settings"]
    return (
        f"{facts['windows']} of {settings['window']} requests, {facts['windows_with_patterns']} have patterns; mined "
        f"are the writes among the first {settings['mined']}, {settings['transaction']} a transaction"
    )


def _patterns(facts: Facts) -> str:
    settings = facts["settings"]
    text = (
        f"{facts['patterns']} {kind(facts)} {'set' if facts['patterns'] == 1 else 'sets'} of "
        f"{settings['items_min']} addresses or more in "
        f"{settings['support']} transactions or more"
    )
    if not facts["patterns"]:
        return text
    return (
        f"{text}: {units.figure(facts['patterns_per_window'])} a window, "
        f"of {units.figure(facts['pattern_size_mean'])} addresses on average"
    )


def _inside(facts: Facts) -> str:
    if facts["write_share"] is None:
        return ""
    addresses, writes = units.share(facts["address_share"]), units.share(facts["write_share"])
    return f"{addresses} of the addresses written, {writes} of the writes"


def _frequent(facts: Facts) -> str:
    frequent = facts["addresses"]["frequent"]
    if frequent["share"] is None:
        return ""
    return (
        f"{frequent['addresses']} addresses are written {frequent['writes_min']} times or more, "
        f"{units.share(frequent['share'])} of them are in patterns"
    )


def _accesses(facts: Facts) -> str:
    addresses = facts["addresses"]
    phrases = []
    if addresses["accessed_over_4_share"] is not None:
        over = units.share(addresses["accessed_over_4_share"])
        phrases.append(f"{over} of {addresses['accessed']} addresses are read or written more than 4 times")
    if addresses["read_once_share"] is not None:
        phrases.append(f"{units.share(addresses['read_once_share'])} of those read are read once")
    sampled = addresses["sampled_share"]
    estimated = "" if sampled == 1.0 else f" (counts and shares of addresses are of 1 address in {round(1 / sampled)})"
    return ", ".join(phrases) + estimated


def _notes(facts: Facts) -> str:
    notes = [*facts["assumed"], *facts["suspicions"]]
    ran_backwards = timestamp_warning.remark(facts)
    if ran_backwards:
        notes.append(ran_backwards)
    if facts["bad_lines_skipped"]:
        notes.append(f"bad lines skipped: {facts['bad_lines_skipped']}")
    return "; ".join(notes)
