"""What the tables, figures and claims of redFTL need beyond the results themselves."""

from __future__ import annotations

import math
from typing import Any

from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, mean_95, ratio
from floatgate.papers.read_twins import response_ms

WORKLOADS = ("ads", "mds", "tpc-h", "websearch")
VARIANTS = {
    "baseline": "main",
    "redftl": "main",
    "replicas-5": "main",
    "replicas-10": "main",
    "by-page": "steps",
    "whole-rate": "rate",
    "max-80": "maxima",
    "max-120": "maxima",
    "max-200": "maxima",
    "max-none": "maxima",
}
"""The batch of each variant."""
CLOSE_UP = {"close": "baseline", "close-redftl": "redftl"}
"""The variant of each batch in time."""
MAXIMA = {"baseline": 40_000, "max-80": 80_000, "max-120": 120_000, "max-200": 200_000}
SEEDS = {"1": "main", **{str(seed): f"seed-{seed}" for seed in range(2, 6)}}
"""The batch of each seed."""
SHORT_MS = 10.0
B_OVER_NOMINAL = 12.1
"""``B / V_nominal`` of the law of tunnelling, the value under which 5 % more voltage costs 49 % of the reads."""
TLC_TIME = 1.6
"""A TLC read over an MLC read, in time (section 3.1)."""


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made: dict[str, Any] = {
        "trend.voltage": reads_share(1.05, 1.0),
        "trend.tlc": reads_share(1.05, TLC_TIME),
    }
    for workload in WORKLOADS:
        for variant, batch in VARIANTS.items():
            made |= _costs(findings, batch, workload, variant)
        made |= _over_longest(made, workload)
        made |= _seeds(findings, workload)
        made |= _quarter(findings, workload)
    for workload in WORKLOADS:
        both = [made.get(f"rr_time.{workload}.{variant}") for variant in ("baseline", "max-200")]
        made[f"over.eightfold.{workload}"] = ratio(
            *(made.get(f"total.{workload}.{variant}") for variant in ("baseline", "max-200"))
        )
        made[f"fold.{workload}"] = both[0] / both[1] if both[0] is not None and both[1] else None
    for variant in MAXIMA:
        times = [made.get(f"rr_time.{workload}.{variant}") for workload in WORKLOADS]
        made[f"sum.rr_time.{variant}"] = None if None in times else sum(times)
    for batch, variant in CLOSE_UP.items():
        for workload in ("ads", "websearch"):
            made |= response_ms(findings, f"{batch}.{workload}.{variant}", f"{workload}.{variant}")
    return made | _mostly_free(findings) | _spare(findings) | _buffers(findings) | _weigh_most(made)


def reads_share(voltage: float, time: float) -> float:
    """Return reads that a block stands, over those at the nominal voltage and time of a read (Equation 2.1)."""
    return 1 / (voltage**2 * math.exp(B_OVER_NOMINAL * (1 - 1 / voltage)) * time)


def _costs(findings: Findings, batch: str, workload: str, variant: str) -> dict[str, Any]:
    """Return the cost of reclaim and collection in one run."""
    result = findings.look(f"{batch}.{workload}.{variant}")
    if not result:
        return {}
    reclaim, replicas = result["reclaim"], result["reclaim"]["replicas"]
    moving, copying, collecting = reclaim["time_s"]["reclaim"], reclaim["time_s"]["replica"], result["gc"]["time_s"]
    jobs = reclaim["on_demand"] + reclaim["background"]
    timing, pages = result["config"]["drive"]["timing"], result["config"]["drive"]["geometry"]["pages_per_block"]
    page_s = (timing["read_us"] + timing["program_us"]) * 1e-6
    migrations = reclaim["moved_pages"] * page_s
    total = moving + copying + collecting
    made = {
        "rr_time": moving + copying,
        "rr_count": jobs,
        "total": total,
        "moving": moving,
        "copying": copying,
        "gc_time": collecting,
        "reads_time": reclaim["moved_pages"] * timing["read_us"] * 1e-6,
        "programs_time": reclaim["moved_pages"] * timing["program_us"] * 1e-6,
        "erases_time": jobs * timing["erase_us"] * 1e-6,
        "migrations": migrations,
        "migration_share": ratio(migrations, total),
        "replica_share": ratio(copying, moving + copying),
        "live": ratio(reclaim["moved_pages"], jobs * pages),
        # As if each page were replicated in an operation of its own.
        "short_singly": ratio(replicas["made"], replicas["made"] + jobs),
        "short": short(reclaim["service_ms"]["cdf"], SHORT_MS),
        "lost": ratio(replicas["died_by_erase"], replicas["made"]),
        "wear_spread": result["wear"]["erases_max"] - result["wear"]["erases_min"],
        "rewritten": ratio(replicas["died_by_update"], replicas["made"]),
    }
    return {f"{name}.{workload}.{variant}": value for name, value in made.items()}


def short(steps: list[list[float]], limit_ms: float) -> float | None:
    """Return the share of what took at most so long, from a cumulative distribution."""
    return max((share for time, share in steps if time <= limit_ms), default=0.0) if steps else None


def _over_longest(made: dict[str, Any], workload: str) -> dict[str, Any]:
    """Divide all overhead by the time of collection without reclaims (Figure 7)."""
    collection = made.get(f"total.{workload}.max-none")
    if not collection:
        return {}
    totals = {variant: made.get(f"total.{workload}.{variant}") for variant in MAXIMA}
    return {f"over_gc.{workload}.{one}": total / collection for one, total in totals.items() if total is not None}


def _seeds(findings: Findings, workload: str) -> dict[str, Any]:
    """Return the time of redFTL over the baseline's with five seeds, and the 95 % interval of their mean."""
    times: dict[str, Any] = {}
    for seed, batch in SEEDS.items():
        both = []
        for variant in ("redftl", "baseline"):
            parts = findings.look(f"{batch}.{workload}.{variant}.reclaim.time_s")
            both.append(parts["reclaim"] + parts["replica"] if parts else None)
        times[f"seed.{workload}.{seed}"] = ratio(*both)
    middle, half = mean_95(times.values())
    return times | {f"seed.{workload}.mean": middle, f"seed.{workload}.half": half}


def _quarter(findings: Findings, workload: str) -> dict[str, Any]:
    """Return how often blocks are read: flash reads over what all its data endure, and redFTL's gain on a quarter."""
    made: dict[str, Any] = {}
    for name, batch in (("whole", "main"), ("quarter", "quarter")):
        results = [findings.look(f"{batch}.{workload}.{variant}") for variant in ("redftl", "baseline")]
        if None in results:
            continue
        jobs = [one["reclaim"]["on_demand"] + one["reclaim"]["background"] for one in results]
        times = [sum(one["reclaim"]["time_s"].values()) for one in results]
        drive = results[1]["config"]["drive"]
        # What a mostly free drive shows its host are the workload's addresses.
        stored_bytes = findings.figure(f"mostly-free.{workload}.baseline.drive.logical_bytes")
        block_bytes = drive["geometry"]["page_bytes"] * drive["geometry"]["pages_per_block"]
        endured = None if stored_bytes is None else stored_bytes / block_bytes * drive["disturb"]["max_reads"]
        made |= {
            f"{name}.count.{workload}": ratio(*jobs),
            f"{name}.time.{workload}": ratio(*times),
            f"{name}.replica_share.{workload}": ratio(results[0]["reclaim"]["time_s"]["replica"], times[0]),
            f"{name}.load.{workload}": ratio(results[1]["flash"]["reads"]["host"], endured),
        }
    return made


def _mostly_free(findings: Findings) -> dict[str, Any]:
    """Return times and counts over the baseline's where all that the workload does not store is free.

    ``free`` is redFTL whose replicas lie in closed blocks only, ``in_free`` with free blocks, too, ``in_free_5`` the
    same with 5 pages each.
    """
    made: dict[str, Any] = {}
    for name, variant in (("free", "redftl"), ("in_free", "in-free"), ("in_free_5", "in-free-5")):
        for workload in WORKLOADS:
            both = [_costs(findings, "mostly-free", workload, one) for one in (variant, "baseline")]
            for what in ("rr_time", "rr_count", "total"):
                ours, baseline = (
                    costs.get(f"{what}.{workload}.{one}")
                    for costs, one in zip(both, (variant, "baseline"), strict=True)
                )
                made[f"{name}.{what}.{workload}"] = ratio(ours, baseline)
            made[f"{name}.lost.{workload}"] = both[0].get(f"lost.{workload}.{variant}")
        for what in ("rr_time", "rr_count", "total"):
            made[f"{name}.{what}.mean"] = mean(made[f"{name}.{what}.{workload}"] for workload in WORKLOADS)
    return made


def _spare(findings: Findings) -> dict[str, Any]:
    """Return times and counts of redFTL over the baseline's by the room beside the cold data, in per cent."""
    made: dict[str, Any] = {}
    for percent, batch in ((10, "spare-10"), (20, "main"), (30, "spare-30")):
        for workload in WORKLOADS:
            costs = _costs(findings, batch, workload, "redftl") | _costs(findings, batch, workload, "baseline")
            for what in ("rr_time", "rr_count"):
                both = [costs.get(f"{what}.{workload}.{one}") for one in ("redftl", "baseline")]
                made[f"spare.{percent}.{what}.{workload}"] = ratio(*both)
        for what in ("rr_time", "rr_count"):
            ratios = [made[f"spare.{percent}.{what}.{workload}"] for workload in WORKLOADS]
            made[f"spare.{percent}.{what}.mean"] = mean(ratios)
    return made


def buffer_ratios(findings: Findings) -> dict[tuple[str, int], float]:
    """Return the known hit ratios of read buffers by workload and size."""
    made: dict[tuple[str, int], float] = {}
    for workload in ("ads", "websearch", "tpc-h", "multi"):
        for size in (64, 128, 256):
            hits = findings.figure(f"buffers.{workload}.buffer-{size}.buffer.read_hit_ratio")
            if hits is not None:
                made[workload, size] = hits
    return made


def _buffers(findings: Findings) -> dict[str, Any]:
    ratios = buffer_ratios(findings)
    if len(ratios) < 12:
        return {}
    others = [hits for key, hits in ratios.items() if key != ("multi", 256)]
    return {
        "buffers.mean": sum(ratios.values()) / len(ratios),
        "buffers.only_multi": ratios["multi", 256] >= 0.9 and max(others) <= 0.4,
    }


def _weigh_most(made: dict[str, Any]) -> dict[str, Any]:
    shares = [made.get(f"replica_share.{workload}.redftl") for workload in ("mds", "tpc-h", "ads", "websearch")]
    known = [share for share in shares if share is not None]
    return {"replicas_weigh_most": min(known[:2]) > max(known[2:])} if len(known) == len(shares) else {}
