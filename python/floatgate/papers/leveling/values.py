"""What every leveler does against none, over seeds, and lives where blocks do not all endure as much."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from floatgate.papers.judge import Findings
from floatgate.papers.means import mean_95

LEVELERS = ("hot-cold-swap", "swl", "read-balance", "lazy", "adaptive", "gap")
SYNTHETIC = ("uniform", "zipf", "static")
LOADS = (*SYNTHETIC, "sqlite-updates", "postgres-updates")
SETTINGS = ("7", "28", "7-apart", "28-apart")
"""Per cent to spare; apart: pages that move have blocks of their own."""
SEEDS = ("", *(f"-seed-{seed}" for seed in range(2, 6)))
SPREAD = 0.1
"""Standard deviation over mean of the cycles that blocks endure."""
CYCLES = 1000
"""Cycles that the mean block endures. The drive's own limit is out of reach: no run stops before its last write."""
PAGE_BYTES, DAYS = 4096, 365.25
LONGEST = 64.0
"""Limit of the search for a life, as a multiple of the run."""


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name: QUANTITY.SETTING.LOAD.LEVELER, means over seeds; _low and _high are their ends."""
    made: dict[str, Any] = {}
    extra: dict[str, list[float]] = {}
    for setting in SETTINGS:
        for load in LOADS:
            for leveler, runs in _runs(findings, setting, load).items():
                place = f"{setting}.{load}.{leveler}"
                for key in runs[0]:
                    figures = [one[key] for one in runs]
                    made[f"{key}.{place}"] = sum(figures) / len(figures)
                    made[f"{key}_low.{place}"], made[f"{key}_high.{place}"] = min(figures), max(figures)
                made[f"acted.{place}"] = any(one["acted"] for one in runs)
                extra[place] = [one["extra"] for one in runs]
    return made | _over_all(made) | _cheaper(extra)


def _cheaper(extra: Mapping[str, list[float]]) -> dict[str, Any]:
    """Return extra programs of what should cost less: ``cheaper.WHAT.PLACE.0``; beside it, ``.1`` should cost more."""
    made: dict[str, Any] = {}

    def beside(name: str, place: str, other: str) -> None:
        if place in extra and other in extra:
            both = pair(extra[place], extra[other])
            made.update({f"cheaper.{name}.{side}": figure for side, figure in enumerate(both)})

    for load in LOADS:
        for leveler in LEVELERS:
            beside(f"more-spare.{load}.{leveler}", f"28.{load}.{leveler}", f"7.{load}.{leveler}")
            beside(f"apart.{load}.{leveler}", f"7-apart.{load}.{leveler}", f"7.{load}.{leveler}")
        for spare in ("7", "28"):
            beside(f"lazy-swl.{spare}.{load}", f"{spare}.{load}.lazy", f"{spare}.{load}.swl")
            beside(f"adaptive-gap.{spare}.{load}", f"{spare}.{load}.adaptive", f"{spare}.{load}.gap")
    return made


def pair(ones: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Return both means; the second one twice where the 95 % interval of the difference over the seeds holds 0."""
    first, second = (sum(figures) / len(figures) for figures in (ones, others))
    if len(ones) != len(others) or len(ones) == 1:
        return first, second
    middle, half = mean_95(one - other for one, other in zip(ones, others, strict=True))
    equal = middle is not None and half is not None and abs(middle) <= half
    return (second if equal else first), second


def _runs(findings: Findings, setting: str, load: str) -> dict[str, list[dict[str, float]]]:
    """Return figures by leveler, one of each seed."""
    runs: dict[str, list[dict[str, float]]] = {}
    for seed in SEEDS:
        results = findings.look(f"spare-{setting}{seed}.{load}") or {}
        if "none" not in results:
            continue
        plain = facts(results["none"])
        for leveler in ("none", *LEVELERS):
            if leveler in results:
                runs.setdefault(leveler, []).append(against(facts(results[leveler]), plain))
    return runs


def facts(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures of one run."""
    wear, programs, level, drive = result["wear"], result["flash"]["programs"], result["level"], result["drive"]
    host_bytes = programs["host"] * PAGE_BYTES
    first = host_bytes * _first(result)
    average = host_bytes * CYCLES * drive["physical_bytes"] / (programs["total"] * PAGE_BYTES)
    return {
        "acted": float(level["triggered"] + level["swaps"] + level["moved_pages"] > 0),
        "moved": programs["level"] / programs["total"],
        "std": wear["erases_std"],
        "max_over_mean": wear["max_over_mean"],
        "cost": programs["total"] / host_bytes,
        "first": first,
        "average": average,
        "years": average / drive["logical_bytes"] / DAYS,
        "years_first": first / drive["logical_bytes"] / DAYS,
        "off": host_bytes * _scale(result, 0.0),
        "on": host_bytes * _scale(result, SPREAD),
    }


def against(mine: Mapping[str, float], plain: Mapping[str, float]) -> dict[str, float]:
    """Return a run beside that of none with the same seed."""
    kept = {key: mine[key] for key in ("acted", "moved", "std", "max_over_mean", "years", "years_first")}
    gains = {f"{key}_gain": mine[key] / plain[key] for key in ("first", "average", "off", "on")}
    return (
        kept
        | gains
        | {
            "extra": mine["cost"] / plain["cost"] - 1,
            "std_ratio": mine["std"] / plain["std"],
            "on_over_off": gains["on_gain"] / gains["off_gain"],
        }
    )


def _growth(result: Mapping[str, Any]) -> float:
    """Return the power of the mean by which leads grow; 1, the worst case, if the run is too short to fit it."""
    growth = result["lifetime"]["wear_growth"]
    return 1.0 if growth is None else float(growth)


def _first(result: Mapping[str, Any]) -> float:
    """Return how many times the run's writes the drive takes until its first block has used up its cycles."""
    wear, growth = result["wear"], _growth(result)
    mean, lead = wear["erases_mean"], wear["erases_max"] - wear["erases_mean"]
    return _until(lambda scale: mean * scale + lead * scale**growth >= CYCLES)


def _scale(result: Mapping[str, Any], spread: float) -> float:
    """Return how many times the run's writes the drive takes until more blocks are dead than the reserve replaces."""
    histogram, reserve = result["wear"]["histogram"], result["config"]["drive"]["bad_block_reserve"]
    middle = histogram["from"] + (histogram["width"] - 1) / 2
    erases = [(middle + histogram["width"] * step, blocks) for step, blocks in enumerate(histogram["blocks"]) if blocks]
    return life(erases, cycles=CYCLES, spread=spread, reserve=reserve, growth=_growth(result))


def _until(over: Callable[[float], bool]) -> float:
    """Find the least scale for which ``over`` holds."""
    low, high = 0.0, LONGEST
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if over(middle) else (middle, high)
    return low


def life(
    erases: Sequence[tuple[float, int]], *, cycles: float, spread: float, reserve: float, growth: float = 1.0
) -> float:
    """Times the run until the expected share of dead blocks is the reserve.

    A block endures a normally distributed number of cycles, independent of its erases; its lead over the mean grows as
    a power of the mean. No random numbers: the expected share is the sum over the histogram.

    Args:
        erases: erases and how many blocks have had them.
        cycles: that the mean block endures.
        spread: standard deviation over the mean; 0 for blocks that endure all the same.
        reserve: share of the blocks that may die.
        growth: exponent of the lead.
    """
    total = sum(blocks for _, blocks in erases)
    mean = sum(one * blocks for one, blocks in erases) / total

    def dead(scale: float) -> float:
        middle, lead = mean * scale, scale**growth
        return sum(blocks * _dead_share((middle + (one - mean) * lead) / cycles - 1, spread) for one, blocks in erases)

    return _until(lambda scale: dead(scale) >= reserve * total)


def _dead_share(beyond: float, spread: float) -> float:
    """Share of the blocks dead that have had so much more, as a share, than the mean block endures."""
    if spread == 0:
        return float(beyond >= 0)
    return 0.5 * math.erfc(-beyond / (spread * math.sqrt(2)))


def places(settings: Sequence[str] = ("7", "28")) -> Iterator[str]:
    """Yield setting, load and leveler, of all levelers that do something."""
    for setting in settings:
        for load in LOADS:
            for leveler in LEVELERS:
                yield f"{setting}.{load}.{leveler}"


def _over_all(made: Mapping[str, Any]) -> dict[str, Any]:
    """Summarize over all settings: where levelers never acted, and the worst of those that did."""
    known = [place for place in places() if f"acted.{place}" in made]
    acted = [place for place in known if made[f"acted.{place}"]]
    idle = [_words(place) for place in known if not made[f"acted.{place}"]]
    over: dict[str, Any] = {"idle": ", ".join(idle) or "nowhere"}
    for leveler in LEVELERS:
        mine = [place for place in acted if place.endswith(f".{leveler}")]
        if mine:
            over[f"extra_least.{leveler}"] = min(made[f"extra_low.{place}"] for place in mine)
    if acted:
        # An effect counts only if it occurs under every seed.
        for key in ("first_gain", "average_gain", "off_gain"):
            highs = {one: float(made[f"{key}_high.{one}"]) for one in acted}
            place = min(highs, key=highs.__getitem__)
            over |= {f"worst.{key}": highs[place], f"where.{key}": _words(place)}
        place = max(acted, key=lambda one: float(made[f"std_ratio_low.{one}"]))
        over |= {"worst.std_ratio": made[f"std_ratio_low.{place}"], "where.std_ratio": _words(place)}
    return over


def _words(place: str) -> str:
    setting, load, leveler = place.split(".")
    return f"{leveler} on {load} with {setting} %"
