"""Means over traces, and who is lowest."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from floatgate.reproduce.judge import Found
from floatgate.reproduce.separation.workloads import CONTEXTS

VICTIMS = ("greedy", "cost-benefit", "d-choices")
KNOWING = ("fk", "ora")
"""Separators that know the future."""
WITH_CONTEXTS = ("pds", "ids")
SEPARATORS = (
    *("none", "host-gc", "hash", "two-level-lru", "size", "bloom", "dac", "multilog", "eti", "sfr", "fadac", "warcip"),
    *("sepbit", "pds", "ids", "fk", "ora"),
)
ONLINE = tuple(one for one in SEPARATORS if one not in KNOWING)

Results = dict[str, dict[str, Any]]
"""Result by trace."""


def values(found: Found) -> dict[str, Any]:
    """All values by name."""
    made: dict[str, Any] = {}
    for victims in VICTIMS:
        by_separator = {one: _results(found, f"{one}/{victims}") for one in SEPARATORS}
        for separator, results in by_separator.items():
            name = f"{separator}/{victims}"
            made |= {f"waf.{name}.{trace}": result["waf"] for trace, result in results.items()}
            # Over the traces that all of them can run on: means over different traces cannot be set side by side.
            shared = {trace: result for trace, result in results.items() if trace in CONTEXTS}
            made |= {f"of.{name}.{key}": value for key, value in _of(shared, by_separator["none"]).items()}
        made |= _ranks(by_separator, victims)
    return made


def _results(found: Found, variant: str) -> Results:
    results: Results = {}
    for batch in found.results.values():
        for trace, variants in batch.items():
            if variant in variants:
                results[trace] = variants[variant]
    return results


def _geometric(figures: Iterable[float | None]) -> float | None:
    known = list(figures)
    whole = [figure for figure in known if figure is not None and figure > 0]
    return math.exp(sum(math.log(one) for one in whole) / len(whole)) if whole and len(whole) == len(known) else None


def _of(results: Results, plain: Results) -> dict[str, float | None]:
    victims = sum(result["gc"]["victims"] for result in results.values())
    copied = sum(result["gc"]["copied_pages"] for result in results.values())
    dead = sum(result["gc"]["dead_victims"] for result in results.values())
    beside = [(result, plain[trace]) for trace, result in results.items() if trace in plain]
    pages = [result["drive"]["logical_bytes"] / 4096 for result in results.values()]
    memory = [(result["separate"]["memory_bytes"] or 0) for result in results.values()]
    return {
        "waf": _geometric(result["waf"] for result in results.values()),
        "waf_ratio": _geometric(result["waf"] / none["waf"] for result, none in beside),
        "time_ratio": _geometric(
            result["gc"]["time_s"] / none["gc"]["time_s"] if none["gc"]["time_s"] else None for result, none in beside
        ),
        "copies": copied / victims if victims else None,
        "dead": dead / victims if victims else None,
        "open": _geometric(result["separate"]["open_blocks_max"] for result in results.values()),
        "memory": sum(memory) / sum(pages) if pages else None,
    }


def _ranks(by_separator: dict[str, Results], victims: str) -> dict[str, Any]:
    """Who has the least, over the traces that all can run on, or on each of them."""
    traces = [trace for trace in CONTEXTS if all(trace in results for results in by_separator.values())]
    if not traces:
        return {}
    waf = {one: _geometric(by_separator[one][trace]["waf"] for trace in traces) for one in SEPARATORS}
    if None in waf.values():
        return {}
    least = {one: figure for one, figure in waf.items() if figure is not None}

    def below_all(separator: str, key: str) -> bool:
        mine = by_separator[separator]
        return all(mine[trace]["gc"][key] <= by_separator[one][trace]["gc"][key] for trace in traces for one in ONLINE)

    return {
        f"sepbit_lowest.{victims}": all(least["sepbit"] <= least[one] for one in ONLINE),
        f"fk_lowest.{victims}": all(least["fk"] < least[one] for one in ONLINE),
        f"ora_lowest.{victims}": all(least["ora"] < least[one] for one in ONLINE),
        f"ora_copies.{victims}": below_all("ora", "copied_pages"),
        f"ora_time.{victims}": below_all("ora", "time_s"),
    }
