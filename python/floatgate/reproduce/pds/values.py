"""What the tables, figures and claims of PDS need beyond the results themselves."""

from __future__ import annotations

from functools import cache
from typing import Any

from floatgate import context_updates, library
from floatgate.context_updates import PAGE_BYTES
from floatgate.errors import FloatgateError
from floatgate.reproduce.judge import Found
from floatgate.reproduce.pds.workloads import RECORDED

JUDGED = ("cscope", "gcc", "multi1", "multi2", "tpc-h")
SEPARATORS = ("hash", "pds", "ora")
THRESHOLDS = (1, 2, 4, 8, 16, 32, 64, 128)
HOT = 0
"""HASH's stream of hot pages."""


def values(found: Found) -> dict[str, Any]:
    """All values by name."""
    made: dict[str, Any] = {}
    for separator in SEPARATORS:
        for name, key in (("copied_per_victim", "copied_pages_per_victim"), ("dead", "dead_victims")):
            made[f"mean.{separator}.{name}"] = mean(found, separator, key)
        made[f"mean.{separator}.erased"] = mean(found, separator, "victims")
        copied = [found.figure(f"main.{one}.{separator}.gc.copied_pages") for one in JUDGED]
        made[f"total.{separator}.copied"] = None if None in copied else sum(one for one in copied if one is not None)
    for workload in RECORDED:
        made |= contexts(found, workload)
        made |= _hot_dead(found, workload)
        writes = found.look(f"main.{workload}.hash.host.page_writes")
        made[f"writes.{workload}"] = None if writes is None else f"{writes:,}"
    for workload in JUDGED:
        made |= _thresholds(found, workload)
    made["best.ratio"] = _best_ratio(found)
    return made


def mean(found: Found, separator: str, key: str) -> float | None:
    """The arithmetic mean of a figure of collection over the programs that are judged."""
    figures = [found.figure(f"main.{workload}.{separator}.gc.{key}") for workload in JUDGED]
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if len(known) == len(JUDGED) else None


def contexts(found: Found, workload: str) -> dict[str, Any]:
    """Contexts whose data are updated, from the recorded trace; nothing where a trace of the user's took its place."""
    writes = found.figure(f"main.{workload}.hash.host.page_writes")
    try:
        counted = _counted(workload)
    except FloatgateError:
        return {}
    return counted if writes == counted[f"recorded.{workload}"] else {}


@cache
def _counted(workload: str) -> dict[str, Any]:
    counted = context_updates.read(library.path(RECORDED[workload]))
    return {
        f"recorded.{workload}": counted.pages,
        f"updates.{workload}": counted.updates,
        f"top_five.{workload}": counted.top_share(),
        f"updating.{workload}": len(counted.by_context),
        f"sequential.{workload}": _sequential(workload, counted.by_context.keys()),
    }


def _sequential(workload: str, updating: Any) -> float | None:
    """The share of the updating contexts with data that were replaced right after the page before."""
    import pyarrow.parquet as pq

    table = pq.read_table(library.path(RECORDED[workload]), columns=["op", "offset", "bytes", "context"])
    writer: dict[int, int] = {}
    before, found = -2, set()
    for op, offset, length, context in zip(*(table[name].to_pylist() for name in table.column_names), strict=True):
        if op != "write":
            continue
        for page in range(offset // PAGE_BYTES, -(-(offset + length) // PAGE_BYTES)):
            replaced = writer.get(page)
            writer[page] = context_updates.NO_CONTEXT if context is None else context
            if replaced is None:
                continue
            if page == before + 1:
                found.add(replaced)
            before = page
    return len(found & set(updating)) / len(updating) if updating else None


def _hot_dead(found: Found, workload: str) -> dict[str, Any]:
    """The share of pages of hot blocks that were dead when they were collected."""
    result = found.look(f"main.{workload}.hash") or {}
    streams = (result.get("separate") or {}).get("streams") or []
    hot = next((stream for stream in streams if stream["stream"] == HOT), None)
    if hot is None or not hot["victims"]:
        return {}
    pages = result["config"]["drive"]["geometry"]["pages_per_block"]
    return {f"hot_dead.{workload}": 1 - hot["copied_pages"] / (hot["victims"] * pages)}


def threshold_times(found: Found, workload: str) -> dict[int, float]:
    """Seconds of collection by threshold; empty where they were not run."""
    times = {one: found.figure(f"thresholds.{workload}.pds-{one}.gc.time_s") for one in THRESHOLDS}
    return {one: time for one, time in times.items() if time is not None}


def _thresholds(found: Found, workload: str) -> dict[str, Any]:
    times = threshold_times(found, workload)
    if not times or max(times.values()) == 0:
        return {}
    best = min(times, key=lambda one: times[one])
    return {
        f"best_threshold.{workload}": best,
        f"least_of_worst.{workload}": times[best] / max(times.values()),
    }


def _best_ratio(found: Found) -> float | None:
    """Mean over the programs of PDS's time of collection, at each one's best threshold, over HASH's."""
    ratios = []
    for workload in JUDGED:
        times, hashed = threshold_times(found, workload), found.figure(f"main.{workload}.hash.gc.time_s")
        if not times or not hashed:
            return None
        ratios.append(min(times.values()) / hashed)
    return sum(ratios) / len(ratios)
