"""What the tables, figures and claims of IDS need beyond the results themselves."""

from __future__ import annotations

from typing import Any

from floatgate.reproduce.judge import Found
from floatgate.reproduce.pds.values import contexts
from floatgate.reproduce.pds.workloads import PAGES_PER_BLOCK, RECORDED

SEPARATORS = ("hash", "pds", "ids", "ora")


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
    return made


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
