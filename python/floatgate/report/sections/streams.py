"""The streams of a run, where a separator looks at pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.base import units
from floatgate.pages.parts import Grid, Part, Rows, Section, Text
from floatgate.report.sections import dispatch, garbage, section
from floatgate.results.result_view import look

MEMORY_BYTES = "separate.memory_bytes"
"""Column of flat tables with the memory of the separator."""
SHOWN_MAX = 32
"""Streams with a row of their own; the smallest of more share one."""

_ENDS = {"dac": ("coldest", "hottest"), "fadac": ("hottest", "coldest"), "multilog": ("hottest", "coldest")}
"""What the first and the last stream of a separator hold, where its streams are in order of temperature."""
_CLASSES: Mapping[str, Sequence[str]] = {
    "sepbit": (
        "host, replaces short-lived",
        "host, others",
        "moved from stream 0",
        "moved, youngest",
        "moved, older",
        "moved, oldest",
    ),
}
"""What each stream of a separator holds, where they are no order of temperature."""
_SHARED = {
    "none": "by default collection frees several blocks at a time, and the pages that it moves fill blocks of their "
    "own; with ftl.collect.stop_free_blocks at the trigger it collects one victim at a time, as textbook greedy does"
}
"""What to know about separators that share blocks between host and moved pages."""
_EXPLAINED = {"mean_interval_page_writes": "page writes of the host between two writes of a page, fading mean"}
"""What figures of a separator mean."""

_COUNTS = ("host_pages", "moved_pages", "opened", "victims", "dead_victims", "copied_pages")
_HEADER = ["stream", "host pages", "moved in", "opened", "collected", "dead", "copied per block"]


def line(result: dict[str, Any]) -> str | None:
    """Format as ``hash: 2 streams, 61 free pages in open blocks on average``; None if no separator sees the pages."""
    facts = look(result, "separate") or {}
    streams = facts.get("streams")
    if streams is None:
        return None
    parts = [f"{units.count(len(streams))} stream{'' if len(streams) == 1 else 's'}"]
    free = facts.get("open_free_pages_mean")
    if free is not None:
        parts.append(f"{units.figure(free)} free pages in open blocks on average")
    if facts.get("memory_bytes") is not None:
        parts.append(f"{units.binary_bytes(facts['memory_bytes'])} of memory")
    chooser = dispatch.policy(result) or look(result, "config", "ftl", "separate", "policy")
    return f"{chooser}: {', '.join(parts)}"


def batched(result: dict[str, Any]) -> tuple[int, int] | None:
    """Return trigger and stop level of a run whose moved pages share blocks with host pages, yet move in batches.

    Args:
        result: of a run.

    Returns:
        None where pages are separated, or where one block is collected at a time.
    """
    collect = look(result, "config", "ftl", "collect") or {}
    trigger, stop = collect.get("trigger_free_blocks"), collect.get("stop_free_blocks")
    by_garbage = garbage.share(result) is not None and garbage.limit(result) is None
    whole = collect.get("mode") == "whole-block" and not by_garbage
    if separator(result) not in _SHARED or not whole or trigger is None or stop is None:
        return None
    return (trigger, stop) if stop > trigger else None


def separator(result: dict[str, Any]) -> str | None:
    """Return the name of the separator of a run.

    Args:
        result: of a run.
    """
    name = look(result, "config", "ftl", "separate", "policy")
    return name if isinstance(name, str) else None


def shared_blocks(policy: str) -> str | None:
    """Return what to know about a separator that shares blocks between host and moved pages; None for others.

    Args:
        policy: the name of the separator.
    """
    return _SHARED.get(policy)


BATCHED = (
    "{policy} shares blocks between host and moved pages, yet collection frees several blocks at a time "
    "(ftl.collect.stop_free_blocks is {stop}): moved pages fill blocks of their own, almost as if they were separated. "
    "To collect one victim at a time, as textbook greedy does: {sets} (docs/separation.md)."
)
"""What collection in batches means for a comparison of separators."""


def batch_notes(results: Sequence[dict[str, Any]]) -> list[str]:
    """Return what collection in batches means where separators are compared, and one of them shares blocks.

    Args:
        results: of the settings.
    """
    if len({separator(result) for result in results}) < 2:
        return []
    shared = {separator(result): levels for result in results if (levels := batched(result)) is not None}
    triggers = {look(result, "config", "ftl", "collect", "trigger_free_blocks") or 0 for result in results}
    keys = ("trigger_free_blocks", "stop_free_blocks")[len(triggers) == 1 :]
    sets = " ".join(f"--set ftl.collect.{key}={max(triggers)}" for key in keys)
    return [BATCHED.format(policy=name, stop=stop, sets=sets) for name, (_, stop) in shared.items() if name]


def parts(result: dict[str, Any]) -> list[Part]:
    """Show what became of each stream's pages and blocks, and what open blocks cost; empty without a separator."""
    streams = look(result, "separate", "streams")
    summary = line(result)
    if not streams or not summary:
        return []
    facts = result["separate"]
    costs = (
        [("largest number of open blocks", units.count(facts["open_blocks_max"]))] if "open_blocks_max" in facts else []
    )
    if facts.get("open_free_pages_mean") is not None:
        costs.append(("free pages in them, on average", units.figure(facts["open_free_pages_mean"])))
    costs.append(("open blocks at the end", units.count(facts["open_blocks"])))
    costs.append(("free pages in them", units.count(facts["open_free_pages"])))
    strayed = sum(stream.get("strayed_pages") or 0 for stream in streams)
    if strayed:
        costs.append(("pages that joined another stream", units.count(strayed)))
    figures = (facts.get("found") or {}).items()
    costs += [(_EXPLAINED.get(name, name.replace("_", " ")), _figure(value)) for name, value in figures]
    note = (
        "For each stream: pages that the host wrote into it, pages moved into it, blocks opened, blocks collected, "
        "collected blocks without a valid page (dead), and pages copied per collected block."
    )
    return [
        Section(
            "Streams", [Text(f"{summary}."), Grid(_HEADER, rows(streams, names_of(result))), Text(note), Rows(costs)]
        )
    ]


def names_of(result: dict[str, Any]) -> dict[int, str]:
    """Return what streams hold, by number, where the separator defines it; empty for others."""
    settings, streams = look(result, "config", "ftl", "separate") or {}, look(result, "separate", "streams") or []
    policy, last = str(settings.get("policy")), len(streams) - 1
    classes = _CLASSES.get(policy, ())
    if classes:
        return dict(enumerate(classes)) if len(classes) > last else {}
    if policy not in _ENDS or last < 1 or dispatch.policy(result):
        return {}
    first, other = _ENDS[policy]
    if policy == "fadac" and settings.get("variant") == "artifact":
        first, other = other, first  # the artifact counts writes, the first class being the fewest
    return {0: first, last: other}


def order(policy: str) -> str | None:
    """Format what the streams of a separator hold: ``0 coldest, the last hottest``; None where it defines no order."""
    if policy in _CLASSES:
        return "; ".join(f"{number} {held}" for number, held in enumerate(_CLASSES[policy]))
    if policy not in _ENDS:
        return None
    return "0 {}, the last {}".format(*_ENDS[policy])


def rows(streams: list[dict[str, Any]], names: Mapping[int, str] | None = None) -> list[list[str]]:
    """Return a row per stream, by number; beyond :data:`SHOWN_MAX` the smallest are merged; the last row is the sum.

    Args:
        streams: of the result.
        names: what streams hold, by number.
    """

    def name(stream: dict[str, Any]) -> str:
        number = stream["stream"]
        held = (names or {}).get(number)
        return str(number) if held is None else f"{number} ({held})"

    def pages(stream: dict[str, Any]) -> int:
        return int(stream["host_pages"] + stream["moved_pages"])

    largest = sorted(streams, key=pages, reverse=True)
    shown, rest = largest[:SHOWN_MAX], largest[SHOWN_MAX:]
    made = [_row(name(stream), stream) for stream in sorted(shown, key=lambda stream: stream["stream"])]
    if rest:
        made.append(_row(f"{len(rest)} others", _sum(rest)))
    if len(streams) > 1:
        made.append(_row("all", _sum(streams)))
    return made


def _figure(value: float) -> str:
    return units.count(int(value)) if float(value).is_integer() else units.figure(value)


def _sum(streams: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: sum(stream.get(key) or 0 for stream in streams) for key in _COUNTS}


def _row(name: str, stream: dict[str, Any]) -> list[str]:
    counts = [f"{stream.get(key) or 0:,}".replace(",", " ") for key in _COUNTS[:-1]]
    victims = stream.get("victims") or 0
    copied = units.figure(stream["copied_pages"] / victims) if victims else "-"
    return [name, *counts, copied]


def remarks(result: dict[str, Any]) -> list[str]:
    """Note that a separator found nothing to separate, or more contexts than it may tell apart."""
    phrases = []
    separator, streams = look(result, "config", "ftl", "separate", "policy"), look(result, "separate", "streams")
    if separator in ("pds", "ids") and streams and len(streams) == 1:
        phrases.append(f"{separator} found nothing to separate: no context's data is overwritten often enough")
    phrases += _update_blocks(result)
    beyond = look(result, "separate", "found", "pages_of_contexts_beyond")
    if beyond:
        phrases.append(
            f"{units.count(int(beyond))} pages written from contexts beyond the limit of {separator} "
            "(ftl.separate.contexts), counted as unknown"
        )
    return phrases


def _update_blocks(result: dict[str, Any]) -> list[str]:
    """Warn of update blocks that collection takes last, where it copied pages meanwhile.

    A nearly full block is then emptied before an update block with few valid pages; a full drive may copy several times
    as much.
    """
    settings = look(result, "config", "ftl", "separate") or {}
    last, copied = settings.get("update_blocks_last"), look(result, "gc", "copied_pages_per_victim")
    # Handles of update blocks, if there are any, are those below the number of handles.
    named = settings.get("update_from", 0) < settings.get("handles", 1)
    if not last or not copied or not named:
        return []
    rule = f"update blocks are collected last (ftl.separate.update_blocks_last = {last})"
    cost = f"other blocks are emptied first, with {units.figure(copied)} pages copied per block"
    return [f"{rule}: {cost}; compare with update_blocks_last = 0"]


def streams_of_contexts(result: dict[str, Any]) -> dict[int, int]:
    """Return the stream that a separator gave to each context."""
    return {one["context"]: one["stream"] for one in result["separate"]["contexts"]}


SECTION = section.Section(
    "streams",
    lines=lambda _, result: [("streams", line(result))],
    parts=lambda _, result: parts(result),
    remarks=remarks,
)
