"""What the tables, figures and claims of IDS need beyond the results themselves."""

from __future__ import annotations

from typing import Any

from floatgate.reproduce.judge import Found
from floatgate.reproduce.pds.values import JUDGED, contexts
from floatgate.reproduce.pds.workloads import PAGES_PER_BLOCK, RECORDED

SEPARATORS = ("hash", "pds", "ids", "ora")
LAST = "last-1"
"""IDS with its update blocks as the last victims, which Table 9 does not say."""


def values(found: Found) -> dict[str, Any]:
    """All values by name."""
    made: dict[str, Any] = {}
    for workload in RECORDED:
        made |= contexts(found, workload)
        hashed, opened = found.figure(f"main.{workload}.hash.gc.time_s"), _opened(found, workload, "hash")
        ratios: dict[str, float | None] = {}
        for separator in SEPARATORS:
            time, blocks = found.figure(f"main.{workload}.{separator}.gc.time_s"), _opened(found, workload, separator)
            made[f"time.{workload}.{separator}"] = time / hashed if time is not None and hashed else None
            ratios[separator] = blocks / opened if blocks is not None and opened else None
            made[f"blocks.{workload}.{separator}"] = ratios[separator]
        others = [ratios[one] for one in SEPARATORS[1:]]
        made[f"blocks_least.{workload}"] = min((one for one in others if one is not None), default=None)
        made |= _hot(found, workload)
    made["hot_share.mean"] = _mean([made.get(f"hot_share.{one}") for one in JUDGED])
    return made | _settings(found)


def _streams(found: Found, workload: str, separator: str) -> list[dict[str, Any]]:
    result = found.look(f"main.{workload}.{separator}") or {}
    return (result.get("separate") or {}).get("streams") or []


def _opened(found: Found, workload: str, separator: str) -> int | None:
    streams = _streams(found, workload, separator)
    return sum(stream["opened"] for stream in streams) if streams else None


def _hot(found: Found, workload: str) -> dict[str, Any]:
    """Hot archive blocks against all others of IDS."""
    streams = _streams(found, workload, "ids")
    first = found.look(f"main.{workload}.ids.separate.found.archive_stream")
    if not streams or first is None:
        return {}
    sums = {True: [0, 0, 0], False: [0, 0, 0]}
    for stream in streams:
        for place, key in enumerate(("opened", "victims", "copied_pages")):
            sums[stream["stream"] >= first][place] += stream[key]
    (hot_opened, hot_victims, hot_copied), (opened, victims, copied) = sums[True], sums[False]
    hot_copies = hot_copied / hot_victims if hot_victims else None
    return {
        f"hot_share.{workload}": hot_opened / (hot_opened + opened),
        f"hot_copies.{workload}": hot_copies,
        f"hot_valid.{workload}": None if hot_copies is None else hot_copies / PAGES_PER_BLOCK,
        f"cold_copies.{workload}": copied / victims if victims else None,
    }


def _settings(found: Found) -> dict[str, Any]:
    """Time of collection of IDS under other settings, over PDS's and HASH's, and the least and the most of it."""
    swept = next((list(variants) for variants in found.results.get("settings", {}).values() if variants), [])
    made: dict[str, Any] = {}
    means: list[float] = []
    for variant in ("ids", *swept):
        batch = "main" if variant == "ids" else "settings"
        over_pds = {one: _over(found, f"{batch}.{one}.{variant}", f"main.{one}.pds") for one in JUDGED}
        over_hash = [_over(found, f"{batch}.{one}.{variant}", f"main.{one}.hash") for one in JUDGED]
        made |= {f"settings.{variant}.{one}": ratio for one, ratio in over_pds.items()}
        made[f"settings.{variant}.pds"] = mean = _mean(list(over_pds.values()))
        made[f"settings.{variant}.hash"] = _mean(over_hash)
        if mean is not None and variant not in ("none", LAST):
            means.append(mean)
    return made | ({"settings.least": min(means), "settings.most": max(means)} if swept and means else {})


def _over(found: Found, run: str, other: str) -> float | None:
    time, beside = found.figure(f"{run}.gc.time_s"), found.figure(f"{other}.gc.time_s")
    return time / beside if time is not None and beside else None


def _mean(figures: list[float | None]) -> float | None:
    known = [one for one in figures if one is not None]
    return sum(known) / len(known) if known and len(known) == len(figures) else None
